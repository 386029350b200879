"""Gold among real work: the same steps, counted in nothing, never twice, never on what the person made."""

import json
from collections import defaultdict
from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.claims.gold_slots import GOLD_AHEAD
from annotation.actions.leases.leasing import release
from annotation.actions.quality.validators import pause_validator, resume_validator
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.undo import undo_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.errors import AnnotationError, NotAdmitted, WorkRefused
from annotation.models import (
    DeclinedVideo,
    GoldPair,
    Involvement,
    Lease,
    Slot,
    Stage,
    Standing,
    Task,
    Vote,
)
from annotation.queries.cards import claim_card
from annotation.queries.personal_data import own_data
from annotation.queries.queues import open_work, work_counts
from evaluation.reports.reports import project_report
from foilworks.core.corpus.models import Foil, Item, Video
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import User
from tests.annotation.crowd import open_policy, stock
from tests.annotation.world import new_key, shown_as
from tests.invariants import broken_invariants

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("every_second_gold")]
# What a claim and a submit take at most where nobody mixes anything in.
OFF_CLAIM, OFF_SUBMIT = 15, 18


@pytest.fixture
def gold(world):
    """Every second piece is gold; nobody looks at time."""
    stock(world.project, world.subtest, items=8, gold=4)
    open_policy(world.project, gold_rate=0.5, fast_share=0)
    make_tasks(world.project)
    return world


def next_gold(world, name: str = "vera"):
    """The person's next piece of gold; real pieces before it are answered."""
    while True:
        work = world.claim(name, Stage.VALIDATION)
        if Slot.objects.get(pk=work.slot_id).stage == Stage.GOLD:
            return work
        submit_vote(getattr(world, name), work.token, new_key(), shown_as("caption", work))


def answer_one_of(world, stage: str) -> Vote:
    """The next judgement that is of the stage; those before it are answered too."""
    while True:
        work = world.claim("vera", Stage.VALIDATION)
        vote = submit_vote(world.vera, work.token, new_key(), shown_as("caption", work))
        if vote.stage == stage:
            return vote


def test_gold_takes_the_same_steps_and_moves_no_verdict(gold):
    before = list(Item.objects.order_by("pk").values_list("state", flat=True))
    work = next_gold(gold)
    card = claim_card(gold.vera, work)
    assert (card.claim.stage, card.subtest) == (Stage.VALIDATION, gold.subtest)
    assert {card.validation.first.text, card.validation.second.text} == {
        "a man folds a shirt.",
        "a man unfolds a shirt.",
    }
    done = work_counts(gold.vera, gold.project, Stage.VALIDATION, timezone.now())
    vote = submit_vote(gold.vera, work.token, "k", "neither", watch={"seconds": 3}, seconds=4)
    assert (vote.item, vote.foil, vote.stage, vote.choice, vote.state) == (None, None, Stage.GOLD, "neither", "counted")
    assert work_counts(gold.vera, gold.project, Stage.VALIDATION, timezone.now()) == (done[0] + 1, done[1] + 1)
    assert list(Item.objects.order_by("pk").values_list("state", flat=True)) == before
    assert submit_vote(gold.vera, work.token, "k", "both").pk == vote.pk
    assert Involvement.objects.filter(person=gold.vera, video=vote.gold.video, kind="judged").exists()
    standing = Standing.objects.get(person=gold.vera)
    assert (standing.gold_seen, standing.gold_right) == (1, int(vote.gold.answer == "neither"))
    assert broken_invariants() == []


