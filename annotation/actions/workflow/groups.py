"""Move a candidate group towards its item: make the tasks it needs next, assemble the item from k accepted foils.

Assemble an item when its k candidates are accepted; disassemble it within the undo time.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from annotation.actions.workflow import task_slots
from annotation.actions.workflow.authoring import VERSION
from annotation.errors import AnnotationError
from annotation.models import Slot, SlotState, Stage, Task, TaskState, Vote
from annotation.rules.flow import GroupFacts, NextWork, next_work
from annotation.rules.ordering import FRESH, RETURNED
from annotation.transactions import lock_rows
from foilworks.core.corpus.models import GIVEN_UP, Caption, Foil, Item, ReleaseItem, Subtest, Video
from foilworks.core.corpus.release_records import OF_EACH_FOIL
from foilworks.core.corpus.rules.states import WITHDRAWN, CandidateState, FoilVerdict, ItemState, first_item_state
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.sql.bulk_writes import insert_many
from foilworks.core.projects.sql.fast_inserts import insert
from foilworks.core.projects.sql.prepared_queries import Prepared, PreparedUpdate
from generation.models import PERSON_METHOD, Candidate, CandidateGroup, GenerationRun

_RULE = Prepared(lambda pk: Subtest.objects.filter(pk=pk).values_list("votes_wanted", "full_share"))
_REQUEUED = Item.objects.filter(foils__candidate__group=OuterRef("group")).order_by("-pk").values("facts")[:1]


def _accepted(group: int, subtest: int, key: str) -> QuerySet[Candidate]:
    """Return the accepted candidates. Each has `key_taken`, whether an item of the subtest has the key, and
    `requeued_facts`, those of the item last requeued into the group.
    """
    rows = Candidate.objects.filter(group=group, state=CandidateState.ACCEPTED, foil=None).order_by("rank", "pk")
    taken = Item.objects.filter(subtest=subtest, key=key)
    return rows.annotate(key_taken=Exists(taken), requeued_facts=Subquery(_REQUEUED))


_ACCEPTED = Prepared(_accepted)
_SET_FOIL = PreparedUpdate(lambda candidate, foil: (Candidate.objects.filter(pk=candidate), {"foil": foil}))
_SET_ITEM = PreparedUpdate(lambda group, item: (CandidateGroup.objects.filter(pk=group), {"item": item}))
_OPEN = Task.objects.filter(state=TaskState.OPEN).order_by().values_list("pk", flat=True)
# A union: an OR over two tables would read all tasks there are.
_OPEN_TASKS = Prepared(
    lambda group: _OPEN.filter(candidate__group=group, second=False).union(_OPEN.filter(group=group), all=True)
)
# Of a caption's key, in the key of its item.
MAX_KEY = 180
CHUNK = 500


def assemble(group: CandidateGroup, actor: User | None, now: datetime) -> Item:
    """Make the item of a group whose foils are accepted, link it to its proficiency item, and open its tasks."""
    subtest, project = group.run.subtest, group.run.project
    votes = refresh_rule(subtest)
    if subtest.proficiency_subtest_id or subtest.kind == Subtest.Kind.PROFICIENCY:
        _lock_pairs(group.caption.video_id)
    state = first_item_state(votes)
    key = _key_of(group)
    candidates = _ACCEPTED.all(group=group.pk, subtest=subtest.pk, key=key)[: subtest.foils_per_item]
    item = _new_item(group, _free_key(subtest, key) if candidates[0].key_taken else key, state, now)
    item.proficiency_item = proficiency_item(subtest, group.caption)
    item.facts = _of_item(candidates[0].requeued_facts)
    insert(item)
    foils = _make_foils(candidates, item, FoilVerdict.PENDING if votes else FoilVerdict.VALID)
    group.item = item
    _SET_ITEM(group=group.pk, item=item.pk)
    if subtest.kind == Subtest.Kind.PROFICIENCY:
        link_main_items(item)
    if open_tasks := _OPEN_TASKS.all(group=group.pk):
        task_slots.cancel(Task.objects.filter(pk__in=open_tasks), now)
    task_slots.store(task_slots.validation_tasks(project, item, foils, votes) if votes else [])
    audit.record(audit.event(project, actor, "assemble", item, to_state=state, group=group.pk))
    return item


def assemble_many(groups: Sequence[CandidateGroup], actor: User | None, now: datetime) -> None:
    """Do the same for groups of one subtest without proficiency items, in the statements of one.

    The subtest's rule is read and locked (`refresh_rule`), and no item was requeued into a group. A key that is taken,
    or that two of the groups have, is found by `assemble`.
    """
    subtest = groups[0].run.subtest
    votes, keys = subtest.votes_wanted, Counter(_key_of(group) for group in groups)
    taken = set(Item.objects.filter(subtest=subtest, key__in=list(keys)).values_list("key", flat=True))
    own_key = [group for group in groups if keys[_key_of(group)] == 1 and _key_of(group) not in taken]
    accepted: dict[int, list[Candidate]] = defaultdict(list)
    rows = Candidate.objects.filter(group__in=own_key, state=CandidateState.ACCEPTED, foil=None)
    for candidate in rows.order_by("rank", "pk"):
        accepted[candidate.group_id].append(candidate)
    state = first_item_state(votes)
    items = [_new_item(group, _key_of(group), state, now) for group in own_key]
    insert_many(items, now)
    verdict = FoilVerdict.PENDING if votes else FoilVerdict.VALID
    chosen = [accepted[group.pk][: subtest.foils_per_item] for group in own_key]
    foils = [_new_foils(candidates, item, verdict) for candidates, item in zip(chosen, items, strict=True)]
    insert_many([foil for own in foils for foil in own], now)
    for group, item, candidates, own in zip(own_key, items, chosen, foils, strict=True):
        group.item = item
        for candidate, foil in zip(candidates, own, strict=True):
            candidate.foil = foil
    CandidateGroup.objects.bulk_update(own_key, ["item"], batch_size=CHUNK)
    Candidate.objects.bulk_update([c for candidates in chosen for c in candidates], ["foil"], batch_size=CHUNK)
    of_groups = _OPEN.filter(candidate__group__in=own_key, second=False).union(
        _OPEN.filter(group__in=own_key), all=True
    )
    if open_tasks := list(of_groups):
        task_slots.cancel(Task.objects.filter(pk__in=open_tasks), now)
    pairs = zip(items, foils, strict=True)
    project = groups[0].run.project
    task_slots.store(
        [t for item, own in pairs for t in task_slots.validation_tasks(project, item, own, votes) if votes]
    )
    audit.record_many(
        audit.event(project, actor, "assemble", item, to_state=state, group=group.pk)
        for group, item in zip(own_key, items, strict=True)
    )
    for group in groups:
        if group.item_id is None:
            assemble(group, actor, now)


def _key_of(group: CandidateGroup) -> str:
    return group.caption.key[:MAX_KEY]


def _new_item(group: CandidateGroup, key: str, state: ItemState, now: datetime) -> Item:
    """Return the unsaved item of a group."""
    return Item(
        project=group.run.project,
        subtest=group.run.subtest,
        video_id=group.caption.video_id,
        caption=group.caption,
        key=key,
        state=state,
        decided_at=now if state == ItemState.VALID else None,
    )


def link_main_items(item: Item) -> None:
    """Link waiting items of this video to this proficiency item; does nothing for a main subtest's item."""
    waiting_items = Item.objects.filter(
        subtest__proficiency_subtest=item.subtest_id, video=item.video_id, proficiency_item=None
    )
    waiting_items.exclude(state__in=WITHDRAWN).update(proficiency_item=item)


