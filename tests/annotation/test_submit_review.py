from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.leases.leasing import release
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.undo import undo_review
from annotation.errors import AnnotationError, WorkRefused
from annotation.models import Involvement, Review, Slot, SlotState, Stage, Task, TaskState
from foilworks.core.corpus.models import Item
from foilworks.core.projects.models import AuditEvent, Membership, Role
from generation.models import Candidate
from tests import factories
from tests.annotation.world import CAPTION, make_world

UNFOLDS, TEARS, IRONS = "a man unfolds a shirt.", "a man tears a shirt.", "a man irons a shirt."

pytestmark = pytest.mark.django_db


def test_the_last_acceptance_assembles_the_item_and_asks_for_three_votes(world):
    group = world.group(UNFOLDS)
    world.edit("ann", UNFOLDS)
    review = world.review("rita", watch={"seconds": 2}, seconds=5)
    group.refresh_from_db()
    item = group.item
    assert (item.state, item.caption, item.video, item.subtest) == (
        "in_validation",
        group.caption,
        group.caption.video,
        world.subtest,
    )
    assert item.key == group.caption.key
    foil = item.foils.get()
    assert (foil.text, foil.position, foil.text_sha256) == (UNFOLDS, 0, factories.sha(UNFOLDS))
    assert Candidate.objects.get().foil == foil
    assert Candidate.objects.get().state == "accepted"
    task = Task.objects.get(stage=Stage.VALIDATION)
    assert (task.item, task.foil, task.overlap) == (item, foil, 3)
    assert Slot.objects.filter(task=task, state=SlotState.FREE, item=item).count() == 3
    assert (review.decision, review.person, review.watch, review.seconds_spent) == (
        "accept",
        world.rita,
        {"seconds": 2.0},
        5.0,
    )
    assert AuditEvent.objects.filter(action="assemble", to_state="in_validation", actor=world.rita).count() == 1


def test_a_project_that_wants_no_votes_has_a_valid_item_at_once():
    world = make_world(votes_wanted=0, votes_needed=0)
    item = world.made_item()
    assert (item.state, item.foils.get().verdict, item.unanimous) == ("valid", "valid", None)
    assert item.decided_at is not None
    assert not Task.objects.filter(stage=Stage.VALIDATION).exists()


def test_an_item_of_several_foils_waits_for_all_of_them():
    world = make_world(foils_per_item=2)
    group = world.group(UNFOLDS, TEARS)
    world.edit("ann", UNFOLDS, TEARS)
    world.review("rita")
    assert not Item.objects.exists()
    world.review("rob")
    group.refresh_from_db()
    assert [foil.text for foil in group.item.foils.all()] == [UNFOLDS, TEARS]
    assert Task.objects.filter(stage=Stage.VALIDATION).count() == 2


def test_a_second_group_on_the_same_caption_gets_a_key_of_its_own(world):
    caption = factories.make_caption(factories.make_video(world.project), key="c1")
    for run in (world.run, factories.make_run(world.subtest)):
        group = factories.make_group(run, caption)
        factories.make_candidate(group, UNFOLDS)
    world.edit("ann", UNFOLDS)
    world.edit("ann", TEARS)
    world.review("rita")
    world.review("rob")
    assert list(Item.objects.order_by("pk").values_list("key", flat=True)) == ["c1", "c1~2"]


def test_an_author_never_reviews_own_work_even_with_both_roles(world):
    Membership.objects.create(project=world.project, person=world.ann, role=Role.REVIEWER)
    world.group(UNFOLDS, TEARS)
    world.edit("ann", IRONS)
    assert world.claim("ann", Stage.REVIEW) is None


def test_a_person_who_edits_after_the_claim_is_refused_and_the_slot_freed(world):
    """Rita holds a review on a video; in another tab she edits another caption of that video."""
    group = world.group(UNFOLDS)
    world.edit("ann", UNFOLDS)
    work = world.claim("rita", Stage.REVIEW)
    Membership.objects.create(project=world.project, person=world.rita, role=Role.ANNOTATOR)
    rita = world.people["rita"] = type(world.rita).objects.get(pk=world.rita.pk)
    world.group(TEARS, caption=factories.make_caption(group.caption.video, "a man holds a shirt."))
    world.edit("rita", TEARS)
    with pytest.raises(WorkRefused, match="You wrote or edited a foil for this video") as raised:
        submit_review(rita, work.token, "k", ReviewAnswer("accept"))
    assert raised.value.refusal == "made_it"
    assert not Review.objects.exists()
    assert Slot.objects.get(pk=work.slot_id).state == SlotState.FREE


