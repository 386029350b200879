import pytest
from django.http import Http404

from annotation.actions.leases.leasing import release
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.errors import AnnotationError
from annotation.models import Edit, Involvement, Lease, SlotState, Stage, Task, TaskState
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Membership
from generation.models import Candidate
from tests import factories
from tests.annotation.world import later, make_world

UNFOLDS, TEARS, IRONS = "a man unfolds a shirt.", "a man tears a shirt.", "a man irons a shirt."

pytestmark = pytest.mark.django_db


def states() -> dict[str, str]:
    return dict(Candidate.objects.values_list("text", "state"))


def test_a_suggestion_that_is_kept_goes_to_review_as_it_is(world):
    world.group(UNFOLDS, TEARS)
    edit = world.edit("ann", UNFOLDS, watch={"seconds": 3, "loops": 1, "covered": 1}, seconds=12)
    assert states() == {UNFOLDS: "in_review", TEARS: "queued"}
    kept = edit.candidates.get()
    assert (kept.author, kept.parent, kept.method) == (None, None, "fake")
    assert (edit.person, edit.watch, edit.seconds_spent, edit.late) == (
        world.ann,
        {"seconds": 3.0, "loops": 1.0, "covered": 1.0},
        12.0,
        False,
    )


def test_a_reworded_suggestion_is_superseded_by_a_child_with_its_provenance(world):
    group = world.group(UNFOLDS, TEARS)
    suggestion = group.candidates.get(text=UNFOLDS)
    edit = world.edit("ann", IRONS, parents=[suggestion.pk])
    assert states() == {UNFOLDS: "superseded", TEARS: "queued", IRONS: "in_review"}
    child = edit.candidates.get()
    assert (child.author, child.parent, child.method, child.method_version) == (world.ann, suggestion, "person", "1")
    # "a man folds a shirt.": folds is characters 6 to 11.
    assert (child.edits, child.span_start, child.span_end, child.source, child.target) == (
        [[6, 11, "irons"]],
        6,
        11,
        "folds",
        "irons",
    )
    assert child.text_sha256 == factories.sha(IRONS)


def test_a_text_of_ones_own_leaves_every_suggestion_queued(world):
    world.group(UNFOLDS, TEARS)
    edit = world.edit("ann", IRONS)
    assert states() == {UNFOLDS: "queued", TEARS: "queued", IRONS: "in_review"}
    assert edit.candidates.get().parent is None


def test_several_replaced_spans_are_kept_each_with_one_span_over_them(world):
    world.group(UNFOLDS)
    child = world.edit("ann", "a woman folds a towel.").candidates.get()
    assert child.edits == [[2, 5, "woman"], [14, 19, "towel"]]
    assert (child.span_start, child.span_end) == (2, 19)
    assert (child.source, child.target) == ("man folds a shirt", "woman folds a towel")


def test_each_text_gets_its_review_task_and_the_edit_task_is_done():
    world = make_world(foils_per_item=3)
    world.group(UNFOLDS, TEARS)
    edit = world.edit("ann", UNFOLDS, TEARS, IRONS)
    reviews = Task.objects.filter(stage=Stage.REVIEW, state=TaskState.OPEN)
    assert set(reviews.values_list("candidate", flat=True)) == set(edit.candidates.values_list("pk", flat=True))
    assert Task.objects.get(stage=Stage.EDIT).state == TaskState.DONE
    assert edit.slot.state == SlotState.DONE
    assert Lease.objects.get().ending == "submitted"


def test_an_involvement_in_the_video_is_recorded_for_the_leakage_rule(world):
    group = world.group()
    world.edit("ann")
    hand = Involvement.objects.get()
    assert (hand.person, hand.video, hand.group, hand.kind) == (world.ann, group.caption.video, group, "made")


