"""Open assignments with their progress, counted from the ledger: submitted work that nothing reversed."""

from collections.abc import Collection
from datetime import date

from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Assignment, PayEntry, Slot, SlotState, Stage
from annotation.models.stages import stages_shown_as
from foilworks.core.projects.models import Project, User


def open_assignments(project: Project, today: date, person: User | None = None) -> list[Assignment]:
    """Return open assignments, of everybody or one person, each with `done`, `label` and `is_late`. One query."""
    own = {} if person is None else {"person": person}
    rows = _with_progress(Assignment.objects.filter(project=project, ended_at=None, **own).select_related("person"))
    for row in rows:
        row.label = Stage(row.stage).label
        row.is_late = row.due is not None and row.due < today and row.done < row.quota
    return list(rows)


def tasks_left(person: User, project: Project, stage: str) -> int | None:
    """Return how many tasks of the person's quota are left; None without an assignment."""
    mine = Assignment.objects.filter(project=project, person=person, stage=stage, ended_at=None)
    row = _with_progress(mine).values_list("quota", "done").first()
    return None if row is None else max(0, row[0] - row[1])


def quotas_left(projects: Collection[Project], person: User | None = None) -> dict[tuple[int, str, int], int]:
    """Return (project, stage, person) -> tasks left of the quota, of everybody or one person. One query."""
    own = {} if person is None else {"person": person}
    rows = _with_progress(Assignment.objects.filter(project__in=projects, ended_at=None, **own))
    columns = rows.values_list("project", "stage", "person", "quota", "done")
    return {(project, stage, pk): max(0, quota - done) for project, stage, pk, quota, done in columns}


def within_quota(n: int, left: int, person: User, project: int, stage: str) -> int:
    """Return `n`, but no more than the tasks `left` of the quota besides those that the person holds. One query."""
    slots = Slot.objects.filter(project=project, stage__in=stages_shown_as(stage), person=person)
    n_held = slots.filter(state=SlotState.LEASED).values("task").distinct().count()
    return min(n, max(0, left - n_held))


def _with_progress(rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    same = {name: OuterRef(name) for name in ("project", "person", "stage")}
    entries = PayEntry.objects.filter(reverses=None, reversal=None, created_at__gte=OuterRef("created_at"), **same)
    n_done = entries.order_by().values("person").annotate(n=Count("pk")).values("n")
    return rows.annotate(done=Coalesce(Subquery(n_done), 0)).order_by(F("due").asc(nulls_last=True), "pk")
