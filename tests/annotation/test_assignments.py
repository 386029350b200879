"""Quotas of named people: how many tasks, never which."""

from datetime import date, timedelta
from random import Random

import pytest
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.people import assign, end_assignment
from annotation.actions.submissions.judgements import judge_and_claim, submit_vote
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.actions.undo import undo_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.errors import AnnotationError
from annotation.models import Assignment, GoldPair, Involvement, QualityPolicy, Slot, Stage, Vote
from annotation.queries.assignments import open_assignments, tasks_left
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import Membership, Role
from foilworks.site.dashboard.counting import count
from foilworks.site.dashboard.overview import projects_of
from tests.annotation.crowd import stock
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


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6))
def test_a_team_of_all_stages_finishes_its_quotas_in_any_order(seed):
    """Two people have two roles: what they wrote or reviewed is never theirs to judge, quota or not."""
    chance, world = Random(seed), make_world(votes_wanted=2)
    for _ in range(10):
        world.group()
    for name, role in (("abe", Role.VALIDATOR), ("rob", Role.VALIDATOR)):
        Membership.objects.create(project=world.project, person=getattr(world, name), role=role)
    plan = {Stage.EDIT: {"ann": 5, "abe": 4}, Stage.REVIEW: {"rita": 5, "rob": 3}}
    plan[Stage.VALIDATION] = {"vera": 4, "vic": 3, "abe": 2, "rob": 2}
    for stage, quota_by_name in plan.items():
        for name, quota in quota_by_name.items():
            assign(world.owner, world.project, [getattr(world, name).pk], stage, quota)
    hands: dict[str, set[int]] = {name: set() for name in world.people}
    waiting = [(stage, name) for stage, quota_by_name in plan.items() for name in quota_by_name]
    while any(works_once(world, *move, hands) for move in chance.sample(waiting, len(waiting))):
        pass
    done = {(row.stage, row.person): row.done - row.quota for row in open_assignments(world.project, date.min)}
    assert set(done.values()) == {0}, done
    assert len(done) == len(waiting)
    assert broken_invariants() == []


def works_once(world: World, stage: str, name: str, hands: dict[str, set[int]]) -> bool:
    """Claim and submit one task of the stage; return whether there was one. `hands`: clips that each worked on."""
    work, person = world.claim(name, stage), getattr(world, name)
    if work is None:
        return False
    slot = Slot.objects.get(pk=work.slot_id)
    if stage == Stage.VALIDATION:
        assert slot.video_id not in hands[name]
        submit_vote(person, work.token, new_key(), "first")
        return True
    if stage == Stage.REVIEW:
        assert slot.task.candidate.author_id != person.pk
        submit_review(person, work.token, new_key(), ReviewAnswer("accept"))
    else:
        submit_edit(person, work.token, new_key(), ("a man unfolds a shirt.",), ())
    hands[name].add(slot.video_id)
    return True


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


def test_no_page_offers_tasks_beyond_the_quota_of_a_person(world):
    quotas(world, vera=2)
    vera = browser(world.vera)
    work, queue = url(world, "work"), url(world, "queue", "validation")
    home = f"/projects/{world.project.slug}/"

    def offered() -> list[int]:
        (row,), (dashboard,) = vera.get(work).context["queues"], vera.get(home).context["work"]
        cards = {card.project.pk: card.waiting for card in projects_of(world.vera)}
        return [row.available, dashboard.available, sum(n for _stage, n in cards[world.project.pk])]

    assert offered() == [2, 2, 2]
    token = world.claim("vera", Stage.VALIDATION).token
    assert offered() == [1, 1, 1]
    assert vera.get(url(world, "validation", token)).context["total"] == "2"
    assert judges_on(world, "vera") == 2
    assert offered() == [0, 0, 0]
    page = vera.get(queue)
    assert (page.context["queue"].finished, page.context["queue"].reasons) == (True, [])
    assert vera.post(queue, follow=True).status_code == 200
    assert judges_on(world, "vic") == 6


def test_the_overview_counts_quotas_among_what_keeps_work_undone(world):
    judges_on(world, "val", 1)
    quotas(world, vera=6, vic=6, val=5)
    assert count(world.project)["beyond"] == {}
    # Nobody answers an item twice: what vera and vic leave, val cannot do alone, with a quota or without.
    quotas(world, vera=1, vic=2, val=20)
    assert count(world.project)["beyond"] == {"validation": 7}
    end_assignment(world.owner, world.project, Assignment.objects.get(person=world.val, ended_at=None).pk)
    counted = count(world.project)
    assert (counted["beyond"], counted["blocked"], counted["forecast"]["days"]) == ({"validation": 7}, [], None)
    # Half of a quota goes to gold.
    quotas(world, vera=6, vic=6)
    assert count(world.project)["beyond"] == {}
    QualityPolicy.objects.create(project=world.project, gold_rate=0.5)
    stock(world.project, world.subtest, items=0, gold=6)
    assert count(world.project)["beyond"] == {"validation": 4}
    GoldPair.objects.all().delete()
    QualityPolicy.objects.all().delete()
    quotas(world, vera=1, vic=2, val=9)
    assert "beyond" in {alarm["code"] for alarm in counted["alarms"]}
    assert judges_on(world, "vera") + judges_on(world, "vic") + judges_on(world, "val") == 8
    counted = count(world.project)
    assert counted["blocked"] == ["validation"]
    assert counted["short"][0]["done"] == 2
    assert {"blocked", "judges"} <= {alarm["code"] for alarm in counted["alarms"]}
    assert url(world, "assignments") in browser(world.owner).get(f"/projects/{world.project.slug}/").content.decode()


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
