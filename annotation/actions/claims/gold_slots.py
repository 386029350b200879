"""Gold among real work: which pair a person gets, and its slot, made for them alone."""

import secrets
from functools import cache

from django.db.models import QuerySet

from annotation.models import (
    GoldPair,
    Slot,
    SlotState,
    Stage,
    Standing,
    Task,
)
from annotation.queries.gold import skipped, unseen
from annotation.queries.lookahead import SPREAD, with_what_follows
from annotation.rules.gold_serving import gold_caption_first, gold_is_due, pick
from annotation.rules.ordering import FRESH
from foilworks.core.projects.models import User
from foilworks.core.projects.sql.prepared_queries import Prepared

# Maximum of gold slots that wait for a person. They are filled up after a fixed number of tasks, due or not, so that
# the cost of a claim reveals nothing about gold.
GOLD_AHEAD = 10


def is_due(standing: Standing) -> bool:
    """Return whether the person's next task is gold."""
    return bool(standing.gold_ahead) and _due(standing, standing.served)


def upcoming(standing: Standing) -> tuple[int, int] | None:
    """Return (slot, video) of the gold that follows the current task, if gold is due then.

    Its clip is loaded ahead, like any other.
    """
    if not standing.gold_ahead or not _due(standing, standing.served + 1):
        return None
    slot, video = standing.gold_ahead[0]
    return slot, video


def caption_first(standing: Standing, person: User) -> bool:
    """Return whether the caption of the next gold is shown first."""
    return gold_caption_first(standing.policy.secret, person.pk, standing.gold_served)


def fill_up(standing: Standing, person: User) -> None:
    """Choose the person's next gold pairs and make their slots, at the first task and then at fixed intervals.

    The caller stores the counts with the task that it assigns.
    """
    if not standing.policy.gold_rate or standing.served % GOLD_AHEAD:
        return
    taken = Slot.objects.filter(pk__in=[slot for slot, _video in standing.gold_ahead]).values("task__gold")
    ids = unseen(person.pk, standing.policy.project_id).exclude(pk__in=taken).values_list("pk", flat=True)
    pair_ids = pick(standing.policy.secret, person.pk, ids, GOLD_AHEAD - len(standing.gold_ahead))
    pairs = {pair.pk: pair for pair in GoldPair.objects.filter(pk__in=pair_ids)}
    of_pair = [
        {"project_id": pair.project_id, "video_id": pair.video_id, "stage": Stage.GOLD} for pair in pairs.values()
    ]
    tasks_to_create = [
        Task(gold=pair, overlap=0, **fields) for pair, fields in zip(pairs.values(), of_pair, strict=True)
    ]
    Task.objects.bulk_create(tasks_to_create, ignore_conflicts=True)
    tasks = dict(Task.objects.filter(gold__in=pair_ids, stage=Stage.GOLD).values_list("gold", "pk"))
    Slot.objects.bulk_create(
        (
            Slot(task_id=tasks[pk], index=person.pk, priority=FRESH, **fields)
            for pk, fields in zip(pairs, of_pair, strict=True)
        ),
        ignore_conflicts=True,
    )
    slots = dict(Slot.objects.filter(task__in=tasks.values(), index=person.pk).values_list("task", "pk"))
    standing.gold_ahead += [[slots[tasks[pk]], pairs[pk].video_id] for pk in pair_ids]


def take_skipped(standing: Standing, person: User, n_others: int, *, caption_once: bool) -> Slot | None:
    """Return a gold slot that the person skipped, locked, if drawn among that many skipped tasks, else None."""
    project = standing.policy.project_id
    slots = list(skipped(person.pk, project).values_list("pk", flat=True))
    if not slots or secrets.randbelow(len(slots) + n_others) >= len(slots):
        return None
    whose = {"person": person.pk, "project": project, "rest": secrets.randbelow(SPREAD), "caption_once": caption_once}
    return with_what_follows(_free(slots[0], person.pk), Stage.GOLD, **whose).first()


def _due(standing: Standing, served: int) -> bool:
    policy = standing.policy
    return gold_is_due(policy.secret, standing.person_id, served, policy.gold_rate)


@cache
def waiting_place(*, caption_once: bool) -> Prepared[Slot]:
    """Return slot `pk` with what its card shows and what follows it, locked, if the person may still have the pair."""

    def build(pk: int, person: int, project: int, rest: int) -> QuerySet[Slot]:
        whose = {"person": person, "project": project, "rest": rest, "caption_once": caption_once}
        allowed = _free(pk, person).filter(task__gold__in=unseen(person, project))
        return with_what_follows(allowed, Stage.GOLD, **whose)

    return Prepared(build)


def _free(pk: int, person: int) -> QuerySet[Slot]:
    slots = Slot.objects.select_related("video", "task__gold__subtest", "task__gold__item")
    return slots.filter(pk=pk, index=person, state=SlotState.FREE).select_for_update(of=("self",), no_key=True)
