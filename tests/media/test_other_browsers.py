"""What Chromium plays right and Firefox does not: found at import, and gone in the copy."""

import av
import pytest

from foilworks.core.media.indexes import has_index, misreads_late_start
from foilworks.core.media.playable import Playable, make_playable
from foilworks.core.media.probe import probe
from tests.media.odd_files import OddFile, groups, make, odd_files

ODD = {odd.name: odd for odd in odd_files()}
# A sound that copies keep: its ticks are not those of the movie.
OTHER_RATE = OddFile("rate.mkv", start=1.5, sound="libmp3lame")


def converted(source):
    """The copy, and what was in the way of the original."""
    facts = probe(source)
    folder = source.parent / "copy"
    folder.mkdir()
    made: Playable = make_playable(source, facts, folder)
    assert made.facts.browser_playable
    return made, [obstacle.words for obstacle in facts.obstacles]


def planes(path):
    """The decoded pixels of each frame, before any colour is computed."""
    with av.open(str(path)) as container:
        return [frame.to_ndarray().tobytes() for frame in container.decode(video=0)]


@pytest.mark.parametrize("name", ["late-picture.mp4", "late-sound.mov", "late-picture.mov"])
def test_a_late_start_in_ticks_of_the_movie_is_rewritten_in_ticks_of_the_track(tmp_path, name):
    source = make(ODD[name], tmp_path)
    assert misreads_late_start(source)
    made, obstacles = converted(source)
    assert "some browsers misread how late its picture or sound starts" in obstacles
    assert "Rewritten as mp4 without loss" in made.words
    assert not misreads_late_start(made.path)
    assert made.facts.clock.starts[0] == pytest.approx(ODD[name].start * 1e6, abs=1500)
    assert planes(made.path) == planes(source)


def test_a_late_start_is_kept_at_the_rate_of_any_sound(tmp_path):
    made, _ = converted(make(OTHER_RATE, tmp_path))
    assert made.facts.sound == "mp3"
    assert made.facts.clock.starts[0] == pytest.approx(1_500_000, abs=1500)
    assert not misreads_late_start(made.path)


@pytest.mark.parametrize("name", ["h264.mp4", "h264-bframes.mp4", "edit-list.mp4", "h264.mov"])
def test_other_edit_lists_are_read_by_all(tmp_path, name):
    assert not misreads_late_start(make(ODD[name], tmp_path))


OPEN_GROUPS = "browsers cannot seek in its open groups of pictures"


@pytest.mark.parametrize("name", [odd.name for odd in groups() if odd.name.startswith(("open", "recovery"))])
def test_open_groups_and_recovery_points_are_encoded_again(tmp_path, name):
    made, obstacles = converted(make(ODD[name], tmp_path))
    assert OPEN_GROUPS in obstacles
    assert not probe(made.path).obstacles


@pytest.mark.parametrize(
    "name", ["closed-gop.mp4", "one-group.mp4", "many-references.mp4", "slices.mp4", "delimited.mp4"]
)
def test_closed_groups_stay_as_they_are(tmp_path, name):
    assert OPEN_GROUPS not in [obstacle.words for obstacle in probe(make(ODD[name], tmp_path)).obstacles]


def test_endlessly_nested_boxes_are_not_a_late_start(tmp_path):
    source = make(ODD["h264.mp4"], tmp_path)
    nested = b""
    for _ in range(5000):
        nested = (len(nested) + 8).to_bytes(4, "big") + b"moov" + nested
    source.write_bytes(source.read_bytes() + nested)
    assert not misreads_late_start(source)


@pytest.mark.parametrize("name", ["edit-list.mp4", "edit-list.mov"])
def test_frames_that_an_edit_list_hides_are_left_out_of_the_copy(tmp_path, name):
    made, obstacles = converted(make(ODD[name], tmp_path))
    assert "its edit list hides frames, which some browsers show" in obstacles
    assert made.words.startswith("Encoded again as H.264")
    assert len(planes(made.path)) == len(ODD[name].times) - ODD[name].first


def test_a_recording_without_an_index_gets_one(tmp_path):
    source = make(ODD["live.webm"], tmp_path)
    assert not has_index(source)
    made, obstacles = converted(source)
    assert "it has no index to seek by" in obstacles
    assert "Rewritten as webm without loss" in made.words
    assert has_index(made.path)


def test_an_index_that_is_missing_is_noticed_whatever_the_sizes_say(tmp_path):
    source = make(ODD["vp9.webm"], tmp_path)
    assert has_index(source)
    data = source.read_bytes()
    source.write_bytes(data.replace(b"\x1c\x53\xbb\x6b", b"\x1c\x53\xbb\x6c"))
    assert not has_index(source)


@pytest.mark.parametrize(
    ("name", "matrix"),
    [("h264.mp4", 6), ("h264.ts", 6), ("vp9.webm", 5), ("vp9.mp4", 5), ("av1.webm", 6), ("untagged-hd.mp4", 1),
     ("untagged-hd.webm", 1), ("untagged-hd-av1.mp4", 1)],
)  # fmt: skip
def test_colours_without_a_name_get_it_in_the_stream_and_no_pixel_changes(tmp_path, name, matrix):
    """Firefox guesses BT.709 of small H.264 and VP9, Chromium BT.601 of large VP9 and AV1."""
    source = make(ODD[name], tmp_path)
    made, obstacles = converted(source)
    assert "it does not name its colour matrix, which browsers guess" in obstacles
    assert "without loss" in made.words
    with av.open(str(made.path)) as container:
        frame = next(container.decode(video=0))
    # VP9 has one name for both kinds of BT.601.
    assert (int(frame.colorspace), int(frame.color_range)) == (matrix, 1)
    assert planes(made.path) == planes(source)


@pytest.mark.parametrize("name", ["full-range.mp4", "full-range.webm", "full-range-av1.mp4"])
def test_a_full_range_becomes_the_limited_one(tmp_path, name):
    made, obstacles = converted(make(ODD[name], tmp_path))
    assert "some browsers take its full range of colours for the limited one" in obstacles
    with av.open(str(made.path)) as container:
        frame = next(container.decode(video=0))
    assert (int(frame.color_range), int(frame.colorspace)) == (1, 1)
    luma = frame.to_ndarray()[: frame.height]
    black, yellow = (pytest.approx(16 + level * 219 / 255, abs=3) for level in (20, 188))
    # Black cells are 20 of 255, the yellow corner 0.93 * 200 + 0.07 * 40.
    assert (luma.min(), luma.max()) == (black, yellow)


def test_large_vp8_pictures_are_encoded_again(tmp_path):
    made, obstacles = converted(make(ODD["untagged-hd-vp8.webm"], tmp_path))
    assert "browsers take the colours of large vp8 pictures differently" in obstacles
    assert made.facts.codec == "h264"
    assert probe(make(ODD["vp8.webm"], tmp_path)).browser_playable
