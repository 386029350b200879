"""`foilworks check`: silent over what people did by the real actions, and each invariant found when it is broken."""

import copy
import hashlib
import json
import math
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.db import connection, transaction
from django.test import override_settings
from django.utils import timezone

from annotation.models import (
    Attempt,
    CheckedFrame,
    Edit,
    GoldPair,
    Lease,
    ObjectAnswer,
    ObjectCheck,
    ObjectError,
    QualityPolicy,
    Question,
    Review,
    Slot,
    Standing,
    Task,
    Vote,
)
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.models import Score
from foilworks.core.corpus.models import Caption, Foil, Item, ReleaseItem, Subtest, Video
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.audit_trail.sealing import seal_due
from foilworks.core.projects.models import AuditEvent, CrowdPlace, CrowdStudy, Membership, User
from foilworks.site.invariants.registry import INVARIANTS, violations
from generation.models import Candidate, FilterScore
from tests import factories
from tests.annotation.world import World, make_world, new_key

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def world_of_the_file(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[tuple[World, Path]]:
    """Made once, with the folder of its files: making it takes longer than a look for what is broken."""
    folder = tmp_path_factory.mktemp("world")
    with django_db_blocker.unblock(), transaction.atomic():
        with override_settings(MEDIA_ROOT=folder):
            made = make_whole_world()
        yield made, folder
        transaction.set_rollback(True)


@pytest.fixture
def world(world_of_the_file, db) -> Iterator[World]:
    """The same for one test, which may break it: that is taken back."""
    made, folder = world_of_the_file
    with override_settings(MEDIA_ROOT=folder):
        yield copy.deepcopy(made)


def make_whole_world() -> World:
    """A valid item made here and released, one in validation with a vote, a piece in hand, one in review."""
    world = make_world()
    world.made_item()
    for name in ("vera", "vic", "val"):
        world.vote(name)
    world.item()
    world.vote("vera")
    world.group("a man dyes a shirt.")
    world.group("a man sells a shirt.")
    world.edit("abe")
    world.claim("ann", "edit")
    dropped = factories.make_candidate(
        world.group(), "a man folds a shirt.", state=CandidateState.FILTERED_OUT, rejected_by=["identical"]
    )
    FilterScore.objects.create(
        run=dropped.group.run, candidate=dropped, filter="identical", filter_version="1", passed=False
    )
    Score.objects.create(model_key="m", protocol="p", text_sha256="0" * 64, value=0.5, kind="similarity")
    # What the factory calls ready has no file.
    for video in Video.objects.all():
        video.file.save("clip.mp4", ContentFile(b"not played here"))
    freeze_release(world.owner, world.project)
    return world


def found(world, name: str) -> set[str]:
    return {row["row"].split()[0] for row in violations() if row["invariant"] == name}


def released(world) -> Item:
    return Item.objects.get(state="valid")


def waiting(world) -> Item:
    return Item.objects.exclude(state="valid").get()


def drop_index(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f'DROP INDEX "{name}"')


def second_vote(world) -> None:
    drop_index("one_vote_a_person_in_an_item")
    vote = Vote.objects.get(item=waiting(world))
    Vote.objects.create(
        item=vote.item, foil=vote.foil, person=vote.person, idempotency_key=new_key(), choice="both", state="surplus"
    )


def too_many_votes(world) -> None:
    drop_index("one_counted_vote_a_slot")
    slot = Slot.objects.filter(stage="validation", item=released(world)).first()
    foil = released(world).foils.get()
    Vote.objects.create(
        item=slot.item, foil=foil, slot=slot, person=world.rob, idempotency_key=new_key(), choice="both"
    )


def early_edit(world) -> None:
    vote = Vote.objects.filter(item=waiting(world)).get()
    group = factories.make_group(world.run, vote.item.caption)
    before = vote.created_at - timedelta(hours=1)
    Edit.objects.create(group=group, person=vote.person, texts=[], idempotency_key=new_key(), created_at=before)


def early_study(world, stage: str) -> None:
    vote = Vote.objects.filter(item=waiting(world)).get()
    Vote.objects.create(
        item=vote.item,
        person=vote.person,
        stage=stage,
        idempotency_key=new_key(),
        choice="caption",
        created_at=vote.created_at + timedelta(hours=1),
    )


def trail(world, model, **fields) -> None:
    row = model.objects.order_by("pk").last()
    AuditEvent.objects.create(
        project=world.project, action="x", target_type=model._meta.label_lower, target_id=row.pk, **fields
    )


def gold_vote(world, **fields) -> Vote:
    """An answer to gold by vera, of a clip of its own."""
    texts = {"caption_text": "a man folds a shirt.", "foil_text": "a man unfolds a shirt."}
    video = factories.make_video(world.project)
    pair = GoldPair.objects.create(
        project=world.project, use="mixed", subtest=world.subtest, video=video, answer="caption", **texts
    )
    values = {"gold": pair, "stage": "gold", "person": world.vera, "choice": "both", "idempotency_key": new_key()}
    return Vote.objects.create(**{**values, **fields})


def checked_frame(world) -> CheckedFrame:
    check = ObjectCheck.objects.create(project=world.project, source="captions", opened_at=timezone.now())
    video = released(world).video
    return CheckedFrame.objects.create(check_of=check, video=video, time=0.5, objects_named=["shirt", "man"])


def always_first(world) -> None:
    """A hundred judgements of nobody in particular, the caption first in each."""
    item = released(world)
    Vote.objects.bulk_create(
        Vote(item=item, choice="caption", caption_first=True, state="surplus", idempotency_key=new_key())
        for _ in range(100)
    )


def asked_before(world) -> None:
    vote = gold_vote(world)
    attempt = Attempt.objects.create(
        project=world.project, person=world.vera, stage="qualification", of_stage="validation", number=1
    )
    Question.objects.create(attempt=attempt, place=0, pair=vote.gold)


def made_before(world) -> None:
    vote = gold_vote(world)
    group = factories.make_group(world.run, factories.make_caption(vote.gold.video))
    before = vote.created_at - timedelta(hours=1)
    Edit.objects.create(group=group, person=world.vera, texts=[], idempotency_key=new_key(), created_at=before)


def standing(world, **fields) -> None:
    policy = QualityPolicy.objects.create(project=world.project)
    Standing.objects.create(policy=policy, person=world.vera, **fields)


# Invariant -> what breaks it, and the model whose row is named.
BROKEN = {
    "database.references_lead_somewhere": (
        lambda world: Foil.objects.filter(item=waiting(world)).update(item=10**9),
        "database",
    ),
    "database.projects_do_not_mix": (
        lambda world: Slot.objects.filter(state="leased").update(project=factories.make_project()),
        "annotation.slot",
    ),
    "slots.places_follow_their_task": (
        lambda world: Task.objects.filter(item=waiting(world)).update(overlap=4),
        "annotation.task",
    ),
    "slots.open_pairs_want_what_their_subtest_says": (
        lambda world: Subtest.objects.update(votes_wanted=5),
        "annotation.task",
    ),
    "slots.tasks_that_are_over_hold_nobody": (
        lambda world: Task.objects.filter(slots__state="leased").update(state="done"),
        "annotation.slot",
    ),
    "slots.a_place_has_a_person_while_it_is_used": (
        lambda world: Slot.objects.filter(state="leased").update(person=None),
        "annotation.slot",
    ),
    "slots.one_running_lease_a_leased_place": (
        lambda world: Lease.objects.filter(ending="").update(ending="expired"),
        "annotation.slot",
    ),
    "slots.what_is_done_was_done": (
        lambda world: Vote.objects.filter(item=waiting(world)).delete(),
        "annotation.slot annotation.lease",
    ),
    "votes.votes_say_whose_they_are": (
        lambda world: Vote.objects.filter(item=waiting(world)).update(caption_first=None),
        "annotation.vote",
    ),
    "votes.one_vote_a_person_in_an_item": (second_vote, "corpus.item"),
    "votes.counted_votes_have_their_place": (
        lambda world: Vote.objects.filter(item=waiting(world)).update(slot=None),
        "annotation.vote",
    ),
    "votes.no_task_counts_more_than_its_overlap": (too_many_votes, "annotation.task"),
    "votes.the_caption_is_not_always_in_the_same_place": (
        lambda world: Vote.objects.filter(item=released(world)).update(caption_first=True),
        "annotation.task",
    ),
    "leakage.nobody_reviews_own_work": (
        lambda world: Candidate.objects.filter(reviews__isnull=False).update(author=world.rita),
        "annotation.review",
    ),
    "leakage.nobody_judges_what_they_made_or_reviewed": (early_edit, "annotation.vote"),
    "leakage.no_study_by_who_judged": (lambda world: early_study(world, "baseline"), "annotation.vote"),
    "leakage.nobody_judges_with_and_without_the_clip": (lambda world: early_study(world, "unseen"), "annotation.vote"),
    "items.an_item_is_about_one_video": (
        lambda world: Item.objects.filter(state="valid").update(video=factories.make_video(world.project)),
        "corpus.item",
    ),
    "items.an_item_is_what_its_pairs_say": (
        lambda world: Item.objects.filter(state="valid").update(state="invalid"),
        "corpus.item",
    ),
    "items.a_pair_is_what_its_votes_say": (
        lambda world: Vote.objects.filter(item=released(world)).update(choice="both"),
        "corpus.foil",
    ),
    "items.unanimous_means_every_vote": (
        lambda world: Vote.objects.filter(item=released(world), person=world.vera).update(choice="both"),
        "corpus.item",
    ),
    "items.false_captions_are_flagged": (
        lambda world: Vote.objects.filter(item=released(world)).update(choice="neither"),
        "corpus.caption",
    ),
    "items.an_assembled_item_has_its_candidates_foils": (
        lambda world: Candidate.objects.filter(foil__isnull=False).update(foil=None),
        "corpus.foil",
    ),
    "candidates.editing_is_in_somebodys_hands": (
        lambda world: Candidate.objects.filter(state="in_review").update(state="editing"),
        "generation.candidate",
    ),
    "candidates.what_is_in_review_waits_for_one_reviewer": (
        lambda world: Task.objects.filter(stage="review", state="open").update(state="cancelled"),
        "generation.candidate",
    ),
    "candidates.groups_that_lack_foils_can_be_claimed": (
        lambda world: Task.objects.filter(stage="edit", state="open").update(state="cancelled"),
        "generation.candidategroup",
    ),
    "candidates.a_rejection_has_its_reason": (
        lambda world: FilterScore.objects.all().delete(),
        "generation.candidate",
    ),
    "candidates.an_accepted_foil_is_of_its_groups_item": (
        lambda world: Candidate.objects.filter(state="accepted").update(state="dropped"),
        "generation.candidate",
    ),
    "candidates.edits_give_the_text": (
        lambda world: Candidate.objects.filter(state="accepted").update(edits=[[0, 1, "x"]]),
        "generation.candidate",
    ),
    "candidates.somebody_or_something_made_it": (
        lambda world: Candidate.objects.filter(state="accepted").update(method=""),
        "generation.candidate",
    ),
    "reviews.a_second_review_is_by_somebody_else": (
        lambda world: Review.objects.update(second=True),
        "annotation.review",
    ),
    "reviews.what_is_accepted_unreviewed_was_not_reviewed": (
        lambda world: Candidate.objects.update(unreviewed=True),
        "generation.candidate",
    ),
    "captions.a_revision_takes_the_place_of_a_corrected_caption": (
        lambda world: Caption.objects.filter(items__state="valid").update(revises=waiting(world).caption),
        "corpus.caption",
    ),
    "captions.nothing_lives_under_a_caption_that_was_given_up": (
        lambda world: Caption.objects.update(doubt_settled="dropped"),
        "corpus.item annotation.task",
    ),
    "studies.a_choice_is_one_of_the_texts_shown": (
        lambda world: Vote.objects.create(
            item=released(world), person=world.rob, stage="baseline", idempotency_key=new_key(), choice="caption"
        ),
        "annotation.vote",
    ),
    "studies.a_judged_choice_is_one_of_the_texts_shown": (
        lambda world: Vote.objects.filter(stage="validation", foil__isnull=False).update(order_shown=[0]),
        "annotation.vote",
    ),
    "studies.the_caption_stands_first_half_of_the_time": (always_first, "projects.project"),
    "studies.an_answer_is_about_every_object": (
        lambda world: ObjectAnswer.objects.create(
            frame=checked_frame(world), person=world.ann, visible=[True], idempotency_key=new_key()
        ),
        "annotation.objectanswer",
    ),
    "studies.only_what_was_not_seen_has_a_class": (
        lambda world: ObjectError.objects.create(
            frame=checked_frame(world), place=0, error_class="hallucination", classed_at=timezone.now()
        ),
        "annotation.objecterror",
    ),
    "people.gold_counts_in_nothing": (
        lambda world: gold_vote(world, foil=Foil.objects.order_by("pk").first()),
        "annotation.vote",
    ),
    "people.nobody_sees_gold_twice": (asked_before, "annotation.vote"),
    "people.no_gold_on_what_they_made": (made_before, "annotation.vote"),
    "people.paused_validators_have_a_reason_and_no_task": (
        lambda world: standing(world, state="paused"),
        "annotation.standing",
    ),
    "people.stored_counts_match_votes": (lambda world: standing(world, gold_seen=1), "annotation.standing"),
    "people.qualified_validators_passed": (
        lambda world: standing(world, qualified_at="2026-01-01T00:00Z"),
        "annotation.standing",
    ),
    "history.candidates_came_by_legal_moves": (
        lambda world: trail(world, Candidate, from_state="dropped", to_state="queued"),
        "generation.candidate",
    ),
    "history.items_came_by_legal_moves": (
        lambda world: Item.objects.filter(state="valid").update(state="disputed"),
        "corpus.item",
    ),
    "history.sealed_audit_rows_are_unchanged": (
        lambda world: (seal_due(), AuditEvent.objects.update(reason="forged")),
        "projects.auditseal",
    ),
    "releases.a_release_is_its_hash": (
        lambda world: ReleaseItem.objects.update(record={**ReleaseItem.objects.get().record, "caption": "x"}),
        "corpus.release",
    ),
    "ways_in.who_is_let_through_has_agreed": (
        lambda world: Membership.objects.filter(person=world.vera).update(consent_version=1),
        "projects.membership",
    ),
    "ways_in.a_place_ends_once_and_is_a_workers": (
        lambda world: CrowdPlace.objects.create(
            study=CrowdStudy.objects.create(project=world.project, name="s", stage="edit", pieces=1, places=1),
            person=world.vera,
            entered_at=timezone.now(),
            deadline=timezone.now(),
        ),
        "projects.crowdplace",
    ),
    "ways_in.an_erased_account_is_empty": (
        lambda world: User.objects.filter(pk=world.vera.pk).update(erased_at=timezone.now()),
        "projects.user",
    ),
    "releases.scores_are_numbers": (lambda world: Score.objects.update(value=math.inf), "evaluation.score"),
    "media.a_ready_clip_has_its_file": (
        lambda world: Video.objects.filter(items__state="valid").update(file="videos/gone.mp4"),
        "corpus.video",
    ),
    "media.a_clip_elsewhere_has_its_address": (
        lambda world: Video.objects.filter(items__state="valid").update(media_state="elsewhere", url=""),
        "corpus.video",
    ),
    "media.a_broken_clip_says_why": (
        lambda world: Video.objects.filter(items__state="valid").update(media_state="broken"),
        "corpus.video",
    ),
    "media.trims_are_in_order": (
        lambda world: Video.objects.update(start_time=2.0, end_time=1.0),
        "corpus.video",
    ),
}
# Pages of the file itself cannot be damaged under a running test.
UNTRIED = {"database.the_file_is_whole"}


def test_real_work_violates_no_invariant(world):
    assert violations() == []


def test_every_invariant_is_tried():
    assert set(BROKEN) == set(INVARIANTS) - UNTRIED


@pytest.mark.parametrize("name", BROKEN)
def test_each_violation_is_named(world, name):
    damage, models = BROKEN[name]
    if name.startswith("database.references") and connection.vendor != "sqlite":
        pytest.skip("PostgreSQL never lets it come to that")
    with transaction.atomic():
        damage(world)
        assert found(world, name) == set(models.split())
        transaction.set_rollback(True)


def test_imported_votes_and_adjudicated_items_violate_no_invariant(world):
    item = world.item()
    Vote.objects.create(item=item, source="import", import_index=0, idempotency_key="import-0", choice="other")
    assert [row["invariant"] for row in violations() if not row["invariant"].startswith("media")] == []


def test_the_order_of_imported_votes_comes_from_their_file(world):
    item, told = released(world), {"source": "import", "choice": "caption", "caption_first": True}
    Vote.objects.bulk_create(
        Vote(item=item, import_index=index, idempotency_key=f"import-{index}", **told) for index in range(200)
    )
    assert found(world, "studies.the_caption_stands_first_half_of_the_time") == set()


def test_the_command_lists_violations_and_exits_with_1(world, capsys):
    call_command("check", "--json")
    assert json.loads(capsys.readouterr().out) == {"ok": True, "checked": len(INVARIANTS), "violations": []}
    Score.objects.update(value=math.inf)
    with pytest.raises(SystemExit) as leaving:
        call_command("check", "--json")
    assert leaving.value.code == 1
    got = json.loads(capsys.readouterr().out)
    (pk,) = Score.objects.values_list("pk", flat=True)
    problem = {"invariant": "releases.scores_are_numbers", "problem": "is not a finite number"}
    assert (got["ok"], got["violations"]) == (False, [{"row": f"evaluation.score {pk}", **problem}])
    with pytest.raises(SystemExit):
        call_command("check")
    assert capsys.readouterr().out == (
        f"evaluation.score {pk}: is not a finite number (releases.scores_are_numbers)\n1 violations\n"
    )


def test_files_are_checked_on_request(world, capsys):
    video = released(world).video
    path = Path(video.file.path)
    content = path.read_bytes()
    Video.objects.filter(pk=video.pk).update(sha256=hashlib.sha256(content).hexdigest())
    call_command("check", "--files", "--json")
    assert json.loads(capsys.readouterr().out) == {"ok": True, "checked": len(INVARIANTS) + 1, "violations": []}
    path.write_bytes(content[: len(content) // 2])
    try:
        call_command("check")
        with pytest.raises(SystemExit):
            call_command("check", "--files", "--json")
    finally:
        path.write_bytes(content)
    (found,) = json.loads(capsys.readouterr().out.splitlines()[-1])["violations"]
    assert (found["invariant"], found["row"]) == ("media.a_stored_file_is_its_hash", f"corpus.video {video.pk}")
    assert "has changed since it was stored" in found["problem"]


def test_an_unreadable_file_is_named_and_the_others_are_read(world, capsys):
    video = released(world).video
    kept = hashlib.sha256(Path(video.file.path).read_bytes()).hexdigest()
    folder = Path(video.file.path).with_name("a-folder.mp4")
    folder.mkdir()
    try:
        Video.objects.filter(pk=video.pk).update(sha256="0" * 64)
        blocked = factories.make_video(world.project, key="blocked", file=folder.name, sha256=kept)
        with pytest.raises(SystemExit):
            call_command("check", "--files", "--json")
    finally:
        folder.rmdir()
    found = json.loads(capsys.readouterr().out.splitlines()[-1])["violations"]
    named = {row["row"]: row["problem"] for row in found if row["invariant"] == "media.a_stored_file_is_its_hash"}
    assert named[f"corpus.video {blocked.pk}"] == "its file a-folder.mp4 cannot be read (Is a directory)"
    assert "has changed since it was stored" in named[f"corpus.video {video.pk}"]


def test_the_number_of_queries_does_not_grow_with_the_rows(world, django_assert_max_num_queries):
    for _ in range(5):
        world.item()
    with django_assert_max_num_queries(135):
        violations()
