"""A person's own account: name, email, password, second factor."""

from datetime import datetime

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from foilworks.core.projects.actions.tokens import revoke_given_tokens
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.demo_accounts import NO_PASSWORD, NO_PROFILE, NO_SECOND_FACTOR, refuse_published
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.limits import rate_limits
from foilworks.core.projects.models import RecoveryCode, SecondFactor, User
from foilworks.core.projects.sign_in.second_factor import digests_of, new_recovery_codes, new_secret, step_of

FIELDS = ("first_name", "last_name", "email")


@transaction.atomic
def change_account(person: User, **values: str) -> None:
    """Only FIELDS, which the form has checked; the audit row names the fields that changed, not what they say."""
    refuse_published(person, NO_PROFILE)
    before = User.objects.get(pk=person.pk)
    changed = [name for name in FIELDS if name in values and getattr(before, name) != values[name]]
    if not changed:
        return
    User.objects.filter(pk=person.pk).update(**{name: values[name] for name in changed})
    audit.record(audit.event(None, person, "projects.change_account", person, fields=", ".join(changed)))


@transaction.atomic
def change_password(person: User, password: str) -> None:
    """Store the hash of `password`, which the form has checked; a temporary one is over with it,
    and so are tokens that somebody else told the person.

    AccessDenied for a published account of a demo: the next visitor would be locked out.
    """
    refuse_published(person, NO_PASSWORD)
    person.set_password(password)
    person.password_is_temporary = False
    person.save(update_fields=["password", "password_is_temporary"])
    revoke_given_tokens(person)
    audit.record(audit.event(None, person, "projects.change_password", person))


def begin_second_factor(person: User) -> SecondFactor:
    """The secret to be scanned: it counts for nothing before a code of it was given. ProjectError: there is one."""
    refuse_published(person, NO_SECOND_FACTOR)
    factor, _made = SecondFactor.objects.get_or_create(person=person, defaults={"secret": new_secret()})
    if factor.confirmed_at is not None:
        raise ProjectError(_("A second factor is already set up. Remove it before you set up another one."))
    return factor


@transaction.atomic
def confirm_second_factor(person: User, code: str, *, now: datetime | None = None) -> list[str]:
    """From here on the sign-in asks for a code. The recovery codes, told this once. ProjectError: a wrong code."""
    moment = now or timezone.now()
    factor = SecondFactor.objects.filter(person=person, confirmed_at=None).first()
    step = step_of(factor.secret, code, moment) if factor else None
    if factor is None or step is None:
        raise ProjectError(_("The code is wrong. Enter the six digits that the app shows now."))
    SecondFactor.objects.filter(pk=factor.pk, confirmed_at=None).update(confirmed_at=moment, last_step=step)
    codes = _renew(person)
    audit.record(audit.event(None, person, "projects.set_up_second_factor", person))
    return codes


@transaction.atomic
def renew_recovery_codes(person: User) -> list[str]:
    """The old ones are worth nothing any more."""
    codes = _renew(person)
    audit.record(audit.event(None, person, "projects.renew_recovery_codes", person))
    return codes


@transaction.atomic
def remove_second_factor(person: User) -> None:
    SecondFactor.objects.filter(person=person).delete()
    RecoveryCode.objects.filter(person=person).delete()
    audit.record(audit.event(None, person, "projects.remove_second_factor", person))


def _renew(person: User) -> list[str]:
    codes = new_recovery_codes()
    RecoveryCode.objects.filter(person=person).delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(person=person, digest=digests_of(code, person.pk)[0]) for code in codes
    )
    return codes


@transaction.atomic
def check_second_factor(person: User, code: str, *, now: datetime | None = None) -> bool:
    """Whether the code is right and was not used before; a recovery code is gone with it."""
    factor = SecondFactor.objects.filter(person=person, confirmed_at__isnull=False).first()
    if factor is None:
        return False
    step = step_of(factor.secret, code, now or timezone.now())
    if step is not None:
        return SecondFactor.objects.filter(pk=factor.pk, last_step__lt=step).update(last_step=step) == 1
    used, _rows = RecoveryCode.objects.filter(person=person, digest__in=digests_of(code, person.pk)).delete()
    if used:
        audit.record(audit.event(None, person, "projects.use_recovery_code", person))
    return bool(used)


@transaction.atomic
def note_sign_in(person: User, method: str) -> None:
    audit.record(audit.event(None, person, "projects.sign_in", person, way=method))


@transaction.atomic
def note_failed_sign_in(request: HttpRequest, username: str, why: str) -> None:
    """A row about the account, if there is one of this name; REFUSAL_ROWS an hour from each network."""
    if not rate_limits.hit(rate_limits.REFUSAL_ROWS, rate_limits.network_of(request)):
        return
    person = User.objects.filter(username=username[:150].replace("\x00", "")).first()
    audit.record(audit.refusal(None, None, person, why, page="projects:sign_in"))
