"""Values do not depend on how the work is cut: batches, shards, a kill in the middle, decoders; nothing is asked twice.

The fake model's values are equal to the bit. Those of a transformer are equal within 2e-6: a batch of another size adds
up in another order.
"""

from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from django.conf import settings

from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring import jobs
from evaluation.scoring.actions.runs import resume_run
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.loop import score_pairs
from evaluation.scoring.models import Run, Score
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.hub import loaded_model
from foilworks.core.hub.adapters.clip import FrameEmbedder
from foilworks.core.hub.adapters.fake import FakeEmbedder
from foilworks.core.hub.opening import open_adapter
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import retry
from foilworks.core.jobs.runner import execute, run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import Role
from tests import factories
from tests.hub import folders
from tests.media.painted import painted_clip

pytestmark = pytest.mark.django_db
CLIPS, TEXTS = 12, 3
PAIRS = CLIPS * TEXTS
TOLERANCE = 2e-6


class KilledError(BaseException):
    """As a worker that ends in the middle of a job."""


@pytest.fixture
def release(settings) -> Release:
    """Twelve items of two foils on as many clips; rows of clips are not kept, so that every run computes its own."""
    settings.VECTOR_CACHE_BYTES = 0
    project = factories.make_project(slug="cut")
    subtest = factories.make_subtest(project, name="moves", foils_per_item=2)
    folder = Path(settings.MEDIA_ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    painted = painted_clip(CLIPS + 2)
    for number in range(CLIPS):
        write_mp4(folder / f"{number}.mp4", painted[number : number + 3], fps=8)
        video = factories.make_video(project, key=f"c{number}", file=f"{number}.mp4", sha256=f"{number:064d}")
        caption = factories.make_caption(video, f"a man folds {'a red ' * (number % 3)}shirt {number}")
        foils = ("a woman opens the door", f"two boys are lifting {number}")
        factories.make_item(subtest, caption, foils, key=f"i{number}", state=ItemState.VALID)
    return freeze_release(None, project)


@pytest.fixture
def clip_model(tmp_path) -> str:
    return f"clip:{folders.clip(tmp_path / 'clip')}?frames=4"


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The keys of all clips that a model was shown, in order."""
    keys: list[str] = []
    for model in (FakeEmbedder, FrameEmbedder):
        monkeypatch.setattr(model, "encode_video", _noted(model.encode_video, keys))
    return keys


def _noted(real, keys):
    def encode_video(self, clips, meta):
        keys.extend(about.key for about in meta)
        return real(self, clips, meta)

    return encode_video


def in_parts(monkeypatch, *, shards=1, clips_a_batch=16, decoders=2):
    monkeypatch.setattr(settings, "SHARD_ITEMS", -(-CLIPS // shards))
    monkeypatch.setattr(settings, "FOILWORKS_DECODERS", decoders)
    monkeypatch.setattr(jobs, "score_pairs", partial(score_pairs, clips_a_batch=clips_a_batch))
    monkeypatch.setattr(jobs, "SCORES_PER_WRITE", clips_a_batch * TEXTS)


def scored(release: Release, spec: str, state: JobState = JobState.DONE) -> tuple[Run, dict]:
    Score.objects.all().delete()
    run = start_run(None, release, RunRequest(spec, device="cpu"))
    assert run_now(run.job).state == state
    return run, stored()


def stored() -> dict:
    return {(row.clip_key, row.text_sha256): row.value for row in Score.objects.all()}


def agree(one: dict, other: dict, spec: str) -> None:
    assert one.keys() == other.keys()
    if spec.startswith("fake:"):
        assert one == other
    else:
        assert max(abs(one[pair] - other[pair]) for pair in one) <= TOLERANCE


@pytest.fixture(params=["fake:1", "clip"])
def spec(request, clip_model) -> str:
    return clip_model if request.param == "clip" else request.param


def test_batch_size_and_number_of_decoders_do_not_change_the_result(release, spec, monkeypatch, shown):
    found = []
    for size, decoders in ((16, 1), (5, 3), (1, 2)):
        in_parts(monkeypatch, clips_a_batch=size, decoders=decoders)
        found.append(scored(release, spec)[1])
        assert Counter(shown) == dict.fromkeys({key for key, _ in found[0]}, 1)
        shown.clear()
    agree(found[0], found[1], spec)
    agree(found[0], found[2], spec)


def test_four_shards_equal_one_and_no_clip_is_shown_twice(release, spec, monkeypatch, shown):
    in_parts(monkeypatch)
    _, whole = scored(release, spec)
    shown.clear()
    in_parts(monkeypatch, shards=4)
    run, cut = scored(release, spec)
    agree(whole, cut, spec)
    assert len(shown) == len(set(shown)) == CLIPS
    shards = list(run.job.shards.order_by("number"))
    assert [(shard.state, shard.attempts, shard.done, shard.total) for shard in shards] == [("done", 1, 9, 9)] * 4
    assert sum(shard.measured["pairs"] for shard in shards) == len(cut) == PAIRS
    run.job.refresh_from_db()
    assert (run.job.done, run.job.total, run.job.attempts) == (PAIRS, PAIRS, 2)


def test_a_killed_and_resumed_run_equals_an_uninterrupted_one(release, spec, monkeypatch, shown):
    in_parts(monkeypatch, shards=3, clips_a_batch=2)
    _, whole = scored(release, spec)
    shown.clear()
    Score.objects.all().delete()
    real, calls = jobs.score_pairs, []

    def dying(*arguments, **options):
        for number, each in enumerate(real(*arguments, **options)):
            calls.append(number)
            if len(calls) == 20:
                raise KilledError
            yield each

    monkeypatch.setattr(jobs, "score_pairs", dying)
    run = start_run(None, release, RunRequest(spec, device="cpu"))
    with pytest.raises(KilledError):
        run_now(run.job)
    # Of the second shard a batch of two clips was stored, and the next one was at the model.
    assert len(stored()) == 18
    assert set(run.job.shards.values_list("state", flat=True)) <= {"done", "cancelled"}
    assert retry(Job.objects.get(pk=run.job.pk))
    monkeypatch.setattr(jobs, "score_pairs", real)
    assert run_now(Job.objects.get(pk=run.job.pk)).state == JobState.DONE
    agree(whole, stored(), spec)
    twice = [key for key, times in Counter(shown).items() if times > 1]
    assert len(shown) == CLIPS + len(twice)
    assert len(twice) <= 2, "the batch that was lost, and no other"


def test_a_process_loads_its_model_once_for_all_shards(release, clip_model, monkeypatch):
    loads = []

    def load(spec, **options):
        loads.append(spec)
        return open_adapter(spec, **options)

    loaded_model.unload()
    monkeypatch.setattr(jobs, "open_adapter", load)
    in_parts(monkeypatch, shards=4)
    scored(release, clip_model)
    assert loads == [clip_model]
    # Other files in the folder are another model.
    folder = Path(clip_model.removeprefix("clip:").partition("?")[0])
    (folder / "config.json").write_text((folder / "config.json").read_text() + "\n")
    scored(release, clip_model)
    assert loads == [clip_model] * 2


def test_a_text_only_model_is_sharded_by_texts(release, monkeypatch):
    in_parts(monkeypatch)
    _, whole = scored(release, "fake:text")
    in_parts(monkeypatch, shards=3)
    run, cut = scored(release, "fake:text")
    assert whole == cut
    shares = list(run.job.shards.values_list("total", flat=True))
    assert len(shares) == 3
    assert sum(shares) == len(cut) == 2 * CLIPS + 1


def test_problems_of_all_shards_are_listed_on_the_run(release, monkeypatch):
    for number in (1, 7):
        (Path(settings.MEDIA_ROOT) / f"{number}.mp4").write_bytes(b"no video")
    in_parts(monkeypatch, shards=4)
    run, found = scored(release, "fake:1", JobState.PARTLY)
    run.refresh_from_db()
    assert [one["item"] for one in run.problems["unreadable"]] == ["moves:i1", "moves:i7"]
    assert len(found) == PAIRS - 2 * TEXTS
    assert run.scored_at is not None


def test_a_shard_with_different_weights_reports_it(release, monkeypatch):
    in_parts(monkeypatch, shards=2)
    run = start_run(None, release, RunRequest("fake:1", device="cpu"))
    execute(str(run.job.pk))
    Run.objects.filter(pk=run.pk).update(model_key="fake/1@2")
    shard = run.job.shards.first()
    with pytest.raises(EvaluationError, match="install the same"):
        execute(str(shard.pk))


def test_a_run_planned_before_an_update_is_planned_again_when_resumed(release, monkeypatch):
    in_parts(monkeypatch, shards=4)
    run = start_run(None, release, RunRequest("fake:1", device="cpu"))
    execute(str(run.job.pk))
    execute(str(run.job.shards.first().pk))
    # As if the model's key had been another one until now.
    Score.objects.update(model_key="fake/1@0")
    Run.objects.filter(pk=run.pk).update(model_key="fake/1@0")
    for shard in run.job.shards.filter(state=JobState.WAITING):
        with pytest.raises(EvaluationError, match="it is planned again"):
            execute(str(shard.pk))
    with pytest.raises(EvaluationError, match="3 of 4 shards failed"):
        execute(str(run.job.pk))
    run.job.refresh_from_db()
    resume_run(factories.make_member(release.project, Role.RESEARCHER), run)
    assert not run.job.shards.exists()
    assert run_now(run.job).state == JobState.DONE
    run.refresh_from_db()
    assert run.model_key == "fake/1@1"
    assert run.job.shards.count() == 4
    assert Score.objects.filter(model_key=run.model_key).count() == PAIRS
