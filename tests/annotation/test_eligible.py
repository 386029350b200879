"""The query that a claim asks is the pure rule: random histories, every free slot, every person."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.models import Edit, Involvement, Review, Slot, SlotState, Stage, Vote
from annotation.queries.eligibility import leakage_of, lineage_of, person_facts, slots_in_scope, task_facts
from annotation.rules.eligibility import PersonFacts, TaskFacts, why_not
from foilworks.core.corpus.models import MediaState
from foilworks.core.projects.models import User
from generation.models import CandidateGroup
from tests import factories
from tests.annotation.world import later, make_world

NOW = later()
KINDS = [*Involvement.Kind.values]


@pytest.fixture
def scene(db):
    """Two videos; the first with two groups, of which one has an item, and one imported item; all stages open."""
    world = make_world()
    videos = [factories.make_video(world.project) for _ in range(2)]
    captions = [factories.make_caption(videos[i], f"caption {n}") for n, i in enumerate([0, 0, 1, 0])]
    groups = [factories.make_group(world.run, caption) for caption in captions[:3]]
    for group in groups:
        old = factories.make_candidate(group, "old", state="superseded")
        candidate = factories.make_candidate(group, "new", state="in_review", parent=old)
        factories.make_task(world.project, Stage.REVIEW, group.caption.video, candidate=candidate)
        factories.make_task(world.project, Stage.REVIEW, group.caption.video, candidate=candidate, second=True)
        factories.make_task(world.project, Stage.EDIT, group.caption.video, group=group)
    made = factories.make_item(world.subtest, captions[0])
    CandidateGroup.objects.filter(pk=groups[0].pk).update(item=made)
    for item in (made, factories.make_item(world.subtest, captions[3])):
        foil = item.foils.get()
        factories.make_task(world.project, Stage.VALIDATION, item.video, 2, item=item, foil=foil)
        factories.make_task(world.project, Stage.BASELINE, item.video, item=item)
        factories.make_task(world.project, Stage.UNSEEN, item.video, item=item)
    return world


def held_or_answered(person: User, slot: Slot) -> frozenset[int]:
    stages = [slot.stage, Stage.UNSEEN]
    if slot.stage == Stage.UNSEEN:
        stages += [Stage.VALIDATION, Stage.BASELINE]
    held = Slot.objects.filter(person=person, stage__in=stages).values_list("item", flat=True)
    return frozenset(item for item in held if item is not None)


def allowed_by_rule(person: User, slot: Slot, scope: str) -> bool:
    task: TaskFacts = task_facts(slot, NOW)
    facts: PersonFacts = person_facts(person, task)
    known = replace(facts, judged_items=facts.judged_items | held_or_answered(person, slot))
    return why_not(known, task, scope) is None


history = st.lists(
    st.tuples(
        st.sampled_from(["hand", "author", "edit", "return", "vote", "hold", "media", "reserve"]), st.integers(0, 99)
    ),
    max_size=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history, st.sampled_from(["video", "item"]))
def test_the_claims_query_gives_exactly_what_the_rule_allows(scene, history, scope):
    person = scene.people["pat"] = factories.make_member(scene.project, *["annotator", "reviewer", "validator"])
    type(scene.project).objects.update(leakage_scope=scope)
    scene.project.leakage_scope = scope
    _reset(scene)
    for what, number in history:
        _happen(scene, person, what, number)
    for stage in (Stage.EDIT, Stage.REVIEW, Stage.VALIDATION, Stage.BASELINE):
        slots = slots_in_scope(leakage_of(scene.project), stage, person=person.pk, project=scene.project.pk, now=NOW)
        given_out = set(slots.values_list("pk", flat=True))
        free = Slot.objects.filter(stage=stage, state=SlotState.FREE).select_related(
            "task__candidate", "task__item__candidate_group", "video"
        )
        own_tasks = set(Slot.objects.filter(person=person).values_list("task", flat=True))
        expected = {s.pk for s in free if s.task_id not in own_tasks and allowed_by_rule(person, s, scope)}
        assert given_out == expected, stage


def _reset(scene) -> None:
    Involvement.objects.all().delete()
    Vote.objects.all().delete()
    Review.objects.all().delete()
    Edit.objects.all().delete()
    Slot.objects.update(state=SlotState.FREE, person=None, reserved_for=None, reserved_until=None)
    for video in scene.project.videos.all():
        type(video).objects.filter(pk=video.pk).update(media_state=MediaState.READY)


def _happen(scene, person: User, what: str, number: int) -> None:
    groups = list(CandidateGroup.objects.order_by("pk"))
    group = groups[number % len(groups)]
    video = group.caption.video
    slots = list(Slot.objects.order_by("pk"))
    slot = slots[number % len(slots)]
    if what == "hand":
        Involvement.objects.get_or_create(
            project=scene.project,
            person=person,
            video=video,
            group=None if number % 5 == 0 else group,
            kind=KINDS[number % 3],
        )
    elif what == "author":
        group.candidates.filter(text="new").update(author=person)
        Involvement.objects.get_or_create(project=scene.project, person=person, video=video, group=group, kind="made")
    elif what == "edit":
        edit = Edit.objects.create(group=group, person=person, texts=["new"], idempotency_key=str(Edit.objects.count()))
        edit.candidates.set(group.candidates.all()[number % 2 :])
        Involvement.objects.get_or_create(project=scene.project, person=person, video=video, group=group, kind="made")
    elif what == "return":
        _return(scene, person, group, slot, number)
    elif what == "vote":
        _vote(person, slot, number)
    elif what == "hold":
        _hold(person, slot)
    elif what == "media":
        type(video).objects.filter(pk=video.pk).update(media_state=MediaState.MISSING)
    elif what == "reserve":
        who = person if number % 2 else scene.ann
        Slot.objects.filter(pk=slot.pk).update(reserved_for=who, reserved_until=later(hours=number % 3 - 1))


def _return(scene, person: User, group: CandidateGroup, slot: Slot, number: int) -> None:
    candidate = group.candidates.order_by("pk")[number % 2]
    Review.objects.create(
        candidate=candidate,
        person=person,
        decision="send_back" if number % 3 else "accept",
        undone_at=NOW if number % 4 == 0 else None,
        slot=slot,
        idempotency_key=str(Review.objects.count()),
    )
    Involvement.objects.get_or_create(
        project=scene.project, person=person, video=group.caption.video, group=group, kind="reviewed"
    )


def _vote(person: User, slot: Slot, number: int) -> None:
    if slot.item_id is None or Vote.objects.filter(item=slot.item, stage=slot.stage, person=person).exists():
        return
    Vote.objects.create(
        item=slot.item,
        foil=slot.task.foil,
        stage=slot.stage,
        person=person,
        choice="both",
        state=["surplus", "set_aside"][number % 2],
        idempotency_key=str(Vote.objects.count()),
    )


def _hold(person: User, slot: Slot) -> None:
    mine = Slot.objects.filter(person=person)
    if (
        mine.filter(task=slot.task).exists()
        or mine.filter(item=slot.item, stage=slot.stage, item__isnull=False).exists()
    ):
        return
    Slot.objects.filter(pk=slot.pk).update(state=SlotState.LEASED, person=person)


def test_a_lineage_goes_back_to_what_the_method_made(world):
    group = factories.make_group(world.run)
    first = factories.make_candidate(group, "one")
    second = factories.make_candidate(group, "two", parent=first)
    third = factories.make_candidate(group, "three", parent=second)
    assert lineage_of(third) == (third.pk, second.pk, first.pk)
    assert lineage_of(first) == (first.pk,)
