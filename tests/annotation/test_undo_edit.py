import pytest
from django.http import Http404

from annotation.actions.leases.leasing import release
from annotation.actions.undo import undo_edit
from annotation.errors import AnnotationError
from annotation.models import Edit, Involvement, SlotState, Stage, Task, TaskState
from annotation.queries.cards import claim_card
from foilworks.core.projects.models import AuditEvent
from generation.models import Candidate
from tests.annotation.world import later

UNFOLDS, TEARS, IRONS = "a man unfolds a shirt.", "a man tears a shirt.", "a man irons a shirt."


def test_an_edit_undone_in_time_is_leased_to_its_editor_again(world):
    world.group(UNFOLDS, TEARS)
    edit = world.edit("ann", IRONS, parents=[Candidate.objects.get(text=UNFOLDS).pk])
    work = undo_edit(world.ann, edit.pk)
    states = dict(Candidate.objects.values_list("text", "state"))
    assert states == {UNFOLDS: "superseded", TEARS: "editing", IRONS: "editing"}
    assert not Task.objects.filter(stage=Stage.REVIEW, state=TaskState.OPEN).exists()
    assert world.claim("ann", Stage.EDIT).token == work.token
    assert Edit.objects.get().undone_at is not None
    assert AuditEvent.objects.filter(action="undo_submit", from_state="in_review", to_state="editing").count() == 1
    # Who took it back has seen and written it all the same.
    assert Involvement.objects.filter(person=world.ann, kind="made").exists()


def test_after_an_undo_the_text_can_be_submitted_again_as_it_is_or_changed(world):
    world.group(UNFOLDS)
    first = world.edit("ann", IRONS)
    undo_edit(world.ann, first.pk)
    second = world.edit("ann", IRONS)
    assert second.candidates.get() == first.candidates.get()
    undo_edit(world.ann, second.pk)
    third = world.edit("ann", TEARS, parents=[second.candidates.get().pk])
    assert third.candidates.get().parent == second.candidates.get()
    assert world.review("rita").candidate.text == TEARS


def test_an_undone_edit_of_an_unchanged_returned_foil_is_returned_again(world):
    world.group(UNFOLDS)
    world.edit("ann", IRONS)
    world.review("rita", "send_back", reasons=["grammar"])
    edit = world.edit("ann", IRONS)
    work = undo_edit(world.ann, edit.pk)
    assert [each.returned for each in claim_card(world.ann, work).edit.suggestions if each.text == IRONS] == [True]
    release(world.ann, work.token)
    assert Candidate.objects.get(text=IRONS).state == "returned"


def test_pressing_undo_twice_undoes_once(world):
    world.group(UNFOLDS)
    edit = world.edit("ann", IRONS)
    work = undo_edit(world.ann, edit.pk)
    assert undo_edit(world.ann, edit.pk).token == work.token
    world.edit("ann", IRONS)
    with pytest.raises(AnnotationError, match="already undone"):
        undo_edit(world.ann, edit.pk)


def test_after_the_undo_seconds_it_stays(world):
    world.group(UNFOLDS)
    edit = world.edit("ann", IRONS)
    undo_edit(world.ann, edit.pk, now=later(seconds=world.project.undo_seconds - 5))
    edit = world.edit("ann", IRONS)
    with pytest.raises(AnnotationError, match="only for 30 seconds"):
        undo_edit(world.ann, edit.pk, now=later(seconds=world.project.undo_seconds + 5))


def test_an_edit_cannot_be_undone_after_a_reviewer_has_begun(world):
    world.group(UNFOLDS)
    edit = world.edit("ann", IRONS)
    world.claim("rita", Stage.REVIEW)
    with pytest.raises(AnnotationError, match="A reviewer has already started"):
        undo_edit(world.ann, edit.pk)
    world.review("rita")
    with pytest.raises(AnnotationError, match="A reviewer has already started"):
        undo_edit(world.ann, edit.pk)
    assert Task.objects.get(stage=Stage.EDIT).slots.get().state == SlotState.DONE


def test_nobody_undoes_the_work_of_another(world):
    world.group(UNFOLDS)
    edit = world.edit("ann", IRONS)
    with pytest.raises(Http404):
        undo_edit(world.abe, edit.pk)


def test_undone_work_comes_before_the_next_task(world):
    world.group(UNFOLDS)
    world.group(UNFOLDS)
    edit = world.edit("ann", IRONS)
    following = world.claim("ann", Stage.EDIT)
    again = undo_edit(world.ann, edit.pk)
    assert world.claim("ann", Stage.EDIT).token == again.token
    world.edit("ann", TEARS)
    assert world.claim("ann", Stage.EDIT).token == following.token
