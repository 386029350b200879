"""Create and revoke API tokens."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from foilworks.core.projects.access import Limits, limits_of, or_404
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.demo_accounts import NO_TOKENS, refuse_published
from foilworks.core.projects.errors import AccessDenied, ProjectError
from foilworks.core.projects.models import ApiToken, Project, Role, User
from foilworks.core.projects.tokens import HINT_LENGTH, MAX_DAYS, USUAL_DAYS, digest_of, new_secret

# A larger number means that a program creates tokens and never revokes them.
MAX_LIVE_TOKENS = 50


@dataclass(frozen=True)
class Made:
    """A new token; `secret` is shown once, because only its digest is stored."""

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
    refuse_published(person, NO_TOKENS)
    if limits_of(person) != Limits():
        raise AccessDenied(_("A restricted token cannot create tokens. Use an unrestricted one."))
    now, called = timezone.now(), " ".join(name.split())
    _check(called, scope, days, role)
    if ApiToken.objects.filter(person=person, revoked_at=None, expires_at__gt=now).count() >= MAX_LIVE_TOKENS:
        raise ProjectError(
            _("You have %(most)d tokens, the maximum. Revoke a token that you no longer need.")
            % {"most": MAX_LIVE_TOKENS}
        )
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
        raise ProjectError(
            _("Enter a name for the token, with at most 80 printable characters. Name the program that uses it.")
        )
    if scope not in ApiToken.Scope.values:
        raise ProjectError(_("Choose a scope for the token: %(list)s.") % {"list": ", ".join(ApiToken.Scope.values)})
    if role and role not in Role.values:
        raise ProjectError(_("Choose one of the roles: %(list)s.") % {"list": ", ".join(Role.values)})
    if not 1 <= days <= MAX_DAYS:
        raise ProjectError(
            _("A token is valid for 1 to %(most)d days. Choose the number of days.") % {"most": MAX_DAYS}
        )


@transaction.atomic
def revoke_token(person: User, pk: int) -> ApiToken:
    """Revoke the person's own token; Http404 for anybody else's. Can be repeated."""
    token = or_404(
        ApiToken.objects.select_for_update(no_key=True).filter(pk=pk, person=person).first(),
        _("You have no such token."),
    )
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        audit.record(audit.event(token.project, person, "projects.revoke_token", token))
    return token


def revoke_given_tokens(person: User) -> int:
    """Revoke tokens that somebody else gave to the person; within the caller's transaction."""
    tokens = ApiToken.objects.filter(person=person, revoked_at=None).exclude(made_by=person)
    return tokens.update(revoked_at=timezone.now())
