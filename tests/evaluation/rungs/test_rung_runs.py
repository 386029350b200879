"""Runs with controls: what order-blind, temporal and text-only models score on each rung, and at which cost."""

import json

import numpy as np
import pytest
from django.core.management import call_command

from evaluation.blind.scoring import preference_of_file
from evaluation.errors import EvaluationError
from evaluation.facts.stored_facts import item_facts
from evaluation.scoring import jobs
from evaluation.scoring.actions.rungs import add_controls, import_rung_scores
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.models import Run, Score
from evaluation.scoring.queries import records_of, release_scores
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.run_results import axes_of, credits_of, fingerprint_of, rung_fingerprint, rungs_of
from evaluation.scoring.rungs import USUAL, Rung
from foilworks.core.corpus.models import Video
from foilworks.core.hub.adapters.clip import FrameEmbedder
from foilworks.core.hub.adapters.tiny_video import TinyEmbedder
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import retry
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from tests import factories
from tests.evaluation.rungs.worlds import CLIPS, FOILS, make_release, score, tiny
from tests.hub import folders

pytestmark = pytest.mark.django_db


class KilledError(BaseException):
    """As a worker that ends in the middle of a job."""


@pytest.fixture
def release():
    return make_release()


def values(run: Run, rung: Rung = Rung.FULL) -> np.ndarray:
    rows, missing = release_scores(run, rung=rung)
    assert missing == []
    return np.array([[row.caption, *row.foils] for row in rows])


def credit(run: Run, rung: Rung = Rung.FULL) -> list[float]:
    return credits_of(run, axes_of(run.release), rung).main.tolist()


def test_an_order_blind_model_scores_the_same_in_any_order_of_frames(release, tmp_path):
    run = score(release, tiny(tmp_path, "average"))
    assert rungs_of(run) == (*USUAL, Rung.FULL)
    assert run.problems.keys() == set()
    for rung in (Rung.SHUFFLED, Rung.REVERSED):
        assert values(run, rung) == pytest.approx(values(run), abs=1e-5)
        assert credit(run, rung) == credit(run)
    for rung in (Rung.NO_CLIP, Rung.OTHER_CLIP, Rung.FIRST_FRAME):
        assert np.abs(values(run, rung) - values(run)).max() > 1e-4
    assert run.params["ladder"]["no_clip"] == "grey"
    # Without the clip, a text has one score, whatever the item.
    assert set(Score.objects.filter(clip_key="~blank").values_list("text_sha256", flat=True)) == {
        text_key(text) for record in records_of(release) for text in (record["caption"], *record["foils"])
    }


def test_a_temporal_model_scores_another_order_differently(release, tmp_path):
    run = score(release, tiny(tmp_path, "temporal"))
    for rung in (Rung.SHUFFLED, Rung.REVERSED, Rung.MIDDLE_FRAME):
        assert np.abs(values(run, rung) - values(run)).max() > 1e-4


def test_another_clip_is_scored_as_that_clip_is(release, tmp_path):
    run = score(release, "fake:1", frames_tried=1)
    assert run.params["ladder"]["tried"] == 1
    assert {Rung.FIRST_FRAME, Rung.BEST_FRAME} & set(rungs_of(run)) == set()
    keys = set(Score.objects.exclude(clip_key__contains="~").values_list("clip_key", flat=True))
    assert len(keys) == CLIPS
    # Some texts of each item are scored with a clip that is not its own.
    assert Score.objects.exclude(clip_key__contains="~").count() > CLIPS * (1 + FOILS)
    assert np.abs(values(run, Rung.OTHER_CLIP) - values(run)).min() > 0


def test_the_best_frame_is_among_those_tried_and_chosen_without_the_answer(release, tmp_path):
    run = score(release, tiny(tmp_path, "temporal"))
    first, middle, best = (values(run, rung) for rung in (Rung.FIRST_FRAME, Rung.MIDDLE_FRAME, Rung.BEST_FRAME))
    for row, one, two in zip(best, first, middle, strict=True):
        gap = np.diff(np.sort(row))[-1]
        assert gap >= max(np.diff(np.sort(one))[-1], np.diff(np.sort(two))[-1])


