"""A key for programs: a person's own, or told together with a new account."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import audit
from projects.access import Limits, limits_of
from projects.demo_accounts import refuse_published
from projects.errors import AccessDenied, ProjectError
from projects.models import ApiToken, Project, Role, User
from projects.tokens import HINT_LENGTH, MAX_DAYS, USUAL_DAYS, digest_of, new_secret

# More are a sign that they are made by a program and never revoked.
MAX_LIVE_TOKENS = 50


@dataclass(frozen=True)
class Made:
    """`secret` is told once: only its digest is stored."""

    token: ApiToken
    secret: str


@transaction.atomic
def make_token(
    person: User,
    *,
    name: str,
    scope: str = ApiToken.Scope.READ,
    days: int = USUAL_DAYS,
    project: Project | None = None,
    role: str = "",
    made_by: User | None = None,
) -> Made:
    """Store a token of `person` that is over in so many days; `project` and `role` narrow it.

    `made_by`: who made the person's account in this very moment, or the operator of the command line (None is the
    person). ProjectError: an empty name, an unknown scope or role, days out of range, too many tokens. AccessDenied
    where a published account of a demo asks: anybody may have its password.
    """
    refuse_published(person, _("The accounts of a demo have no tokens; sign in with an account of your own."))
    if limits_of(person) != Limits():
        raise AccessDenied(_("A narrowed token makes no further ones; use one of your own."))
    now, called = timezone.now(), " ".join(name.split())
    _check(called, scope, days, role)
    if ApiToken.objects.filter(person=person, revoked_at=None, expires_at__gt=now).count() >= MAX_LIVE_TOKENS:
        raise ProjectError(_("You have %(most)d tokens; revoke those that nobody needs.") % {"most": MAX_LIVE_TOKENS})
    secret = new_secret()
    token = ApiToken.objects.create(
        person=person,
        made_by=made_by or person,
        name=called,
        digest=digest_of(secret),
        hint=secret[:HINT_LENGTH],
        scope=scope,
        project=project,
        role=role,
        expires_at=now + timedelta(days=days),
    )
    details = {"name": called, "scope": scope, "role": role, "days": days, "of": person.pk}
    audit.record(audit.event(project, made_by or person, "projects.make_token", token, **details))
    return Made(token, secret)


def _check(name: str, scope: str, days: int, role: str) -> None:
    if not 0 < len(name) <= 80 or not name.isprintable():
        raise ProjectError(_("Name the token by what uses it, in at most 80 printable characters."))
    if scope not in ApiToken.Scope.values:
        raise ProjectError(_("Choose what the token may do: %(list)s.") % {"list": ", ".join(ApiToken.Scope.values)})
    if role and role not in Role.values:
        raise ProjectError(_("Choose one of the roles: %(list)s.") % {"list": ", ".join(Role.values)})
    if not 1 <= days <= MAX_DAYS:
        raise ProjectError(_("A token is good for 1 to %(most)d days; choose how many.") % {"most": MAX_DAYS})
