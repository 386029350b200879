"""A judgement and the next claim in one transaction: its number of statements, and the rows of the general way."""

import json
import re
from contextlib import contextmanager
from datetime import timedelta
from statistics import mode

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.judge_and_claim import judge_and_claim
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Guideline, Involvement, Lease, Slot, SlotState, Stage, Standing, Task, Vote
from foilworks.core.corpus.models import Caption, Foil, Item, Video
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import ApiToken, AuditEvent, Membership, User
from tests.annotation.crowd import open_policy, stock
from tests.annotation.world import World, make_world, new_key, shown_as

pytestmark = pytest.mark.django_db
# Received by the database from the submit to the next card, the transaction's own two among them.
MOST = 12
# The verdict of a pair: its foil, its task, its item, and whether a webhook wants to know.
DECIDING = 4


@pytest.fixture
def world() -> World:
    return make_world()


def begun(world: World, name: str = "vera", items: int = 6):
    """A person who holds a task with an upcoming one."""
    for _ in range(items):
        world.item()
    make_tasks(world.project)
    return claim(User.objects.get(pk=getattr(world, name).pk), world.project, Stage.VALIDATION)


def by_page(world: World, person: User):
    client = Client()
    client.force_login(person)
    base = f"/projects/{world.project.slug}/work/validation/"

    def submit(token: str) -> str:
        sent = {"answer": "first", "idempotency_key": new_key(), "seconds": "2"}
        answer = client.post(f"{base}{token}/", sent, headers={"X-Foilworks-Swap": "1"})
        assert answer.status_code == 200, answer.content[:500]
        assert 'id="answer"' in answer.content.decode()
        return answer.headers["X-Foilworks-Url"].removeprefix(base).partition("/")[0]

    return submit


def by_api(_world: World, person: User):
    secret = make_token(person, name="t", scope=ApiToken.Scope.WORK).secret

    def submit(token: str) -> str:
        headers = {"Authorization": f"Bearer {secret}"}
        told = {"data": json.dumps({"answer": 1}), "content_type": "application/json", "headers": headers}
        answer = Client().post(f"/api/work/{token}/submit?next=true", **told)
        assert answer.status_code == 201, answer.content
        return answer.json()["next"]["token"]

    return submit


@pytest.mark.parametrize(("way", "more"), [(by_api, -1), (by_page, 0)])
def test_from_submit_to_the_next_card_take_at_most_twelve_statements(world, settings, way, more):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    work = begun(world, items=40)
    submit, counts = way(world, world.vera), []
    token = submit(submit(work.token))
    for _ in range(5):
        with CaptureQueriesContext(connection) as asked:
            token = submit(token)
        counts.append(len(asked))
    assert set(counts) == {MOST + more}