def test_a_text_only_model_scores_the_same_on_every_rung_and_as_in_the_blind_audit(release):
    run = score(release, "fake:text")
    assert set(Score.objects.values_list("clip_key", flat=True)) == {""}
    for rung in rungs_of(run):
        assert values(run, rung).tolist() == values(run).tolist()
        assert credit(run, rung) == credit(run)
    # The audit compares the caption with each foil.
    audit = preference_of_file("fake:text", item_facts(release.project))
    blind = values(run, Rung.NO_CLIP)
    won = np.where(blind[:, :1] == blind[:, 1:], 0.5, blind[:, :1] > blind[:, 1:])
    assert won.mean() == audit["overall"]["preference"]
    assert run.params["ladder"]["no_clip"] == "none"


def _counted(monkeypatch, model, counts):
    real = model.encode_video

    def encode_video(self, clips, meta):
        counts.append(len(clips))
        return real(self, clips, meta)

    monkeypatch.setattr(model, "encode_video", encode_video)


def test_each_clip_is_decoded_once_and_an_image_encoder_encodes_it_once(release, tmp_path, monkeypatch):
    encoded: list[int] = []
    _counted(monkeypatch, FrameEmbedder, encoded)
    run = score(release, f"clip:{folders.clip(tmp_path / 'clip')}?frames=4")
    # One more for the grey clip.
    assert sum(encoded) == CLIPS + 1
    assert run.job.measured["decoded"] == CLIPS
    assert values(run, Rung.REVERSED) == pytest.approx(values(run), abs=1e-5)
    assert np.abs(values(run, Rung.FIRST_FRAME) - values(run)).max() > 1e-5


def test_a_temporal_encoder_encodes_each_distinct_view_once(release, tmp_path, monkeypatch):
    encoded: list[int] = []
    _counted(monkeypatch, TinyEmbedder, encoded)
    run = score(release, tiny(tmp_path, "temporal"))
    # Whole, reversed, shuffled, and three single frames.
    assert sum(encoded) == 6 * CLIPS + 1
    assert run.job.measured["decoded"] == CLIPS
    # Rows of the views are cached under keys of their own.
    Score.objects.all().delete()
    encoded.clear()
    again = score(release, run.spec)
    assert sum(encoded) == 1
    assert values(again, Rung.SHUFFLED) == pytest.approx(values(run, Rung.SHUFFLED), abs=1e-6)


def test_a_model_of_one_frame_is_asked_once_for_all_views(release, tmp_path, monkeypatch):
    encoded: list[int] = []
    monkeypatch.setattr("foilworks.core.hub.adapters.fake.FRAMES", 1)
    from foilworks.core.hub.adapters.fake import FakeEmbedder

    _counted(monkeypatch, FakeEmbedder, encoded)
    run = score(release, "fake:9")
    assert sum(encoded) == CLIPS + 1
    for rung in (Rung.SHUFFLED, Rung.BEST_FRAME):
        assert values(run, rung) == pytest.approx(values(run), abs=1e-6)


def test_controls_can_be_added_later_and_only_missing_scores_are_computed(release, tmp_path, monkeypatch):
    run = score(release, "fake:1", controls=False)
    before = fingerprint_of(run)
    assert rungs_of(run) == (Rung.FULL,)
    assert rung_fingerprint(run, Rung.FULL) == before
    person = factories.make_member(release.project, Role.RESEARCHER)
    with pytest.raises(AccessDenied):
        add_controls(factories.make_member(release.project, Role.VALIDATOR), run)
    asked = []
    real = jobs.score_pairs
    monkeypatch.setattr(
        jobs, "score_pairs", lambda adapter, requests, **more: asked.extend(requests) or real(adapter, requests, **more)
    )
    run = add_controls(person, run)
    with pytest.raises(EvaluationError, match="in progress"):
        add_controls(person, run)
    assert run_now(run.job).state == JobState.DONE
    run.refresh_from_db()
    assert rungs_of(run) == (*USUAL, Rung.FULL)
    assert {view for clip, _ in asked if (view := clip.view)} == {
        "reversed", "shuffled", "blank", "frame 1 of 3", "frame 2 of 3", "frame 3 of 3"
    }  # fmt: skip
    own = {(record["id"], text) for record in records_of(release) for text in (record["caption"], *record["foils"])}
    assert len(own) == CLIPS * (1 + FOILS)
    assert AuditEvent.objects.filter(action="evaluation.add_controls", actor=person).count() == 1
    assert values(run, Rung.SHUFFLED).shape == (CLIPS, 1 + FOILS)


