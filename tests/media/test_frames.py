import io

import numpy as np
import pytest
from PIL import Image

from foilworks.core.media.encode import write_mp4, write_webm
from foilworks.core.media.errors import MediaError
from foilworks.core.media.frames import MAX_SIDE, SAMPLING_POLICY, frame_at, jpeg, sample_frames
from tests.media.painted import painted_clip, read_index
from tests.media.test_probe import encode


def indices(sample):
    return [read_index(frame) for frame in sample.frames]


def test_frames_are_at_the_centres_of_equal_bins(clip):
    # Centres of 4 bins of 3 s: .375, 1.125, 1.875, 2.625; times 8 a second: frames 3, 9, 15, 21.
    sample = sample_frames(clip, 4)
    assert indices(sample) == [3, 9, 15, 21]
    assert sample.times.tolist() == [0.375, 1.125, 1.875, 2.625]
    assert sample.frames.shape == (4, 32, 64, 3)
    assert sample.frames.dtype == np.uint8


def test_as_many_bins_as_frames_give_every_frame_once(clip):
    assert indices(sample_frames(clip, 24)) == list(range(24))


def test_more_bins_than_frames_repeat_them(tmp_path):
    write_mp4(tmp_path / "short.mp4", painted_clip(3), fps=3)
    sample = sample_frames(tmp_path / "short.mp4", 8)
    # Centres of 8 bins of 1 s, times 3: .19 .56 .94 1.31 1.69 2.06 2.44 2.81.
    assert indices(sample) == [0, 0, 0, 1, 1, 2, 2, 2]
    assert sample.times == pytest.approx([0, 0, 0, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 2 / 3], abs=1e-4)


def test_one_frame_is_repeated(tmp_path):
    write_mp4(tmp_path / "one.mp4", painted_clip(1), fps=4)
    assert indices(sample_frames(tmp_path / "one.mp4", 4)) == [0, 0, 0, 0]


def test_a_trim_is_all_that_is_sampled(clip):
    # [1, 2) s: centres 1.125, 1.375, 1.625, 1.875: frames 9, 11, 13, 15.
    assert indices(sample_frames(clip, 4, start=1.0, end=2.0)) == [9, 11, 13, 15]
    # From 2 s to the end: centres 2.25 and 2.75: frames 18 and 22.
    assert indices(sample_frames(clip, 2, start=2.0)) == [18, 22]
    # An end behind the file is the file's end.
    assert indices(sample_frames(clip, 2, start=2.0, end=99.0)) == [18, 22]


def test_a_webm_that_states_no_frame_count_is_sampled_alike(tmp_path):
    write_webm(tmp_path / "clip.webm", painted_clip(24), fps=8)
    assert indices(sample_frames(tmp_path / "clip.webm", 4)) == [3, 9, 15, 21]
    live = encode(tmp_path / "live.webm", "libvpx", n=12, rate=12, options={"live": "1"})
    assert indices(sample_frames(live, 3)) == [2, 6, 10]  # centres 1/6, 1/2, 5/6 s


def test_frames_are_scaled_to_the_asked_height_and_width(clip):
    sample = sample_frames(clip, 2, size=(16, 32))
    assert sample.frames.shape == (2, 16, 32, 3)
    assert indices(sample) == [6, 18]


@pytest.mark.parametrize(("rotation", "turns"), [(-90, -1), (90, 1), (180, 2)])
def test_a_turned_clip_comes_out_as_it_is_shown(tmp_path, rotation, turns):
    path = encode(tmp_path / "turned.mp4", "libx264", n=4, rate=4, rotation=rotation)
    sample = sample_frames(path, 4)
    assert sample.frames.shape[1:3] == ((64, 32) if rotation % 180 else (32, 64))
    upright = [np.rot90(frame, k=-turns) for frame in sample.frames]
    assert [read_index(frame) for frame in upright] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [(3.0, None, "correct start_time"), (-1.0, None, "correct start_time"), (2.0, 1.0, "correct end_time")],
)
def test_a_trim_outside_of_the_file_says_which_end_to_correct(clip, start, end, words):
    with pytest.raises(MediaError, match=words):
        sample_frames(clip, 2, start=start, end=end)


def test_zero_frames_cannot_be_requested(clip):
    with pytest.raises(ValueError, match="at least one frame"):
        sample_frames(clip, 0)


def test_the_policy_has_a_version():
    assert SAMPLING_POLICY.rpartition("/")[2].isdigit()


def test_the_frame_at_a_second_is_the_one_on_screen_then(clip):
    assert [read_index(frame_at(clip, time)) for time in (0.0, 0.12, 0.13, 1.0, 2.99)] == [0, 0, 1, 8, 23]
    with pytest.raises(MediaError):
        frame_at(clip, 3.0)


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((40, 60), (60, 40)),
        ((41, 61), (60, 40)),
        ((43, 63), (64, 44)),
        ((1, 1), (2, 2)),
        ((2, 2 * MAX_SIDE), (MAX_SIDE, 2)),
        ((2 * MAX_SIDE, 640), (320, MAX_SIDE)),
        ((MAX_SIDE, 640), (640, MAX_SIDE)),
    ],
)
def test_a_picture_is_sent_as_a_jpeg_of_even_sides_up_to_a_limit(shape, size):
    picture = Image.open(io.BytesIO(jpeg(np.full((*shape, 3), 90, np.uint8))))
    assert (picture.format, picture.size) == ("JPEG", size)
    assert np.abs(np.asarray(picture).astype(int) - 90).max() <= 2


def test_a_jpeg_of_less_quality_takes_fewer_bytes():
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3)).astype(np.uint8)
    sizes = [len(jpeg(noise, quality)) for quality in (2, 3, 4, 8, 31)]
    assert sizes == sorted(set(sizes), reverse=True)
    assert sizes[-1] * 3 < sizes[0]
    assert jpeg(noise) == jpeg(noise, 4)


def test_colours_of_a_jpeg_are_those_of_the_picture():
    corners = np.zeros((32, 64, 3), np.uint8)
    corners[:, :32], corners[:, 32:] = (200, 40, 40), (30, 60, 220)
    seen = np.asarray(Image.open(io.BytesIO(jpeg(corners, 2)))).astype(int)
    assert np.abs(seen[8:24, 8:24] - (200, 40, 40)).max() <= 6
    assert np.abs(seen[8:24, 40:56] - (30, 60, 220)).max() <= 6
