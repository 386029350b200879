"""Foils screened by a model that sees the clip: real models, real clips, and what people still see."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings as configured

from foilworks.core.corpus.models import MediaState
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.frame_cache import FrameCache
from foilworks.core.projects.models import Role
from generation.actions.runs import start_run
from generation.actions.selections import move_thresholds
from generation.errors import GenerationError
from generation.filters import video_judge
from generation.models import Candidate, FilterScore, Measure, Scorer
from generation.records import CaptionInput, Case
from generation.run_request import FoilRequest
from generation.screening.families import family_of
from tests.evaluation.served.worlds import COLOURS, colour_seen, endpoint
from tests.factories import make_caption, make_member, make_project, make_subtest, make_video
from tests.hub.chat_server import chat_server, likely, text_of
from tests.hub.generative_folders import qwen2_vl

pytestmark = pytest.mark.django_db


def add_clip(project, number: int, colour: str):
    """A clip of one colour, with a caption that says red."""
    name = f"videos/{project.slug}-{number}.mp4"
    path = Path(configured.MEDIA_ROOT) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = np.full((32, 32, 3), COLOURS[colour], np.uint8)
    frame[: 4 + number, :8] = 255
    write_mp4(path, np.stack([frame] * 4), fps=4)
    video = make_video(project, key=f"clip{number}", file=name, sha256=f"{project.pk:032d}{number:032d}")
    make_caption(video, f"clip {number} is red")
    return video


def screened(colours, *, project=None, seed=0, method=None, **params):
    """A run on clips of the colours; each caption says red and its foils blue and green."""
    project = project or make_project()
    for number, colour in enumerate(colours):
        add_clip(project, number, colour)
    run = start_run(
        make_member(project, Role.RESEARCHER),
        project,
        FoilRequest(
            subtest=make_subtest(project, foils_per_item=2),
            method="fake",
            params={"lexicon": "red:blue|green", "foils": 2},
            filters={"video_judge": {"model": "colours:", "min": 0.1, "share": 0.0, **params}},
            seed=seed,
        ),
    )
    run_now(run.job)
    run.refresh_from_db()
    return run


def states(run) -> Counter:
    return Counter(Candidate.objects.filter(group__run=run).values_list("state", flat=True))


def test_a_foil_is_rejected_if_the_clip_does_not_show_that_it_is_false(monkeypatch) -> None:
    read = []
    real = FrameCache.read

    def noted(self, clip):
        read.append(str(clip.path))
        return real(self, clip)

    monkeypatch.setattr(FrameCache, "read", noted)
    run = screened(["red", "red", "blue"])
    rows = FilterScore.objects.filter(run=run).order_by("pk").values_list("candidate__text", "score", "passed")
    verdict = {text: (round(score, 1), passed) for text, score, passed in rows}
    assert verdict["clip 0 is green"][1]
    assert verdict["clip 2 is blue"][0] < 0
    # The caption and the foil about green are equally wrong of a blue clip.
    assert verdict["clip 2 is green"] == (0.0, False)
    assert states(run) == {CandidateState.QUEUED: 4, CandidateState.FILTERED_OUT: 2}
    # Each clip is decoded once, whatever the number of its foils.
    assert len(read) == len(set(read)) == 3
    scorer = Scorer.objects.get()
    assert scorer.params["model"].startswith("colours@")
    assert Measure.objects.filter(scorer=scorer).count() == 6


def test_a_share_of_the_rejected_foils_goes_to_people_at_every_threshold() -> None:
    run = screened(["blue"] * 12, share=0.3, seed=5)
    drawn = set(FilterScore.objects.filter(run=run, sampled=True).values_list("candidate__text", flat=True))
    assert 2 <= len(drawn) <= 14
    waiting = Candidate.objects.filter(group__run=run, state=CandidateState.QUEUED)
    assert set(waiting.values_list("text", flat=True)) == drawn
    moved = move_thresholds(run.created_by, run, {"video_judge": 2.0})
    assert (moved.n_leave, moved.n_back) == (0, 0)
    assert set(waiting.values_list("text", flat=True)) == drawn
    again = screened(["blue"] * 12, share=0.3, seed=6)
    other = set(FilterScore.objects.filter(run=again, sampled=True).values_list("candidate__text", flat=True))
    assert other != drawn


def test_the_draw_has_the_stated_share_and_depends_on_the_seed_and_the_texts_alone() -> None:
    cases = [Case(CaptionInput(f"v/{k}", "a man sits"), "a man stands") for k in range(4000)]
    drawn = [video_judge.is_sampled(case, params={"share": 0.1}, seed=1) for case in cases]
    assert 0.08 < np.mean(drawn) < 0.12
    assert drawn == [video_judge.is_sampled(case, params={"share": 0.1}, seed=1) for case in cases]
    wider = [video_judge.is_sampled(case, params={"share": 0.3}, seed=1) for case in cases]
    assert all(more for more, one in zip(wider, drawn, strict=True) if one)


def test_a_foil_of_a_clip_without_a_file_passes_without_a_score() -> None:
    project = make_project()
    video = add_clip(project, 9, "blue")
    video.media_state = MediaState.MISSING
    video.save()
    broken = add_clip(project, 10, "blue")
    Path(configured.MEDIA_ROOT, broken.file.name).write_bytes(b"no video")
    run = screened([], project=project)
    assert states(run) == {CandidateState.QUEUED: 4}
    assert set(FilterScore.objects.filter(run=run).values_list("score", "measure")) == {(None, None)}


def test_an_endpoint_judges_each_text_and_a_rerun_asks_nothing(settings) -> None:
    def sees(body, _n):
        yes = 0.9 if colour_seen(body) in text_of(body) else 0.2
        return likely({"Yes": yes, "No": 1 - yes})

    with chat_server(sees) as server:
        settings.CHAT_ENDPOINTS = endpoint(server.url)
        run = screened(["red", "blue"], model="endpoint:lab/tiny", frames=2, min=0.0)
        assert run.job.state == JobState.DONE
        assert len(server.bodies) == 6
        rows = FilterScore.objects.filter(run=run).values_list("candidate__text", "score")
        assert dict(rows) == pytest.approx(
            {"clip 0 is blue": 0.3, "clip 0 is green": 0.3, "clip 1 is blue": -0.4, "clip 1 is green": -0.3}
        )
        settings.CHAT_ENDPOINTS = endpoint(server.url)
        again = start_run(
            run.created_by,
            run.project,
            FoilRequest(
                subtest=make_subtest(run.project, foils_per_item=2),
                method="fake",
                params=run.params,
                filters={"video_judge": {"model": "endpoint:lab/tiny", "frames": 2, "min": -1.0}},
            ),
        )
        run_now(again.job)
        assert len(server.bodies) == 6
    assert run.cost.requests == 6
    assert family_of(Scorer.objects.get().params["model"]) == "tiny"


def test_a_tiny_generative_model_judges_with_finite_scores(tmp_path, settings) -> None:
    settings.MODEL_ROOT = tmp_path
    run = screened(["red"], model=f"vlm:{qwen2_vl(tmp_path / 'qwen2-vl')}?mode=p_yes", min=-1.0)
    assert run.job.state == JobState.DONE
    scores = list(FilterScore.objects.filter(run=run).values_list("score", flat=True))
    assert len(scores) == 2
    assert all(-0.5 <= score <= 0.5 for score in scores)


def test_a_model_that_sees_no_clip_and_a_share_beyond_one_are_refused(settings) -> None:
    with pytest.raises(GenerationError, match="does not see clips; choose a video model"):
        screened(["red"], model="fake:text")
    with pytest.raises(GenerationError, match="'share' is 2; give a share of 0 to 1"):
        screened(["red"], share=2)
    with pytest.raises(GenerationError, match="'frames' is 0"):
        screened(["red"], frames=0)
    with pytest.raises(GenerationError, match="there is no endpoint 'nowhere'"):
        screened(["red"], model="endpoint:nowhere/x")


@pytest.mark.parametrize(
    ("key", "family"),
    [
        ("openai/clip-vit-base-patch32@3d74acf", "clip"),
        ("laion/CLIP-ViT-B-32-laion2B@x", "clip"),
        ("Qwen/Qwen2.5-VL-7B-Instruct@a1", "qwen"),
        ("lab:qwen3-vl@at=12", "qwen"),
        ("google/siglip-base@1", "siglip"),
        ("fake/0@1", "fake"),
        ("tuned/base@1", ""),
    ],
)
def test_the_family_of_a_model_follows_from_its_name(key, family) -> None:
    assert family_of(key) == family