def test_a_return_reserves_the_foil_for_its_author(world):
    group = world.group(UNFOLDS)
    world.edit("ann", IRONS)
    now = timezone.now()
    world.review("rita", "send_back", reasons=["not_minimal", "grammar"], comment=" Shorter! ", now=now)
    assert Candidate.objects.get(text=IRONS).state == "returned"
    task = Task.objects.get(stage=Stage.EDIT, state=TaskState.OPEN)
    assert task.group == group
    slot = task.slots.get()
    assert (slot.reserved_for, slot.reserved_until) == (
        world.ann,
        now + timedelta(hours=world.project.returned_hours),
    )
    review = Review.objects.get()
    assert (review.reasons, review.comment) == (["not_minimal", "grammar"], "Shorter!")
    row = AuditEvent.objects.get(action="send_back")
    assert (row.from_state, row.to_state, row.reason) == ("in_review", "returned", "not_minimal, grammar")


def test_a_returned_suggestion_goes_back_to_its_submitter(world):
    world.group(UNFOLDS)
    world.edit("abe", UNFOLDS)
    world.review("rita", "send_back", reasons=["implausible"])
    assert Slot.objects.get(stage=Stage.EDIT, state=SlotState.FREE).reserved_for == world.abe


def test_a_reviewer_reviews_a_returned_foil_and_other_foils_of_the_video(world):
    Membership.objects.create(project=world.project, person=world.rita, role=Role.VALIDATOR)
    group = world.group(UNFOLDS)
    world.edit("ann", UNFOLDS)
    first = world.review("rita", "send_back", reasons=["grammar"])
    world.edit("ann", IRONS, parents=[first.candidate_id])
    world.group(TEARS, caption=factories.make_caption(group.caption.video, "a man holds a shirt."))
    world.edit("abe", TEARS)
    reviewed = {world.review("rita").candidate.text, world.review("rita").candidate.text}
    assert reviewed == {IRONS, TEARS}
    assert world.claim("rita", Stage.VALIDATION) is None
    assert world.claim("vera", Stage.VALIDATION)


def test_a_reviewer_never_validates_that_video(world):
    Membership.objects.create(project=world.project, person=world.rita, role=Role.VALIDATOR)
    world.made_item()
    assert world.claim("rita", Stage.VALIDATION) is None
    assert Involvement.objects.get(person=world.rita).kind == "reviewed"


def test_a_dropped_foil_leaves_the_other_suggestions_to_be_edited(world):
    world.group(UNFOLDS, TEARS)
    world.edit("ann", UNFOLDS)
    world.review("rita", "drop", reasons=["still_true"])
    assert Candidate.objects.get(text=UNFOLDS).state == "dropped"
    assert world.edit("abe", TEARS).candidates.get().text == TEARS


def test_when_the_only_suggestion_is_dropped_the_group_ends(world):
    world.group(UNFOLDS)
    world.edit("ann", UNFOLDS)
    world.review("rita", "drop", reasons=["off_guideline"])
    assert world.claim("abe", Stage.EDIT) is None
    assert not Task.objects.filter(state=TaskState.OPEN).exists()


def test_a_lost_text_without_a_suggestion_may_be_written_again(world):
    group = factories.make_group(factories.make_run(world.subtest, method="person"))
    world.edit("ann", IRONS)
    world.review("rita", "drop", reasons=["implausible"])
    assert world.edit("abe", TEARS).group == group


def test_a_fix_is_accepted_as_the_reviewers_own_child(world):
    group = world.group(UNFOLDS)
    world.edit("ann", UNFOLDS)
    review = world.review("rita", "fix", fixed_text=TEARS)
    parent, child = review.candidate, review.child
    parent.refresh_from_db()
    assert (parent.state, child.state, child.parent, child.author) == ("superseded", "accepted", parent, world.rita)
    assert child.edits == [[6, 11, "tears"]]
    group.refresh_from_db()
    assert group.item.foils.get().text == TEARS
    assert set(Involvement.objects.filter(person=world.rita).values_list("kind", flat=True)) == {"made", "reviewed"}


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"decision": "maybe"}, "Choose one of: accept, send_back, drop, fix"),
        ({"decision": "send_back"}, "at least one reason"),
        ({"decision": "drop"}, "at least one reason"),
        ({"decision": "drop", "reasons": ["ugly"]}, "Unknown reason 'ugly'. Choose from: still_true"),
        ({"decision": "fix", "fixed_text": CAPTION}, "The fixed foil: it is the same as the caption"),
        ({"decision": "fix", "fixed_text": UNFOLDS}, "The foil is unchanged"),
        ({"decision": "fix"}, "The fixed foil: write a foil"),
        ({"decision": "accept", "comment": "x" * 2001}, "longer than 2000"),
    ],
)
def test_a_decision_that_cannot_be_carried_out_changes_nothing(world, sent, message):
    world.group(UNFOLDS)
    world.edit("ann", UNFOLDS)
    work = world.claim("rita", Stage.REVIEW)
    with pytest.raises(AnnotationError, match=message):
        submit_review(world.rita, work.token, "k", ReviewAnswer(**sent))
    assert not Review.objects.exists()
    assert Candidate.objects.get().state == "in_review"
    assert world.claim("rita", Stage.REVIEW).token == work.token


