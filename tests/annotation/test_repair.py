"""Captions that validators found false: corrected as a new revision, confirmed, or dropped with the video's items."""

import pytest
from django.http import Http404

from annotation.actions.decisions.captions import confirm_caption, correct_caption, drop_caption
from annotation.actions.decisions.items import requeue
from annotation.errors import AnnotationError
from annotation.models import Involvement, Lease, Slot, Stage, Task, Vote
from foilworks.core.corpus.models import Caption, Item
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent
from generation.models import Candidate
from generation.run_captions import selected_rows
from tests import factories
from tests.annotation.world import CAPTION, World, make_world
from tests.invariants import broken_invariants

pytestmark = pytest.mark.django_db

UNFOLDS, TEARS, IRONS = "a man unfolds a shirt.", "a man tears a shirt.", "a man irons a shirt."
WOMAN = "a woman folds a shirt."


def doubted(world: World, *choices: str, item: Item | None = None) -> Item:
    """An item most of whose validators said that its caption is not true."""
    item = item or world.made_item()
    for name, choice in zip(("vera", "vic", "val"), choices or ("neither", "neither", "caption"), strict=True):
        world.vote(name, choice)
    item.refresh_from_db()
    item.caption.refresh_from_db()
    assert item.caption.flagged_false
    return item


def test_a_corrected_caption_is_a_new_revision_and_the_votes_stay_with_the_old(world: World):
    item = doubted(world)
    old = item.caption
    new = correct_caption(world.owner, old.pk, f" {WOMAN} ", reason="it is a woman")
    item.refresh_from_db()
    old.refresh_from_db()
    assert (new.text, new.revises, new.video, new.flagged_false) == (WOMAN, old, old.video, False)
    assert (old.text, old.doubt_settled) == (CAPTION, "corrected")
    assert (item.state, item.caption, item.votes.filter(state="counted").count()) == ("requeued", old, 3)
    child = Candidate.objects.get(group__caption=new)
    assert (child.text, child.state, child.parent.foil.item, child.method) == (UNFOLDS, "queued", item, "fake")
    assert child.edits == [[2, 13, "man unfolds"]]
    row = AuditEvent.objects.get(action="settle_doubt")
    assert (row.actor, row.to_state, row.reason) == (world.owner, "corrected", "it is a woman")
    assert row.details == {"revision": new.pk, "items": 1}
    assert broken_invariants() == []


def test_a_foil_that_still_fits_is_kept_and_judged_again():
    world = make_world(foils_per_item=2)
    world.group(UNFOLDS, TEARS)
    world.edit("ann", UNFOLDS, TEARS)
    world.review("rita")
    world.review("rob")
    item = Item.objects.get()
    for name in ("vera", "vic", "val"):
        world.vote(name, "neither")
    world.people |= {name: factories.make_member(world.project, "validator") for name in ("vi", "vo", "va")}
    for name in ("vi", "vo", "va"):
        world.vote(name, "neither")
    item.refresh_from_db()
    assert (item.state, item.caption.flagged_false) == ("invalid", True)
    kept = [foil.pk for foil in item.foils.all()]
    new = correct_caption(world.owner, item.caption_id, WOMAN, keep=kept)
    again = Item.objects.get(caption=new)
    assert [foil.text for foil in again.foils.all()] == [UNFOLDS, TEARS]
    assert (again.state, again.votes.count()) == ("in_validation", 0)
    assert Task.objects.filter(item=again, state="open").count() == 2
    assert broken_invariants() == []


def test_a_foil_that_says_what_the_corrected_caption_says_is_dropped_and_cannot_be_kept(world: World):
    item = doubted(world, "foil", "foil", "foil")
    with pytest.raises(AnnotationError, match="cannot be kept: it is the same as the caption"):
        correct_caption(world.owner, item.caption_id, UNFOLDS, keep=[item.foils.get().pk])
    assert Caption.objects.count() == 1
    new = correct_caption(world.owner, item.caption_id, UNFOLDS)
    assert Candidate.objects.get(group__caption=new).state == CandidateState.DROPPED
    # People write for it: ann is free to, as anybody is.
    assert world.edit("abe", TEARS).group.caption == new
    assert broken_invariants() == []


def test_an_imported_items_foil_comes_over_too(world: World):
    item = doubted(world, "foil", "foil", "neither", item=world.item(TEARS))
    new = correct_caption(world.owner, item.caption_id, WOMAN)
    child = Candidate.objects.get(group__caption=new)
    assert (child.text, child.method, child.parent) == (TEARS, "import", None)
    assert broken_invariants() == []


def test_unfinished_foils_continue_under_the_corrected_caption(world: World):
    item = doubted(world)
    caption = item.caption
    other = factories.make_run(factories.make_subtest(world.project))
    group = factories.make_group(other, caption)
    factories.make_candidate(group, IRONS)
    claim = world.claim("abe", Stage.EDIT)
    assert claim.task_id == Task.objects.get(group=group).pk
    new = correct_caption(world.owner, caption.pk, WOMAN)
    assert Candidate.objects.get(group=group).state == "superseded"
    assert Lease.objects.get(token=claim.token).ending == "cancelled"
    moved = Candidate.objects.get(text=IRONS, group__caption=new)
    assert (moved.state, moved.parent.group, moved.group.run.subtest) == ("queued", group, other.subtest)
    assert broken_invariants() == []


