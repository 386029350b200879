"""A pair that divides people gets more votes; a random share of items gets all votes though the others stop early."""

from collections import Counter

import pytest

from annotation.actions.claims.claim import claim
from annotation.actions.decisions.items import adjudicate, requeue
from annotation.actions.settings.work_settings import set_vote_rule
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.undo import undo_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.errors import AnnotationError
from annotation.models import Slot, Stage, Task, Vote
from annotation.rules.voting import VoteRule, drawn_in_full, needed_among, rule_of_pair, wants_more
from foilworks.core.projects.models import AuditEvent, Role, User
from tests import factories
from tests.annotation.world import World, make_world, new_key, shown_as
from tests.invariants import broken_invariants

DIVIDED = ("caption", "foil", "neither")


def people_of(world: World, n: int) -> list[User]:
    return [factories.make_member(world.project, Role.VALIDATOR) for _ in range(n)]


def judge(world: World, person: User, choice: str) -> Vote | None:
    work = claim(person, world.project, Stage.VALIDATION)
    return work and submit_vote(person, work.token, new_key(), shown_as(choice, work))


@pytest.fixture
def world(db) -> World:
    return make_world(votes_max=5)


@pytest.mark.parametrize(
    ("rule", "votes", "needed"), [((3, 2), 5, 3), ((3, 2), 4, 3), ((5, 4), 9, 7), ((3, 3), 5, 5), ((4, 2), 6, 3)]
)
def test_more_votes_need_the_same_share(rule, votes, needed):
    assert needed_among(VoteRule(*rule), votes) == needed


def test_a_pair_gets_more_votes_only_if_they_can_decide_it():
    rule = VoteRule(3, 2, most=5)
    assert wants_more(Counter(DIVIDED), rule, 3)
    assert not wants_more(Counter(DIVIDED), rule, 5)
    assert not wants_more(Counter("abc"), VoteRule(3, 3, most=5), 3)
    assert not wants_more(Counter(DIVIDED), VoteRule(3, 2), 3)


def test_a_pair_judged_in_full_does_not_stop_early():
    rule = VoteRule(3, 2, stop_early=True, most=5)
    assert (rule_of_pair(rule, 3, in_full=True).stop_early, rule_of_pair(rule, 3).stop_early) == (False, True)
    assert rule_of_pair(rule, 5, in_full=True).stop_early


def test_three_different_answers_get_up_to_five_votes_and_stop_at_three_equal_ones(world):
    item = world.item()
    for person, choice in zip(people_of(world, 3), DIVIDED, strict=True):
        judge(world, person, choice)
    item.refresh_from_db()
    assert (item.state, Task.objects.get().overlap, Slot.objects.filter(state="free").count()) == (
        "in_validation",
        5,
        2,
    )
    assert AuditEvent.objects.get(action="add_votes").details == {
        "foil": item.foils.get().pk,
        "votes": 5,
        "reserved": 0,
    }
    assert broken_invariants() == []
    fourth, fifth = people_of(world, 2)
    judge(world, fourth, "caption")
    item.refresh_from_db()
    assert item.state == "in_validation"
    judge(world, fifth, "caption")
    item.refresh_from_db()
    assert (item.state, item.unanimous, Task.objects.get().state) == ("valid", False, "done")
    assert broken_invariants() == []


def test_a_pair_that_stays_divided_is_disputed_without_its_last_vote(world):
    item = world.item()
    for person, choice in zip(people_of(world, 4), (*DIVIDED, "both"), strict=True):
        judge(world, person, choice)
    item.refresh_from_db()
    assert (item.state, Vote.objects.count()) == ("disputed", 4)
    assert sorted(Slot.objects.values_list("state", flat=True)) == ["cancelled", *["done"] * 4]
    adjudicate(world.owner, item.pk, "invalid", "it is false")
    item.refresh_from_db()
    assert item.state == "invalid"
    assert requeue(world.owner, item.pk).state == "requeued"
    assert broken_invariants() == []


