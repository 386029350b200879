"""Rungs by name: what a model is shown and asked on each, through a scripted server; what they cost; who cannot."""

import base64
import io
import json
import wave
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from PIL import Image

from evaluation.errors import EvaluationError
from evaluation.ladder.ladders import ladder_of_run
from evaluation.ladder.stress_tests import stress_of_run
from evaluation.ladder.wording import stress_sentences
from evaluation.metrics import stress
from evaluation.metrics.rungs import RUNGS, Rung
from evaluation.metrics.stress import CLAIM
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.rungs import add_controls
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.fetching import Clip, ClipTexts, Fetcher
from evaluation.scoring.models import Run, ServedAnswer
from evaluation.scoring.queries import records_of, release_scores
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.rung_costs import rung_costs
from evaluation.scoring.rung_scores import lenders_of
from evaluation.scoring.rungs import CONTROLS, USUAL
from foilworks.core.corpus.models import Item, Video
from foilworks.core.corpus.video_files.ingest import set_media, store_media
from foilworks.core.hub.interfaces import ModelInfo, ScoreKind, VideoMeta
from foilworks.core.hub.served.prompts import SUBTITLES
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.sound import RATE, read_sound
from foilworks.core.media.subtitles import MAX_CHARACTERS, beside, spoken
from foilworks.core.projects.models import Role
from tests import factories
from tests.evaluation.rungs.worlds import CLIPS, FOILS, make_release
from tests.hub.chat_server import chat_server, likely, pictures_of, text_of
from tests.media.odd_files import OddFile, make
from tests.media.painted import painted_clip

SRT = "1\n00:00:00,100 --> 00:00:00,900\n<i>The ball</i>\nis here.\n\n2\n00:00:05,000 --> 00:00:06,000\nLater.\n"
VTT = "WEBVTT\n\n00:00.100 --> 00:00.900 align:start\nThe ball &amp; cube\n\n00:05.000 --> 00:06.000\nLater.\n"
FRAMES = np.stack(painted_clip(8))
TIMES = tuple(at / 8 for at in range(8))
SPEC = "endpoint:lab/tiny?frames=4"


def shown(*views: str, subtitles: str = "") -> dict[str, tuple[np.ndarray, VideoMeta]]:
    """The frames, and what is known of the clip, that a model gets for each view."""
    info = ModelInfo("m", "1", ScoreKind.P_YES, frames=8)
    wants = [ClipTexts(Clip(f"k~{view}", "a.mp4", view=view, subtitles=subtitles), {"x": None}) for view in views]
    fetched = Fetcher(info, lambda clip, _info: (FRAMES, VideoMeta(clip.key, TIMES, clip.path)))(wants)
    return {want.clip.view: (view.shown, view.meta) for view in fetched for want in view.wants}


def test_each_view_shows_its_frames_and_its_prompt():
    found = shown("", "frame 3 of 3", "gray", "low", "backward", "subtitles 1", "claims", "sound", subtitles="Hi {}.")
    frames = {view: frames for view, (frames, _) in found.items()}
    assert all((frame == FRAMES[7]).all() for frame in frames["frame 3 of 3"])
    assert (frames["gray"] == 127).all()
    assert frames["gray"].shape == FRAMES.shape
    assert (frames["backward"] == FRAMES[::-1]).all()
    for view in ("", "subtitles 1", "claims", "sound"):
        assert (frames[view] == FRAMES).all()
    # Scaled down by two to 32 pixels, as the mean of each block of four.
    blocks = FRAMES.reshape(8, 16, 2, 32, 2, 3).mean(axis=(2, 4)).round().astype(np.uint8)
    for low, small in zip(frames["low"], blocks, strict=True):
        assert np.abs(low.astype(int) - np.asarray(Image.fromarray(small).resize((64, 32), 2)).astype(int)).max() <= 1
    assert found["gray"][1].times == TIMES
    assert found["subtitles 1"][1].before == SUBTITLES.format("Hi {}.")
    assert found["claims"][1].asks == CLAIM
    # The file itself is not turned.
    assert {view: meta.path for view, (_, meta) in found.items() if meta.path} == dict.fromkeys(
        ("", "subtitles 1", "claims", "sound"), "a.mp4"
    )


def test_a_long_file_of_subtitles_that_is_cut_inside_a_character_keeps_its_language(tmp_path):
    (tmp_path / "a.srt").write_bytes(b"x" + "猫".encode() * MAX_CHARACTERS * 2)
    assert set(beside(tmp_path / "a.mp4")) == {"x", "猫"}


