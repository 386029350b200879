"""Exact frames, read from the number painted into each: every policy, constant and variable rates, trims, odd sizes."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from foilworks.core.media.encode import write_webm
from foilworks.core.media.errors import MediaError
from foilworks.core.media.maker_frames import RULES
from foilworks.core.media.probe import probe
from foilworks.core.media.sampling import CENTRES, CONSECUTIVE, INTERVALS, VERSIONS, Sampling
from tests.media.painted import painted_clip, painted_frame, read_index, write_smaller_midway
from tests.media.test_probe import encode


def indices(path: Path, sampling: Sampling, start: float | None = None, end: float | None = None) -> list[int]:
    return [read_index(frame) for frame in sampling.sample(path, start, end).frames]


def at_times(path: Path, times: Sequence[float], codec: str = "libx264", origin: float = 0.0) -> Path:
    """A clip whose frame i begins at times[i] seconds after `origin`: no rate at all."""
    clock = Fraction(1, 1000)
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=1000)
        stream.width, stream.height, stream.pix_fmt = 64, 32, "yuv420p"
        stream.codec_context.time_base = clock
        for index, time in enumerate(times):
            frame = av.VideoFrame.from_ndarray(painted_frame(index), format="rgb24")
            frame.pts, frame.time_base = round((time + origin) / clock), clock
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def test_every_policy_has_a_version_and_says_its_amount() -> None:
    versions = [Sampling(policy, 8, 5.0).version for policy in VERSIONS]
    assert versions == [
        "time-bin-centres/2 of 8",
        "consecutive-window/2 of 8",
        "interval-middles/3 of 5 s",
        "per-second/1 of 5 s, at most 8",
        *(f"{rule}/1 of 5 s, at most 8" for rule in RULES),
    ]


def test_each_policy_on_one_clip(clip: Path) -> None:
    # Centres of 4 bins of 3 s: .375, 1.125, 1.875, 2.625 s.
    assert indices(clip, Sampling(CENTRES, 4)) == [3, 9, 15, 21]
    # Middles of whole intervals of 1.25 s in 3 s: .625 and 1.875 s, times 8: 5 and 15.
    assert indices(clip, Sampling(INTERVALS, seconds=1.25)) == [5, 15]
    # No whole interval: the central frame, at 1.5 s.
    assert indices(clip, Sampling(INTERVALS, seconds=5.0)) == [12]


def test_no_interval_is_lost_to_rounding(clip: Path) -> None:
    """2.3 - .8 is less than 1.5 by a hair, which is no interval less; a hundredth of a second is."""
    assert (2.3 - 0.8) // 0.5 == 2
    assert indices(clip, Sampling(INTERVALS, seconds=0.5), 0.8, 2.3) == [8, 12, 16]  # 1.05, 1.55, 2.05 s
    assert indices(clip, Sampling(INTERVALS, seconds=0.5), 0.8, 2.29) == [8, 12]


def test_each_policy_within_a_trim(clip: Path) -> None:
    assert indices(clip, Sampling(CENTRES, 2), 1.0, 2.0) == [10, 14]  # 1.25 and 1.75 s
    assert indices(clip, Sampling(CONSECUTIVE, 4), 1.7, 2.0) == [14, 15, 15, 15]  # 1.75 and 1.875 s begin in it
    assert indices(clip, Sampling(INTERVALS, seconds=0.5), 1.0, 2.0) == [10, 14]
    with pytest.raises(MediaError, match=r"correct start_time"):
        Sampling(CONSECUTIVE, 8).sample(clip, 3.5)


def test_consecutive_frames_begin_at_a_drawn_position(clip: Path) -> None:
    """As ViLMA's code: of frames 8 to 15 a window of 3 begins at 8 to 12, since the last frame is never shown."""
    begun = []
    for number in range(100):
        frames = Sampling(CONSECUTIVE, 3).sample(clip, 1.0, 2.0, content=str(number)).frames
        first, *rest = (read_index(frame) for frame in frames)
        assert rest == [first + 1, first + 2]
        begun.append(first)
    assert sorted(set(begun)) == [8, 9, 10, 11, 12]
    # 20 of 100 are expected of each; fewer than 8 would come in 1 of 1,000.
    assert min(begun.count(first) for first in set(begun)) >= 8
    # Another trim is another draw.
    other = [Sampling(CONSECUTIVE, 3).sample(clip, 1.0, 1.99, content=str(number)).times[0] * 8 for number in range(9)]
    assert other != begun[:9]


def test_as_many_frames_as_there_are_are_all_of_them(clip: Path) -> None:
    assert indices(clip, Sampling(CONSECUTIVE, 8), 1.0, 2.0) == list(range(8, 16))
    assert indices(clip, Sampling(CONSECUTIVE, 7), 1.0, 2.0) == list(range(8, 15))


def test_an_unknown_policy_is_named(clip: Path) -> None:
    with pytest.raises(
        MediaError, match="sampling 'random' is unknown; choose one of: centres, consecutive, intervals"
    ):
        Sampling("random", 8).sample(clip)