def unlink_main_items(item: Item) -> list[int]:
    """Unlink a removed proficiency item from its main items; another one of the video takes its place.

    Return the ids of the main items.
    """
    if item.subtest.kind == Subtest.Kind.PROFICIENCY:
        _lock_pairs(item.video_id)
    orphans = list(Item.objects.filter(proficiency_item=item).values_list("pk", flat=True))
    if not orphans:
        return []
    heirs = Item.objects.filter(subtest=item.subtest_id, video=item.video_id).exclude(pk=item.pk)
    heir = heirs.exclude(state__in=WITHDRAWN).order_by("pk").first()
    Item.objects.filter(pk__in=orphans).update(proficiency_item=heir)
    return orphans


def _lock_pairs(video: int) -> None:
    """Let one transaction at a time pair the items of the video.

    An item and its proficiency item that are added or removed at once would miss each other.
    """
    lock_rows(Video.objects.filter(pk=video))


def take_apart(group: CandidateGroup, project: Project, actor: User) -> None:
    """Undo `assemble` while nothing has followed: the accepted candidates stay accepted, the item is deleted."""
    item = group.item
    untouched = not Slot.objects.filter(item=item).exclude(state=SlotState.FREE).exists()
    if not untouched or item.state in WITHDRAWN or in_use(item):
        raise AnnotationError(
            _("The item built from this foil is already in use. Ask the project's researcher to correct it.")
        )
    audit.record(audit.event(project, actor, "take_apart", item, from_state=item.state, group=group.pk))
    unlink_main_items(item)
    item.delete()
    group.item = None


def in_use(item: Item) -> bool:
    """Return whether the item has votes or is part of a release."""
    return Vote.objects.filter(item=item).exists() or ReleaseItem.objects.filter(item=item).exists()