def test_neither_page_nor_card_names_the_clip(gold, client):
    """Of work and of gold alike: one label, addresses of one form, and no row number or key of a video."""
    client.force_login(gold.vera)
    api = {"Authorization": f"Bearer {make_token(gold.vera, name='t', scope='work').secret}"}
    for number, video in enumerate(Video.objects.order_by("pk")):
        video.file.save(f"v_CricketBowling_{number}.mp4", ContentFile(b"a clip"))
    forms = set()
    for stage in (Stage.VALIDATION, Stage.GOLD):
        work = gold.claim("vera", Stage.VALIDATION)
        while Slot.objects.get(pk=work.slot_id).stage != stage:
            submit_vote(gold.vera, work.token, new_key(), shown_as("caption", work))
            work = gold.claim("vera", Stage.VALIDATION)
        page = client.get(f"/projects/{gold.project.slug}/work/validation/{work.token}/").content.decode()
        card = client.get(f"/api/v1/work/{work.token}", headers=api).json()
        video = Slot.objects.get(pk=work.slot_id).video
        assert 'aria-label="Video"' in page
        assert f"/projects/{gold.project.slug}/clips/" in page
        assert not [name for name in (video.key, "CricketBowling", "/videos/") if name in page + str(card)]
        assert card["video"]["id"] not in (video.pk, work.slot_id, work.task_id)
        clip = client.get(card["video"]["url"], headers=api)
        assert b"".join(clip.streaming_content) == b"a clip"
        forms.add((tuple(card), tuple(card["video"]), len(card["video"]["url"])))
    assert len(forms) == 1


def test_reports_do_not_know_of_gold(gold):
    for name in ("vera", "vic"):
        for _ in range(6):
            world_vote = gold.claim(name, Stage.VALIDATION)
            submit_vote(getattr(gold, name), world_vote.token, new_key(), "neither")
    real = Vote.objects.filter(item__isnull=False).count()
    assert 0 < real < Vote.objects.count() == 12
    assert project_report(gold.project, "agreement")["n_votes"] == real
    assert not Foil.objects.filter(item__gold_pairs__isnull=False).exclude(verdict="valid").exists()


def test_half_the_tasks_are_gold_until_the_person_has_seen_all_pairs(gold):
    stages = []
    for _ in range(12):
        work = gold.claim("vera", Stage.VALIDATION)
        stages.append(Slot.objects.get(pk=work.slot_id).stage)
        submit_vote(gold.vera, work.token, new_key(), shown_as("caption", work))
    assert stages.count(Stage.GOLD) == 4
    assert Lease.objects.filter(task__stage=Stage.GOLD).values("task").distinct().count() == 4
    assert gold.claim("vera", Stage.VALIDATION) is None


def test_skipped_or_expired_gold_comes_back_last_like_other_tasks(gold):
    """If it never came back, or came back first, it would be known."""
    skipped, given = {}, []
    for turn in range(100):
        work = gold.claim("vera", Stage.VALIDATION)
        if work is None or work.skipped_before:
            break
        skipped[work.task_id] = work.caption_first
        given.append(work.task_id)
        if turn % 2:
            release(gold.vera, work.token)
        else:
            Lease.objects.filter(token=work.token).update(ending="skipped", ended_at=timezone.now())
            Slot.objects.filter(pk=work.slot_id).update(state="free", person=None, token="", expires_at=None)
    assert len(given) == len(skipped)
    again = []
    while work is not None:
        again.append(work.task_id)
        assert (work.skipped_before, work.caption_first) == (True, skipped[work.task_id])
        submit_vote(gold.vera, work.token, new_key(), shown_as("caption", work))
        work = gold.claim("vera", Stage.VALIDATION)
    assert sorted(again) == sorted(given)
    assert 0 < Vote.objects.filter(stage=Stage.GOLD).count() < len(again)
    assert broken_invariants() == []


def test_the_number_of_a_queue_falls_by_one_with_every_task(gold):
    """At gold too, and what was skipped is counted again, whatever it was."""
    before, seen = open_work(gold.vera, gold.project, Stage.VALIDATION), []
    assert before == 8 + 4
    while work := gold.claim("vera", Stage.VALIDATION):
        now = open_work(gold.vera, gold.project, Stage.VALIDATION)
        assert now == before - 1
        if len(seen) == 3:
            release(gold.vera, work.token)
            assert open_work(gold.vera, gold.project, Stage.VALIDATION) == before
            break
        seen.append(Slot.objects.get(pk=work.slot_id).stage)
        submit_vote(gold.vera, work.token, new_key(), shown_as("caption", work))
        before = now


def test_late_gold_is_stored(gold):
    work = next_gold(gold)
    vote = submit_vote(gold.vera, work.token, "k", 1, now=timezone.now() + timedelta(days=1))
    assert (vote.late, vote.slot_id) == (True, work.slot_id)