@pytest.mark.parametrize(("name", "codec"), [("clip.mp4", "libx264"), ("clip.webm", "libvpx")])
def test_a_variable_frame_rate_is_sampled_by_what_is_on_screen(tmp_path: Path, name: str, codec: str) -> None:
    """Frames begin at 0, .1, .2, .3, 1 and 2 s; the last stays for a mean frame, 2 / 5 s: 2.4 s in all."""
    path = at_times(tmp_path / name, (0, 0.1, 0.2, 0.3, 1, 2), codec)
    assert probe(path).n_frames == 6
    # Centres of 4 bins of .6 s: .3, .9, 1.5, 2.1 s.
    assert indices(path, Sampling(CENTRES, 4)) == [3, 3, 4, 5]
    # By number of frames it would be 0, 2, 3, 5.
    assert indices(path, Sampling(CENTRES, 3)) == [3, 4, 5]  # .4, 1.2, 2.0 s
    assert indices(path, Sampling(CENTRES, 2), 0.1, 0.3) == [1, 2]  # .15 and .25 s
    assert indices(path, Sampling(CONSECUTIVE, 5)) == [0, 1, 2, 3, 4]
    assert indices(path, Sampling(INTERVALS, seconds=1.0)) == [3, 4]  # .5 and 1.5 s


def test_a_clip_that_does_not_begin_at_zero_is_timed_as_players_show_it(tmp_path: Path) -> None:
    path = at_times(tmp_path / "clip.mkv", [n / 8 for n in range(16)], "libvpx", origin=3.0)
    assert indices(path, Sampling(CENTRES, 4)) == [2, 6, 10, 14]  # .25, .75, 1.25, 1.75 s


def test_a_trim_in_ticks_is_the_same_in_seconds(tmp_path: Path) -> None:
    """Feint6K and others give pts: ticks of the stream's clock from the container's zero."""
    path = at_times(tmp_path / "clip.mkv", [n / 8 for n in range(24)], "libvpx", origin=2.0)
    facts = probe(path)
    start, end = (facts.seconds(round((2.0 + second) / float(facts.time_base))) for second in (1.0, 2.0))
    assert (start, end) == pytest.approx((1.0, 2.0), abs=1e-3)
    assert indices(path, Sampling(CENTRES, 4), start, end) == [9, 11, 13, 15]


@pytest.mark.parametrize("policy", [CENTRES, CONSECUTIVE])
def test_a_webm_without_a_frame_count_and_shorter_than_k(tmp_path: Path, policy: str) -> None:
    live = encode(tmp_path / "live.webm", "libvpx", n=3, rate=12, options={"live": "1"})
    found = indices(live, Sampling(policy, 8))
    assert found == ([0, 0, 0, 1, 1, 2, 2, 2] if policy == CENTRES else [0, 1, 2, 2, 2, 2, 2, 2])


@pytest.mark.parametrize("policy", [CENTRES, CONSECUTIVE])
@pytest.mark.parametrize(("rotation", "turns"), [(90, 1), (180, 2)])
def test_a_turned_clip_comes_out_as_it_is_shown(tmp_path: Path, policy: str, rotation: int, turns: int) -> None:
    path = encode(tmp_path / "turned.mp4", "libx264", n=4, rate=4, rotation=rotation)
    frames = Sampling(policy, 4).sample(path).frames
    assert [read_index(np.rot90(frame, k=-turns)) for frame in frames] == [0, 1, 2, 3]


def test_odd_sides_are_read_whole(tmp_path: Path) -> None:
    """Nine pixels a bit and an odd height: 73 x 33, which H.264 in yuv420p could not hold."""
    with av.open(str(tmp_path / "odd.webm"), "w") as container:
        stream = container.add_stream("libvpx-vp9", rate=4, options={"crf": "10", "b": "0", "deadline": "realtime"})
        stream.width, stream.height, stream.pix_fmt = 73, 33, "yuv420p"
        for index in range(4):
            picture = np.full((33, 73, 3), 128, np.uint8)
            picture[:32, :64] = painted_frame(index)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    frames = Sampling(CENTRES, 4).sample(tmp_path / "odd.webm").frames
    assert frames.shape == (4, 33, 73, 3)
    assert [read_index(frame[:32, :64]) for frame in frames] == [0, 1, 2, 3]
    assert Sampling(CENTRES, 2).sample(tmp_path / "odd.webm", size=(15, 31)).frames.shape == (2, 15, 31, 3)


@pytest.mark.parametrize(
    ("sampling", "found"),
    [
        (Sampling(CENTRES, 4), [1, 3, 6, 8]),  # .125, .375, .625, .875 s
        (Sampling(CONSECUTIVE, 10), list(range(10))),
        (Sampling(INTERVALS, seconds=0.5), [2, 7]),
    ],
    ids=lambda value: value.policy if isinstance(value, Sampling) else "",
)
def test_a_clip_that_changes_its_size_midway_has_the_size_of_the_first_frame_taken(
    tmp_path: Path, sampling: Sampling, found: list[int]
) -> None:
    path = write_smaller_midway(tmp_path / "smaller.webm")
    assert indices(path, sampling) == found
    assert sampling.sample(path).frames.shape[1:] == (64, 128, 3)
    assert sampling.sample(path, start=0.5).frames.shape[1:] == (32, 64, 3)
    assert sampling.sample(path, size=(16, 32)).frames.shape[1:] == (16, 32, 3)


def test_frames_at_a_fractional_rate(tmp_path: Path) -> None:
    """30000 / 1001 frames a second: the centres fall where they fall, and each frame is found once."""
    write_webm(tmp_path / "ntsc.webm", painted_clip(20), fps=30000 / 1001)
    assert indices(tmp_path / "ntsc.webm", Sampling(CENTRES, 20)) == list(range(20))
