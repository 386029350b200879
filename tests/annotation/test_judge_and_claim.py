"""A judgement and the next claim in one transaction: its number of statements, and when there is no next claim."""

import json
import re
from datetime import timedelta
from statistics import mode

import pytest
from django.db import IntegrityError, connection
from django.http import Http404
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.leases import leasing
from annotation.actions.submissions import submission
from annotation.actions.submissions.judgements import judge_and_claim
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Guideline, Lease, Slot, SlotState, Stage, Standing, Vote
from foilworks.core.corpus.models import Item, Video
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import ApiToken, User
from tests.annotation.crowd import open_policy, stock
from tests.annotation.world import World, new_key, sending

pytestmark = pytest.mark.django_db
# Received by the database from the submit to the next card, the transaction's own two among them.
MOST = 13
# The verdict of a pair: its foil, its task, its item, and whether a webhook wants to know.
DECIDING = 4


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
        answer = Client().post(f"/api/v1/work/{token}/submit?next=true", **told)
        assert answer.status_code == 201, answer.content
        return answer.json()["next"]["token"]

    return submit


@pytest.mark.parametrize(("way", "more"), [(by_api, -1), (by_page, 0)])
def test_from_submit_to_the_next_card_take_at_most_thirteen_statements(world, settings, way, more):
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
            judge_and_claim(sending(getattr(world, name), others.token, new_key()), "both")
        counts.append(len(asked))
    with CaptureQueriesContext(connection) as asked:
        judge_and_claim(sending(world.vera, work.token, new_key()), "both")
    assert Item.objects.get(pk=item.pk).state == "invalid"
    assert counts == [MOST - 2, MOST - 2]
    assert len(asked) == MOST - 2 + DECIDING


def guided(world: World) -> None:
    Guideline.objects.create(project=world.project, stage=Stage.VALIDATION, version=1, text="Look.")


def late(world: World) -> None:
    Slot.objects.filter(person=world.vera).update(expires_at=timezone.now() - timedelta(seconds=1))


def paused(world: World) -> None:
    standing = Standing.objects.create(policy=open_policy(world.project), person=world.vera, state="paused")
    Lease.objects.filter(person=world.vera).update(standing=standing)


def archived(world: World) -> None:
    world.project.archived_at = timezone.now()
    world.project.save()


def other_lease_over(world: World) -> None:
    claim(world.vic, world.project, Stage.VALIDATION)
    Slot.objects.filter(person=world.vic).update(expires_at=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize(
    ("prepare", "state"),
    [(late, "counted"), (paused, "set_aside"), (archived, "counted"), (other_lease_over, "counted")],
)
def test_a_vote_that_more_must_be_read_for_is_stored_without_the_next_task(world, prepare, state):
    work = begun(world)
    prepare(world)
    done = judge_and_claim(sending(User.objects.get(pk=world.vera.pk), work.token, "k"), 1)
    assert (done.record.state, done.claim) == (state, None)
    assert not Slot.objects.filter(person=world.vera, state=SlotState.LEASED).exists()


def test_counts_that_others_have_changed_are_read_again(world, monkeypatch):
    """A researcher changes them between the read of the lease and the count."""
    open_policy(world.project, gold_rate=0, position_min=1_000)
    work = begun(world)
    read = submission.held_lease

    def raced(*asked):
        lease = read(*asked)
        Standing.objects.update(first=7, second=3)
        return lease

    monkeypatch.setattr(submission, "held_lease", raced)
    done = judge_and_claim(sending(world.vera, work.token, "k"), "first")
    assert done.claim is None
    assert Standing.objects.values_list("first", "second").get() == (8, 3)


def test_a_person_paused_meanwhile_gets_an_excluded_vote_and_no_task(world, monkeypatch):
    open_policy(world.project, gold_rate=0, position_min=1_000)
    work = begun(world)
    read = submission.held_lease

    def raced(*asked):
        lease = read(*asked)
        Standing.objects.update(state="paused")
        return lease

    monkeypatch.setattr(submission, "held_lease", raced)
    done = judge_and_claim(sending(world.vera, work.token, "k"), "first")
    assert (done.record.state, done.record.slot, done.claim) == ("set_aside", None, None)
    assert Slot.objects.filter(person=world.vera).count() == 0


def test_another_persons_token_is_not_found(world):
    work = begun(world)
    with pytest.raises(Http404):
        judge_and_claim(sending(world.vic, work.token, "k"), 1)
    assert not Vote.objects.exists()


def test_another_projects_address_is_not_found(world):
    work = begun(world)
    with pytest.raises(Http404):
        judge_and_claim(sending(world.vera, work.token, "k", slug="another"), 1)
    assert not Vote.objects.exists()


def test_a_repeated_submit_stores_one_vote(world):
    work = begun(world)
    first = judge_and_claim(sending(world.vera, work.token, "k"), 1)
    again = judge_and_claim(sending(world.vera, work.token, "k"), 1)
    assert (again.record, again.claim) == (first.record, None)


def test_a_conflict_over_the_next_task_stores_the_vote_alone(world, monkeypatch):
    work = begun(world)

    def conflict(*_asked):
        raise IntegrityError

    monkeypatch.setattr(leasing, "insert_or_update", lambda *_rows, **_columns: conflict())
    done = judge_and_claim(sending(world.vera, work.token, "k"), 1)
    assert done.claim is None
    assert Vote.objects.get() == done.record


def test_a_taken_slot_gives_way_to_another(world):
    work = begun(world)
    Slot.objects.filter(pk=work.upcoming_slot).update(state=SlotState.CANCELLED)
    following = judge_and_claim(sending(world.vera, work.token, "k"), 1).claim
    assert following.slot_id != work.upcoming_slot
    assert Slot.objects.get(token=following.token).person == world.vera


def test_the_last_task_is_stored_without_a_next_one(world):
    work = begun(world, items=1)
    done = judge_and_claim(sending(world.vera, work.token, "k"), 1)
    assert done.claim is None
    assert Slot.objects.get(person=world.vera).state == SlotState.DONE


def test_a_slot_that_may_not_be_taken_is_not(world):
    work = begun(world)
    Video.objects.filter(pk=Slot.objects.get(pk=work.upcoming_slot).video_id).update(media_state="missing")
    following = judge_and_claim(sending(world.vera, work.token, "k"), 1).claim
    assert following.slot_id != work.upcoming_slot


def test_a_new_version_of_the_guidelines_comes_with_the_next_task(world):
    guided(world)
    work = begun(world)
    newer = Guideline.objects.create(project=world.project, stage=Stage.VALIDATION, version=2, text="Look twice.")
    done = judge_and_claim(sending(world.vera, work.token, "k"), 1)
    assert done.record.guideline.version == 1
    assert Lease.objects.get(token=done.claim.token).guideline == newer