def test_the_same_key_gives_the_first_review(world):
    world.group(UNFOLDS)
    world.edit("ann", UNFOLDS)
    work = world.claim("rita", Stage.REVIEW)
    first = submit_review(world.rita, work.token, "k", ReviewAnswer("accept"))
    assert submit_review(world.rita, work.token, "k", ReviewAnswer("drop", reasons=["grammar"])) == first
    assert Item.objects.count() == 1


def test_a_late_review_counts_only_while_its_slot_is_free(world):
    world.group(UNFOLDS)
    world.edit("ann", UNFOLDS)
    rita, rob = world.claim("rita", Stage.REVIEW), None
    release(world.rita, rita.token)
    rob = claim(world.rob, world.project, Stage.REVIEW)
    apart = submit_review(world.rita, rita.token, "k", ReviewAnswer("drop", reasons=["grammar"]))
    assert (apart.late, apart.slot) == (True, None)
    assert Candidate.objects.get().state == "in_review"
    release(world.rob, rob.token)
    counted = submit_review(world.rob, rob.token, "k", ReviewAnswer("accept"))
    assert (counted.late, counted.slot_id) == (True, rob.slot_id)
    assert Item.objects.count() == 1


def test_a_review_in_progress_does_not_count_after_the_item_is_complete():
    """Rita returns the first foil, so the second is opened to rob; then she takes her return back and accepts."""
    world = make_world({"edit_stage": False})
    group = factories.make_group(world.run)
    factories.make_candidate(group, UNFOLDS, rank=0, state="in_review")
    second = factories.make_candidate(group, TEARS, rank=1, state="in_review")
    sent_back = world.review("rita", "send_back", reasons=["grammar"])
    work = world.claim("rob", Stage.REVIEW)
    assert Slot.objects.get(pk=work.slot_id).task.candidate == second
    again = undo_review(world.rita, sent_back.pk)
    submit_review(world.rita, again.token, "k", ReviewAnswer("accept"))
    group.refresh_from_db()
    assert group.item.foils.get().text == UNFOLDS
    apart = submit_review(world.rob, work.token, "k", ReviewAnswer("accept"))
    assert (apart.slot, apart.late) == (None, True)
    second.refresh_from_db()
    assert second.state == "in_review"
    assert not Task.objects.filter(stage=Stage.REVIEW, state=TaskState.OPEN).exists()


def test_a_main_item_finds_its_proficiency_item_and_the_other_way_round(world):
    easy = factories.make_subtest(world.project, kind="proficiency", votes_wanted=1, votes_needed=1)
    world.subtest.proficiency_subtest = easy
    world.subtest.save()
    video = factories.make_video(world.project)
    proficiency = factories.make_item(easy, factories.make_caption(video, "there is a shirt."))
    world.group(UNFOLDS, caption=factories.make_caption(video))
    world.edit("ann", UNFOLDS)
    world.review("rita")
    main = Item.objects.get(subtest=world.subtest)
    assert main.proficiency_item == proficiency
    other_video = factories.make_video(world.project)
    waiting = factories.make_item(world.subtest, factories.make_caption(other_video))
    group = factories.make_group(factories.make_run(easy), factories.make_caption(other_video, "there is a shirt."))
    factories.make_candidate(group, "there is a towel.")
    world.edit("ann", "there is a towel.")
    world.review("rita")
    waiting.refresh_from_db()
    assert waiting.proficiency_item.subtest == easy
    main.refresh_from_db()
    assert main.proficiency_item == proficiency


def test_a_submit_takes_a_bounded_number_of_queries(world, django_assert_max_num_queries):
    world.group(UNFOLDS)
    world.edit("ann", UNFOLDS)
    work = world.claim("rita", Stage.REVIEW)
    with django_assert_max_num_queries(45):
        submit_review(world.rita, work.token, "k", ReviewAnswer("accept"))
