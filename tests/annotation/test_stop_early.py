"""Sequential stopping: a pair that no vote can turn stops collecting; what is in somebody's hands still counts."""

from collections import Counter
from datetime import timedelta
from itertools import product

import pytest
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.leases.leasing import release
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.undo import undo_vote
from annotation.models import Slot, Stage, Task, Vote
from annotation.rules.voting import VoteRule, pair_verdict
from foilworks.core.corpus.rules.states import FoilVerdict
from foilworks.core.projects.models import Role
from tests import factories
from tests.annotation.world import World, make_world, new_key, shown_as
from tests.invariants import broken_invariants

OPTIONS = ("caption", "foil", "neither", "both", "cannot_tell")


@pytest.mark.parametrize(("wanted", "needed"), [(1, 1), (2, 1), (3, 2), (3, 3), (4, 2), (5, 3), (5, 4)])
def test_a_verdict_is_early_exactly_where_every_end_has_it(wanted, needed):
    """Against every way in which the missing votes could fall."""
    late, early = VoteRule(wanted, needed), VoteRule(wanted, needed, stop_early=True)
    for n in range(wanted + 1):
        for given in product(OPTIONS[:3], repeat=n):
            ends = {pair_verdict(Counter([*given, *rest]), late) for rest in product(OPTIONS, repeat=wanted - n)}
            sure = ends.pop() if len(ends) == 1 else FoilVerdict.PENDING
            assert pair_verdict(Counter(given), early) == sure, given


@pytest.fixture
def world(db) -> World:
    return make_world(stop_early=True)


def judge(world: World, person, choice: str = "caption", **also) -> Vote:
    work = claim(person, world.project, Stage.VALIDATION)
    return submit_vote(person, work.token, new_key(), shown_as(choice, work), **also)


def test_two_of_three_votes_decide_and_the_third_is_not_collected(world):
    item = world.item()
    first, _second = judge(world, world.vera), judge(world, world.vic)
    item.refresh_from_db()
    assert (item.state, item.unanimous) == ("valid", None)
    assert sorted(Slot.objects.values_list("state", flat=True)) == ["cancelled", "done", "done"]
    assert Task.objects.get().state == "done"
    assert claim(world.val, world.project, Stage.VALIDATION) is None
    assert first.state == "counted"
    assert broken_invariants() == []


def test_without_the_option_all_are_asked(db):
    world = make_world()
    item = world.item()
    judge(world, world.vera), judge(world, world.vic)
    item.refresh_from_db()
    assert item.state == "in_validation"
    assert claim(world.val, world.project, Stage.VALIDATION)


def test_a_vote_in_progress_is_still_counted_and_changes_nothing(world):
    item = world.item()
    held = claim(world.val, world.project, Stage.VALIDATION)
    judge(world, world.vera), judge(world, world.vic)
    item.refresh_from_db()
    assert (item.state, Task.objects.get().state) == ("valid", "open")
    vote = submit_vote(world.val, held.token, "k", shown_as("foil", held))
    item.refresh_from_db()
    assert (vote.state, item.state, item.unanimous) == ("counted", "valid", None)
    assert (Task.objects.get().state, Vote.objects.filter(state="counted").count()) == ("done", 3)
    assert broken_invariants() == []


@pytest.mark.parametrize("end", ["skipped", "expired"])
def test_a_slot_returned_after_the_decision_is_not_offered_again(world, end):
    world.item()
    now = timezone.now()
    held = claim(world.val, world.project, Stage.VALIDATION)
    judge(world, world.vera), judge(world, world.vic)
    later = now + timedelta(hours=2)
    if end == "skipped":
        release(world.val, held.token)
    fourth = factories.make_member(world.project, Role.VALIDATOR)
    assert claim(fourth, world.project, Stage.VALIDATION, now=later) is None
    assert (Slot.objects.filter(state="cancelled").count(), Task.objects.get().state) == (1, "done")
    assert broken_invariants() == []


def test_an_undone_vote_asks_the_others_again(world):
    item = world.item()
    judge(world, world.vera)
    vote = judge(world, world.vic)
    back = undo_vote(world.vic, vote.pk)
    item.refresh_from_db()
    assert (item.state, item.foils.get().verdict) == ("in_validation", "pending")
    assert sorted(Slot.objects.values_list("state", flat=True)) == ["done", "free", "leased"]
    submit_vote(world.vic, back.token, new_key(), shown_as("foil", back))
    judge(world, world.val)
    item.refresh_from_db()
    assert item.state == "valid"
    assert broken_invariants() == []


def test_an_undone_vote_after_the_verdict_leaves_the_verdict(world):
    item = world.item()
    held = claim(world.val, world.project, Stage.VALIDATION)
    judge(world, world.vera), judge(world, world.vic)
    vote = submit_vote(world.val, held.token, "k", shown_as("foil", held))
    back = undo_vote(world.val, vote.pk)
    item.refresh_from_db()
    assert (item.state, item.foils.get().verdict, Task.objects.get().state) == ("valid", "valid", "open")
    assert broken_invariants() == []
    submit_vote(world.val, back.token, "again", shown_as("caption", back))
    assert Task.objects.get().state == "done"
    assert broken_invariants() == []


def test_of_two_pairs_each_stops_by_itself(db):
    world = make_world(stop_early=True, foils_per_item=2)
    item = world.item("a man unfolds a shirt.", "a man eats a shirt.")
    people = [factories.make_member(world.project, Role.VALIDATOR) for _ in range(6)]
    for person in people:
        if claim(person, world.project, Stage.VALIDATION) is not None:
            judge(world, person)
    item.refresh_from_db()
    assert (item.state, item.unanimous) == ("valid", None)
    assert Vote.objects.count() == 4
    assert broken_invariants() == []
