"""A person ties an authenticator app to their account, or takes it off again."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import audit
from projects.demo_accounts import refuse_published
from projects.errors import ProjectError
from projects.models import RecoveryCode, SecondFactor, User
from projects.second_factor import digest_of, new_recovery_codes, new_secret, step_of


def begin_second_factor(person: User) -> SecondFactor:
    """The secret to be scanned: it counts for nothing before a code of it was given. ProjectError: there is one."""
    refuse_published(person, _("This account is a demo's: the next visitor would be locked out."))
    factor, _made = SecondFactor.objects.get_or_create(person=person, defaults={"secret": new_secret()})
    if factor.confirmed_at is not None:
        raise ProjectError(_("A second factor is set up already; remove it before you set up another."))
    return factor


@transaction.atomic
def confirm_second_factor(person: User, code: str, *, now: datetime | None = None) -> list[str]:
    """From here on the sign-in asks for a code. The recovery codes, told this once. ProjectError: a wrong code."""
    moment = now or timezone.now()
    factor = SecondFactor.objects.filter(person=person, confirmed_at=None).first()
    step = step_of(factor.secret, code, moment) if factor else None
    if factor is None or step is None:
        raise ProjectError(_("This code does not fit; type the six digits that the app shows now."))
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
    RecoveryCode.objects.bulk_create(RecoveryCode(person=person, digest=digest_of(code, person.pk)) for code in codes)
    return codes
