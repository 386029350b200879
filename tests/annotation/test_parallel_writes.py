"""Two writes that meet, each begun before the other's is there to be seen: nothing is left half done by both.

Each case runs on SQLite, whose writers stand in a line, and on PostgreSQL (tests/foilworks/test_postgresql.py).
"""

import json
from datetime import timedelta
from pathlib import Path
from threading import Event
from time import sleep

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.decisions.captions import drop_caption
from annotation.actions.decisions.items import retract, take_down_video
from annotation.actions.leases.leasing import release
from annotation.actions.quality.validators import exclude_votes
from annotation.actions.studies import open_baseline
from annotation.actions.submissions.judgements import judge_and_claim, submit_choice, submit_vote
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.undo import undo_choice, undo_review, undo_vote
from annotation.actions.workflow.groups import _lock_pairs, assemble
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.actions.workflow.verdicts import flag_captions, locked_item
from annotation.errors import WorkRefused
from annotation.models import Involvement, Lease, Slot, SlotState, Stage, Standing, Task, TaskState, Vote
from annotation.transactions import serialize_writes
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.models import Caption, Foil, Item, Release, ReleaseItem, Subtest
from foilworks.core.projects.actions.members import set_roles
from foilworks.core.projects.models import Membership, Role
from foilworks.site.imports.store import import_records
from generation.models import Candidate, CandidateGroup
from tests import factories
from tests.annotation.crowd import open_policy
from tests.annotation.test_parallel import one_after_the_other, sound_at_the_end, without_a_deadlock  # noqa: F401
from tests.annotation.world import make_world, new_key, sending, shown_as
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)

UNFOLDS = "a man unfolds a shirt."


def a_vote_is_stored_while(world, work, first) -> None:
    """The vote on `work` is, while the transaction of `first` is open. On SQLite it waits: there is one writer."""
    stored, seen = Event(), []

    def votes():
        submit_vote(world.vera, work.token, "k", 1)
        stored.set()

    waits = connection.vendor != "postgresql"
    one_after_the_other(first, votes, then=lambda: seen.append(stored.wait(timeout=0.2 if waits else PATIENCE_SECONDS)))
    assert seen == [not waits]
    assert Vote.objects.count() == 1


def nobody_judges(world, n: int = 1) -> list[Item]:
    """Items of a subtest that asks for no votes."""
    subtest = factories.make_subtest(world.project, votes_wanted=0, votes_needed=0)
    items = [factories.make_item(subtest, state="valid") for _ in range(n)]
    Foil.objects.filter(item__in=items).update(verdict="valid")
    return items


