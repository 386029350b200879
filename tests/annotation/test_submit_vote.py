import pytest
from django.http import Http404

from annotation.actions.claims.claim import claim
from annotation.actions.leases.leasing import release
from annotation.actions.quality.recounts import save_quality_policy
from annotation.actions.submissions.judgements import submit_vote
from annotation.errors import AnnotationError, WorkRefused
from annotation.models import Involvement, Slot, SlotState, Stage, Task, TaskState, Vote
from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from tests import factories
from tests.annotation.world import later, make_world, shown_as

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("choices", "state", "verdict", "unanimous", "in_doubt"),
    [
        (["caption", "caption", "caption"], "valid", "valid", True, False),
        (["caption", "foil", "caption"], "valid", "valid", False, False),
        (["foil", "caption", "foil"], "invalid", "invalid", False, True),
        (["neither", "neither", "caption"], "invalid", "invalid", False, True),
        (["both", "both", "caption"], "invalid", "invalid", False, False),
        (["caption", "foil", "neither"], "disputed", "disputed", False, True),
        (["caption", "both", "cannot_tell"], "disputed", "disputed", False, False),
    ],
)
def test_three_votes_decide_an_item(world, choices, state, verdict, unanimous, in_doubt):
    item = world.item()
    for name, choice in zip(("vera", "vic", "val"), choices, strict=True):
        item.refresh_from_db()
        assert item.state == "in_validation"
        world.vote(name, choice)
    item.refresh_from_db()
    assert (item.state, item.foils.get().verdict, item.unanimous) == (state, verdict, unanimous)
    assert item.decided_at is not None
    item.caption.refresh_from_db()
    assert item.caption.flagged_false is in_doubt
    assert Task.objects.get().state == TaskState.DONE
    moves = AuditEvent.objects.filter(target_type="corpus.item", action="vote").order_by("pk")
    assert list(moves.values_list("from_state", "to_state")) == [
        ("in_validation", "in_validation"),
        ("in_validation", "in_validation"),
        ("in_validation", state),
    ]


@pytest.mark.parametrize("answer", [1, 2, "1", "first", "second", "neither", "both", "cannot_tell", 3, 4, 5])
def test_the_truth_is_read_from_the_order_that_was_shown(world, answer):
    world.item()
    work = world.claim("vera", Stage.VALIDATION)
    vote = submit_vote(world.vera, work.token, "k", answer)
    place = {1: "first", 2: "second", 3: "neither", 4: "both", 5: "cannot_tell"}.get(answer, answer)
    place = {"1": "first"}.get(place, place)
    expected = {
        "first": "caption" if work.caption_first else "foil",
        "second": "foil" if work.caption_first else "caption",
    }.get(place, place)
    assert (vote.choice, vote.caption_first) == (expected, work.caption_first)


@pytest.mark.parametrize("answer", ["caption", "", 0, 6, None, True])
def test_an_answer_that_was_not_offered_is_refused(world, answer):
    world.item()
    work = world.claim("vera", Stage.VALIDATION)
    with pytest.raises(AnnotationError, match="Answer with 1 to 5"):
        submit_vote(world.vera, work.token, "k", answer)
    assert not Vote.objects.exists()


def test_a_vote_stores_its_evidence_and_an_involvement(world):
    item = world.item()
    vote = world.vote("vera", watch={"seconds": 4, "loops": 2, "covered": 0.5}, seconds=9.5)
    assert (vote.watch, vote.seconds_spent, vote.late, vote.state) == (
        {"seconds": 4.0, "loops": 2.0, "covered": 0.5},
        9.5,
        False,
        "counted",
    )
    hand = Involvement.objects.get()
    assert (hand.person, hand.video, hand.kind) == (world.vera, item.video, "judged")


def test_the_same_key_gives_one_vote(world):
    world.item()
    work = world.claim("vera", Stage.VALIDATION)
    votes = [submit_vote(world.vera, work.token, "k", answer) for answer in ("both", "both", "neither", 1)]
    assert len({vote.pk for vote in votes}) == 1
    assert Vote.objects.get().choice == "both"


def test_there_is_no_fourth_vote(world):
    world.item()
    for name in ("vera", "vic", "val"):
        world.vote(name)
    fourth = factories.make_member(world.project, Role.VALIDATOR)
    assert claim(fourth, world.project, Stage.VALIDATION) is None
    with pytest.raises(Http404):
        submit_vote(fourth, "a-token-that-never-was", "k", 1)
    assert Vote.objects.count() == 3


def test_a_late_vote_whose_slot_is_taken_is_surplus_and_changes_nothing(world):
    item = world.item()
    lost = world.claim("vera", Stage.VALIDATION)
    late = later(hours=5)
    fourth = world.people["fay"] = factories.make_member(world.project, Role.VALIDATOR)
    for name in ("vic", "val", "fay"):
        world.vote(name, "caption", now=late)
    vote = submit_vote(world.vera, lost.token, "k", shown_as("foil", lost), now=late)
    assert (vote.state, vote.late, vote.slot, vote.choice) == ("surplus", True, None, "foil")
    assert vote.caption_first == lost.caption_first
    item.refresh_from_db()
    assert (item.state, item.unanimous) == ("valid", True)
    assert submit_vote(world.vera, lost.token, "k", 1) == vote
    with pytest.raises(AnnotationError, match="already submitted"):
        submit_vote(world.vera, lost.token, "k2", 1)
    assert fourth.votes.get().state == "counted"