def test_a_killed_run_continues_and_equals_an_uninterrupted_one_in_shards(release, tmp_path, monkeypatch, settings):
    whole = score(release, "fake:1")
    expected = {rung: values(whole, rung) for rung in (*USUAL, Rung.FULL)}
    Score.objects.all().delete()
    settings.SHARD_ITEMS = 2
    real, calls = jobs.score_pairs, []

    def dying(*arguments, **options):
        for each in real(*arguments, **options):
            calls.append(each)
            if len(calls) == 70:
                raise KilledError
            yield each

    monkeypatch.setattr(jobs, "SCORES_PER_WRITE", 10)
    monkeypatch.setattr(jobs, "score_pairs", dying)
    run = start_run(None, release, RunRequest("fake:1", controls=True))
    with pytest.raises(KilledError):
        run_now(run.job)
    assert 0 < Score.objects.count() <= 70
    assert retry(Job.objects.get(pk=run.job.pk))
    monkeypatch.setattr(jobs, "score_pairs", real)
    assert run_now(Job.objects.get(pk=run.job.pk)).state == JobState.DONE
    run.refresh_from_db()
    assert run.job.shards.count() == CLIPS // 2
    positions = [set(shard.payload["positions"]) for shard in run.job.shards.all()]
    assert len(set.union(*positions)) == sum(map(len, positions)), "no item is in two shards"
    for rung in (*USUAL, Rung.FULL):
        assert values(run, rung) == pytest.approx(expected[rung], abs=1e-6)


def test_a_release_of_one_source_has_no_rung_of_another_clip():
    run = score(make_release(sources=1), "fake:1")
    assert Rung.OTHER_CLIP not in rungs_of(run)
    assert len(rungs_of(run)) == len(USUAL)


def test_a_clip_that_cannot_be_read_is_listed_for_its_item_and_for_each_that_borrows_it(release, settings):
    (settings.MEDIA_ROOT / "0.mp4").write_bytes(b"no video")
    run = score(release, "fake:1", ends=JobState.PARTLY)
    listed = run.problems["unreadable"]
    assert [one["item"] for one in listed if "rung" not in one] == ["moves:i0"]
    assert {one["rung"] for one in listed if "rung" in one} <= {"other_clip"}
    assert all(one["why"].startswith("other clip: ") for one in listed if "rung" in one)
    assert release_scores(run, rung=Rung.REVERSED)[1] == ["moves:i0"]


def test_missing_media_name_the_items_that_would_have_borrowed_them(release):
    Video.objects.filter(key="c0").update(media_state="missing")
    run = score(release, "fake:1", ends=JobState.PARTLY)
    own, *borrowers = run.problems["missing_media"]
    assert own == "moves:i0"
    assert all(name.endswith(" (other_clip)") for name in borrowers)


@pytest.mark.parametrize("tried", [0, 2, 101])
def test_an_unusable_number_of_frames_is_refused(release, tried):
    with pytest.raises(EvaluationError, match="give an odd number from 1 to 99"):
        start_run(None, release, RunRequest("fake:1", controls=True, frames_tried=tried))


