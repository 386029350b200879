"""A member agrees to the consent text of a project."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import audit
from projects.access import forget_roles, require_role
from projects.errors import ProjectError
from projects.models import Consent, ConsentText, Membership, Project, User


@transaction.atomic
def give_consent(person: User, project: Project, version: int, *, now: datetime | None = None) -> Consent:
    """`version` is the one that was on the page. ProjectError where a newer one was published meanwhile."""
    require_role(person, project)
    text = ConsentText.objects.filter(project=project).order_by("-version").first()
    if text is None or text.version != version:
        raise ProjectError(_("The text was changed meanwhile; read it anew and agree to that."))
    given, new = Consent.objects.get_or_create(
        text=text, person=person, withdrawn_at=None, defaults={"given_at": now or timezone.now()}
    )
    Membership.objects.filter(project=project, person=person).update(consent_version=version)
    forget_roles(person)
    if new:
        audit.record(audit.event(project, person, "projects.give_consent", given, version=version))
    return given
