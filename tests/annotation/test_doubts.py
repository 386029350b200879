"""The flag of a caption in doubt follows the counted votes on its decided items, whatever becomes of both."""

import pytest

from annotation.actions.claims.claim import claim
from annotation.actions.decisions.captions import confirm_caption, drop_caption
from annotation.actions.decisions.items import adjudicate, retract, take_down_video
from annotation.actions.quality.validators import exclude_votes, reinstate_votes
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.undo import undo_vote
from annotation.actions.workflow.verdicts import flag_captions
from annotation.models import Stage, Vote
from foilworks.core.corpus.models import Caption, Item
from foilworks.core.projects.models import Role
from tests import factories
from tests.annotation.world import World, make_world, new_key, shown_as
from tests.invariants import broken_invariants

pytestmark = pytest.mark.django_db


def is_flagged(item: Item) -> bool:
    return Caption.objects.get(pk=item.caption_id).flagged_false


def test_a_vote_that_comes_after_the_verdict_puts_the_caption_in_doubt():
    """Four votes on four options: disputed for good, and half are against the caption; the fifth makes three."""
    world = make_world(votes_wanted=5, votes_needed=3, stop_early=True)
    item = world.item()
    people = [factories.make_member(world.project, Role.VALIDATOR) for _ in range(5)]
    works = [claim(person, world.project, Stage.VALIDATION) for person in people]
    for person, work, choice in zip(people, works, ("foil", "neither", "both", "cannot_tell"), strict=False):
        submit_vote(person, work.token, new_key(), shown_as(choice, work))
    item.refresh_from_db()
    assert (item.state, is_flagged(item)) == ("disputed", False)
    assert submit_vote(people[4], works[4].token, new_key(), shown_as("foil", works[4])).state == "counted"
    assert is_flagged(item)
    assert broken_invariants() == []


def test_a_caption_that_was_confirmed_stays_so_where_the_last_vote_of_the_same_item_comes_in():
    world = make_world(votes_wanted=3, votes_needed=2, stop_early=True)
    item = world.item()
    people = [world.vera, world.vic, world.val]
    works = [claim(person, world.project, Stage.VALIDATION) for person in people]
    for person, work in zip(people[:2], works, strict=False):
        submit_vote(person, work.token, new_key(), shown_as("neither", work))
    confirm_caption(world.owner, item.caption_id, "I looked")
    submit_vote(people[2], works[2].token, new_key(), shown_as("neither", works[2]))
    assert (Caption.objects.get().doubt_settled, is_flagged(item)) == ("confirmed", True)
    undo_vote(people[2], Vote.objects.get(person=people[2]).pk)
    assert (Caption.objects.get().doubt_settled, is_flagged(item)) == ("confirmed", True)


class TestAnItemThatIsTakenOut:
    """Before its votes are in: nothing was decided about its caption, and other items' votes speak for themselves."""

    @pytest.fixture
    def judged(self, world: World) -> Item:
        """Its only vote is against its caption."""
        item = world.item()
        world.vote("vera", "neither")
        return item

    def test_with_its_video(self, world, judged):
        take_down_video(world.owner, world.project.slug, judged.video_id, "asked to")
        judged.refresh_from_db()
        assert (judged.state, judged.foils.get().verdict, is_flagged(judged)) == ("retracted", "pending", False)
        assert broken_invariants() == []

    def test_with_a_false_caption_of_its_video(self, world, judged):
        other = imported(world, judged, "foil", "foil", "caption")
        drop_caption(world.owner, other.caption_id, "it is a cat")
        judged.refresh_from_db()
        assert (judged.state, is_flagged(judged)) == ("retracted", False)
        assert broken_invariants() == []

    def test_says_nothing_where_another_item_of_its_caption_is_decided(self, world, judged):
        take_down_video(world.owner, world.project.slug, judged.video_id, "asked to")
        imported(world, judged, "caption", "caption", "foil", caption=judged.caption)
        flag_captions([judged.caption_id])
        assert not is_flagged(judged)


def imported(world: World, beside: Item, *choices: str, caption: Caption | None = None) -> Item:
    """An item on the same video that a file has decided."""
    caption = caption or factories.make_caption(beside.video, "a dog barks.")
    state = "valid" if choices.count("caption") > 1 else "invalid"
    item = factories.make_item(world.subtest, caption, ("a dog sleeps.",), state=state)
    item.foils.update(verdict=state)
    for index, choice in enumerate(choices):
        Vote.objects.create(item=item, stage="validation", source="import", import_index=index, choice=choice)
    flag_captions([caption.pk])
    assert is_flagged(item) == (state == "invalid")
    return item


def test_votes_on_a_retracted_item_no_longer_doubt_the_caption(world: World):
    """What it was decided to be stands."""
    item = world.item()
    for name, choice in zip(("vera", "vic", "val"), ("neither", "foil", "caption"), strict=True):
        world.vote(name, choice)
    adjudicate(world.rob, item.pk, "valid", "I see it")
    retract(world.owner, item.pk, "blurred")
    assert is_flagged(item)
    assert exclude_votes(world.owner, world.project, world.vera.pk) == 1
    assert not is_flagged(item)
    assert reinstate_votes(world.owner, world.project, world.vera.pk) == (1, 0)
    assert is_flagged(item)
    item.refresh_from_db()
    assert (item.state, Vote.objects.filter(state="counted").count()) == ("retracted", 3)
    assert broken_invariants() == []
