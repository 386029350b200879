"""The frames that several models need come from one decoding, and are those that each alone would get."""

from pathlib import Path

import numpy as np
import pytest

from foilworks.core.media.encode import write_mp4
from foilworks.core.media.file_cache import FileCache
from foilworks.core.media.frame_cache import (
    FORMS,
    JPEG,
    LOSSLESS,
    MAX_FRAMES_TOGETHER,
    ClipRequest,
    FrameCache,
    FramesAsked,
)
from foilworks.core.media.frames import Sample
from foilworks.core.media.probe import file_sha256
from foilworks.core.media.sampling import CENTRES, CONSECUTIVE, INTERVALS, Sampling
from tests.media.painted import painted_clip

# Two of one sampling in other sizes, one that shares no moment, one that shares some, and one of intervals.
ASKED = (
    FramesAsked(Sampling(CENTRES, 4)),
    FramesAsked(Sampling(CENTRES, 4), (16, 32)),
    FramesAsked(Sampling(CENTRES, 8)),
    FramesAsked(Sampling(CENTRES, 12)),
    FramesAsked(Sampling(INTERVALS, seconds=0.7)),
    FramesAsked(Sampling(CENTRES, 3), form=JPEG),
)


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    path = tmp_path / "clip.mp4"
    write_mp4(path, painted_clip(24), fps=8)
    return path


def same(one: Sample, other: Sample) -> bool:
    return np.array_equal(one.frames, other.frames) and np.array_equal(one.times, other.times)


def alone(path: Path, asked: FramesAsked, start: float | None = None, end: float | None = None) -> Sample:
    return FrameCache(None, asked.form).read(ClipRequest(path, asked.sampling, start, end, asked.size))


@pytest.mark.parametrize("span", [(None, None), (0.6, 2.3)])
@pytest.mark.parametrize("first", ASKED)
def test_one_read_serves_every_model_with_the_frames_it_would_read_alone(
    clip: Path, tmp_path: Path, first: FramesAsked, span: tuple[float | None, float | None]
) -> None:
    expected = [alone(clip, one, *span) for one in ASKED]
    content = file_sha256(clip)[0]
    files = FileCache(tmp_path / "cache", 10**8)
    got = FrameCache(files, first.form, also=ASKED).read(ClipRequest(clip, first.sampling, *span, first.size, content))
    assert same(got, expected[ASKED.index(first)])
    # No model can decode the clip again.
    clip.unlink()
    for one, wanted in zip(ASKED, expected, strict=True):
        assert same(FrameCache(files, one.form).read(ClipRequest(clip, one.sampling, *span, one.size, content)), wanted)


def test_one_decoding_is_bounded(clip: Path, tmp_path: Path) -> None:
    files = FileCache(tmp_path / "cache", 10**8)
    many = FramesAsked(Sampling(CENTRES, MAX_FRAMES_TOGETHER))
    cache = FrameCache(files, also=(ASKED[2], many))
    cache.read(ClipRequest(clip, ASKED[0].sampling))
    assert files.path(cache.key(ClipRequest(clip, ASKED[2].sampling))).exists()
    assert not files.path(cache.key(ClipRequest(clip, many.sampling))).exists()


def test_drawn_frames_are_decoded_alone(clip: Path, tmp_path: Path) -> None:
    files = FileCache(tmp_path / "cache", 10**8)
    drawn = Sampling(CONSECUTIVE, 4)
    expected = FrameCache().read(ClipRequest(clip, drawn))
    assert same(FrameCache(files, also=ASKED).read(ClipRequest(clip, drawn)), expected)
    cache = FrameCache(files, also=(FramesAsked(drawn),))
    assert same(cache.read(ClipRequest(clip, ASKED[0].sampling)), alone(clip, ASKED[0]))


@pytest.mark.parametrize("form", FORMS)
def test_damage_behind_the_last_frame_of_a_model_concerns_only_the_others(tmp_path: Path, form: str) -> None:
    path = tmp_path / "damaged.mp4"
    noise = np.random.default_rng(0).integers(0, 256, (40, 64, 96, 3), np.uint8)
    write_mp4(path, iter(noise), fps=8)
    data = bytearray(path.read_bytes())
    # Of the last frames; the index at the end stays whole.
    index = data.rindex(b"moov")
    data[index - 9000 : index - 100] = bytes(8900)
    path.write_bytes(data)
    first, other = Sampling(CENTRES, 1), Sampling(CENTRES, 30)
    files = FileCache(tmp_path / "cache", 10**8)
    expected = FrameCache(None, form).read(ClipRequest(path, first))
    assert same(FrameCache(files, form, also=(FramesAsked(other, form=form),)).read(ClipRequest(path, first)), expected)


def test_the_form_of_a_model_with_a_size_is_lossless() -> None:
    assert FramesAsked(Sampling(CENTRES, 4), (8, 8), JPEG).stored == LOSSLESS