def test_without_quality_rules_the_next_slot_is_found_without_gold_and_practice(world, settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    work = begun(world, items=40)
    submit = by_api(world, world.vera)
    token = submit(work.token)
    with CaptureQueriesContext(connection) as asked:
        submit(token)
    (following,) = [each["sql"] for each in asked if '"following"' in each["sql"]]
    assert not re.search("annotation_(goldpair|question|attempt)", following)


def test_quality_rules_cost_one_statement_more_and_gold_as_many_as_work(world, settings, every_fifth_gold):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    stock(world.project, world.subtest, items=60, gold=20)
    make_tasks(world.project)
    open_policy(world.project, gold_rate=0.2, gold_min=1_000, position_min=1_000, fast_min=1_000)
    token = claim(world.vera, world.project, Stage.VALIDATION).token
    submit, counts = by_api(world, world.vera), {Stage.GOLD: [], Stage.VALIDATION: []}
    for number in range(1, 20):
        stage = Slot.objects.get(token=token).stage
        with CaptureQueriesContext(connection) as asked:
            token = submit(token)
        # Every ten tasks gold is chosen ahead, whatever follows.
        if number > 2 and number % 10:
            counts[stage].append(len(asked))
    # The next task is drawn, and one that cannot be had costs a few more: rare, and not counted here.
    for stage, usual in ((Stage.VALIDATION, MOST), (Stage.GOLD, MOST + 1)):
        assert min(counts[stage]) == mode(counts[stage]) == usual


def test_the_last_vote_of_a_pair_takes_four_more(world):
    work, counts = begun(world), []
    item = Slot.objects.get(person=world.vera).item
    for name in ("vic", "val"):
        others = claim(getattr(world, name), world.project, Stage.VALIDATION)
        assert Slot.objects.get(token=others.token).item == item
        with CaptureQueriesContext(connection) as asked:
            judge_and_claim(getattr(world, name), others.token, new_key(), "both")
        counts.append(len(asked))
    with CaptureQueriesContext(connection) as asked:
        judge_and_claim(world.vera, work.token, new_key(), "both")
    assert Item.objects.get(pk=item.pk).state == "invalid"
    assert counts == [MOST - 2, MOST - 2]
    assert len(asked) == MOST - 2 + DECIDING


MADE = {
    Slot: "state person expires_at leased_at heartbeat_at task index priority",
    Task: "state overlap",
    Lease: "slot task person caption_video caption_first order_shown standing guideline leased_at ended_at ending",
    Vote: "slot item foil gold stage person choice caption_first chosen_place state standing fast guideline watch "
    "seconds_spent late created_at idempotency_key",
    Involvement: "project person video group kind",
    Item: "state decided_at unanimous",
    Foil: "verdict",
    Caption: "flagged_false doubt_settled",
    Standing: "state served gold_served gold_ahead first second gold_seen gold_right timed",
}


def rows() -> dict[str, list]:
    """Everything that a judgement and a claim store, but for keys, tokens and chance."""
    found = {
        model.__name__: list(model.objects.order_by("pk").values_list(*names.split())) for model, names in MADE.items()
    }
    trail = AuditEvent.objects.order_by("pk").values_list("actor", "action", "from_state", "to_state", "reason")
    return found | {"trail": list(trail)}


@contextmanager
def undone_later():
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def guided(world: World) -> None:
    Guideline.objects.create(project=world.project, stage=Stage.VALIDATION, version=1, text="Look.")


def ruled(world: World) -> None:
    open_policy(world.project, gold_rate=0, position_min=1_000)


def once(world: World) -> None:
    world.project.judge_caption_once = True
    world.project.save()


def with_votes(world: World) -> None:
    """The item of the first task has two votes."""
    begun(world)
    for name in ("vic", "val"):
        world.vote(name, "foil")


@pytest.mark.parametrize("answer", ["caption", "foil", "cannot_tell"])
@pytest.mark.parametrize("prepare", [lambda _world: None, guided, ruled, once, with_votes])
def test_both_ways_store_the_same_rows(world, prepare, answer):
    prepare(world)
    work, now = begun(world), timezone.now() + timedelta(seconds=4)
    vera, key, said = User.objects.get(pk=world.vera.pk), new_key(), shown_as(answer, work)
    with undone_later():
        submit_vote(vera, work.token, key, said, seconds=3, now=now)
        claim(vera, world.project, Stage.VALIDATION, preferred=work.upcoming_slot, now=now)
        general = rows()
    with undone_later():
        done = judge_and_claim(vera, work.token, key, said, seconds=3, now=now)
        assert done.claim.slot_id == work.upcoming_slot
        assert done.claim.upcoming_slot not in (None, done.claim.slot_id)
        assert rows() == general


def test_gold_is_stored_as_in_the_general_way(world, every_second_gold):
    stock(world.project, world.subtest, items=20, gold=8)
    make_tasks(world.project)
    open_policy(world.project, gold_rate=0.5, gold_min=1_000)
    work, stages = claim(world.vera, world.project, Stage.VALIDATION), []
    for number in range(6):
        now = timezone.now() + timedelta(seconds=9 * number)
        preferred, said = Lease.objects.get(token=work.token).upcoming_slot, shown_as("caption", work)
        with undone_later():
            submit_vote(world.vera, work.token, f"k{number}", said, now=now)
            claim(world.vera, world.project, Stage.VALIDATION, preferred=preferred, now=now)
            general = rows()
        work = judge_and_claim(world.vera, work.token, f"k{number}", said, now=now).claim
        stages.append(Slot.objects.get(token=work.token).stage)
        mine = rows()
        # The general way moves the gold slot itself among the started ones, so that it takes as many statements.
        for both in (general, mine):
            both["Slot"] = [row[:-1] for row in both["Slot"]]
        assert mine == general
    assert stages == [Stage.GOLD, Stage.VALIDATION] * 3


def late(world: World) -> dict:
    Slot.objects.filter(person=world.vera).update(expires_at=timezone.now() - timedelta(seconds=1))
    return {}


def paused(world: World) -> dict:
    standing = Standing.objects.create(policy=open_policy(world.project), person=world.vera, state="paused")
    Lease.objects.filter(person=world.vera).update(standing=standing)
    return {}


def made_something(world: World) -> dict:
    video = Slot.objects.get(person=world.vera).video
    Involvement.objects.create(project=world.project, person=world.vera, video=video, kind="made")
    return {}


def archived(world: World) -> dict:
    world.project.archived_at = timezone.now()
    world.project.save()
    return {}


def no_member(world: World) -> dict:
    Membership.objects.filter(person=world.vera).delete()
    return {}


def taken_down(world: World) -> dict:
    Item.objects.filter(pk=Slot.objects.get(person=world.vera).item_id).update(state="retracted")
    return {}


def other_lease_over(world: World) -> dict:
    claim(world.vic, world.project, Stage.VALIDATION)
    Slot.objects.filter(person=world.vic).update(expires_at=timezone.now() - timedelta(seconds=1))
    return {}


def answered_before(world: World) -> dict:
    item = Slot.objects.get(person=world.vera).item
    Vote.objects.create(item=item, foil=item.foils.get(), person=world.vera, choice="both", idempotency_key="before")
    return {}


@pytest.mark.parametrize(
    "unusual",
    [
        *(late, paused, made_something, archived, no_member, taken_down, other_lease_over, answered_before),
        lambda _world: {"answer": "7"},
        lambda _world: {"key": ""},
        lambda _world: {"token": "x"},
        lambda _world: {"slug": "another"},
    ],
)
def test_what_is_unusual_stores_nothing_and_goes_the_general_way(world, unusual):
    work = begun(world)
    sent = {"token": work.token, "key": "k", "answer": 1, **unusual(world)}
    before = rows()
    assert judge_and_claim(User.objects.get(pk=world.vera.pk), **sent) is None
    assert rows() == before


def test_another_persons_token_is_not_found(world):
    work = begun(world)
    assert judge_and_claim(world.vic, work.token, "k", 1) is None
    assert not Vote.objects.exists()


def test_a_repeated_submit_stores_one_vote(world):
    work = begun(world)
    first = judge_and_claim(world.vera, work.token, "k", 1)
    assert judge_and_claim(world.vera, work.token, "k", 1) is None
    assert submit_vote(world.vera, work.token, "k", 1) == first.vote


def test_a_taken_slot_gives_way_to_another(world):
    work = begun(world)
    Slot.objects.filter(pk=work.upcoming_slot).update(state=SlotState.CANCELLED)
    following = judge_and_claim(world.vera, work.token, "k", 1).claim
    assert following.slot_id != work.upcoming_slot
    assert Slot.objects.get(token=following.token).person == world.vera


def test_the_last_task_is_stored_without_a_next_one(world):
    work = begun(world, items=1)
    done = judge_and_claim(world.vera, work.token, "k", 1)
    assert done.claim is None
    assert Slot.objects.get(person=world.vera).state == SlotState.DONE


def test_a_slot_that_may_not_be_taken_is_not(world):
    work = begun(world)
    Video.objects.filter(pk=Slot.objects.get(pk=work.upcoming_slot).video_id).update(media_state="missing")
    following = judge_and_claim(world.vera, work.token, "k", 1).claim
    assert following.slot_id != work.upcoming_slot


def test_a_new_version_of_the_guidelines_comes_with_the_next_task(world):
    guided(world)
    work = begun(world)
    newer = Guideline.objects.create(project=world.project, stage=Stage.VALIDATION, version=2, text="Look twice.")
    done = judge_and_claim(world.vera, work.token, "k", 1)
    assert done.vote.guideline.version == 1
    assert Lease.objects.get(token=done.claim.token).guideline == newer
