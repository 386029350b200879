from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.leases.leasing import release
from annotation.actions.settings.work_settings import publish_guideline
from annotation.errors import AnnotationError
from annotation.models import Involvement, Lease, Slot, SlotState, Stage
from foilworks.core.corpus.models import MediaState
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Membership, Role
from generation.models import Candidate
from tests import factories
from tests.annotation.world import later, make_world


def involve(world, name: str, video, kind: str, group=None) -> None:
    Involvement.objects.create(project=world.project, person=getattr(world, name), video=video, kind=kind, group=group)


def test_a_claim_leases_a_slot_and_takes_its_suggestions_into_hand(world):
    group = world.group("a man unfolds a shirt.", "a man tears a shirt.")
    now = timezone.now()
    work = world.claim("ann", Stage.EDIT, now=now)
    slot = Slot.objects.get(pk=work.slot_id)
    assert (slot.state, slot.person, slot.token) == (SlotState.LEASED, world.ann, work.token)
    assert len(work.token) == 43
    assert slot.expires_at == now + timedelta(seconds=world.project.lease_seconds)
    assert set(group.candidates.values_list("state", "claimed_from")) == {("editing", "queued")}
    moves = AuditEvent.objects.filter(action="claim", from_state="queued", to_state="editing", actor=world.ann)
    assert moves.count() == 2


def test_asking_again_resumes_the_same_lease(world):
    world.group()
    world.group()
    first = world.claim("ann", Stage.EDIT)
    again = world.claim("ann", Stage.EDIT)
    assert (again.token, again.resumed, first.resumed) == (first.token, True, False)
    assert Lease.objects.count() == 1


def test_two_people_never_get_the_same_slot(world):
    world.group()
    assert world.claim("ann", Stage.EDIT)
    assert world.claim("abe", Stage.EDIT) is None


def test_nothing_is_claimed_without_the_role_of_the_stage(world):
    world.group()
    for name, stage in [("rita", Stage.EDIT), ("ann", Stage.REVIEW), ("ann", Stage.VALIDATION), ("owner", Stage.EDIT)]:
        with pytest.raises(AccessDenied):
            world.claim(name, stage)
    stranger = factories.make_user()
    with pytest.raises(AccessDenied):
        claim(stranger, world.project, Stage.EDIT)


def test_a_stage_without_a_queue_is_an_error(world):
    with pytest.raises(AnnotationError, match="'teleport'"):
        world.claim("ann", "teleport")


def test_an_empty_project_has_nothing_to_claim(world):
    assert [
        world.claim(name, stage) for name, stage in (("ann", "edit"), ("rita", "review"), ("vera", "validation"))
    ] == [
        None,
        None,
        None,
    ]


@pytest.mark.parametrize("state", [MediaState.MISSING, MediaState.BROKEN])
def test_an_item_without_media_cannot_be_claimed(world, state):
    group = world.group()
    world.item()
    for video in (group.caption.video, world.item().video):
        type(video).objects.all().update(media_state=state)
    assert world.claim("ann", Stage.EDIT) is None
    assert world.claim("vera", Stage.VALIDATION) is None


@pytest.mark.parametrize("kind", [Involvement.Kind.MADE, Involvement.Kind.REVIEWED])
def test_a_maker_or_reviewer_of_a_foil_gets_no_judgement_of_its_video(world, kind):
    item = world.item()
    involve(world, "vera", item.video, kind)
    assert world.claim("vera", Stage.VALIDATION) is None
    assert world.claim("vic", Stage.VALIDATION)


def test_a_reviewer_involved_in_the_video_gets_no_review_of_it(world):
    world.group()
    Membership.objects.create(project=world.project, person=world.ann, role=Role.REVIEWER)
    world.edit("ann")
    assert world.claim("ann", Stage.REVIEW) is None
    assert world.claim("rita", Stage.REVIEW)


@pytest.mark.django_db
def test_with_the_item_as_scope_another_item_of_the_video_is_open():
    world = make_world({"leakage_scope": "item"})
    Membership.objects.create(project=world.project, person=world.ann, role=Role.VALIDATOR)
    item = world.made_item()
    holds = factories.make_caption(item.video, "a man holds a shirt.")
    other = factories.make_item(world.subtest, holds, ("a man drops a shirt.",))
    work = world.claim("ann", Stage.VALIDATION)
    assert Slot.objects.get(pk=work.slot_id).item == other


def test_judging_two_items_of_a_video_is_allowed_the_same_item_never(world):
    item = world.item("a man unfolds a shirt.", "a man tears a shirt.")
    holds = factories.make_caption(item.video, "a man holds a shirt.")
    other = factories.make_item(world.subtest, holds, ("a man drops a shirt.",))
    world.vote("vera")
    world.vote("vera")
    assert world.claim("vera", Stage.VALIDATION) is None
    assert set(world.vera.votes.values_list("item", flat=True)) == {item.pk, other.pk}


def test_a_reserved_task_waits_for_its_author_and_then_for_anyone(world):
    world.group()
    world.edit("ann")
    world.review("rita", "send_back", reasons=["grammar"])
    assert world.claim("abe", Stage.EDIT) is None
    assert world.claim("abe", Stage.EDIT, now=later(hours=world.project.returned_hours, seconds=1))


