"""Quotas of named people: how many tasks, never which."""

from datetime import timedelta
from random import Random

import pytest
from django.utils import timezone

from annotation.actions.assignments import assign, end_assignment
from annotation.actions.claims.claim import claim
from annotation.actions.submissions.judgements import judge_and_claim
from annotation.actions.undo import undo_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.errors import AnnotationError
from annotation.models import Assignment, Involvement, Stage, Vote
from annotation.queries.assignments import open_assignments, tasks_left
from foilworks.core.projects.errors import AccessDenied
from tests.annotation.world import World, browser, make_world, new_key, sending, url
from tests.factories import make_member
from tests.invariants import broken_invariants

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    made = make_world(votes_wanted=3)
    for _ in range(6):
        made.item()
    make_tasks(made.project)
    return made


def quotas(world: World, **of: int) -> None:
    for name, quota in of.items():
        assign(world.owner, world.project, [getattr(world, name).pk], Stage.VALIDATION, quota, team="A")


def judges_on(world: World, name: str, limit: int = 99) -> int:
    """Answer card after card, as the page does, until there is none; return how many."""
    person, n, work = getattr(world, name), 0, world.claim(name, Stage.VALIDATION)
    while work is not None and n < limit:
        stored = judge_and_claim(sending(person, work.token, new_key()), "first")
        work, n = stored.claim or claim(person, world.project, Stage.VALIDATION), n + 1
    return n


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 12))])
def test_teams_finish_their_quotas_and_nobody_does_what_is_forbidden(world, seed):
    chance = Random(seed)
    barred = chance.choice(list(world.project.videos.all()))
    Involvement.objects.create(project=world.project, person=world.vera, video=barred, kind="made")
    wanted = {name: chance.randint(1, 5) for name in ("vera", "vic")}
    quotas(world, **wanted)
    for name in chance.sample(["vera", "vic", "val"], 3):
        assert judges_on(world, name) == wanted.get(name, 6)
    assert not Vote.objects.filter(person=world.vera, item__video=barred).exists()
    assert Vote.objects.values("person", "item").distinct().count() == Vote.objects.count()
    rows = open_assignments(world.project, timezone.localdate())
    assert {row.person_id: (row.done, row.quota) for row in rows} == {
        getattr(world, name).pk: (n, n) for name, n in wanted.items()
    }
    assert broken_invariants() == []


def test_an_undone_answer_does_not_count(world):
    quotas(world, vera=2)
    assert judges_on(world, "vera") == 2
    undo_vote(world.vera, Vote.objects.latest("pk").pk)
    assert tasks_left(world.vera, world.project, Stage.VALIDATION) == 1
    assert judges_on(world, "vera") == 1


def test_work_before_does_not_count_and_a_new_quota_replaces_the_old(world):
    judges_on(world, "vera", 2)
    quotas(world, vera=1)
    assert judges_on(world, "vera") == 1
    quotas(world, vera=2)
    assert Assignment.objects.filter(ended_at=None).count() == 1
    assert judges_on(world, "vera") == 2
    assert end_assignment(world.owner, world.project, Assignment.objects.get(ended_at=None).pk)
    assert judges_on(world, "vera") == 1


def test_only_members_with_the_role_are_assigned_and_only_by_researchers(world):
    for people in ([], [world.ann.pk], [make_member(make_world().project, "validator").pk]):
        with pytest.raises(AnnotationError, match="role of this stage"):
            assign(world.owner, world.project, people, Stage.VALIDATION, 3)
    with pytest.raises(AccessDenied):
        assign(world.vera, world.project, [world.vera.pk], Stage.VALIDATION, 3)


def test_the_pages_show_progress_and_what_is_late(world):
    yesterday = timezone.localdate() - timedelta(days=1)
    sent = {"stage": "validation", "people": [world.vera.pk, world.vic.pk], "quota": "2", "due": yesterday, "team": "A"}
    owner = browser(world.owner)
    assert owner.post(url(world, "assignments"), sent).status_code == 302
    judges_on(world, "vera")
    page = owner.get(url(world, "assignments"))
    assert {row.person: (row.done, row.is_late) for row in page.context["rows"]} == {
        world.vera: (2, False),
        world.vic: (0, True),
    }
    assert "Your assignment is done." in browser(world.vera).get(url(world, "queue", "validation")).content.decode()
    work = browser(world.vic).get(url(world, "work")).content.decode()
    assert "0 of 2 tasks" in work
    assert owner.post(url(world, "assignments"), {**sent, "people": [world.ann.pk]}).status_code == 422
    assert owner.post(url(world, "assignments"), {"end": Assignment.objects.first().pk}).status_code == 302
    assert Assignment.objects.filter(ended_at=None).count() == 1