@pytest.mark.parametrize("kind", ["made", "reviewed"])
def test_gold_keeps_the_leakage_rules(gold, kind):
    for pair in GoldPair.objects.all():
        Involvement.objects.create(project=gold.project, person=gold.vera, video=pair.item.video, kind=kind)
    for _ in range(6):
        work = gold.claim("vera", Stage.VALIDATION)
        assert Slot.objects.get(pk=work.slot_id).stage == Stage.VALIDATION
        submit_vote(gold.vera, work.token, new_key(), 1)


def test_gold_of_a_video_that_was_declined_does_not_come(gold):
    declined = list(GoldPair.objects.order_by("pk")[:3])
    for pair in declined:
        DeclinedVideo.objects.create(person=gold.vera, video=pair.video)
    assert Task.objects.get(pk=next_gold(gold).task_id).gold == GoldPair.objects.latest("pk")


def test_the_leakage_rule_holds_at_the_submit_as_well(gold):
    work = next_gold(gold)
    video = Slot.objects.get(pk=work.slot_id).video
    Involvement.objects.create(project=gold.project, person=gold.vera, video=video, kind="made")
    with pytest.raises(WorkRefused):
        submit_vote(gold.vera, work.token, "k", 1)
    assert not Vote.objects.filter(gold__isnull=False).exists()


def test_a_person_who_knows_an_item_from_gold_never_judges_it(gold):
    work = next_gold(gold)
    pair = Task.objects.get(pk=work.task_id).gold
    Item.objects.filter(pk=pair.item_id).update(state="in_validation", decided_at=None)
    item = gold.item()
    GoldPair.objects.filter(pk=pair.pk).update(item=item)
    submit_vote(gold.vera, work.token, "k", shown_as(pair.answer, work))
    make_tasks(gold.project)
    seen = set()
    while again := gold.claim("vera", Stage.VALIDATION):
        slot = Slot.objects.select_related("task__gold").get(pk=again.slot_id)
        seen.add(slot.item_id)
        # Right on gold, too: nobody is to be paused here.
        answer = slot.task.gold.answer if slot.task.gold else "caption"
        submit_vote(gold.vera, again.token, new_key(), shown_as(answer, again))
    assert item.pk not in seen
    assert claim(gold.vic, gold.project, Stage.VALIDATION) is not None


def test_an_undone_answer_leaves_the_counts_and_returns_in_the_same_order(gold):
    work = next_gold(gold)
    vote = submit_vote(gold.vera, work.token, "k", "both")
    before = Standing.objects.get(person=gold.vera)
    again = undo_vote(gold.vera, vote.pk)
    assert (again.slot_id, again.caption_first) == (work.slot_id, work.caption_first)
    standing = Standing.objects.get(person=gold.vera)
    assert (standing.gold_seen, standing.gold_right) == (before.gold_seen - 1, before.gold_right)
    answer = shown_as(vote.gold.answer, again)
    submit_vote(gold.vera, again.token, "k2", answer)
    standing = Standing.objects.get(person=gold.vera)
    assert (standing.gold_seen, standing.gold_right) == (before.gold_seen, before.gold_right + 1)
    assert broken_invariants() == []


def test_a_persons_data_does_not_reveal_gold(gold):
    """Of gold and of real work one piece was sent, taken back and sent again, and one sent while paused."""
    for stage in (Stage.GOLD, Stage.VALIDATION):
        vote = answer_one_of(gold, stage)
        submit_vote(gold.vera, undo_vote(gold.vera, vote.pk).token, new_key(), "both")
    late = set()
    while len(late) < 2:
        work = gold.claim("vera", Stage.VALIDATION)
        pause_validator(gold.owner, gold.project, gold.vera.pk)
        vote = submit_vote(gold.vera, work.token, new_key(), 1)
        late.add((vote.stage, vote.state))
        resume_validator(gold.owner, gold.project, gold.vera.pk)
    assert late == {(Stage.VALIDATION, "set_aside"), (Stage.GOLD, "surplus")}

    told = own_data(gold.vera)
    assert {row["task__stage"] for row in told["leases"]} == {Stage.VALIDATION}
    assert len(told["judgements"]) == Vote.objects.filter(person=gold.vera).count()
    assert {row["action"] for row in told["audit"]} == {"lease", "submit_vote", "undo_vote"}
    sent = [row["to_state"] for row in told["audit"] if row["action"] == "submit_vote"]
    assert len(sent) == len(told["judgements"])
    assert set(sent) == {"counted", "kept apart"}


