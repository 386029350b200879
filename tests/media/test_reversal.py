"""Videos made of trims: backwards, and joined. Painted frames carry their numbers."""

import pytest

from foilworks.core.media import reversal
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.errors import MediaError
from foilworks.core.media.frames import sample_frames
from foilworks.core.media.probe import probe
from foilworks.core.media.reversal import write_joined, write_reversed
from tests.media.painted import painted_clip, read_index

FPS, N = 8, 24


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
    write_reversed(clip, tmp_path / "back.mp4", None, None)
    assert indices(tmp_path / "back.mp4") == list(reversed(range(N)))


def test_a_reversed_clip_plays_in_browsers_at_the_same_size_and_rate(clip, tmp_path):
    write_reversed(clip, tmp_path / "back.mp4", None, None)
    was, facts = probe(clip), probe(tmp_path / "back.mp4")
    assert facts.browser_playable
    assert (facts.width, facts.height, facts.n_frames, facts.sound) == (was.width, was.height, was.n_frames, "")
    assert facts.fps == pytest.approx(was.fps)
    assert facts.duration == pytest.approx(was.duration)


def test_only_the_trim_is_reversed(clip, tmp_path):
    write_reversed(clip, tmp_path / "back.mp4", 1.0, 2.0)
    assert indices(tmp_path / "back.mp4") == list(reversed(range(8, 16)))


def test_trims_are_joined_in_the_given_order(clip, tmp_path):
    write_joined(clip, tmp_path / "joined.mp4", [(2.0, 2.5), (0.5, 1.0)])
    assert indices(tmp_path / "joined.mp4") == [16, 17, 18, 19, 4, 5, 6, 7]
    assert probe(tmp_path / "joined.mp4").browser_playable


def test_a_trim_outside_of_the_file_is_refused(clip, tmp_path):
    with pytest.raises(MediaError, match="the trim starts at 9 s of 3 s"):
        write_reversed(clip, tmp_path / "back.mp4", 9.0, 10.0)
    with pytest.raises(MediaError, match="the trim starts at 9 s of 3 s"):
        write_joined(clip, tmp_path / "joined.mp4", [(9.0, 10.0)])
