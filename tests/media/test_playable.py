"""Copies for browsers: every frame at its second, upright, with its sound and its colours."""

import os
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

from foilworks.core.media import tone_mapping
from foilworks.core.media.container import open_video
from foilworks.core.media.errors import MediaError
from foilworks.core.media.frames import sample_frames
from foilworks.core.media.playable import encode as encode_again
from foilworks.core.media.playable import make_playable
from foilworks.core.media.probe import VideoFacts, probe
from tests.media.hdr import sdr_colour
from tests.media.odd_files import OddFile, differs, expected, grid, make, odd_files
from tests.media.painted import painted_clip, read_index, write_smaller_midway
from tests.media.test_probe import encode, late_picture

ODD = {odd.name: odd for odd in odd_files()}


def playable(source: Path) -> tuple[VideoFacts, VideoFacts, str, Path]:
    """Facts of the file and of its copy, how that was made, and where it is."""
    facts = probe(source)
    folder = source.parent / "copy"
    folder.mkdir()
    made = make_playable(source, facts, folder)
    assert probe(made.path) == made.facts
    assert made.facts.browser_playable
    return facts, made.facts, made.words, made.path


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="Linux only")
def test_making_av1_files_leaves_the_priority_of_this_process(tmp_path):
    before = os.sched_getscheduler(0)
    make(ODD["av1.mp4"], tmp_path)
    assert os.sched_getscheduler(0) == before


@pytest.mark.parametrize(
    ("name", "codec", "pixels"),
    [("a.mp4", "libx265", "yuv420p"), ("a.avi", "mpeg4", "yuv420p"), ("a.mkv", "libx264", "yuv422p")],
)
def test_undecodable_videos_are_encoded_again(tmp_path, name, codec, pixels):
    _, copy, words, path = playable(encode(tmp_path / name, codec, n=12, rate=12, pixels=pixels))
    assert "Encoded again as H.264" in words
    assert (copy.codec, copy.n_frames, copy.fps, copy.width, copy.height) == ("h264", 12, 12.0, 64, 32)
    assert copy.duration == pytest.approx(1.0, abs=0.001)
    assert [read_index(frame) for frame in sample_frames(path, 12).frames] == list(range(12))


@pytest.mark.parametrize(
    ("name", "container"),
    [("h264.mkv", "mp4"), ("h264.ts", "mp4"), ("vp9.mkv", "webm"), ("av1.mkv", "webm"), ("late-both.webm", "webm"),
     ("cut.mov", "mp4"), ("fragmented.mp4", "mp4"), ("turned-90.mkv", "mp4")],
)  # fmt: skip
def test_a_wrong_container_or_start_is_rewritten_without_loss(tmp_path, name, container):
    odd = ODD[name]
    source = make(odd, tmp_path)
    facts, copy, words, path = playable(source)
    assert f"Rewritten as {container} without loss" in words
    assert (copy.codec, copy.container, copy.sound) == (facts.codec, container, facts.sound)
    assert copy.origin == 0
    with open_video(source) as before, open_video(path) as after:
        pictures = [
            [(second, frame.to_ndarray(format="rgb24")) for second, frame in video.frames()]
            for video in (before, after)
        ]
    assert len(pictures[0]) == len(odd.shown)
    for (second, picture), (other, same) in zip(*pictures, strict=True):
        assert other == pytest.approx(second, abs=0.0015)
        assert np.array_equal(picture, same)


@pytest.mark.parametrize("name", ["hevc.mp4", "prores.mov", "mpeg4.avi", "hevc.mkv"])
def test_a_copy_keeps_the_sound(tmp_path, name):
    facts, copy, _, path = playable(make(ODD[name], tmp_path))
    assert copy.sound == {"pcm_s16le": "aac"}.get(facts.sound, facts.sound)
    with av.open(str(path)) as container:
        samples = sum(frame.samples for frame in container.decode(audio=0))
        rate = container.streams.audio[0].rate
    assert samples / rate == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(
    "name", ["late-both.mp4", "late-both.webm", "cut.mov", "cut.webm", "late.ts", "fragmented.mp4"]
)
def test_a_trim_in_seconds_means_the_same_frames_of_the_copy(tmp_path, name):
    odd = ODD[name]
    source = make(odd, tmp_path)
    _, _, _, path = playable(source)
    # Both count from the earliest picture or sound.
    first = probe(source).clock.seconds(0)
    for start, end in ((0.25, 0.75), (0.5, None)):
        trim = first + start, None if end is None else first + end
        before, after = (sample_frames(one, 4, *trim) for one in (source, path))
        assert after.times == pytest.approx(before.times, abs=0.0015)
        assert np.array_equal(before.frames, after.frames)
    wanted = expected(odd, odd.first + 2)
    assert differs(grid(sample_frames(path, 4, first + 0.25, first + 0.75).frames[0]), grid(wanted)) < odd.tolerance


