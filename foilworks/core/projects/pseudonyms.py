"""Pseudonyms in releases and exports: stable within a project, and not linkable between projects."""

import hashlib
import hmac

from django.conf import settings

from foilworks.core.projects.models import Project

LENGTH = 10


def pseudonym(project: Project, person_id: int) -> str:
    """`p-` and ten hex digits, made with the installation's secret: nobody outside can try names against it."""
    message = f"pseudonym:{project.pk}:{person_id}".encode()
    return "p-" + hmac.new(settings.DERIVATION_KEY.encode(), message, hashlib.sha256).hexdigest()[:LENGTH]
