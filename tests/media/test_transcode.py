from fractions import Fraction

import av
import pytest

from media.container import open_video
from media.errors import MediaError
from media.frames import sample_frames
from media.probe import probe
from media.transcode import transcode_mp4
from tests.media.painted import painted_clip, read_index
from tests.media.test_probe import encode, late_picture


@pytest.mark.parametrize(
    ("name", "codec", "pixels"),
    [("a.mp4", "libx265", "yuv420p"), ("a.avi", "mpeg4", "yuv420p"), ("a.mkv", "libx264", "yuv422p")],
)
def test_the_copy_plays_and_has_every_frame_at_its_time(tmp_path, name, codec, pixels):
    source, target = encode(tmp_path / name, codec, n=12, rate=12, pixels=pixels), tmp_path / "out.mp4"
    assert not probe(source).browser_playable
    transcode_mp4(source, target)
    facts = probe(target)
    assert facts.browser_playable
    assert (facts.n_frames, facts.fps, facts.width, facts.height) == (12, 12.0, 64, 32)
    assert facts.duration == pytest.approx(1.0)
    assert [read_index(frame) for frame in sample_frames(target, 12).frames] == list(range(12))


def test_uneven_times_are_kept(tmp_path):
    source, target = tmp_path / "uneven.mkv", tmp_path / "out.mp4"
    times = [0, 100, 150, 400, 900]
    with av.open(str(source), "w") as container:
        stream = container.add_stream("mpeg4", rate=1000)
        stream.width, stream.height, stream.pix_fmt = 64, 32, "yuv420p"
        for time, picture in zip(times, painted_clip(5), strict=True):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = time, Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    transcode_mp4(source, target)
    with open_video(target) as video:
        assert [round(time * 1000) for time, _ in video.frames()] == times


def test_a_picture_that_starts_after_the_sound_keeps_its_seconds(tmp_path):
    """Without the sound, players would call the second of the first picture 0."""
    source, target = late_picture(tmp_path / "late.mkv"), tmp_path / "out.mp4"
    transcode_mp4(source, target)
    assert probe(target).duration == pytest.approx(probe(source).duration, abs=0.1)
    with open_video(target) as video:
        assert [time for time, _ in video.frames()] == [0.0] + [(4 + index) / 8 for index in range(12)]
    for start, index in ((0.0, 0), (0.625, 1), (1.0, 4), (1.75, 10)):
        samples = [sample_frames(path, 1, start, start + 0.125) for path in (source, target)]
        assert [read_index(sample.frames[0]) for sample in samples] == [index, index]


def test_a_turned_clip_stands_upright_in_the_copy(tmp_path):
    transcode_mp4(encode(tmp_path / "turned.mp4", "libx265", rotation=90), tmp_path / "out.mp4")
    with open_video(tmp_path / "out.mp4") as video:
        assert {(frame.width, frame.height, frame.rotation) for _, frame in video.frames()} == {(32, 64, 0)}


def test_a_file_that_cannot_be_decoded_is_named(tmp_path):
    (tmp_path / "bad.mp4").write_text("This is no video.")
    with pytest.raises(MediaError, match=r"bad\.mp4: is not a video"):
        transcode_mp4(tmp_path / "bad.mp4", tmp_path / "out.mp4")
