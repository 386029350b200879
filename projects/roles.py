"""Roles as they are asked for."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from projects.errors import ProjectError
from projects.models import Role


def checked_roles(roles: Sequence[str]) -> tuple[str, ...]:
    """The roles, each once, in the order of the table. ProjectError: none, or one that does not exist."""
    unknown = [role for role in roles if role not in Role.values]
    if unknown or not roles:
        raise ProjectError(_("Choose at least one role of: %(list)s.") % {"list": ", ".join(Role.values)})
    return tuple(role for role in Role.values if role in roles)
