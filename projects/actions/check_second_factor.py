"""The second step of a sign-in: a code of the app, or a recovery code, each taken once."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from projects import audit
from projects.models import RecoveryCode, SecondFactor, User
from projects.second_factor import digest_of, step_of


@transaction.atomic
def check_second_factor(person: User, code: str, *, now: datetime | None = None) -> bool:
    """Whether the code is right and was not used before; a recovery code is gone with it."""
    factor = SecondFactor.objects.filter(person=person, confirmed_at__isnull=False).first()
    if factor is None:
        return False
    step = step_of(factor.secret, code, now or timezone.now())
    if step is not None:
        return SecondFactor.objects.filter(pk=factor.pk, last_step__lt=step).update(last_step=step) == 1
    used, _rows = RecoveryCode.objects.filter(person=person, digest=digest_of(code, person.pk)).delete()
    if used:
        audit.record(audit.event(None, person, "projects.use_recovery_code", person))
    return bool(used)