@pytest.mark.parametrize(("name", "late"), [("late-both.mkv", 0.0), ("late-sound.mkv", 0.7)])
def test_an_encoded_sound_starts_at_its_second_of_the_copy(tmp_path, name, late):
    odd = replace(ODD[name], name=name, codec="libx265", sound="pcm_s16le")
    _, copy, _, path = playable(make(odd, tmp_path))
    assert (copy.codec, copy.sound) == ("h264", "aac")
    with av.open(str(path)) as container:
        sound = container.streams.audio[0]
        frames = list(container.decode(audio=0))
    # The encoder puts a block of silence in front.
    assert frames[0].time == pytest.approx(late, abs=0.03)
    assert (sound.rate, sound.codec_context.layout.name, frames[0].format.name) == (48000, "mono", "fltp")
    gaps = [round((after.time - before.time) * 48000) for before, after in pairwise(frames)]
    assert set(gaps) == {1024}


def test_a_sound_that_cannot_be_decoded_is_left_out_and_named(tmp_path):
    source = make(OddFile("sound.mkv", "libx265", sound="flac"), tmp_path)
    with av.open(str(source)) as container:
        packets = [bytes(packet) for packet in container.demux(audio=0) if packet.size]
    data = source.read_bytes()
    for packet in packets:
        data = data.replace(packet, bytes(len(packet)))
    # No browser plays FLAC in what is written, so that it is decoded.
    source.write_bytes(data.replace(b"A_FLAC", b"A_TTA1"))
    facts, copy, words, _ = playable(source)
    assert facts.sound == "tta"
    assert copy.sound == ""
    assert "without its sound, which cannot be decoded" in words


@pytest.mark.parametrize(
    "name",
    ["bt709-hevc.mp4", "bt601-hd-hevc.mp4", "bt709-small-hevc.mkv", "full-range-hevc.mp4", "untagged-hd-hevc.mp4"],
)
def test_a_copy_keeps_the_colours_and_names_them(tmp_path, name):
    odd = ODD[name]
    _, copy, _, path = playable(make(odd, tmp_path))
    with open_video(path) as video:
        _, frame = next(video.frames())
    # What had no tag has that of an HD picture.
    assert int(frame.colorspace) == {2: 1}.get(odd.colour["colorspace"], odd.colour["colorspace"])
    # Firefox takes each range for the limited one.
    assert int(frame.color_range) == 1
    assert int(frame.color_primaries) != 2
    assert differs(grid(sample_frames(path, 1).frames[0]), grid(expected(odd, 2))) < odd.tolerance
    assert copy.codec == "h264"


@pytest.mark.parametrize("name", [name for name in ODD if name.startswith("turned")])
def test_every_turn_and_mirror_is_shown_by_all(tmp_path, name):
    """Rotations stay in the display matrix, which all browsers know; mirrored pictures are encoded upright."""
    odd = ODD[name]
    source = make(odd, tmp_path)
    facts = probe(source)
    assert any(obstacle.encode for obstacle in facts.obstacles) == (odd.turn[1] or "hevc" in name)
    for path in (source, playable(source)[3]):
        picture = sample_frames(path, 1).frames[0]
        assert differs(grid(picture), grid(expected(odd, 2))) < odd.tolerance


def test_a_matrix_that_turns_by_another_angle_is_refused(tmp_path):
    with pytest.raises(MediaError, match="by an angle that is not a multiple of 90 degrees; rotate"):
        probe(encode(tmp_path / "askew.mp4", "libx264", rotation=30))


def test_uneven_times_are_kept(tmp_path):
    source = tmp_path / "uneven.mkv"
    times = [0, 100, 150, 400, 900]
    with av.open(str(source), "w") as container:
        stream = container.add_stream("mpeg4", rate=1000)
        stream.width, stream.height, stream.pix_fmt = 64, 32, "yuv420p"
        for time, picture in zip(times, painted_clip(5), strict=True):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = time, Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    _, copy, _, _ = playable(source)
    assert [round(start / 1000) for start in copy.clock.starts] == times


