import pytest
from django.http import Http404

from annotation.actions.decisions.items import adjudicate, requeue
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.undo import undo_vote
from annotation.errors import AnnotationError
from annotation.models import Slot, SlotState, Stage, Task, TaskState, Vote
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.projects.models import AuditEvent
from tests.annotation.world import later, shown_as


def test_an_undone_vote_does_not_count_and_its_slot_is_leased_again(world):
    world.item()
    vote = world.vote("vera", "foil")
    work = undo_vote(world.vera, vote.pk)
    vote.refresh_from_db()
    assert vote.state == "undone"
    assert (work.slot_id, work.caption_first) == (vote.slot_id, vote.caption_first)
    second = submit_vote(world.vera, work.token, "k", shown_as("caption", work))
    assert (second.state, second.slot_id) == ("counted", vote.slot_id)
    assert Vote.objects.filter(state="counted").count() == 1


def test_undoing_the_deciding_vote_returns_the_item_to_validation(world):
    item = world.item()
    world.vote("vera", "foil")
    world.vote("vic", "caption")
    last = world.vote("val", "foil")
    item.caption.refresh_from_db()
    assert item.caption.flagged_false
    undo_vote(world.val, last.pk)
    item.refresh_from_db()
    item.caption.refresh_from_db()
    assert (item.state, item.unanimous, item.decided_at) == ("in_validation", None, None)
    assert (item.foils.get().verdict, item.caption.flagged_false) == ("pending", False)
    assert Task.objects.get().state == TaskState.OPEN
    row = AuditEvent.objects.get(action="recount")
    assert (row.actor, row.from_state, row.to_state) == (world.val, "invalid", "in_validation")
    world.vote("val", "caption")
    item.refresh_from_db()
    assert (item.state, item.unanimous) == ("valid", False)


def test_undoing_an_earlier_vote_reopens_the_item_as_well(world):
    item = world.item()
    first = world.vote("vera")
    world.vote("vic")
    world.vote("val")
    undo_vote(world.vera, first.pk)
    item.refresh_from_db()
    assert item.state == "in_validation"
    world.vote("vera", "both")
    item.refresh_from_db()
    assert (item.state, item.unanimous) == ("valid", False)


def test_undo_is_for_the_own_last_seconds_and_once(world):
    world.item()
    vote = world.vote("vera")
    with pytest.raises(Http404):
        undo_vote(world.vic, vote.pk)
    with pytest.raises(AnnotationError, match="only for 30 seconds"):
        undo_vote(world.vera, vote.pk, now=later(seconds=60))
    work = undo_vote(world.vera, vote.pk)
    assert undo_vote(world.vera, vote.pk).token == work.token
    assert Slot.objects.filter(state=SlotState.LEASED).count() == 1


def test_an_item_decided_by_a_researcher_stays(world):
    item = world.item()
    for name, choice in (("vera", "caption"), ("vic", "foil"), ("val", "both")):
        vote = world.vote(name, choice)
    adjudicate(world.owner, item.pk, "invalid", "looked at it")
    with pytest.raises(AnnotationError, match="The item has been decided"):
        undo_vote(world.val, vote.pk)
    requeue(world.owner, item.pk)
    with pytest.raises(AnnotationError, match="The item has been decided"):
        undo_vote(world.val, vote.pk)


def test_an_item_that_was_released_stays(world):
    item = world.item()
    votes = [world.vote(name) for name in ("vera", "vic", "val")]
    release = Release.objects.create(project=world.project, name="one", content_hash="0" * 64, n_items=1)
    ReleaseItem.objects.create(release=release, item=item, position=0, record={})
    with pytest.raises(AnnotationError, match="The item has been decided"):
        undo_vote(world.val, votes[-1].pk)


def test_surplus_changed_nothing_so_there_is_nothing_to_undo(world):
    world.item()
    lost = world.claim("vera", Stage.VALIDATION)
    late = later(hours=5)
    Slot.objects.exclude(pk=lost.slot_id).update(state=SlotState.CANCELLED)
    world.vote("vic", now=late)
    surplus = submit_vote(world.vera, lost.token, "k", 1, now=late)
    assert surplus.state == "surplus"
    with pytest.raises(AnnotationError, match="nothing to undo"):
        undo_vote(world.vera, surplus.pk, now=late)