def test_every_move_has_its_audit_row(world):
    world.group(UNFOLDS, TEARS)
    suggestion = Candidate.objects.get(text=UNFOLDS)
    world.edit("ann", IRONS, parents=[suggestion.pk])
    rows = AuditEvent.objects.filter(target_type="generation.candidate", actor=world.ann).order_by("pk")
    texts = dict(Candidate.objects.values_list("pk", "text"))
    assert [(texts[int(row.target_id)], row.action, row.from_state, row.to_state) for row in rows] == [
        (UNFOLDS, "claim", "queued", "editing"),
        (TEARS, "claim", "queued", "editing"),
        (UNFOLDS, "supersede", "editing", "superseded"),
        (IRONS, "write", "", "in_review"),
        (TEARS, "release", "editing", "queued"),
    ]
    assert AuditEvent.objects.filter(action="submit_edit", to_state="counted").count() == 1


def test_the_same_key_gives_the_first_record(world):
    world.group(UNFOLDS)
    work = world.claim("ann", Stage.EDIT)
    first = submit_edit(world.ann, work.token, "k", [IRONS])
    again = submit_edit(world.ann, work.token, "k", [TEARS])
    assert first == again
    assert Edit.objects.count() == 1
    assert Candidate.objects.filter(state="in_review").count() == 1


def test_another_key_under_the_same_claim_is_refused(world):
    world.group(UNFOLDS)
    work = world.claim("ann", Stage.EDIT)
    submit_edit(world.ann, work.token, "k", [IRONS])
    with pytest.raises(AnnotationError, match="already submitted"):
        submit_edit(world.ann, work.token, "other", [TEARS])


@pytest.mark.parametrize("key", ["", "k" * 65, "a\nb", None])
def test_a_key_must_be_usable(world, key):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    with pytest.raises(AnnotationError, match="no valid key"):
        submit_edit(world.ann, work.token, key, [IRONS])


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["A man folds a shirt"], "The foil: it is the same as the caption"),
        (["  "], "The foil: write a foil"),
        (["x" * 2001], "The foil: it has 2001 characters; at most 2000"),
        (["a man\x00 unfolds"], "The foil: it contains a line break or an unprintable"),
        ([], "requires 1 foil, but 0 were"),
        ([UNFOLDS, TEARS], "requires 1 foil, but 2 were"),
    ],
)
def test_a_text_with_an_error_stores_nothing_and_leaves_the_lease(world, texts, message):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    with pytest.raises(AnnotationError, match=message):
        submit_edit(world.ann, work.token, "k", texts)
    assert not Edit.objects.exists()
    assert world.claim("ann", Stage.EDIT).token == work.token


def test_two_equal_texts_in_one_submit_are_an_error():
    world = make_world(foils_per_item=2)
    world.group()
    with pytest.raises(AnnotationError, match="Foil 2: another foil of this caption"):
        world.edit("ann", IRONS, "A man irons a shirt")


def test_a_text_that_a_reviewer_dropped_does_not_come_back(world):
    world.group(UNFOLDS, TEARS)
    world.edit("ann", UNFOLDS)
    world.review("rita", "drop", reasons=["still_true"])
    with pytest.raises(AnnotationError, match="a reviewer has dropped this text"):
        world.edit("abe", UNFOLDS)
    assert world.edit("abe", TEARS).candidates.get().text == TEARS


def test_a_suggestion_of_another_group_cannot_be_the_parent(world):
    other = world.group(TEARS)
    for candidate in other.candidates.all():
        type(candidate).objects.filter(pk=candidate.pk).update(state="filtered_out")
    world.group(UNFOLDS)
    with pytest.raises(AnnotationError, match="no longer exists"):
        world.edit("ann", IRONS, parents=[other.candidates.get().pk])


def test_only_what_is_missing_is_wanted_after_a_return():
    world = make_world(foils_per_item=2)
    world.group(UNFOLDS, TEARS)
    world.edit("ann", UNFOLDS, TEARS)
    world.review("rita", "send_back", reasons=["grammar"])
    returned = Candidate.objects.get(state="returned")
    edit = world.edit("ann", IRONS, parents=[returned.pk])
    assert edit.candidates.get().parent == returned
    assert Candidate.objects.filter(state="in_review").count() == 2
    assert Candidate.objects.get(pk=returned.pk).state == "superseded"