def test_a_model_that_opens_the_file_itself_is_refused(release, monkeypatch):
    from dataclasses import replace

    from foilworks.core.hub.adapters import fake

    real = fake.FakeEmbedder.__init__

    def opening(self, seed=0):
        real(self, seed)
        self.info = replace(self.info, card={**self.info.card, "opens_file": True})

    monkeypatch.setattr(fake.FakeEmbedder, "__init__", opening)
    run = start_run(None, release, RunRequest("fake:77", controls=True))
    with pytest.raises(EvaluationError, match="opens the video files itself"):
        run_now(run.job)


class TestFiles:
    @pytest.fixture
    def files(self, release, tmp_path):
        """Of the whole clips every caption wins, of shuffled ones the first three."""

        def write(name: str, won: int, items: int = CLIPS) -> str:
            path = tmp_path / f"{name}.jsonl"
            lines = [{"id": f"moves:i{n}", "caption": 2 if n < won else 0, "foils": [1, 1]} for n in range(items)]
            path.write_text("\n".join(map(json.dumps, lines)))
            return str(path)

        return write

    def test_a_file_per_rung_by_the_command(self, release, files, capsys):
        call_command(
            "evaluate", "file", files("full", 6), release=str(release.pk), sync=True, json=True,
            rung=[f"shuffled={files('shuf', 3)}", f"no_clip={files('blind', 1, items=4)}"],
        )  # fmt: skip
        told = json.loads(capsys.readouterr().out)
        assert {rung: row["T"] for rung, row in told["ladder"].items()} == {
            "no_clip": 0.25, "shuffled": 0.5, "full": 1.0
        }  # fmt: skip
        assert told["problems"]["not_in_file"] == ["moves:i4 (no_clip)", "moves:i5 (no_clip)"]
        call_command("evaluate", "file", files("full", 6), release=str(release.pk), sync=True)
        assert "rung" not in capsys.readouterr().out

    def test_a_rung_can_be_imported_later_and_again(self, release, files, tmp_path):
        run = score(release, f"file:{files('full', 6)}", controls=False)
        person = factories.make_member(release.project, Role.RESEARCHER)
        for won in (4, 2):
            path = tmp_path / f"{won}.jsonl"
            files(str(won), won, items=6 if won == 4 else 3)
            run = import_rung_scores(person, run, "reversed", path)
            assert run_now(run.job).state == JobState.DONE
            run.refresh_from_db()
        assert rungs_of(run) == (Rung.REVERSED, Rung.FULL)
        # The second file has three items; nothing of the first one is left.
        assert [value for value in credit(run, Rung.REVERSED) if value == value] == [1.0, 1.0, 0.0]
        assert run.problems["not_in_file"] == ["moves:i3 (reversed)", "moves:i4 (reversed)", "moves:i5 (reversed)"]
        assert credit(run) == [1.0] * CLIPS
        assert AuditEvent.objects.filter(action="evaluation.import_rung_scores").count() == 2

    def test_wrong_files_rungs_and_people_are_refused(self, release, files, tmp_path):
        run = score(release, f"file:{files('full', 6)}", controls=False)
        person = factories.make_member(release.project, Role.RESEARCHER)
        with pytest.raises(AccessDenied):
            import_rung_scores(factories.make_member(release.project, Role.VALIDATOR), run, "reversed", tmp_path)
        with pytest.raises(EvaluationError, match="'full' is unknown; choose one of: no_clip"):
            import_rung_scores(person, run, "full", tmp_path)
        with pytest.raises(EvaluationError, match="one file per rung"):
            add_controls(person, run)
        with pytest.raises(EvaluationError, match="replace the files of rungs"):
            start_run(None, release, RunRequest("fake:1", rung_files={"reversed": tmp_path}))
        other = score(release, "fake:1", controls=False)
        with pytest.raises(EvaluationError, match="Add the controls instead"):
            import_rung_scores(person, other, "reversed", tmp_path)


def test_the_command_prints_a_table_of_rungs(release, capsys):
    call_command("evaluate", "model", "fake:1", release=str(release.pk), sync=True, controls=True)
    shown = capsys.readouterr().out
    assert "rung" in shown
    for rung in (*USUAL, Rung.FULL):
        assert f"{rung.replace('_', ' ')} " in shown