def test_a_picture_that_starts_after_the_sound_keeps_its_seconds(tmp_path):
    source = late_picture(tmp_path / "late.mkv")
    _, copy, words, path = playable(source)
    assert copy.sound == "aac"
    assert [start / 1_000_000 for start in copy.clock.starts] == [(4 + index) / 8 for index in range(12)]
    for start, index in ((0.0, 0), (0.625, 1), (1.0, 4), (1.75, 10)):
        samples = [sample_frames(one, 1, start, start + 0.125) for one in (source, path)]
        assert [read_index(sample.frames[0]) for sample in samples] == [index, index]
    assert "its sound as AAC" in words


@pytest.mark.parametrize("name", ["pq.mp4", "hlg.mkv", pytest.param("pq-av1.mp4", marks=pytest.mark.full)])
def test_hdr_is_converted_with_a_note(tmp_path, name):
    """Painted colours against a second computation (tests/media/hdr.py); the copy says that it is BT.709."""
    odd = ODD[name]
    _, copy, words, path = playable(make(odd, tmp_path))
    assert f"HDR colours ({'HLG' if name.startswith('hlg') else 'PQ'}) are converted to SDR" in words
    assert copy.browser_playable
    with open_video(path) as video:
        frame = next(frame for _, frame in video.frames())
        tags = (frame.colorspace, frame.color_primaries, frame.color_trc, frame.color_range)
    assert tuple(map(int, tags)) == (1, 1, 1, 1)
    assert differs(grid(sample_frames(path, 1).frames[0]), grid(expected(odd, 2))) < 12


@pytest.mark.parametrize("transfer", [16, 18])
def test_the_table_of_sdr_colours_equals_a_second_computation(tmp_path, transfer):
    """Grey ramp, bars of 75 % and skin: within half a step of 255 for the formula, one step for the table."""
    name = {16: "PQ", 18: "HLG"}[transfer]
    colours = [(v, v, v) for v in range(0, 256, 15)] + [(191 * r, 191 * g, 191 * b) for r, g, b in np.ndindex(2, 2, 2)]
    colours += [(140, 110, 95), (60, 80, 40)]
    signal = np.array(colours) / 255
    second = np.array([sdr_colour(colour, transfer) for colour in colours])
    assert np.abs(tone_mapping.to_sdr(signal, name) * 255 - second).max() <= 1
    tone_mapping.write_table(tmp_path / "t.cube", name)
    table = np.loadtxt(tmp_path / "t.cube", skiprows=1).reshape(*[tone_mapping.POINTS] * 3, 3)
    assert np.allclose(table[-1, -1, -1], 1.0, atol=0.01)
    assert np.allclose(table[0, 0, 0], 0.0)
    # Red varies fastest.
    assert table[0, 0, -1][0] > 0.5 > table[-1, 0, 0][0]


def test_av1_is_known_by_its_name(tmp_path):
    facts = probe(make(ODD["bt709-av1.mp4"], tmp_path))
    assert (facts.codec, facts.browser_playable) == ("av1", True)


def test_an_odd_side_is_cut_before_colours_are_halved(tmp_path):
    odd = ODD["odd-size.mkv"]
    _, copy, _, path = playable(make(odd, tmp_path))
    assert (copy.width, copy.height) == (126, 62)
    assert differs(grid(sample_frames(path, 1).frames[0]), grid(expected(odd, 2))) < odd.tolerance


def test_a_file_that_cannot_be_decoded_is_named(tmp_path):
    (tmp_path / "bad.mp4").write_text("This is no video.")
    with pytest.raises(MediaError, match=r"bad\.mp4: is a text, not a video"):
        probe(tmp_path / "bad.mp4")


@pytest.mark.parametrize(
    "odd", [odd for odd in odd_files() if "behind" in odd.name or "cut-short" in odd.name], ids=lambda odd: odd.name
)
def test_extra_bytes_at_the_end_are_harmless_but_a_missing_end_is_damage(tmp_path: Path, odd: OddFile):
    path = make(odd, tmp_path)
    if odd.refused:
        with pytest.raises(MediaError, match="is cut short, its end is missing; copy it again"):
            probe(path)
    else:
        assert probe(path).n_frames == len(odd.times)


def test_a_clip_that_changes_its_size_midway_keeps_the_size_of_its_first_frame(tmp_path):
    source = write_smaller_midway(tmp_path / "smaller.webm")
    encode_again(source, tmp_path / "encoded.mp4")
    sample = sample_frames(tmp_path / "encoded.mp4", 10)
    assert sample.frames.shape == (10, 64, 128, 3)
    assert [read_index(frame) for frame in sample.frames] == list(range(10))
    assert probe(tmp_path / "encoded.mp4").clock.end == 1_000_000
