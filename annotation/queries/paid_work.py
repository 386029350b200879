"""The ledger as annotation.rules.pay reads it: work by person, stage and day, and the rates."""

from datetime import datetime

from django.db.models import Count, DateTimeField, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce, TruncDate
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import PayEntry, PayPolicy, PayRate, Stage
from annotation.rules.pay import NOTHING, PaidWork, Rate, Statement, Unit, statement, typed_amount
from foilworks.core.projects.models import CrowdPlace, PlaceState, Project, User
from foilworks.core.projects.sql.prepared_queries import Prepared

# Stages that can be paid: practice and the qualification are not work, gold is paid as validation.
PAID = (Stage.EDIT, Stage.REVIEW, Stage.VALIDATION, Stage.BASELINE, Stage.UNSEEN, Stage.OBJECTS)


def policy_of(project: Project) -> PayPolicy:
    """Return the project's row, or an unsaved one: no minimum, no rates."""
    return PayPolicy.objects.filter(project=project).first() or PayPolicy(project=project)


def rates_of(project: Project) -> dict[str, Rate]:
    """Return the present rates by stage."""
    rows = PayRate.objects.filter(project=project).order_by("since", "pk")
    latest = {row.stage: row for row in rows}
    return {stage: Rate(row.unit, row.amount) for stage, row in latest.items() if row.amount is not None}


def in_words(rate: Rate, currency: str, n_tasks: int = 10) -> str:
    """Return a rate with the pay of `n_tasks`, so that a wrong decimal point is noticed."""
    values = {"amount": typed_amount(rate.amount), "currency": currency, "n": n_tasks}
    if rate.unit == Unit.HOUR:
        return _("%(amount)s %(currency)s per hour") % values
    text = ngettext(
        "%(amount)s %(currency)s per task; %(n)d task pays %(sum)s %(currency)s",
        "%(amount)s %(currency)s per task; %(n)d tasks pay %(sum)s %(currency)s",
        n_tasks,
    )
    return text % {**values, "sum": typed_amount(rate.amount * n_tasks)}


def _rates_for(project: int, person: int, stage: str, now: datetime) -> QuerySet[PayRate]:
    """Return the rates that hold for the person, newest first.

    In a crowd study, that is the rate of the time when they entered: its page promised it.
    """
    places = CrowdPlace.objects.filter(
        person=person, study__project=project, study__stage=stage, state=PlaceState.ACTIVE
    ).order_by("-pk")
    promised = Coalesce(Subquery(places.values("entered_at")[:1]), Value(now, output_field=DateTimeField()))
    return PayRate.objects.filter(project=project, stage=stage, since__lte=promised).order_by("-since", "-pk")


RATES_FOR = Prepared(_rates_for)


def rate_for(project: Project, person: int, stage: str, now: datetime) -> Rate | None:
    """Return the rate of work that the person submits now. No query in a project that pays nobody."""
    if getattr(project, "pay_policy", None) is None:
        return None
    row = RATES_FOR.first(project=project.pk, person=person, stage=stage, now=now)
    return None if row is None or row.amount is None else Rate(row.unit, row.amount)


def valid_entries(project: Project, person: User | None = None) -> QuerySet[PayEntry]:
    """Return the entries of work that nothing reversed: their sum is that of all entries."""
    own = {} if person is None else {"person": person}
    return PayEntry.objects.filter(project=project, reverses=None, reversal=None, **own)


def paid_work(project: Project, person: User | None = None) -> list[PaidWork]:
    """Return work that was not reversed, of everybody or one person, by person, stage and day. One query."""
    cells = valid_entries(project, person).annotate(day=TruncDate("created_at")).order_by("person", "stage", "day")
    sums = cells.values_list("person", "stage", "day").annotate(
        pieces=Count("pk"),
        timed=Count("seconds"),
        spent=Sum("seconds"),
        pay=Sum("amount"),
        timed_pay=Sum("amount", filter=Q(seconds__isnull=False)),
    )
    return [
        PaidWork(*cell, pieces, timed, spent or 0.0, pay, timed_pay or NOTHING)
        for *cell, pieces, timed, spent, pay, timed_pay in sums
    ]


def pay_of(project: Project, person: User | None = None) -> tuple[PayPolicy, dict[str, Rate], Statement]:
    """Return the policy, the rates and the resulting pay. Three queries."""
    policy, rates = policy_of(project), rates_of(project)
    return policy, rates, statement(paid_work(project, person), policy.floor)