def test_late_work_counts_where_the_slot_is_still_free(world):
    world.group(UNFOLDS)
    work = world.claim("ann", Stage.EDIT)
    release(world.ann, work.token)
    edit = submit_edit(world.ann, work.token, "k", [IRONS])
    assert (edit.late, edit.slot.person) == (True, world.ann)
    assert states() == {UNFOLDS: "queued", IRONS: "in_review"}


def test_work_after_the_end_of_a_lease_that_nobody_freed_counts_and_is_marked_late(world):
    world.group(UNFOLDS)
    work = world.claim("ann", Stage.EDIT)
    edit = submit_edit(world.ann, work.token, "k", [IRONS], now=later(hours=5))
    assert edit.late
    assert edit.slot_id == work.slot_id


def test_late_work_whose_slot_is_taken_is_stored_and_changes_nothing(world):
    group = world.group(UNFOLDS)
    work = world.claim("ann", Stage.EDIT)
    world.claim("abe", Stage.EDIT, now=later(hours=5))
    edit = submit_edit(world.ann, work.token, "k", [IRONS], now=later(hours=5))
    assert (edit.late, edit.slot, edit.texts, edit.candidates.count()) == (True, None, [IRONS], 0)
    assert states() == {UNFOLDS: "editing"}
    assert Involvement.objects.get().group == group
    assert submit_edit(world.ann, work.token, "k", [IRONS]) == edit
    with pytest.raises(AnnotationError, match="already submitted"):
        submit_edit(world.ann, work.token, "k2", [IRONS])


def test_the_same_persons_newer_lease_serves_the_older_page(world):
    world.group(UNFOLDS)
    old = world.claim("ann", Stage.EDIT)
    release(world.ann, old.token)
    new = world.claim("ann", Stage.EDIT)
    edit = submit_edit(world.ann, old.token, "k", [IRONS])
    assert edit.slot_id == new.slot_id
    with pytest.raises(AnnotationError, match="already submitted"):
        submit_edit(world.ann, new.token, "k2", [TEARS])


def test_nobody_submits_with_anothers_token_nor_without_the_role(world):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    with pytest.raises(Http404):
        submit_edit(world.abe, work.token, "k", [IRONS])
    Membership.objects.filter(person=world.ann).delete()
    fresh = type(world.ann).objects.get(pk=world.ann.pk)
    with pytest.raises(AccessDenied):
        submit_edit(fresh, work.token, "k", [IRONS])


def test_a_submit_takes_a_bounded_number_of_queries(world, django_assert_max_num_queries):
    group = world.group(*[f"a man {verb} a shirt." for verb in ("rips", "dyes", "irons", "sells", "burns", "eats")])
    work = world.claim("ann", Stage.EDIT)
    parent = group.candidates.first()
    with django_assert_max_num_queries(45):
        submit_edit(world.ann, work.token, "k", ["a man washes a shirt."], [parent.pk])


def test_a_foil_that_another_run_already_has_for_the_caption_is_refused(world):
    first = world.group()
    world.edit("ann", IRONS)
    other = factories.make_group(factories.make_run(world.subtest), first.caption)
    factories.make_candidate(other, IRONS)
    work = world.claim("ann", Stage.EDIT)
    with pytest.raises(AnnotationError, match="another foil of this caption has the same text"):
        submit_edit(world.ann, work.token, "again", [IRONS.upper()])
    assert submit_edit(world.ann, work.token, "again", [TEARS]).texts == [TEARS]


def test_another_subtest_may_have_the_same_foil_of_a_caption(world):
    first = world.group()
    world.edit("ann", IRONS)
    group = factories.make_group(factories.make_run(factories.make_subtest(world.project)), first.caption)
    factories.make_candidate(group, IRONS)
    assert world.edit("ann", IRONS).group == group
