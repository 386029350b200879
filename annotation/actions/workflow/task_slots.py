"""Make and cancel tasks with their slots."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Q, QuerySet

from annotation.models import Ending, Lease, Slot, SlotState, Stage, Task, TaskState
from annotation.rules.baseline import MAX_TEXTS
from annotation.rules.ordering import FRESH, STARTED, priority
from annotation.rules.voting import drawn_in_full
from annotation.transactions import lock_rows
from foilworks.core.corpus.models import Foil, Item
from foilworks.core.corpus.rules.hard_foils import HARD_FOIL, Candidates, is_multiple_choice, stated_hard_foil
from foilworks.core.corpus.rules.states import FoilVerdict
from foilworks.core.projects.access import secret_seed
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.sql.fast_inserts import insert
from foilworks.core.projects.sql.prepared_queries import PreparedUpdate
from generation.models import Candidate, CandidateGroup

# Rows that one statement changes.
CHUNK = 500
FEW = 8


def edit_task(project: Project, group: CandidateGroup) -> Task:
    """Return an unsaved task to write the group's missing foils. The group comes with its caption."""
    return Task(project=project, stage=Stage.EDIT, video_id=group.caption.video_id, group=group)


def review_task(project: Project, candidate: Candidate, video_id: int) -> Task:
    """Return an unsaved task to decide on one candidate."""
    return Task(project=project, stage=Stage.REVIEW, video_id=video_id, candidate=candidate)


def second_review_task(project: Project, candidate: Candidate, video_id: int) -> Task:
    """Return an unsaved task to decide on a reviewed candidate, blind to the first decision."""
    return Task(project=project, stage=Stage.REVIEW, video_id=video_id, candidate=candidate, second=True)


def validation_tasks(project: Project, item: Item, foils: Sequence[Foil], votes: int) -> list[Task]:
    """Return unsaved tasks, one per caption-foil pair, with a slot per required vote.

    A multiple-choice item has one task with all its foils, if an answer by one key is possible.
    """
    seed = secret_seed("judged-in-full", project.pk)
    fields = {"project": project, "stage": Stage.VALIDATION, "video_id": item.video_id, "item": item, "overlap": votes}
    fields["in_full"] = drawn_in_full(seed, item.pk, item.subtest.full_share)
    if read := _judged_at_once(len(foils), item.extra, item.facts):
        hard = stated_hard_foil(read)
        return [Task(foil=foils[max(0, hard.index) if hard else 0], foils_asked=[foil.pk for foil in foils], **fields)]
    return [Task(foil=foil, **fields) for foil in foils]


def _judged_at_once(n_foils: int, extra: Any, facts: Any) -> Candidates | None:
    """Return the item if it is of multiple choice with few enough foils. Reads no text: what the record states."""
    read = Candidates("", "", ("",) * n_foils, extra or {}, facts or {})
    return read if is_multiple_choice(read) and n_foils < MAX_TEXTS else None


def judged_at_once(items: QuerySet[Item]) -> dict[int, tuple[int, int]]:
    """Return those of the items that get one task for all foils, each with its numbers of foils and of votes."""
    stated = items.filter(Q(facts__has_key=HARD_FOIL) | Q(extra__has_key="label")).annotate(n_foils=Count("foils"))
    rows = stated.order_by().values_list("pk", "n_foils", "subtest__votes_wanted", "extra", "facts")
    return {pk: (n_foils, votes) for pk, n_foils, votes, *read in rows.iterator() if _judged_at_once(n_foils, *read)}


def store(
    tasks: Sequence[Task],
    band: float = FRESH,
    reserved_for: User | None = None,
    reserved_until: datetime | None = None,
) -> None:
    """Save the tasks with their slots, placed in the queue within `band`."""
    reserved = {"reserved_for": reserved_for, "reserved_until": reserved_until}
    _add(Task, tasks)
    _add(Slot, [_slot(task, index, band, **reserved) for task in tasks for index in range(task.overlap)])


def _add(model: type[Task] | type[Slot], rows: Sequence[Any]) -> None:
    """Insert the rows; the few of one group or item in a statement that is compiled once per process."""
    if 0 < len(rows) <= FEW:
        insert(*rows)
    else:
        model.objects.bulk_create(rows, batch_size=CHUNK)


def draw_in_full(tasks: QuerySet[Task], project: Project, share: float) -> None:
    """Draw again which of the tasks, which nobody has seen, collect all votes."""
    seed = secret_seed("judged-in-full", project.pk)
    drawn_tasks = [pk for pk, item in tasks.values_list("pk", "item") if drawn_in_full(seed, item, share)]
    tasks.filter(in_full=True).update(in_full=False)
    for start in range(0, len(drawn_tasks), CHUNK):
        Task.objects.filter(pk__in=drawn_tasks[start : start + CHUNK]).update(in_full=True)


def add_slots(task: Task, before: int, overlap: int, people: Sequence[int] = (), until: datetime | None = None) -> None:
    """Give a pair that divides people more slots; these come before fresh tasks.

    The first ones are reserved for the people (ids) until then.
    """
    # A person who returns a slot, and a vote that fills the last one, wait.
    lock(task.pk)
    slots = [_slot(task, index, STARTED) for index in range(before, overlap)]
    for slot, person in zip(slots, people, strict=False):
        slot.reserved_for_id, slot.reserved_until = person, until
    Slot.objects.bulk_create(slots)
    Task.objects.filter(pk=task.pk).update(overlap=overlap)


