"""Items that only the time of the frames tells apart, and models that get none."""

from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings as installed
from django.urls import reverse

from evaluation.board.latex import markdown
from evaluation.board.leaderboard import board
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.models import Run, Score
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.queries import run_results
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.unseen_time import unseen_of
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.hub.batching.video_families import FAMILIES, reads_times
from foilworks.core.hub.interfaces import ModelInfo, ScoreKind
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.reversal import write_paced
from foilworks.core.projects.models import Role
from tests import factories
from tests.hub import folders
from tests.media.painted import painted_clip
from tests.pages import read_page

pytestmark = pytest.mark.django_db
SLOW, QUICK = "a circle moves slowly", "a circle moves quickly"
INFO = ModelInfo("m", "1", ScoreKind.COSINE, frames=8)


def add_item(subtest, key, texts, write, **fields):
    name = f"videos/{key}.mp4"
    path = Path(installed.MEDIA_ROOT) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path)
    video = factories.make_video(
        subtest.project, key=key, file=name, sha256=f"{key:>064}", source_id=key, duration=None
    )
    video.duration = fields.pop("duration")
    video.save()
    caption = factories.make_caption(video, texts[0])
    return factories.make_item(subtest, caption, texts[1:], key=key, state=ItemState.VALID, **fields)


@pytest.fixture
def release(tmp_path):
    """A pair of one clip at two speeds, and an item that a frame tells."""
    project = factories.make_project(slug="speeds", blind_bar=1.0)
    subtest = factories.make_subtest(project, name="pace")
    write_mp4(tmp_path / "film.mp4", painted_clip(24), fps=8)
    for ticks, texts in ((2, (SLOW, QUICK)), (1, (QUICK, SLOW))):
        add_item(
            subtest,
            f"ticks{ticks}",
            texts,
            lambda path, ticks=ticks: write_paced(tmp_path / "film.mp4", path, (None, None), step=1, ticks=ticks),
            pair="speed-1",
            facts={"needs_time": True},
            duration=3.0 * ticks,
        )
    write = lambda path: write_mp4(path, painted_clip(8), fps=8)  # noqa: E731
    add_item(subtest, "plain", ("a red circle", "a blue box"), write, duration=1.0)
    return freeze_release(None, project)


def score(release, tmp_path, *, with_controls=False):
    spec = f"clip:{folders.clip(tmp_path / 'clip')}?frames=4"
    run = start_run(None, release, RunRequest(spec, controls=with_controls))
    assert run_now(run.job).state == JobState.DONE
    run.refresh_from_db()
    return run


def test_a_model_of_fixed_frames_scores_both_speeds_equally_and_neither_counts(release, tmp_path):
    run = score(release, tmp_path)
    values = {}
    for row in Score.objects.filter(model_key=run.model_key, text_sha256__in=map(text_key, (SLOW, QUICK))):
        values.setdefault((row.text_sha256, row.clip_key.partition("~")[2]), {})[row.clip_key] = row.value
    of_plain = [scores for (_text, view), scores in values.items() if not view]
    assert [len(scores) for scores in of_plain] == [2, 2]
    # Both clips give the model the same input.
    assert all(len(set(scores.values())) == 1 for scores in of_plain)
    assert [row["item"] for row in run.problems["cannot_see_it"]] == ["pace:ticks1", "pace:ticks2"]
    assert "4 frames of both clips, without their times" in run.problems["cannot_see_it"][0]["why"]
    results = run_results(run, draws=50)
    assert (results["overall"]["n"], results["missing"]) == (1, [])


def test_run_board_and_ladder_say_that_the_model_cannot_see_it(release, tmp_path, client):
    run = score(release, tmp_path, with_controls=True)
    client.force_login(factories.make_member(run.release.project, Role.RESEARCHER))
    cannot_see = "This model cannot see what 2 items ask about."
    for name, args in (("scoring:run", [run.pk]), ("ladder:run_ladder", [run.pk])):
        read_page(client.get(reverse(name, args=["speeds", *args]))).check(cannot_see, "do not count as wrong")
    read_page(client.get(reverse("board:leaderboard", args=["speeds", run.release_id]))).check(
        "cannot see 2 items, left out"
    )
    assert "(cannot see 2 items)" in markdown(board(run.release))


@pytest.mark.parametrize(
    ("info", "n"),
    [
        (INFO, 2),
        (replace(INFO, reads_times=True), 0),
        (replace(INFO, needs_video=False), 0),
        (replace(INFO, frames=32, card={"fps": 2}), 0),
        # Both clips are longer than the frames that it may have.
        (replace(INFO, frames=4, card={"fps": 8}), 2),
        (replace(INFO, card={"interval_seconds": 1}), 0),
    ],
)
def test_a_model_sees_it_by_times_or_by_the_number_of_frames(release, info, n):
    found = unseen_of(Run(release=release, spec="m:"), info, PROTOCOLS["foilworks"])
    assert len(found.get("cannot_see_it", ())) == n


@pytest.mark.parametrize(("frames", "n"), [(8, 2), (12, 0)])
def test_repetitions_are_seen_with_enough_frames(release, frames, n):
    for member in release.members.all():
        if "needs_time" in member.record["facts"]:
            member.record["facts"]["needs_time"] = 12
            type(member).objects.filter(pk=member.pk).update(record=member.record)
    found = unseen_of(Run(release=release, spec="m:"), replace(INFO, frames=frames), PROTOCOLS["foilworks"])
    assert len(found.get("cannot_see_it", ())) == n


def test_families_that_write_seconds_read_times():
    reading = {name for name, family in FAMILIES.items() if reads_times(name, family)}
    assert {"qwen2_5_vl", "qwen3_vl", "glm4v", "smolvlm", "video_llama_3"} <= reading
    assert not {"qwen2_vl", "llava_onevision", "internvl", "gemma3"} & reading