def test_subtitles_are_the_lines_that_are_shown_during_the_clip(tmp_path):
    assert spoken(SRT) == "The ball is here.\nLater."
    assert spoken(VTT, 0.0, 2.0) == "The ball & cube"
    assert spoken(SRT, 4.0, None) == "Later."
    assert spoken("no  times\nat all", 4.0, 5.0) == "no times at all"
    assert spoken("00:01 --> nonsense") == ""
    (tmp_path / "a.vtt").write_bytes(VTT.encode("utf-16"))
    (tmp_path / "b.srt").write_bytes(SRT.replace("ball", "bäll").encode("cp1252"))
    assert (beside(tmp_path / "a.mp4"), beside(tmp_path / "c.mp4")) == (VTT, "")
    assert "bäll" in beside(tmp_path / "b.mp4")


@pytest.mark.django_db
def test_a_release_freezes_the_subtitles_beside_a_clip(tmp_path):
    release = make_release()
    clip = make(OddFile("h264.mp4"), tmp_path)
    clip.with_suffix(".srt").write_text(SRT)
    video = Video.objects.order_by("pk")[0]
    set_media(video, store_media(clip), {})
    video.save()
    again = freeze_release(None, release.project)
    assert [record["video"].get("subtitles") for record in records_of(again)][:2] == ["The ball is here.\nLater.", None]


def test_the_sound_of_a_clip_is_cut_to_its_times(tmp_path):
    heard = make(OddFile("h264.mp4", sound="aac"), tmp_path)
    with wave.open(io.BytesIO(read_sound(heard, 0.1, 0.3))) as sound:
        samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
        assert (sound.getframerate(), sound.getnchannels(), len(samples)) == (RATE, 1, round(0.2 * RATE))
    assert np.abs(samples).max() > 100
    (tmp_path / "silent").mkdir()
    assert read_sound(make(OddFile("h264.mp4"), tmp_path / "silent")) == b""


def answering(body, n):
    """Agrees with claims and says that everything is played forward; otherwise yes for the ball."""
    text = text_of(body)
    is_yes = "I have watched" in text or "played forward" in text or "ball" in text.rpartition("show")[2]
    return likely({"Yes": 0.9 if is_yes else 0.2, "No": 0.1 if is_yes else 0.8})


def sounds_of(body) -> list[bytes]:
    parts = body["messages"][-1]["content"]
    return [
        base64.b64decode(part["input_audio"]["data"])
        for part in parts
        if isinstance(part, dict) and part["type"] == "input_audio"
    ]


@pytest.fixture
def release(settings):
    """Two items have subtitles in a column; the first clip has sound."""
    frozen = make_release()
    Item.objects.filter(key="i0").update(facts={"subtitles": SRT})
    Item.objects.filter(key="i1").update(facts={"subtitles": "plain words"})
    folder = Path(settings.MEDIA_ROOT)
    make(OddFile("h264.mp4", sound="aac"), folder).replace(folder / "0.mp4")
    return freeze_release(None, frozen.project)


@pytest.mark.django_db
def test_a_server_gets_what_each_rung_shows_and_the_cost_is_known_before(release, settings):
    names = ["subtitles_only", "gray_clip", "subtest_clip", "last_frame", "low_resolution"]
    names += ["with_subtitles", "with_sound", "claims", "reversed_forward"]
    with chat_server(answering) as server:
        settings.CHAT_ENDPOINTS = {
            "lab": {"url": server.url, "models": ("tiny",), "key": "", "price": (1.0, 2.0), "currency": "EUR"}
        }
        costs = rung_costs(release, SPEC, names, usual=False)
        run = start_run(None, release, RunRequest(SPEC, rungs=names))
        assert run_now(run.job).state == JobState.DONE
        bodies = server.bodies[1:]
    run = Run.objects.get(pk=run.pk)
    assert run.params["ladder"]["rungs"] == names[:7]
    # Clips of equal frames have equal questions, which are sent once.
    assert costs["total"]["requests"] == costs["total"]["texts"] >= len(bodies)
    assert costs["total"]["texts"] == ServedAnswer.objects.filter(release=release).count()
    assert (costs["clips"], costs["total"]["cost"] > 0) == (CLIPS, True)
    before = {text_of(body): body for body in bodies if "subtitles of the video" in text_of(body)}
    spoken_texts = {text.split("\n\n")[0].partition("\n")[2] for text in before}
    assert spoken_texts == {"The ball is here.\nLater.", "plain words"}
    assert {len(pictures_of(body)) for body in bodies if "subtitles" in text_of(body)} == {0, 4}
    heard = [body for body in bodies if sounds_of(body)]
    assert len({text_of(body) for body in heard}) == len(heard) == 1 + FOILS
    assert all(sounds_of(body)[0].startswith(b"RIFF") for body in heard)
    claimed = [body for body in bodies if text_of(body).startswith("I have watched")]
    assert len(claimed) == CLIPS * (1 + FOILS)
    assert text_of(claimed[0]).startswith(CLAIM.split("{}")[0])
    forward = [pictures_of(body) for body in bodies if "played forward" in text_of(body)]
    assert len(forward) == 2 * CLIPS
    assert all(pictures[::-1] in forward for pictures in forward)
    for rung in (*names[:7], "full"):
        assert release_scores(run, rung=Rung(rung))[1] == []
    assert set(ladder_of_run(run)["overall"]["rungs"]) == {*names[:7], "full"}
    tests = stress_of_run(run)
    assert (tests["claims"]["value"], tests["claims"]["other"], tests["claims"]["chance"]) == (1.0, 1.0, 0.5)
    assert tests["claims"]["plain"] < 0.5
    assert (tests["reversed_forward"]["value"], tests["reversed_forward"]["gap"]) == (1.0, 0.0)
    assert "only 6 items have answers" in stress_sentences(tests)[0]


