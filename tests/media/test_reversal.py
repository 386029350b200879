"""Videos made of trims: backwards, and joined. Painted frames carry their numbers."""

import numpy as np
import pytest

from foilworks.core.media import reversal
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.errors import MediaError
from foilworks.core.media.frames import sample_frames
from foilworks.core.media.probe import probe
from foilworks.core.media.reversal import write_joined, write_paced, write_played
from tests.media.painted import painted_clip, read_index

FPS, N = 8, 24
WHOLE = (None, None)


@pytest.fixture
def clip(tmp_path):
    path = tmp_path / "clip.mp4"
    write_mp4(path, painted_clip(N), FPS)
    return path


def indices(path):
    facts = probe(path)
    return [read_index(picture) for picture in sample_frames(path, facts.n_frames).frames]


@pytest.mark.parametrize("chunk", [reversal.CHUNK_BYTES, 32 * 64 * 3 * 7, 1])
def test_a_reversed_clip_shows_every_frame_from_the_last_to_the_first(clip, tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(reversal, "CHUNK_BYTES", chunk)
    write_played(clip, tmp_path / "back.mp4", WHOLE, backwards=True)
    assert indices(tmp_path / "back.mp4") == list(reversed(range(N)))


def test_a_reversed_clip_plays_in_browsers_at_the_same_size_and_rate(clip, tmp_path):
    write_played(clip, tmp_path / "back.mp4", WHOLE, backwards=True)
    was, facts = probe(clip), probe(tmp_path / "back.mp4")
    assert facts.browser_playable
    assert (facts.width, facts.height, facts.n_frames, facts.sound) == (was.width, was.height, was.n_frames, "")
    assert facts.fps == pytest.approx(was.fps)
    assert facts.duration == pytest.approx(was.duration)


def test_only_the_trim_is_reversed(clip, tmp_path):
    write_played(clip, tmp_path / "back.mp4", (1.0, 2.0), backwards=True)
    assert indices(tmp_path / "back.mp4") == list(reversed(range(8, 16)))


def test_trims_are_joined_in_the_given_order(clip, tmp_path):
    write_joined(clip, tmp_path / "joined.mp4", [(2.0, 2.5), (0.5, 1.0)])
    assert indices(tmp_path / "joined.mp4") == [16, 17, 18, 19, 4, 5, 6, 7]
    assert probe(tmp_path / "joined.mp4").browser_playable


def test_a_trim_outside_of_the_file_is_refused(clip, tmp_path):
    with pytest.raises(MediaError, match="the trim starts at 9 s of 3 s"):
        write_played(clip, tmp_path / "back.mp4", (9.0, 10.0), backwards=True)
    with pytest.raises(MediaError, match="the trim starts at 9 s of 3 s"):
        write_joined(clip, tmp_path / "joined.mp4", [(9.0, 10.0)])


@pytest.mark.parametrize("chunk", [reversal.CHUNK_BYTES, 32 * 64 * 3 * 7])
def test_both_directions_are_written_in_the_same_way(clip, tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(reversal, "CHUNK_BYTES", chunk)
    facts = {}
    for backwards in (False, True):
        path = tmp_path / f"{backwards}.mp4"
        write_played(clip, path, WHOLE, backwards=backwards)
        probed = probe(path)
        facts[backwards] = (probed.codec, probed.fps, probed.n_frames, probed.duration, probed.sound)
    assert facts[False] == facts[True]
    assert indices(tmp_path / "False.mp4") == indices(tmp_path / "True.mp4")[::-1] == list(range(N))


@pytest.mark.parametrize(
    ("step", "ticks", "shown"),
    [
        (1, 1, list(range(N))),
        (1, 2, list(range(N))),
        (2, 1, list(range(0, N, 2))),
        (2, 2, list(range(0, N, 2))),
    ],
)
def test_a_clip_at_another_speed_shows_every_frame_it_takes_for_the_same_time(clip, tmp_path, step, ticks, shown):
    write_paced(clip, tmp_path / "paced.mp4", WHOLE, step=step, ticks=ticks)
    facts = probe(tmp_path / "paced.mp4")
    assert indices(tmp_path / "paced.mp4") == shown
    assert facts.fps == pytest.approx(FPS / ticks)
    assert facts.duration == pytest.approx(N / FPS * ticks / step)


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("k", [1, 4, 7, 8, 12])
def test_a_slowed_clip_gives_the_same_uniform_frames(clip, tmp_path, step, k):
    samples = []
    for ticks in (1, 2):
        path = tmp_path / f"{ticks}.mp4"
        write_paced(clip, path, WHOLE, step=step, ticks=ticks)
        samples.append(sample_frames(path, k).frames)
    # To the last pixel.
    assert np.array_equal(*samples)


def test_a_repeated_trim_shows_its_frames_in_turn(clip, tmp_path):
    write_joined(clip, tmp_path / "joined.mp4", [(1.0, 1.5)] * 3)
    assert indices(tmp_path / "joined.mp4") == [8, 9, 10, 11] * 3
