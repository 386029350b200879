"""Additional votes go to skilled validators first: reserved for a day, within all other rules, and nobody is told."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.judgements import submit_vote
from annotation.jobs import estimate_skill
from annotation.models import Involvement, QualityPolicy, Slot, Stage, Standing
from annotation.queries.queues import why_empty
from annotation.rules.skill import MIN_VOTES, better_half, skills
from foilworks.core.jobs.models import Job
from foilworks.core.projects.models import AuditEvent, Role, User
from tests import factories
from tests.annotation.world import World, make_world, new_key, shown_as
from tests.invariants import broken_invariants


def crowd(accuracy: list[float], pairs: int = 200, seed: int = 0) -> list[tuple[int, int, int]]:
    """Everybody's vote on every pair; a wrong vote is for one of the other two answers."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, pairs, p=[0.8, 0.1, 0.1])
    return [
        (pair, person, int(truth[pair] if rng.random() < share else (truth[pair] + rng.integers(1, 3)) % 3))
        for pair in range(pairs)
        for person, share in enumerate(accuracy)
    ]


def test_planted_skill_is_found():
    accuracy = [0.95, 0.8, 0.6, 0.4]
    found = skills(crowd(accuracy), labels=3)
    assert [found[person] for person in range(4)] == pytest.approx(accuracy, abs=0.08)


def test_a_person_with_few_votes_has_no_estimate():
    votes = crowd([0.9, 0.9], pairs=MIN_VOTES)
    assert set(skills(votes, labels=3)) == {0, 1}
    assert set(skills(votes[:-1], labels=3)) == {0}
    assert skills([], labels=3) == {}


def test_the_better_half_is_rounded_up():
    assert better_half([(1, 0.5), (2, 0.9), (3, 0.7)]) == [2, 3]
    assert better_half([(1, 0.5)]) == [1]
    assert better_half([]) == []


@pytest.fixture
def world(db) -> World:
    world = make_world(votes_max=5, skilled_first=True)
    QualityPolicy.objects.create(project=world.project)
    return world


def person_of(world: World, skill: float | None = None) -> User:
    person = factories.make_member(world.project, Role.VALIDATOR)
    Standing.objects.create(policy=world.project.quality, person=person, skill=skill)
    return person


def divide(world: World) -> list[Slot]:
    """Three people without an estimate give three answers; return the slots of the additional votes."""
    for choice in ("caption", "foil", "neither"):
        person = person_of(world)
        work = claim(person, world.project, Stage.VALIDATION)
        submit_vote(person, work.token, new_key(), shown_as(choice, work))
    return list(Slot.objects.filter(index__gte=3).order_by("index"))


def test_additional_votes_are_reserved_for_the_better_half_for_a_day(world):
    best, good, weak = (person_of(world, skill) for skill in (0.9, 0.8, 0.5))
    item = world.item()
    slots = divide(world)
    assert {slot.reserved_for_id for slot in slots} == {best.pk, good.pk}
    assert AuditEvent.objects.get(action="add_votes").details["reserved"] == 2
    assert claim(weak, world.project, Stage.VALIDATION) is None
    # Nothing that the person reads says that the pair divides people.
    assert {reason.code for reason in why_empty(weak, world.project, Stage.VALIDATION)} == {"leased"}
    work = claim(best, world.project, Stage.VALIDATION)
    submit_vote(best, work.token, new_key(), shown_as("caption", work))
    later = timezone.now() + timedelta(days=1, minutes=1)
    work = claim(weak, world.project, Stage.VALIDATION, now=later)
    submit_vote(weak, work.token, new_key(), shown_as("caption", work), now=later)
    item.refresh_from_db()
    assert item.state == "valid"
    assert broken_invariants() == []


def test_nobody_is_chosen_who_is_involved_in_the_video_or_paused(world):
    maker, paused, free = (person_of(world, skill) for skill in (0.95, 0.9, 0.6))
    item = world.item()
    Involvement.objects.create(project=world.project, person=maker, video=item.video, kind="made")
    Standing.objects.filter(person=paused).update(state="paused")
    slots = divide(world)
    assert [slot.reserved_for_id for slot in slots] == [free.pk, None]
    assert claim(maker, world.project, Stage.VALIDATION) is None


def test_without_estimates_anybody_gets_the_votes(world):
    world.item()
    assert [slot.reserved_for_id for slot in divide(world)] == [None, None]
    assert claim(person_of(world), world.project, Stage.VALIDATION) is not None


def test_a_divided_pair_requests_one_estimate_per_day(world):
    world.item()
    divide(world)
    assert Job.objects.filter(dotted="annotation.estimate_skill").count() == 1
    world.item()
    for person in Standing.objects.values_list("person", flat=True)[:2]:
        claim(User.objects.get(pk=person), world.project, Stage.VALIDATION)
    assert Job.objects.filter(dotted="annotation.estimate_skill").count() == 1


def test_the_job_stores_skill_of_people_with_enough_votes(world):
    for _ in range(MIN_VOTES):
        world.item()
    people = [person_of(world) for _ in range(3)]
    few = person_of(world)
    for person, choice in zip(people, ("caption", "caption", "foil"), strict=True):
        while (work := claim(person, world.project, Stage.VALIDATION)) is not None:
            submit_vote(person, work.token, new_key(), shown_as(choice, work))
    job = Job.objects.create(dotted="annotation.estimate_skill", target_id=world.project.pk, state="running")
    estimate_skill(world.project.pk, job)
    found = dict(Standing.objects.values_list("person", "skill"))
    assert found[few.pk] is None
    assert found[people[0].pk] > 0.8 > found[people[2].pk]
    assert AuditEvent.objects.get(action="estimate_skill").details == {"people": 3}


def test_dividing_costs_the_same_however_many_people_there_are(world, django_assert_max_num_queries):
    world.item()
    for choice in ("caption", "foil"):
        person = person_of(world)
        work = claim(person, world.project, Stage.VALIDATION)
        submit_vote(person, work.token, new_key(), shown_as(choice, work))
    for _ in range(20):
        person_of(world, 0.8)
    person = person_of(world)
    work = claim(person, world.project, Stage.VALIDATION)
    with django_assert_max_num_queries(36):
        submit_vote(person, work.token, new_key(), shown_as("neither", work))
    assert Slot.objects.filter(reserved_for__isnull=False).count() == 2