def test_a_started_task_is_counted_though_the_pair_is_decided_meanwhile(world):
    item = world.item()
    for person, choice in zip(people_of(world, 3), ("foil", "neither", "caption"), strict=True):
        judge(world, person, choice)
    held, other, third = people_of(world, 3)
    work, second = (claim(person, world.project, Stage.VALIDATION) for person in (held, other))
    assert claim(third, world.project, Stage.VALIDATION) is None
    submit_vote(other, second.token, new_key(), shown_as("both", second))
    item.refresh_from_db()
    assert item.state == "disputed"
    vote = submit_vote(held, work.token, new_key(), shown_as("caption", work))
    assert (vote.state, Task.objects.get().state) == ("counted", "done")
    assert broken_invariants() == []


def test_an_undone_vote_leaves_the_pair_with_its_slots(world):
    item = world.item()
    people = people_of(world, 3)
    votes = [judge(world, person, choice) for person, choice in zip(people, DIVIDED, strict=True)]
    back = undo_vote(people[2], votes[2].pk)
    submit_vote(people[2], back.token, new_key(), shown_as("caption", back))
    item.refresh_from_db()
    assert (item.state, Task.objects.get().overlap) == ("in_validation", 5)
    (fourth,) = people_of(world, 1)
    judge(world, fourth, "caption")
    item.refresh_from_db()
    assert item.state == "valid"
    assert broken_invariants() == []


def test_a_share_of_items_collects_all_votes(db):
    world = make_world(stop_early=True, full_share=0.5)
    items = [world.item() for _ in range(6)]
    make_tasks(world.project)
    drawn = {items[0].pk, items[5].pk}
    Task.objects.update(in_full=False)
    Task.objects.filter(item__in=drawn).update(in_full=True)
    for person in people_of(world, 3):
        while judge(world, person, "caption") is not None:
            pass
    counted = Counter(Vote.objects.values_list("item", flat=True))
    assert counted == {item.pk: 3 if item.pk in drawn else 2 for item in items}
    unanimous = {item.pk for item in items if type(item).objects.get(pk=item.pk).unanimous}
    assert unanimous == drawn
    assert broken_invariants() == []


def test_a_higher_share_keeps_what_a_lower_one_drew():
    drawn = [{item for item in range(500) if drawn_in_full("secret", item, share)} for share in (0.1, 0.3)]
    assert drawn[0] < drawn[1]
    assert 30 <= len(drawn[0]) <= 70


def test_a_changed_rule_draws_waiting_items_again(db):
    world = make_world(stop_early=True)
    for _ in range(8):
        world.item()
    make_tasks(world.project)
    set_vote_rule(world.owner, world.subtest, VoteRule(3, 2, stop_early=True, full_share=1.0, most=5))
    assert Task.objects.filter(in_full=True).count() == 8
    set_vote_rule(world.owner, world.subtest, VoteRule(3, 2, stop_early=True))
    assert Task.objects.filter(in_full=True).count() == 0
    assert broken_invariants() == []


@pytest.mark.parametrize("rule", [VoteRule(3, 2, most=3), VoteRule(3, 2, most=100), VoteRule(3, 2, full_share=1.5)])
def test_impossible_numbers_are_rejected(db, rule):
    world = make_world()
    with pytest.raises(AnnotationError, match=r"Set the (max. votes|share)"):
        set_vote_rule(world.owner, world.subtest, rule)


def test_a_vote_costs_the_same_however_long_the_queue_is(world, django_assert_max_num_queries):
    for _ in range(40):
        world.item()
    make_tasks(world.project)
    person = people_of(world, 1)[0]
    judge(world, person, "caption")
    work = claim(person, world.project, Stage.VALIDATION)
    with django_assert_max_num_queries(25) as few:
        submit_vote(person, work.token, new_key(), shown_as("caption", work))
    for _ in range(40):
        world.item()
    make_tasks(world.project)
    work = claim(person, world.project, Stage.VALIDATION)
    with django_assert_max_num_queries(len(few)):
        submit_vote(person, work.token, new_key(), shown_as("caption", work))