def test_people_continue_while_an_import_runs(tmp_path):
    world = make_world()
    world.item()
    work = world.claim("vera", Stage.VALIDATION)
    (other,) = nobody_judges(world)
    path = tmp_path / "more.jsonl"
    dog = {"id": "a", "video": "a.mp4", "caption": "a dog barks."}
    old = {"id": other.key, "subtest": other.subtest.name, "video": other.video.key, "caption": other.caption.text}
    lines = [dog, {**old, "foil": UNFOLDS, "extra": {"note": "new"}}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    a_vote_is_stored_while(world, work, lambda: import_records(world.project, None, "jsonl", path, update=True))
    assert Caption.objects.filter(text="a dog barks.").count() == 1
    assert Item.objects.get(pk=other.pk).extra == {"note": "new"}


def test_people_continue_while_a_release_is_frozen():
    world = make_world()
    nobody_judges(world)
    world.item()
    work = world.claim("vera", Stage.VALIDATION)
    a_vote_is_stored_while(world, work, lambda: freeze_release(world.owner, world.project, name="v1"))
    assert Release.objects.get().n_items == 1


def test_people_continue_while_somebody_gets_another_role():
    world = make_world()
    world.item()
    work = world.claim("vera", Stage.VALIDATION)
    a_vote_is_stored_while(world, work, lambda: set_roles(world.owner, world.project, world.ann, ["reviewer"]))


def test_a_release_frozen_during_an_undo_contains_the_remaining_items():
    world = make_world()
    gone, _ = nobody_judges(world, 2)
    # It still stands where the release reads what is valid.
    one_after_the_other(gone.delete, lambda: freeze_release(world.owner, world.project, name="v1"))
    assert Release.objects.get().n_items == ReleaseItem.objects.count() == 1


def test_an_import_ended_by_the_database_says_so_and_stores_nothing(tmp_path):
    """It has an item that it may change, and needs the caption; who has the caption needs the item."""
    world = make_world()
    item = world.item()
    path = written_again(item, tmp_path)
    ring = connection.vendor == "postgresql"

    def looks_for_a_deadlock_after(seconds: int):
        """PostgreSQL looks once for each wait, and ends who looked."""
        if ring:
            with connection.cursor() as cursor:
                cursor.execute(f"SET deadlock_timeout = '{seconds}s'")

    def holds_the_caption():
        looks_for_a_deadlock_after(60)
        flag_captions([item.caption_id])

    def imports():
        looks_for_a_deadlock_after(4)
        try:
            return import_records(world.project, None, "jsonl", path, update=True).errors
        except EvaluationError as error:
            return str(error)

    (said,) = one_after_the_other(holds_the_caption, imports, held_s=0, then=lambda: locked_item(item.pk))
    assert said == (f"{path}: the project was changed during the import; import again" if ring else [])
    assert Caption.objects.get().facts == ({} if ring else {"count": 2})


def written_again(item: Item, folder: Path) -> Path:
    """A file that changes the item, its clip and what is noted of its caption."""
    path = folder / "again.jsonl"
    record = {"id": item.key, "subtest": item.subtest.name, "video": item.video.key, "caption": item.caption.text}
    new = {"count": 2, "split": "val", "extra": {"note": "new"}}
    path.write_text(json.dumps({**record, "foil": UNFOLDS, **new}), encoding="utf-8")
    return path


def test_an_import_waits_for_a_decision_before_it_locks_the_item(tmp_path):
    world = make_world()
    item = world.item()
    path = written_again(item, tmp_path)
    one_after_the_other(
        lambda: locked_item(item.pk),
        without_a_deadlock(lambda: import_records(world.project, None, "jsonl", path, update=True)),
        then=lambda: (_lock_pairs(item.video_id), sleep(1.3)),
    )
    item.refresh_from_db()
    assert (item.extra, item.video.split) == ({"note": "new"}, "val")


class TestAPlaceIsGivenBackWhile:
    """With sequential stopping, two of three decide; val holds the third place."""

    @pytest.fixture
    def world(self):
        made = make_world(stop_early=True)
        made.item()
        made.works = {name: made.claim(name, Stage.VALIDATION) for name in ("vera", "vic", "val")}
        self.judge(made, "vera")
        return made

    def judge(self, world, name: str):
        work = world.works[name]
        return submit_vote(world.people[name], work.token, new_key(), shown_as("caption", work))

    def give_back(self, world):
        return release(world.val, world.works["val"].token)

    def test_the_pair_is_decided(self, world):
        one_after_the_other(lambda: self.give_back(world), lambda: self.judge(world, "vic"))
        assert sorted(Slot.objects.values_list("state", flat=True)) == ["cancelled", "done", "done"]
        assert Task.objects.get().state == TaskState.DONE

    def test_the_pair_was_decided_just_before(self, world):
        one_after_the_other(lambda: self.judge(world, "vic"), lambda: self.give_back(world))
        assert sorted(Slot.objects.values_list("state", flat=True)) == ["cancelled", "done", "done"]
        assert Task.objects.get().state == TaskState.DONE

    def test_the_deciding_vote_is_undone(self, world):
        vote = self.judge(world, "vic")
        one_after_the_other(lambda: self.give_back(world), lambda: undo_vote(world.vic, vote.pk))
        assert sorted(Slot.objects.values_list("state", flat=True)) == ["done", "free", "leased"]

    def test_the_deciding_vote_was_undone_just_before(self, world):
        vote = self.judge(world, "vic")
        one_after_the_other(lambda: undo_vote(world.vic, vote.pk), lambda: self.give_back(world))
        assert sorted(Slot.objects.values_list("state", flat=True)) == ["done", "free", "leased"]

    def test_the_deciding_vote_is_excluded(self, world):
        self.judge(world, "vic")
        one_after_the_other(
            lambda: self.give_back(world), lambda: exclude_votes(world.owner, world.project, world.vic.pk)
        )
        assert sorted(Slot.objects.values_list("state", flat=True)) == ["done", "free", "free"]


class TestTheLastTwoPlacesOfABaseline:
    @pytest.fixture
    def held(self):
        """Two annotators hold the two places of an item."""
        world = make_world()
        world.item(state="valid").foils.update(verdict="valid")
        assert open_baseline(world.owner, world.project, overlap=2) == 1
        return [(person, claim(person, world.project, Stage.BASELINE)) for person in (world.ann, world.abe)]

    def test_are_filled_at_once(self, held):
        one_after_the_other(*(lambda who=who, work=work: submit_choice(who, work.token, "k", 1) for who, work in held))
        assert Task.objects.get(stage=Stage.BASELINE).state == TaskState.DONE

    def test_one_is_filled_while_the_other_is_undone(self, held):
        (ann, first), (abe, second) = held
        vote = submit_choice(ann, first.token, "k", 1)
        one_after_the_other(lambda: undo_choice(ann, vote.pk), lambda: submit_choice(abe, second.token, "k", 1))
        assert Task.objects.get(stage=Stage.BASELINE).state == TaskState.OPEN
        assert Slot.objects.filter(state=SlotState.LEASED, person=ann).exists()

    def test_one_is_undone_while_the_other_is_filled(self, held):
        (ann, first), (abe, second) = held
        vote = submit_choice(ann, first.token, "k", 1)
        one_after_the_other(lambda: submit_choice(abe, second.token, "k", 1), lambda: undo_choice(ann, vote.pk))
        assert Task.objects.get(stage=Stage.BASELINE).state == TaskState.OPEN


def test_a_slot_is_claimed_while_its_task_is_cancelled():
    world = make_world()
    item = world.item()
    make_tasks(world.project)
    one_after_the_other(
        lambda: claim(world.vera, world.project, Stage.VALIDATION),
        lambda: take_down_video(world.owner, world.project.slug, item.video_id, "asked to"),
        # PostgreSQL has looked for a ring by then: were the commit to close one, it would be the one that is ended.
        then=lambda: sleep(1.3),
    )
    assert set(Slot.objects.values_list("state", flat=True)) == {SlotState.CANCELLED}
    assert Lease.objects.get().ending == "cancelled"


@pytest.mark.parametrize("retracted_first", [True, False])
def test_a_baseline_is_opened_while_its_item_is_retracted(retracted_first):
    world = make_world()
    (item,) = nobody_judges(world)
    both = [
        lambda: retract(world.owner, item.pk, "blurred"),
        lambda: open_baseline(world.owner, world.project),
    ]
    one_after_the_other(*(both if retracted_first else both[::-1]))
    assert not Task.objects.filter(state=TaskState.OPEN).exists()


class TestACaptionIsDroppedWhile:
    @pytest.fixture
    def world(self):
        """A caption in doubt, of which a group's only foil is in review."""
        made = make_world()
        group = made.group()
        made.edit("ann")
        made.caption = group.caption
        Caption.objects.filter(pk=group.caption_id).update(flagged_false=True)
        return made

    def drop(self, world):
        return drop_caption(world.owner, world.caption.pk, "it is a cat")

    def test_an_item_is_made_of_it(self, world):
        one_after_the_other(lambda: world.review("rita"), lambda: self.drop(world))
        assert Item.objects.get().state == "retracted"
        assert not Task.objects.filter(state=TaskState.OPEN).exists()

    def test_an_item_would_be_made_of_it(self, world):
        work = world.claim("rita", Stage.REVIEW)
        one_after_the_other(
            lambda: self.drop(world), lambda: submit_review(world.rita, work.token, new_key(), ReviewAnswer("accept"))
        )
        assert not Item.objects.exists()
        assert not Task.objects.filter(state=TaskState.OPEN).exists()

    def test_the_drop_of_a_reviewer_is_undone(self, world):
        review = world.review("rita", "drop", reasons=["grammar"])
        (said,) = one_after_the_other(lambda: self.drop(world), lambda: undo_review(world.rita, review.pk))
        assert "The caption has been corrected" in said
        assert not Task.objects.filter(state=TaskState.OPEN).exists()

    def test_tasks_are_made_of_it(self, world):
        group = factories.make_group(factories.make_run(world.subtest), world.caption)
        factories.make_candidate(group, "a man tears a shirt.")
        one_after_the_other(lambda: make_tasks(world.project), lambda: self.drop(world))
        assert not Task.objects.filter(state=TaskState.OPEN).exists()


def test_a_person_cannot_review_and_judge_one_video_at_once():
    world = make_world()
    Membership.objects.create(project=world.project, person=world.rita, role=Role.VALIDATOR)
    group = world.group()
    world.edit("ann")
    world.item(caption=group.caption)
    review, vote = (world.claim("rita", stage) for stage in (Stage.REVIEW, Stage.VALIDATION))
    (said,) = one_after_the_other(
        lambda: submit_review(world.rita, review.token, new_key(), ReviewAnswer("accept")),
        lambda: submit_vote(world.rita, vote.token, new_key(), 1),
    )
    assert isinstance(said, str), said
    assert not Vote.objects.exists()


def test_candidates_that_come_in_while_tasks_are_made_are_not_forgotten():
    """Of a group that no model had answered for."""
    world = make_world()
    group = factories.make_group(world.run, tasked=False, unanswered=True)

    def comes_in():
        factories.make_candidate(group, "a man tears a shirt.")
        CandidateGroup.objects.filter(pk=group.pk).update(tasked=False, unanswered=False)

    one_after_the_other(comes_in, lambda: make_tasks(world.project))
    make_tasks(world.project)
    assert Task.objects.filter(group=group, stage=Stage.EDIT, state=TaskState.OPEN).count() == 1


@pytest.mark.parametrize("heir", [False, True])
def test_an_item_is_made_while_its_proficiency_item_is_retracted(heir):
    world = make_world()
    proficiency = factories.make_subtest(world.project, kind=Subtest.Kind.PROFICIENCY, votes_wanted=0, votes_needed=0)
    Subtest.objects.filter(pk=world.subtest.pk).update(proficiency_subtest=proficiency)
    main = world.group()
    other = factories.make_group(factories.make_run(proficiency), main.caption)
    factories.make_candidate(other, "a man folds a towel.")
    Candidate.objects.update(state="accepted")
    rows = CandidateGroup.objects.select_related("run__subtest__project")
    gone, item = rows.get(pk=other.pk), rows.get(pk=main.pk)

    def made(group):
        with transaction.atomic():
            return assemble(group, None, timezone.now())

    pair = made(gone)
    left = None
    if heir:
        left = factories.make_item(proficiency, factories.make_caption(pair.video, "a man sits."), state="valid")
        left.foils.update(verdict="valid")
    one_after_the_other(lambda: retract(world.owner, pair.pk, "blurred"), lambda: made(item))
    assert Item.objects.get(subtest=world.subtest).proficiency_item == left


def test_answers_from_before_the_counts_restarted_are_not_counted():
    """A vote that waited for the resume carries the moment at which it was sent."""
    world = make_world()
    factories.make_item(world.subtest)
    open_policy(world.project)
    work = world.claim("vera", Stage.VALIDATION)
    Standing.objects.update(counted_from=timezone.now() + timedelta(minutes=1))
    submit_vote(world.vera, work.token, "k", 1)
    standing = Standing.objects.get()
    assert standing.first + standing.second == 0


def test_an_edit_stored_while_a_vote_waits_for_the_person_forbids_the_vote():
    """The statement that waits sees what was stored before it; what stands in the way is read after the wait."""
    world = make_world()
    for _ in range(3):
        world.item()
    make_tasks(world.project)
    work = world.claim("vera", Stage.VALIDATION)
    video = Slot.objects.get(token=work.token).video

    def edits() -> None:
        serialize_writes(world.vera)
        Involvement.objects.create(project=world.project, person=world.vera, video=video, kind="made")

    def votes() -> None:
        with pytest.raises(WorkRefused):
            judge_and_claim(sending(world.vera, work.token, "k"), 1)

    one_after_the_other(edits, votes)
    assert not Vote.objects.exists()


def test_the_last_two_votes_of_an_item_at_once_decide_it():
    """Whoever waits for the item counts the other's vote."""
    world = make_world()
    for _ in range(6):
        world.item()
    make_tasks(world.project)
    first = world.claim("vera", Stage.VALIDATION)
    item = Slot.objects.get(token=first.token).item
    second, third = world.claim("vic", Stage.VALIDATION), world.claim("val", Stage.VALIDATION)
    judge_and_claim(sending(world.vera, first.token, "k"), "both")
    one_after_the_other(
        lambda: judge_and_claim(sending(world.vic, second.token, "k"), "both"),
        lambda: judge_and_claim(sending(world.val, third.token, "k"), "both"),
    )
    item.refresh_from_db()
    assert (Vote.objects.filter(item=item).count(), item.state) == (3, "invalid")