def test_a_late_vote_counts_if_another_slot_of_the_pair_is_free(world):
    item = world.item()
    lost = world.claim("vera", Stage.VALIDATION)
    late = later(hours=5)
    taken = world.claim("vic", Stage.VALIDATION, now=late)
    assert taken.slot_id == lost.slot_id
    vote = submit_vote(world.vera, lost.token, "k", shown_as("caption", lost), now=late)
    assert (vote.state, vote.late, vote.choice) == ("counted", True, "caption")
    assert vote.slot_id != lost.slot_id
    assert Slot.objects.filter(item=item, state=SlotState.DONE, person=world.vera).count() == 1


def test_a_late_vote_gives_no_second_slot_in_the_item(world):
    save_quality_policy(world.owner, world.project, judge_caption_once=False)
    world.project.refresh_from_db()
    item = world.item("a man unfolds a shirt.", "a man tears a shirt.")
    lost = world.claim("vera", Stage.VALIDATION)
    release(world.vera, lost.token)
    held = world.claim("vera", Stage.VALIDATION)
    assert Slot.objects.get(pk=held.slot_id).task_id != Slot.objects.get(pk=lost.slot_id).task_id
    vote = submit_vote(world.vera, lost.token, "k", 1)
    assert vote.state == "surplus"
    with pytest.raises(WorkRefused, match="already answered this item"):
        submit_vote(world.vera, held.token, "k2", 1)
    assert Slot.objects.filter(item=item, person=world.vera).count() == 0


def test_reviewing_the_video_after_claiming_its_judgement_is_refused(world):
    item = world.item()
    work = world.claim("vera", Stage.VALIDATION)
    Involvement.objects.create(project=world.project, person=world.vera, video=item.video, kind="reviewed")
    with pytest.raises(WorkRefused) as raised:
        submit_vote(world.vera, work.token, "k", 1)
    assert raised.value.refusal == "reviewed_it"
    assert not Vote.objects.exists()
    assert Slot.objects.get(pk=work.slot_id).state == SlotState.FREE


def test_a_file_that_went_missing_after_the_claim_does_not_cost_the_vote(world):
    world.item()
    work = world.claim("vera", Stage.VALIDATION)
    Video.objects.update(media_state=MediaState.MISSING)
    assert submit_vote(world.vera, work.token, "k", 1).state == "counted"


def test_nobody_votes_with_anothers_token_or_the_token_of_another_stage(world):
    world.item()
    world.group()
    work = world.claim("vera", Stage.VALIDATION)
    with pytest.raises(Http404):
        submit_vote(world.vic, work.token, "k", 1)
    edit = world.claim("ann", Stage.EDIT)
    with pytest.raises(AnnotationError, match="another stage"):
        submit_vote(world.ann, edit.token, "k", 1)


def test_without_the_role_there_is_no_vote(world):
    world.item()
    work = world.claim("vera", Stage.VALIDATION)
    world.vera.memberships.all().delete()
    vera = type(world.vera).objects.get(pk=world.vera.pk)
    with pytest.raises(AccessDenied):
        submit_vote(vera, work.token, "k", 1)


def test_an_item_of_two_pairs_is_valid_when_both_are_or_when_enough_are():
    for valid_when, expected in (("all", "invalid"), ("enough", "valid")):
        world = make_world(valid_when=valid_when, votes_wanted=1, votes_needed=1)
        item = world.item("a man unfolds a shirt.", "a man tears a shirt.")
        first = world.vote("vera", "caption")
        item.refresh_from_db()
        assert item.state == "in_validation"
        second = world.vote("vic", "both")
        item.refresh_from_db()
        assert (item.state, item.unanimous) == (expected, False)
        assert set(item.foils.values_list("pk", "verdict")) == {(first.foil_id, "valid"), (second.foil_id, "invalid")}


def test_no_pair_is_shown_twice_to_one_person_and_each_pair_gets_its_own_three(world):
    item = world.item("a man unfolds a shirt.", "a man tears a shirt.")
    for _ in range(6):
        world.people["next"] = factories.make_member(world.project, Role.VALIDATOR)
        world.vote("next")
    item.refresh_from_db()
    assert item.state == "valid"
    assert item.unanimous is True
    assert [foil.votes.count() for foil in item.foils.all()] == [3, 3]
    assert item.votes.values("person").distinct().count() == 6


def test_a_submit_takes_a_bounded_number_of_queries(world, django_assert_max_num_queries):
    world.item()
    world.vote("vic")
    world.vote("val")
    work = world.claim("vera", Stage.VALIDATION)
    with django_assert_max_num_queries(26):
        submit_vote(world.vera, work.token, "k", 1)
