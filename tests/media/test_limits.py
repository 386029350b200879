import av
import pytest

from foilworks.core.media.container import OpenVideo, open_video
from foilworks.core.media.encode import write_mp4, write_webm
from foilworks.core.media.errors import MediaError
from foilworks.core.media.limits import VideoLimits, call_within, limited_to
from foilworks.core.media.probe import probe
from tests.media.painted import painted_clip


@pytest.fixture
def clip(tmp_path):
    """64 x 32 pixels, 12 frames, 1.5 s."""
    write_mp4(tmp_path / "clip.mp4", painted_clip(12), fps=8)
    return tmp_path / "clip.mp4"


def refusal(path, **limits):
    with limited_to(VideoLimits(**limits)), pytest.raises(MediaError) as caught:
        probe(path)
    return str(caught.value)


def test_a_file_at_every_limit_is_taken(clip):
    with limited_to(VideoLimits(pixels=64 * 32, frames=12, seconds=1.5, streams=1)):
        assert probe(clip).n_frames == 12


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"pixels": 2047}, "has 64 x 32 pixels, more than the limit of 2047 pixels; give a smaller copy"),
        ({"frames": 11}, "has 12 frames, more than the limit of 11 frames; cut the clip out of it"),
        ({"seconds": 1}, "has 2 seconds, more than the limit of 1 seconds; cut the clip out of it"),
    ],
)
def test_a_header_is_enough_to_refuse(clip, monkeypatch, limits, words):
    monkeypatch.setattr(OpenVideo, "frames", lambda video: pytest.fail("a frame was decoded"))
    setting = f"MAX_VIDEO_{next(iter(limits)).upper()}"
    assert refusal(clip, **limits) == f"{clip}: {words}, or raise the setting {setting}"


def test_streams_are_counted(tmp_path):
    with av.open(str(tmp_path / "many.mkv"), "w") as out:
        streams = [out.add_stream("mpeg4", rate=8, width=64, height=32, pix_fmt="yuv420p") for _ in range(3)]
        for stream in streams:
            out.mux(stream.encode(av.VideoFrame.from_ndarray(painted_clip(1)[0], format="rgb24")))
            out.mux(stream.encode(None))
    assert "has 3 streams, more than the limit of 2 streams; remove the streams" in refusal(
        tmp_path / "many.mkv", streams=2
    )


def test_where_the_header_is_silent_frames_are_counted_and_no_more_are_decoded(tmp_path):
    write_webm(tmp_path / "clip.webm", painted_clip(12), fps=8)
    seen = []
    with limited_to(VideoLimits(frames=5)), open_video(tmp_path / "clip.webm") as video:
        assert video.stream.frames == 0
        with pytest.raises(MediaError, match="has at least 6 frames, more than the limit of 5"):
            seen.extend(video.frames())
        assert len(seen) == 5


def test_pixels_count_as_they_are_shown(tmp_path):
    """Each pixel is ten times as wide as it is high."""
    with av.open(str(tmp_path / "wide.mp4"), "w") as out:
        options = {"aspect": "10/1"}
        stream = out.add_stream("libx264", rate=8, width=64, height=32, pix_fmt="yuv420p", options=options)
        out.mux(stream.encode(av.VideoFrame.from_ndarray(painted_clip(1)[0], format="rgb24")))
        out.mux(stream.encode(None))
    assert "has 640 x 32 pixels" in refusal(tmp_path / "wide.mp4", pixels=20_000)


def test_a_picture_that_grows_on_the_way_is_refused(tmp_path):
    path = tmp_path / "grows.ts"
    with path.open("wb") as file:
        for number, scale in enumerate((1, 4)):
            part = tmp_path / f"{number}.ts"
            with av.open(str(part), "w") as out:
                stream = out.add_stream("libx264", rate=8, width=64 * scale, height=32 * scale, pix_fmt="yuv420p")
                for picture in painted_clip(4):
                    out.mux(stream.encode(av.VideoFrame.from_ndarray(picture.repeat(scale, 0).repeat(scale, 1))))
                out.mux(stream.encode(None))
            file.write(part.read_bytes())
    with pytest.raises(MediaError, match="has 256 x 128 pixels, more than the limit of 20000 pixels"):
        call_within(VideoLimits(pixels=20_000), probe, path)


def test_limits_end_with_their_block(clip):
    refusal(clip, pixels=1)
    assert probe(clip).width == 64