def refresh_rule(subtest: Subtest) -> int:
    """Return the votes per pair, and read the share judged in full, locked until the transaction ends.

    The loaded row may be outdated. The foreign key's own lock is not enough: its constraint is deferred, so the lock
    comes at the commit. Django has no name for a lock that two transactions can share.
    """
    if connection.features.has_select_for_update:
        with connection.cursor() as cursor:
            cursor.execute(_shared_rule(), [subtest.pk])
            votes_per_pair, subtest.full_share = cursor.fetchone()
    else:
        votes_per_pair, subtest.full_share = _RULE.first(pk=subtest.pk)
    return votes_per_pair


@cache
def _shared_rule() -> str:
    sql, _parameters = Subtest.objects.filter(pk=0).values_list("votes_wanted", "full_share").query.sql_with_params()
    return f"{sql} FOR KEY SHARE"


def _make_foils(candidates: Sequence[Candidate], item: Item, verdict: FoilVerdict) -> list[Foil]:
    """Create the item's foils; with no votes to collect, the reviewers' acceptance gives the `verdict`."""
    foils = _new_foils(candidates, item, verdict)
    insert(*foils)
    for candidate, foil in zip(candidates, foils, strict=True):
        _SET_FOIL(candidate=candidate.pk, foil=foil.pk)
    return foils


def _new_foils(candidates: Sequence[Candidate], item: Item, verdict: FoilVerdict) -> list[Foil]:
    return [
        Foil(item=item, position=index, text=c.text, text_sha256=c.text_sha256, verdict=verdict)
        for index, c in enumerate(candidates)
    ]


def proficiency_item(subtest: Subtest, caption: Caption) -> Item | None:
    """Return the video's live item in the proficiency subtest; one about the same caption comes first."""
    if subtest.proficiency_subtest_id is None:
        return None
    proficiency_items = Item.objects.filter(subtest=subtest.proficiency_subtest_id, video=caption.video_id)
    items = list(proficiency_items.exclude(state__in=WITHDRAWN).order_by("pk"))
    return min(items, key=lambda item: item.caption_id != caption.pk, default=None)


