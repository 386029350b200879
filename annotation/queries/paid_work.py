"""Work by person, stage and day, and its pay: the queries for annotation.rules.pay."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from annotation.models import Edit, ObjectAnswer, PayPolicy, PayRate, Review, Stage, Vote, VoteState
from annotation.models.stages import public_stage
from annotation.rules.pay import PaidWork, Rate, Statement, statement
from foilworks.core.projects.models import Project, User

# Stages that can be paid: practice and the qualification are not work, gold is paid as validation.
PAID = (Stage.EDIT, Stage.REVIEW, Stage.VALIDATION, Stage.BASELINE, Stage.OBJECTS)


def policy_of(project: Project) -> PayPolicy:
    """Return the project's row, or an unsaved one: no minimum, no rates."""
    return PayPolicy.objects.filter(project=project).first() or PayPolicy(project=project)


def rates_of(project: Project) -> dict[str, Rate]:
    return {row.stage: Rate(row.unit, row.amount) for row in PayRate.objects.filter(project=project)}


def paid_work(project: Project, person: User | None = None) -> list[PaidWork]:
    """Return work that was not undone, of everybody or one person, by person, stage and day. Four queries."""
    cells: dict[tuple[int, str, date], list[float]] = defaultdict(lambda: [0, 0, 0.0])
    for stage, rows in _pieces(project, person):
        for pk, kind, day, pieces, timed, seconds in rows:
            cell = cells[pk, public_stage(kind or stage), day]
            cell[0], cell[1], cell[2] = cell[0] + pieces, cell[1] + timed, cell[2] + (seconds or 0.0)
    return [PaidWork(*key, int(pieces), int(timed), seconds) for key, (pieces, timed, seconds) in sorted(cells.items())]


def _pieces(project: Project, person: User | None) -> Iterable[tuple[str, Iterable[tuple]]]:
    own = {"person": person} if person is not None else {"person__isnull": False}
    edits = Edit.objects.filter(undone_at=None, group__run__project=project, **own)
    reviews = Review.objects.filter(undone_at=None, candidate__group__run__project=project, **own)
    here = Q(item__subtest__project=project) | Q(gold__project=project)
    votes = Vote.objects.filter(here, **own).exclude(state=VoteState.UNDONE)
    objects = ObjectAnswer.objects.filter(undone_at=None, frame__check_of__project=project, **own)
    for stage, rows in ((Stage.EDIT, edits), (Stage.REVIEW, reviews), (Stage.OBJECTS, objects)):
        yield stage, [(pk, None, *rest) for pk, *rest in _cells(rows)]
    yield Stage.VALIDATION, _cells(votes, "stage")


def _cells(rows: QuerySet, *columns: str) -> Iterable[tuple]:
    by = rows.annotate(day=TruncDate("created_at")).values_list("person", *columns, "day").order_by()
    return by.annotate(n=Count("pk"), timed=Count("seconds_spent"), seconds=Sum(F("seconds_spent")))


def pay_of(project: Project, person: User | None = None) -> tuple[PayPolicy, dict[str, Rate], Statement]:
    """Return the policy, the rates and the resulting pay. Six queries."""
    policy, rates = policy_of(project), rates_of(project)
    return policy, rates, statement(paid_work(project, person), rates, policy.floor)