def test_a_persons_data_does_not_tell_which_text_was_the_caption(gold):
    """Of gold and of real work, each with the caption first and second: an answer can still be taken back."""
    left = {(stage, first) for stage in (Stage.GOLD, Stage.VALIDATION) for first in (True, False)}
    while left:
        work = gold.claim("vera", Stage.VALIDATION)
        stage = Slot.objects.get(pk=work.slot_id).stage
        first = (stage, True) in left
        Lease.objects.filter(token=work.token).update(caption_first=first)
        submit_vote(gold.vera, work.token, new_key(), "first")
        left.discard((stage, first))

    told = own_data(gold.vera)
    for row in told["judgements"]:
        del row["created_at"], row["seconds_spent"]
        assert row == {"answer": "first", "watch": {}}
    said = json.dumps(told, default=str)
    assert "caption" not in said
    assert "foil" not in said


def test_the_database_forbids_repeated_gold_answers_and_gold_on_items(gold):
    work = next_gold(gold)
    vote = submit_vote(gold.vera, work.token, "k", 1)
    for wrong in ({"idempotency_key": "k2"}, {"idempotency_key": "k3", "item": Item.objects.first()}):
        fields = {"gold": vote.gold, "stage": Stage.GOLD, "person": gold.vera, "choice": "both", **wrong}
        with pytest.raises(IntegrityError), transaction.atomic():
            Vote.objects.create(**fields)


def test_a_claim_of_gold_takes_as_many_queries_as_one_of_work(world, django_assert_max_num_queries):
    """Time would tell otherwise. Every so many pieces gold is chosen ahead, whatever comes then."""
    stock(world.project, world.subtest, items=60, gold=20)
    make_tasks(world.project)
    world.vote("vera")
    someone = User.objects.get(pk=world.vera.pk)
    with django_assert_max_num_queries(OFF_CLAIM):
        work = claim(someone, world.project, Stage.VALIDATION)
    with django_assert_max_num_queries(OFF_SUBMIT):
        submit_vote(someone, work.token, "k", 1)
    open_policy(world.project, gold_rate=0.5, gold_min=1_000, position_min=1_000, fast_min=1_000)
    world.vote("vera")
    named, claims, submits = None, defaultdict(set), defaultdict(set)
    for number in range(1, 30):
        with CaptureQueriesContext(connection) as claiming:
            work = claim(someone, world.project, Stage.VALIDATION, preferred=named)
        stage = Slot.objects.get(pk=work.slot_id).stage
        with CaptureQueriesContext(connection) as submitting:
            submit_vote(someone, work.token, f"n{number}", shown_as("caption", work))
        if named and number % GOLD_AHEAD:
            claims[stage].add(len(claiming))
        submits[stage].add(len(submitting))
        named = work.upcoming_slot
    assert claims[Stage.GOLD] == claims[Stage.VALIDATION]
    assert max(claims[Stage.GOLD]) <= OFF_CLAIM + 1
    # Its lease is looked for among those on items first.
    assert max(submits[Stage.GOLD]) == max(submits[Stage.VALIDATION]) + 1 <= OFF_SUBMIT + 1


def test_a_paused_person_is_refused_and_their_late_work_excluded(gold):
    work = next_gold(gold)
    Standing.objects.filter(person=gold.vera).update(gold_seen=7)
    submit_vote(gold.vera, work.token, "k", "cannot_tell")
    standing = Standing.objects.get(person=gold.vera)
    assert (standing.state, standing.paused_why, standing.paused_by) == ("paused", "gold", None)
    with pytest.raises(NotAdmitted, match="work is paused"):
        gold.claim("vera", Stage.VALIDATION)
    with pytest.raises(AnnotationError):
        undo_vote(gold.vera, Vote.objects.latest("pk").pk)
