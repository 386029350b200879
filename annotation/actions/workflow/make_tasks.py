"""Make tasks for waiting candidate groups and imported items."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from functools import partial

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.actions.workflow import task_slots
from annotation.actions.workflow.groups import advance
from annotation.models import Stage, Task, TaskState
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.corpus.models import GIVEN_UP, Caption, Foil, Item
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.jobs.models import JobState
from foilworks.core.projects.models import Project
from foilworks.core.projects.sql.prepared_queries import Prepared
from generation.models import Candidate, CandidateGroup

BATCH = 500
# New work of a run or import gets its tasks when somebody opens a queue, so that the counts are right. One look makes
# tasks for at most this many groups and items, so that it stays quick behind a large run.
MAX_GROUPS_PER_CALL = 1_000


def make_tasks(project: Project, *, limit: int | None = None, only_if_first: bool = False) -> int:
    """Make the missing tasks of up to `limit` groups and as many items; return how many got theirs.

    Written as the system: claims call it, so that the order of jobs does not matter. A group whose candidates were all
    filtered out gets no task (and is listed so), unless people write its foils.

    `only_if_first`: make no tasks of items if another request made some while this one waited for it. Else a queue that
    runs empty stops everybody at work for as long as all of them need to make more.
    """
    items = partial(_items_batch, only_if_first=only_if_first)
    return task_groups(project, limit=limit) + _in_batches(items, project, limit)


def task_groups(project: Project, *, limit: int | None = None) -> int:
    """Make the tasks of groups only: one cheap query if there is nothing to do."""
    return _in_batches(_groups_batch, project, limit)


def _in_batches(make: Callable[[Project, int], int], project: Project, limit: int | None) -> int:
    done = 0
    while limit is None or done < limit:
        n_made = make(project, BATCH if limit is None else min(BATCH, limit - done))
        done += n_made
        if not n_made:
            break
    return done


def make_tasks_where_missing(projects: Collection[Project], idle: Collection[Project], limit: int) -> int:
    """Make the missing tasks of several projects: new groups of all, imported items of `idle` ones.

    A project is idle if nobody in it has anything to validate. Two queries if there is nothing to do. Only idle
    projects are searched for items, because that query reads every item in validation.
    """
    by_id = {project.pk: project for project in (*projects, *idle)}
    waiting_groups = _ready(CandidateGroup.objects.filter(run__project__in=projects)) if projects else None
    project_ids = (
        set()
        if waiting_groups is None
        else set(waiting_groups.order_by().values_list("run__project", flat=True).distinct())
    )
    if idle:
        items = _untasked(Item.objects.filter(subtest__project__in=idle))
        project_ids |= set(items.order_by().values_list("subtest__project", flat=True).distinct())
    return sum(make_tasks(by_id[pk], limit=limit) for pk in sorted(project_ids))


def groups_without_tasks(project: Project | int) -> QuerySet[CandidateGroup]:
    """Return filtered groups of runs that are not cancelled and have no tasks yet."""
    return _ready(CandidateGroup.objects.filter(run__project=project))


def _ready(groups: QuerySet[CandidateGroup]) -> QuerySet[CandidateGroup]:
    waiting_groups = groups.filter(tasked=False)
    unfiltered = Candidate.objects.filter(group=OuterRef("pk"), state=CandidateState.GENERATED)
    waiting_groups = waiting_groups.exclude(run__job__state=JobState.CANCELLED).exclude(
        caption__doubt_settled__in=GIVEN_UP
    )
    return waiting_groups.exclude(Exists(unfiltered))


_GROUPS_WAIT = Prepared(lambda project: groups_without_tasks(project).values_list("pk")[:1])


def _groups_batch(project: Project, size: int) -> int:
    if not _GROUPS_WAIT.all(project=project.pk):
        return 0
    return run_in_transaction(lambda: _give_tasks_to_groups(project, size))


def _give_tasks_to_groups(project: Project, size: int) -> int:
    serialize_writes(project)
    rows = groups_without_tasks(project).select_related("run__subtest", "run__project", "caption")
    # Rows that others are changing now are left for the next time.
    rows = rows.select_for_update(of=("self",), no_key=True, skip_locked=True)
    locked_groups = list(rows.order_by("pk")[:size])
    # A caption may have been dropped while this waited for the lock.
    captions = Caption.objects.filter(pk__in=[group.caption_id for group in locked_groups], doubt_settled__in=GIVEN_UP)
    given_up = set(captions.values_list("pk", flat=True))
    groups = [group for group in locked_groups if group.caption_id not in given_up]
    _task_groups(project, groups)
    CandidateGroup.objects.filter(pk__in=[group.pk for group in groups]).update(tasked=True)
    return len(groups)


def _task_groups(project: Project, groups: Sequence[CandidateGroup]) -> None:
    """Make tasks of groups: fresh ones whose candidates are all queued in one bulk write, others one by one."""
    states: dict[int, set[str]] = defaultdict(set)
    candidates = CandidateGroup.objects.filter(pk__in=[group.pk for group in groups], candidates__isnull=False)
    for group_id, state in candidates.values_list("pk", "candidates__state").distinct():
        states[group_id].add(state)
    groups_with_task = set(
        Task.objects.filter(group__in=groups, state=TaskState.OPEN).values_list("group_id", flat=True)
    )
    fresh = []
    for group in groups:
        if (
            states[group.pk] - {"filtered_out"} == {"queued"}
            and group.pk not in groups_with_task
            and group.item_id is None
        ):
            fresh.append(task_slots.edit_task(project, group))
        else:
            advance(group, None, timezone.now())
    task_slots.store(fresh)


def items_without_tasks(project: Project | int) -> QuerySet[Item]:
    """Return items in validation that have no tasks, such as those imported without votes."""
    return _untasked(Item.objects.filter(subtest__project=project))


def _untasked(items: QuerySet[Item]) -> QuerySet[Item]:
    validation_tasks = Task.objects.filter(item=OuterRef("pk"), stage=Stage.VALIDATION)
    return items.filter(
        ~Exists(validation_tasks),
        Exists(Foil.objects.filter(item=OuterRef("pk"))),
        subtest__votes_wanted__gt=0,
        state=ItemState.IN_VALIDATION,
    )


def _items_batch(project: Project, size: int, *, only_if_first: bool) -> int:
    first = next(iter(items_without_tasks(project).values_list("pk", flat=True)[:1]), None)
    if first is None:
        return 0
    return run_in_transaction(lambda: _give_tasks_to_items(project, size, first if only_if_first else None))


def _give_tasks_to_items(project: Project, size: int, first: int | None) -> int:
    """Make tasks for the next items, unless `first`, an item that had none, has some by now."""
    serialize_writes(project)
    if first is not None and Task.objects.filter(item=first, stage=Stage.VALIDATION).exists():
        return 0
    waiting_items = items_without_tasks(project).select_related("subtest").prefetch_related("foils")
    items = list(waiting_items.order_by("pk")[:size])
    tasks = [
        task
        for item in items
        for task in task_slots.validation_tasks(project, item, item.foils.all(), item.subtest.votes_wanted)
    ]
    task_slots.store(tasks)
    return len(items)