def give_slots(tasks: QuerySet[Task], overlap: int) -> int:
    """Give each of the tasks, which nobody has seen, this many slots; return the number of tasks.

    All slots are new: a claim that waited for an old one would order the texts by its old number.
    """
    changed_tasks = tasks.exclude(overlap=overlap)
    Slot.objects.filter(task__in=changed_tasks).delete()
    slots = (_slot(task, index) for task in changed_tasks.iterator() for index in range(overlap))
    Slot.objects.bulk_create(slots, batch_size=500)
    return changed_tasks.update(overlap=overlap)


def cancel(tasks: QuerySet[Task], now: datetime) -> None:
    """Cancel the open ones of these tasks, with their free and leased slots; completed work stays."""
    ids = list(tasks.filter(state=TaskState.OPEN).values_list("pk", flat=True))
    if not ids:
        return
    open_slots = Slot.objects.filter(task__in=ids, state__in=[SlotState.FREE, SlotState.LEASED])
    # Waits for parallel claims, whose leases are visible only then. Locks slots before their task, as a submit does.
    lock_rows(open_slots)
    Task.objects.filter(pk__in=ids).update(state=TaskState.CANCELLED)
    Lease.objects.filter(slot__in=open_slots, ending=Ending.RUNNING).update(ending=Ending.CANCELLED, ended_at=now)
    open_slots.update(state=SlotState.CANCELLED, person=None, token="", expires_at=None)


def open_slots_of(tasks: QuerySet[Task]) -> list[int]:
    """Return the ids of the slots that `cancel` would cancel."""
    slots = Slot.objects.filter(task__in=tasks, state__in=[SlotState.FREE, SlotState.LEASED])
    return list(slots.filter(task__state=TaskState.OPEN).order_by("pk").values_list("pk", flat=True))


def reopen_cancelled(slots: Sequence[int]) -> None:
    """Free cancelled slots (ids) and reopen their tasks."""
    rows = Slot.objects.filter(pk__in=slots, state=SlotState.CANCELLED)
    lock_rows(rows)
    Task.objects.filter(slots__in=rows, state=TaskState.CANCELLED).update(state=TaskState.OPEN)
    rows.update(state=SlotState.FREE)


def lock(task_id: int) -> None:
    """Lock the task: others who finish or reopen it wait until the transaction ends."""
    lock_rows(Task.objects.filter(pk=task_id))


_FINISH = PreparedUpdate(lambda task: (Task.objects.filter(pk=task, state=TaskState.OPEN), {"state": TaskState.DONE}))


def finish(task: Task) -> None:
    """Mark the task as complete."""
    _FINISH(task=task.pk)


def finish_when_full(task_id: int) -> None:
    """Mark the task as complete if every slot is filled or cancelled."""
    # Two people who fill the last two slots at once would each see the other's still open.
    lock(task_id)
    unfilled = Slot.objects.filter(task=task_id, state__in=[SlotState.FREE, SlotState.LEASED])
    Task.objects.filter(~Exists(unfilled), pk=task_id, state=TaskState.OPEN).update(state=TaskState.DONE)


def stop_collecting(task: Task) -> None:
    """Cancel the free slots of a pair that no further vote can change; held slots can still be filled."""
    # A person who returns a slot now checks under the same lock if it is still needed.
    lock(task.pk)
    Slot.objects.filter(task=task, state=SlotState.FREE).update(state=SlotState.CANCELLED)
    finish_when_full(task.pk)


def reopen_for_votes(task: Task) -> None:
    """Reopen slots that were cancelled early, because a vote no longer counts."""
    lock(task.pk)
    stopped = Slot.objects.filter(task=task, state=SlotState.CANCELLED)
    if stopped.exclude(task__state=TaskState.CANCELLED).update(state=SlotState.FREE):
        Task.objects.filter(pk=task.pk, state=TaskState.DONE).update(state=TaskState.OPEN)


def cancel_if_decided(slot: Slot) -> None:
    """Cancel a returned slot if its pair was decided early meanwhile."""
    lock(slot.task_id)
    decided = Slot.objects.filter(pk=slot.pk, state=SlotState.FREE, task__stage=Stage.VALIDATION)
    if decided.exclude(task__foil__verdict=FoilVerdict.PENDING).update(state=SlotState.CANCELLED):
        finish_when_full(slot.task_id)


def _slot(task: Task, index: int, band: float = FRESH, **reserved: Any) -> Slot:
    """Return an unsaved slot of the task."""
    return Slot(
        task=task,
        project_id=task.project_id,
        stage=task.stage,
        video_id=task.video_id,
        item_id=task.item_id,
        index=index,
        priority=priority(band, secret_seed("queue", task.project_id), task.stage, _target(task)),
        **reserved,
    )


def _target(task: Task) -> int:
    return task.frame_id or task.foil_id or task.item_id or task.candidate_id or task.group_id
