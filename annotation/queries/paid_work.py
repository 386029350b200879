"""The ledger as annotation.rules.pay reads it: work by person, stage and day, and the rates.

The data for annotation.rules.activity: work, judgements and gold of a project's people.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Count, DateTimeField, F, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import (
    Choice,
    Edit,
    Ending,
    Lease,
    ObjectAnswer,
    PayEntry,
    PayPolicy,
    PayRate,
    Review,
    Stage,
    Vote,
    VoteState,
)
from annotation.models.stages import public_stage
from annotation.rules.activity import Figures, Judgement, Piece, figures
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


# Of the evidence of watching only the seconds: a project has hundreds of thousands of pieces.
PIECE = ("person", "seconds_spent", "watch__seconds")


def figures_of(project: Project) -> dict[int, Figures]:
    """Return the figures of everybody who has submitted work, by person. Six queries for any size of project."""
    return figures(_pieces(project), _judgements(project), _gold(project))


def own_figures(project: Project, person: User, *, now: datetime | None = None) -> Figures:
    """Return one person's figures, without those that would reveal too much.

    Accuracy on gold would reveal which tasks are gold. An answer that can still be undone is not compared with others',
    or it could be changed to match.
    """
    settled = (now or timezone.now()) - timedelta(seconds=project.undo_seconds)
    mine = Vote.objects.filter(person=person, state=VoteState.COUNTED, item__subtest__project=project)
    judged = mine.filter(created_at__lt=settled)
    beside = _judgements(project, Vote.objects.filter(item__in=judged.values("item")))
    return figures(_pieces(project, person), beside, {}).get(person.pk, Figures())


def skips_of(project: Project) -> list[tuple[str, str, int]]:
    """Return (stage, reason, number of skipped tasks), most first; the reason is "" if none was given. One query.

    Videos declined for their content are among those without a reason, so nothing reveals them.
    """
    skipped = Lease.objects.filter(task__project=project, ending=Ending.SKIPPED).order_by()
    counts: Counter[tuple[str, str]] = Counter()
    for stage, reason, n in skipped.values_list("task__stage", "skip_reason").annotate(n=Count("pk")):
        counts[public_stage(stage), reason] += n
    return [(stage, reason, n) for (stage, reason), n in counts.most_common()]


def _pieces(project: Project, person: User | None = None) -> Iterator[Piece]:
    own = {"person": person} if person is not None else {"person__isnull": False}
    rows = {
        Stage.EDIT: Edit.objects.filter(undone_at=None, group__run__project=project, **own),
        Stage.REVIEW: Review.objects.filter(undone_at=None, candidate__group__run__project=project, **own),
        Stage.OBJECTS: ObjectAnswer.objects.filter(undone_at=None, frame__check_of__project=project, **own),
    }
    for stage, pieces in rows.items():
        for pk, seconds, watch in pieces.values_list(*PIECE).order_by():
            yield Piece(pk, stage, seconds, _number(watch))
    public = {stage.value: str(public_stage(stage)) for stage in Stage}
    here = Q(item__subtest__project=project) | Q(gold__project=project)
    votes = Vote.objects.filter(here, **own).exclude(state=VoteState.UNDONE)
    for stage, pk, seconds, watch in votes.values_list("stage", *PIECE).order_by():
        yield Piece(pk, public[stage], seconds, _number(watch))


def _judgements(project: Project, votes: QuerySet[Vote] | None = None) -> Iterator[Judgement]:
    rows = Vote.objects.all() if votes is None else votes
    counted = rows.filter(item__subtest__project=project, stage=Stage.VALIDATION, state=VoteState.COUNTED).order_by()
    for item, foil, person, choice, first in counted.values_list("item", "foil", "person", "choice", "caption_first"):
        sided = first is not None and choice in (Choice.CAPTION, Choice.FOIL)
        yield Judgement((item, foil), person, choice, (choice == Choice.CAPTION) == first if sided else None)


def _gold(project: Project) -> dict[int, tuple[int, int]]:
    answers = Vote.objects.filter(gold__project=project).exclude(state=VoteState.UNDONE)
    rows = answers.values_list("person").annotate(right=Count("pk", filter=Q(choice=F("gold__answer"))), n=Count("pk"))
    return {person: (right, n) for person, right, n in rows.order_by()}


def _number(seconds: object) -> float | None:
    return seconds if isinstance(seconds, int | float) and not isinstance(seconds, bool) else None