def test_nothing_more_is_made_of_a_caption_that_was_corrected_or_dropped(world: World):
    item = doubted(world)
    new = correct_caption(world.owner, item.caption_id, WOMAN)
    assert list(selected_rows(world.project, {})) == [new]
    late = factories.make_group(factories.make_run(factories.make_subtest(world.project)), item.caption)
    factories.make_candidate(late, IRONS)
    world.claim("abe", Stage.EDIT)
    assert not Task.objects.filter(group=late).exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [(" ", "write a foil"), (CAPTION, "caption is unchanged"), ("a\x07b", "unprintable"), ("x" * 2001, "most")],
)
def test_a_correction_that_is_none_is_refused(world: World, text: str, words: str):
    item = doubted(world)
    with pytest.raises(AnnotationError, match=words):
        correct_caption(world.owner, item.caption_id, text)
    assert Item.objects.get().state == "invalid"


def test_a_text_that_the_video_has_already_is_refused(world: World):
    item = doubted(world)
    factories.make_caption(item.video, WOMAN)
    with pytest.raises(AnnotationError, match="already has a caption with this text"):
        correct_caption(world.owner, item.caption_id, WOMAN)


def test_a_confirmed_caption_leaves_the_queue_until_other_validators_say_it_again(world: World):
    # The same people judge two items of the caption.
    world.project.judge_caption_once = False
    world.project.save()
    item = doubted(world)
    with pytest.raises(AnnotationError, match="Enter a reason"):
        confirm_caption(world.owner, item.caption_id, " ")
    confirm_caption(world.owner, item.caption_id, "one sees it at the end")
    item.caption.refresh_from_db()
    assert (item.caption.flagged_false, item.caption.doubt_settled) == (True, "confirmed")
    item.refresh_from_db()
    assert (item.state, Vote.objects.filter(state="counted").count()) == ("invalid", 3)
    with pytest.raises(AnnotationError, match="not in doubt"):
        drop_caption(world.owner, item.caption_id, "no")
    doubted(world, "neither", "neither", "neither", item=factories.make_item(world.subtest, item.caption, (TEARS,)))
    item.caption.refresh_from_db()
    assert item.caption.doubt_settled == ""


def test_dropping_takes_out_all_items_of_the_video_and_what_is_under_way(world: World):
    item = doubted(world)
    sibling = factories.make_caption(item.video, "a man holds a shirt.")
    other = factories.make_item(world.subtest, sibling, (TEARS,))
    group = factories.make_group(world.run, sibling)
    factories.make_candidate(group, IRONS)
    world.claim("abe", Stage.EDIT)
    drop_caption(world.owner, item.caption_id, "the file is another clip")
    assert {row.state for row in Item.objects.all()} == {"retracted"}
    assert Candidate.objects.get(group=group).state == "dropped"
    assert Vote.objects.filter(item=item, state="counted").count() == 3
    assert not Slot.objects.filter(state__in=["free", "leased"]).exists()
    assert {row.doubt_settled for row in Caption.objects.all()} == {"dropped"}
    assert list(selected_rows(world.project, {})) == []
    assert AuditEvent.objects.get(action="settle_doubt").details == {"items": 2, "foils": 1}
    assert other.votes.count() == 0
    assert broken_invariants() == []


def test_a_person_who_repaired_a_caption_judges_nothing_on_its_video(world: World):
    item = doubted(world)
    correct_caption(world.owner, item.caption_id, WOMAN)
    kinds = set(Involvement.objects.filter(person=world.owner).values_list("kind", flat=True))
    assert kinds == {"made"}


def test_only_researchers_repair_and_only_what_is_in_doubt(world: World):
    item = doubted(world)
    for act in (
        lambda person: correct_caption(person, item.caption_id, WOMAN),
        lambda person: confirm_caption(person, item.caption_id, "x"),
        lambda person: drop_caption(person, item.caption_id, "x"),
    ):
        for person in (factories.make_user(), make_world().owner):
            with pytest.raises(Http404):
                act(person)
        for name in ("ann", "rita", "vera"):
            with pytest.raises(AccessDenied):
                act(getattr(world, name))
    sound = factories.make_caption(item.video, "a man holds a shirt.")
    with pytest.raises(AnnotationError, match="not in doubt"):
        correct_caption(world.owner, sound.pk, WOMAN)


def test_a_corrected_items_foils_are_not_requeued_a_second_time(world: World):
    item = doubted(world)
    correct_caption(world.owner, item.caption_id, WOMAN)
    with pytest.raises(Exception, match="is requeued"):
        requeue(world.owner, item.pk)