def test_the_author_gets_a_returned_foil_before_any_other_task(world):
    world.group()
    returned = world.edit("ann").group
    world.review("rita", "send_back", reasons=["grammar"])
    for _ in range(5):
        world.group()
    work = world.claim("ann", Stage.EDIT)
    assert Slot.objects.get(pk=work.slot_id).task.group == returned
    assert returned.candidates.get().claimed_from == "returned"


def test_started_items_come_before_fresh_ones(world):
    items = [world.item() for _ in range(6)]
    started = Slot.objects.get(pk=world.claim("vera", Stage.VALIDATION).slot_id).item
    assert Slot.objects.get(pk=world.claim("vic", Stage.VALIDATION).slot_id).item == started
    assert Slot.objects.get(pk=world.claim("val", Stage.VALIDATION).slot_id).item == started
    assert started in items


def test_the_order_of_fresh_work_is_shuffled_by_the_project(world):
    groups = [world.group() for _ in range(12)]
    given = []
    while work := world.claim("ann", Stage.EDIT):
        given.append(Slot.objects.get(pk=work.slot_id).task.group)
        Slot.objects.filter(pk=work.slot_id).update(state=SlotState.DONE)
    assert sorted(group.pk for group in given) == [group.pk for group in groups]
    assert given != groups


def test_an_expired_lease_frees_its_slot_and_its_suggestions(world):
    world.group()
    lost = world.claim("ann", Stage.EDIT)
    late = later(seconds=world.project.lease_seconds + 1)
    work = world.claim("abe", Stage.EDIT, now=late)
    assert work.slot_id == lost.slot_id
    assert work.token != lost.token
    assert Lease.objects.get(token=lost.token).ending == "expired"
    moves = AuditEvent.objects.filter(target_type="generation.candidate").order_by("pk")
    assert list(moves.values_list("action", "actor", "from_state", "to_state")) == [
        ("claim", world.ann.pk, "queued", "editing"),
        ("release", None, "editing", "queued"),
        ("claim", world.abe.pk, "queued", "editing"),
    ]


def test_an_expired_lease_on_a_returned_foil_leaves_it_returned(world):
    world.group()
    world.edit("ann")
    world.review("rita", "send_back", reasons=["grammar"])
    world.claim("ann", Stage.EDIT)
    world.claim("abe", Stage.EDIT, now=later(seconds=world.project.lease_seconds + 1))
    assert Candidate.objects.get().state == "returned"


def test_a_skipped_task_comes_back_to_the_person_last(world):
    world.group()
    world.group()
    first = world.claim("ann", Stage.EDIT)
    release(world.ann, first.token)
    second = world.claim("ann", Stage.EDIT)
    assert second.slot_id != first.slot_id
    assert not second.skipped_before
    release(world.ann, second.token)
    third = world.claim("ann", Stage.EDIT)
    assert third.skipped_before


def test_a_slot_of_an_item_in_any_state_excludes_its_other_slots(world):
    first, second = world.item(), world.item()
    world.claim("vic", Stage.VALIDATION)
    taken = Slot.objects.filter(stage=Stage.VALIDATION, state=SlotState.FREE).order_by("priority", "id").first().item
    Slot.objects.filter(item=taken, index=2).update(state=SlotState.DONE, person=world.vera)
    work = world.claim("vera", Stage.VALIDATION)
    assert {Slot.objects.get(pk=work.slot_id).item, taken} == {first, second}


def test_the_lease_keeps_the_newest_guideline_of_the_subtest(world):
    publish_guideline(world.owner, world.project, "validation", "For all.")
    publish_guideline(world.owner, world.project, "validation", "Old.", subtest=world.subtest)
    own = publish_guideline(world.owner, world.project, "validation", "New.", subtest=world.subtest)
    publish_guideline(world.owner, world.project, "validation", "For all, again.")
    world.item()
    work = world.claim("vera", Stage.VALIDATION)
    assert Lease.objects.get(pk=work.lease_id).guideline == own
    assert world.vote("vera").guideline == own


def test_three_validators_do_not_all_see_the_caption_in_one_place(world):
    world.item()
    orders = [world.claim(name, Stage.VALIDATION).caption_first for name in ("vera", "vic", "val")]
    assert set(orders) == {True, False}


def test_a_reviewer_gets_the_video_of_the_next_review(world):
    for _ in range(3):
        world.group()
        world.edit("ann", "a man unfolds a shirt.")
    first = world.claim("rita", Stage.REVIEW)
    world.review("rita")
    second = world.claim("rita", Stage.REVIEW)
    assert first.upcoming_video == Slot.objects.get(pk=second.slot_id).video_id
    world.review("rita")
    assert world.claim("rita", Stage.REVIEW).upcoming_video is None


def test_a_claim_takes_few_queries_however_long_the_queue(world, django_assert_max_num_queries):
    for _ in range(40):
        world.item()
    world.claim("vic", Stage.VALIDATION)
    with django_assert_max_num_queries(20):
        assert world.claim("vera", Stage.VALIDATION)
    with django_assert_max_num_queries(7):
        assert world.claim("vera", Stage.VALIDATION).resumed