@pytest.mark.django_db
def test_another_clip_of_the_subtest_is_of_its_subtest():
    release = make_release()
    project = release.project
    other = factories.make_subtest(project, name="other", foils_per_item=FOILS)
    Item.objects.filter(key__in=("i0", "i1", "i2")).update(subtest=other)
    run = start_run(None, freeze_release(None, project), RunRequest("fake:1", rungs=["subtest_clip"]))
    lenders = lenders_of(run, rung=Rung.SUBTEST_CLIP)
    assert len(lenders) == CLIPS
    assert all(lender["subtest"] == name.partition(":")[0] for name, lender in lenders.items())
    assert run_now(run.job).state == JobState.DONE
    assert release_scores(Run.objects.get(pk=run.pk), rung=Rung.SUBTEST_CLIP)[1] == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("spec", "name", "why"),
    [
        ("clip:models/a", "with_subtitles", "clip reads no prompt"),
        ("vlm:models/a", "with_sound", "vlm hears nothing: only models behind an endpoint do"),
        ("vlm:models/a", "claims", "ask for yes or no"),
        ("fake:", "sideways", "'sideways' is unknown; choose of: no_clip"),
    ],
)
def test_what_a_model_cannot_have_is_said_before_it_is_loaded(spec, name, why):
    release = make_release()
    with pytest.raises(EvaluationError, match=why):
        rung_costs(release, spec, [name])


@pytest.mark.django_db
def test_rungs_are_added_by_name_and_keep_the_others(capsys):
    release = make_release()
    call_command("evaluate", "cost", "fake:1", release=str(release.pk), rungs=["last_frame", "gray_clip"], json=True)
    costs = json.loads(capsys.readouterr().out)
    rows = {row["rung"]: row["views"] for row in costs["rungs"]}
    assert rows == {"full": CLIPS, "gray_clip": CLIPS, "last_frame": CLIPS}
    call_command("evaluate", "model", "fake:1", release=str(release.pk), rungs=["last_frame", "gray_clip"], sync=True)
    told = capsys.readouterr()
    assert f"{3 * CLIPS} views" in told.err
    assert "gray clip " in told.out
    run = add_controls(
        factories.make_member(release.project, Role.RESEARCHER), Run.objects.get(), names=["low_resolution"]
    )
    assert run.params["ladder"]["rungs"] == ["gray_clip", "last_frame", "low_resolution"]
    assert {*USUAL} < {*CONTROLS} == {*RUNGS} - {Rung.FULL}


def test_stress_tests_by_hand():
    # Three items of two videos: one foil of two, no foil, a tie; the caption always.
    caption = np.array([0.9, 0.8, 0.7])
    foils = np.array([[0.9, 0.1], [0.2, 0.3], [0.5, np.nan]])
    found = stress.claims(caption, foils, np.zeros((3, 2)), ["a", "a", "b"], draws=50)
    assert (found["value"], found["other"], found["gap"]) == (pytest.approx(1 / 3), 1.0, pytest.approx(2 / 3))
    assert (found["plain"], found["pressure"], found["n"]) == (0.0, pytest.approx(1 / 3), 3)
    nothing = stress.reversed_forward(np.array([np.nan]), np.array([0.7]), ["a"], draws=50)
    assert (nothing["n"], nothing["value"], nothing["chance"]) == (0, None, 0.5)
    many = stress.reversed_forward(np.full(60, 0.9), np.full(60, 0.8), [str(n) for n in range(60)], draws=200)
    (said,) = stress_sentences({"reversed_forward": many})
    assert said.startswith("Reversed scenes called forward: The model calls 100.0 % [")
    assert "does not detectably tell them apart" in said