def _of_item(facts: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the facts without those of each foil, which belong to the foils."""
    if facts is None:
        return None
    return {name: fact for name, fact in facts.items() if not (name in OF_EACH_FOIL and isinstance(fact, list))}


def _free_key(subtest: Subtest, stem: str) -> str:
    """Return the key with the first free number appended; equal projects get equal keys."""
    taken_keys = set(Item.objects.filter(subtest=subtest, key__startswith=stem).values_list("key", flat=True))
    number, key = 1, stem
    while key in taken_keys:
        number += 1
        key = f"{stem}~{number}"
    return key


# Returned work without a group; groups of a subtest share runs that record where they come from.
REOPENED = "reopened"
C = CandidateState


def _counts(group: int) -> QuerySet[Candidate, tuple[int, ...]]:
    """Return the counts named in _COUNTED; nothing if the group has no candidates."""
    return _grouped(Candidate.objects.filter(group=group)).values_list(*_COUNTED)


def _grouped(candidates: QuerySet[Candidate]) -> QuerySet[Any, Any]:
    """Return the counts of candidates by group."""

    def count(condition: Q) -> Count:
        return Count("pk", filter=condition)

    made_by_method = Q(parent=None) & ~Q(method=PERSON_METHOD) & ~Q(state__in=[C.GENERATED, C.FILTERED_OUT])
    return (
        candidates.order_by()
        .values("group")
        .annotate(
            accepted=count(Q(state=C.ACCEPTED, foil=None)),
            in_review=count(Q(state=C.IN_REVIEW)),
            claimable=count(Q(state__in=[C.QUEUED, C.RETURNED])),
            editing=count(Q(state=C.EDITING)),
            suggestions=count(made_by_method),
        )
    )


def _open_tasks(tasks: QuerySet[Task]) -> QuerySet[Task]:
    """Return the group's open tasks; with `held`, also whether somebody holds each."""
    leased = Slot.objects.filter(task=OuterRef("pk"), state=SlotState.LEASED)
    return tasks.filter(state=TaskState.OPEN).annotate(held=Exists(leased))


_COUNTED = ("accepted", "in_review", "claimable", "editing", "suggestions")
_COUNTS = Prepared(_counts)
_OPEN_EDITS = Prepared(
    lambda group: _open_tasks(Task.objects.filter(group=group, stage=Stage.EDIT)).values_list("pk", "held")
)
_OPEN_REVIEWS = Prepared(
    lambda group: (
        _open_tasks(Task.objects.filter(candidate__group=group, stage=Stage.REVIEW, second=False))
        .order_by("candidate__rank", "candidate_id")
        .values_list("pk", "candidate", "held")
    )
)
_IN_REVIEW = Prepared(lambda group: Candidate.objects.filter(group=group, state=C.IN_REVIEW).order_by("rank", "pk"))


def locked_group(pk: int) -> CandidateGroup:
    """Return the group with run, subtest, project and caption; other writes on it wait until the transaction ends."""
    groups = CandidateGroup.objects.select_related("run__subtest", "run__project", "caption")
    return groups.select_for_update(of=("self",), no_key=True).get(pk=pk)


def reopened_group(subtest: Subtest, caption: Caption, person: User) -> CandidateGroup:
    """Return a new group in which people can write, for an imported item or a corrected caption."""
    runs = GenerationRun.objects.filter(subtest=subtest, method=PERSON_METHOD, mode=REOPENED)
    run = runs.exclude(groups__caption=caption).first() or GenerationRun.objects.create(
        project=subtest.project,
        subtest=subtest,
        method=PERSON_METHOD,
        method_version=VERSION,
        mode=REOPENED,
        created_by=person,
    )
    return CandidateGroup.objects.create(run=run, caption=caption, tasked=True)


def group_facts(group: CandidateGroup) -> GroupFacts:
    """Return the counts that decide what the group needs next, in one query."""
    return _facts_of(group, _COUNTS.first(group=group.pk))


def advance_many(groups: Sequence[CandidateGroup], actor: User | None, now: datetime) -> None:
    """Do as `advance` for locked groups of one project; those that become plain items in a few statements together."""
    rows = _grouped(Candidate.objects.filter(group__in=groups)).values_list("group", *_COUNTED)
    counts = {pk: numbers for pk, *numbers in rows}
    requeued = set(
        Item.objects.filter(foils__candidate__group__in=groups).values_list("foils__candidate__group", flat=True)
    )
    ready: dict[int, list[CandidateGroup]] = defaultdict(list)
    for group in groups:
        subtest = group.run.subtest
        is_plain = subtest.kind == Subtest.Kind.MAIN and subtest.proficiency_subtest_id is None
        is_open = group.item_id is None and group.caption.doubt_settled not in GIVEN_UP
        if (
            is_plain
            and is_open
            and group.pk not in requeued
            and next_work(_facts_of(group, counts.get(group.pk))).assemble
        ):
            ready[subtest.pk].append(group)
        else:
            advance(group, actor, now)
    for of_subtest in ready.values():
        assemble_many(of_subtest, actor, now)


def _facts_of(group: CandidateGroup, counts: Sequence[int] | None) -> GroupFacts:
    counts = counts or (0,) * len(_COUNTED)
    run = group.run
    return GroupFacts(
        wanted=run.subtest.foils_per_item,
        by_person=run.method == PERSON_METHOD,
        edit_stage=run.project.edit_stage,
        **dict(zip(_COUNTED, counts, strict=True)),
    )


def advance(
    group: CandidateGroup,
    actor: User | None,
    now: datetime,
    *,
    reserved_for: User | None = None,
    reserved_until: datetime | None = None,
) -> None:
    """Bring the group's open tasks in line with its candidates, or assemble its item. The group is locked.

    A free task that is no longer needed is cancelled; one that somebody holds stays. `reserved_for`: the author of a
    returned foil, for whom a new edit task is reserved.
    """
    if group.item_id is not None or group.caption.doubt_settled in GIVEN_UP:
        return
    needed = next_work(group_facts(group))
    if needed.assemble:
        assemble(group, actor, now)
        return
    _set_reviews(group, needed, now)
    open_edits = _OPEN_EDITS.all(group=group.pk)
    if needed.edit and not open_edits:
        band = RETURNED if reserved_for else FRESH
        task_slots.store([task_slots.edit_task(group.run.project, group)], band, reserved_for, reserved_until)
    elif not needed.edit:
        _cancel([task for task, is_leased in open_edits if not is_leased], now)


def _set_reviews(group: CandidateGroup, needed: NextWork, now: datetime) -> None:
    """Open as many review tasks as foils are missing, best-ranked first; those that people hold count and stay."""
    tasks = _OPEN_REVIEWS.all(group=group.pk)
    free_tasks = [task for task, _candidate, is_leased in tasks if not is_leased]
    room = max(0, needed.reviews - (len(tasks) - len(free_tasks)))
    _cancel(free_tasks[room:], now)
    missing = room - len(free_tasks)
    if missing <= 0:
        return
    candidates_with_task = {candidate for _task, candidate, _held in tasks}
    new = [candidate for candidate in _IN_REVIEW.all(group=group.pk) if candidate.pk not in candidates_with_task][
        :missing
    ]
    task_slots.store(
        [task_slots.review_task(group.run.project, candidate, group.caption.video_id) for candidate in new]
    )


def _cancel(tasks: Sequence[int], now: datetime) -> None:
    if tasks:
        task_slots.cancel(Task.objects.filter(pk__in=tasks), now)
