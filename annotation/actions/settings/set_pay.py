"""A researcher sets the pay per stage, and the minimum pay per hour."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.errors import AnnotationError
from annotation.models import PayEntry, PayPolicy, PayRate
from annotation.queries.paid_work import PAID, rates_of
from annotation.rules.pay import Rate
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User


def set_pay(
    person: User,
    project: Project,
    *,
    currency: str,
    floor: Decimal | None,
    rates: Mapping[str, Rate],
    now: datetime | None = None,
) -> PayPolicy:
    """Store currency, minimum and rates by stage; a stage without a rate earns nothing.

    Rates hold for what is submitted from now on; people in a crowd study keep those of their entry. AnnotationError
    for a rate of a stage that cannot be paid, an unknown unit, a negative amount, no currency, or another currency
    than that of work that was already paid.
    """
    require_role(person, project, Role.RESEARCHER)
    if not set(rates) <= set(PAID):
        raise AnnotationError(
            _("This stage cannot be paid. Choose edits, reviews, judgements, choices or object checks.")
        )
    policy = PayPolicy(project=project, currency=currency, floor=floor)
    return run_in_transaction(lambda: _set(person, policy, rates, now or timezone.now()))


def _set(person: User, policy: PayPolicy, rates: Mapping[str, Rate], now: datetime) -> PayPolicy:
    project, currency, floor = policy.project, policy.currency, policy.floor
    serialize_writes(project)
    policy.pk = PayPolicy.objects.filter(project=project).values_list("pk", flat=True).first()
    if PayEntry.objects.filter(project=project, rate__isnull=False).exclude(currency=currency).exists():
        raise AnnotationError(_("Work was already paid in another currency. Keep it, or start a new project."))
    before = rates_of(project)
    rows = [
        PayRate(project=project, stage=stage, unit=rate.unit, amount=rate.amount, since=now)
        for stage, rate in rates.items()
        if before.get(stage) != rate
    ]
    ended = [
        PayRate(project=project, stage=stage, unit=rate.unit, since=now)
        for stage, rate in before.items()
        if stage not in rates
    ]
    try:
        policy.clean_fields(exclude=["project"])
        for row in rows:
            row.clean_fields()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise AnnotationError(f"{field}: {messages[0]}") from error
    policy.save()
    PayRate.objects.bulk_create([*rows, *ended])
    rates_in_words = {stage: f"{rate.amount} per {rate.unit}" for stage, rate in sorted(rates.items())}
    audit.record(
        audit.event(
            project, person, "set_pay", policy, currency=currency, floor=floor and str(floor), rates=rates_in_words
        )
    )
    return policy
