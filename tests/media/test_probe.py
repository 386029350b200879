import hashlib
import io
import struct
from fractions import Fraction

import av
import pytest
from PIL import Image

from foilworks.core.media.encode import write_mp4, write_webm
from foilworks.core.media.errors import MediaError
from foilworks.core.media.probe import probe
from tests.media.odd_files import SLIDES, OddFile, make, odd_files
from tests.media.packet_edits import copied
from tests.media.painted import painted_clip


def encode(path, codec, n=6, rate=12, pixels="yuv420p", rotation=0, options=None):
    """A file in any codec, to try what browsers do not play and what has no picture."""
    with av.open(str(path), "w", container_options=options or {}) as container:
        stream = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = 64, 32, pixels
        if rotation:
            stream.set_display_rotation(rotation)
        for picture in painted_clip(n):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def late_picture(path):
    """Sound from 0; frame i of 12 begins at .5 + i / 8 s."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=8)
        stream.width, stream.height, stream.pix_fmt = 64, 32, "yuv420p"
        sound = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        silence = av.AudioFrame(format="s16", layout="mono", samples=8000)
        silence.sample_rate, silence.pts = 8000, 0
        container.mux(sound.encode(silence))
        for index, picture in enumerate(painted_clip(12)):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = 4 + index, Fraction(1, 8)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def sound_only(path):
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=44100, layout="mono")
        frame = av.AudioFrame(format="fltp", layout="mono", samples=1024)
        frame.sample_rate = 44100
        frame.planes[0].update(bytes(4096))
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def test_an_mp4_is_described_by_what_decodes(tmp_path):
    path = tmp_path / "clip.mp4"
    write_mp4(path, painted_clip(12), fps=8)
    facts = probe(path)
    assert facts.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert facts.size_bytes == path.stat().st_size
    assert (facts.n_frames, facts.fps, facts.duration) == (12, 8.0, 1.5)  # 12 frames at 8 a second
    assert (facts.width, facts.height, facts.container, facts.codec) == (64, 32, "mp4", "h264")
    assert facts.browser_playable


def test_a_webm_without_a_frame_count_is_counted(tmp_path):
    path = tmp_path / "clip.webm"
    write_webm(path, painted_clip(11), fps=24)
    with av.open(str(path)) as container:
        assert container.streams.video[0].frames == 0  # the container does not say
    facts = probe(path)
    # Its clock ticks in milliseconds (0, 42, 83 ...): the rate must still be 24, not 23.98.
    assert (facts.n_frames, facts.fps, facts.container, facts.codec) == (11, 24.0, "webm", "vp9")
    assert facts.duration == pytest.approx(11 / 24, abs=1e-3)
    assert facts.browser_playable


def test_a_live_webm_without_any_length_is_measured(tmp_path):
    path = encode(tmp_path / "live.webm", "libvpx", n=9, rate=30, options={"live": "1"})
    with av.open(str(path)) as container:
        assert container.duration is None
    facts = probe(path)
    assert (facts.n_frames, facts.fps, facts.codec) == (9, 30.0, "vp8")
    assert facts.duration == pytest.approx(0.3, abs=1e-3)


def test_one_frame_lasts_as_long_as_its_rate_says(tmp_path):
    write_mp4(tmp_path / "one.mp4", painted_clip(1), fps=5)
    facts = probe(tmp_path / "one.mp4")
    assert (facts.n_frames, facts.fps, facts.duration) == (1, 5.0, 0.2)


def test_a_fractional_rate_is_kept(tmp_path):
    write_mp4(tmp_path / "ntsc.mp4", painted_clip(10), fps=30000 / 1001)
    assert probe(tmp_path / "ntsc.mp4").fps == pytest.approx(30000 / 1001, abs=1e-9)


@pytest.mark.parametrize("rotation", [90, -90])
def test_a_turned_clip_has_the_size_that_is_shown(tmp_path, rotation):
    facts = probe(encode(tmp_path / "turned.mp4", "libx264", rotation=rotation))
    assert (facts.width, facts.height) == (32, 64)


@pytest.mark.parametrize(
    ("name", "codec", "pixels"),
    [
        ("hevc.mp4", "libx265", "yuv420p"),
        ("part2.mp4", "mpeg4", "yuv420p"),
        ("deep.mp4", "libx264", "yuv422p"),
        ("h264.mkv", "libx264", "yuv420p"),
    ],
)
def test_obstacles_of_browsers_are_reported(tmp_path, name, codec, pixels):
    facts = probe(encode(tmp_path / name, codec, pixels=pixels))
    assert facts.n_frames == 6
    assert not facts.browser_playable


def test_pts_ticks_become_player_seconds(tmp_path):
    write_mp4(tmp_path / "clip.mp4", painted_clip(8), fps=8)
    facts = probe(tmp_path / "clip.mp4")
    assert isinstance(facts.time_base, Fraction)
    assert facts.seconds(float(Fraction(1, 2) / facts.time_base)) == 0.5


def test_numbers_of_frames_become_player_seconds(tmp_path):
    write_mp4(tmp_path / "clip.mp4", painted_clip(100), fps=30)
    facts = probe(tmp_path / "clip.mp4")
    assert [facts.frame_start(number) for number in (0, 56, 96)] == pytest.approx([0.0, 56 / 30, 3.2], abs=1e-6)
    assert facts.frame_start(0) >= 0.0
    late = probe(late_picture(tmp_path / "late.mkv"))
    assert [late.frame_start(number) for number in (0, 4, 12)] == pytest.approx([0.5, 1.0, 2.0], abs=1e-3)


def broken_files(folder):
    whole = folder / "whole.mp4"
    write_mp4(whole, painted_clip(20), fps=10)
    data = whole.read_bytes()
    webm = folder / "whole.webm"
    write_webm(webm, painted_clip(20), fps=10)
    live = encode(folder / "live.webm", "libvpx", n=20, options={"live": "1"}).read_bytes()
    picture = data.index(b"mdat") + 4
    damaged = bytearray(data)
    damaged[picture + 800 : picture + 900] = b"\xff" * 100
    playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n" + str(whole) + "\n#EXT-X-ENDLIST\n"
    return {
        "zero bytes": (b"", "is empty (0 bytes)"),
        "text": (b"This is no video.\n" * 50, "not a video"),
        "cut in the picture": (data[:-40], "cut short"),
        "cut in the index": (data[:200], "cut short"),
        "cut webm": (webm.read_bytes()[:-30], "cut short"),
        "cut live webm": (live[:-5], "cut short"),
        "damaged": (bytes(damaged), "damaged"),
        "no index": (struct.pack(">I4s", 8, b"free") * 4, "not a video"),
        "a playlist of other files": (playlist.encode(), "not a video"),
        "a list of other files": (f"ffconcat version 1.0\nfile {whole}\n".encode(), "not a video"),
        "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(64), "not a video"),
    }


def test_every_error_is_one_line_that_says_what_to_do(tmp_path):
    path = tmp_path / "clip.mp4"
    for what, (content, words) in broken_files(tmp_path).items():
        path.write_bytes(content)
        with pytest.raises(MediaError) as caught:
            probe(path)
        message = str(caught.value)
        assert words in message, what
        assert message.startswith(f"{path}: "), what
        assert "; " in message, what
        assert "\n" not in message, what


def picture(form):
    out = io.BytesIO()
    pictures = [Image.new("RGB", (16, 16), colour) for colour in ("red", "blue")]
    pictures[0].save(out, form, **({"save_all": True, "append_images": pictures[1:]} if form == "GIF" else {}))
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        *((lambda form=form: picture(form), f"a {form} image") for form in ("GIF", "PNG", "JPEG", "BMP", "TIFF")),
        (lambda: picture("WEBP"), "a WebP image"),
        (lambda: b"RIFF\x24\x08\x00\x00WAVEfmt " + bytes(2000), "a WAV sound"),
        (lambda: b"PK\x03\x04" + bytes(2000), "a ZIP archive"),
        (lambda: b"%PDF-1.7\n%\xe2\xe3" + bytes(2000), "a PDF document"),
        (lambda: b"\xef\xbb\xbf\n<!DOCTYPE html><p>Not found</p>", "a page of HTML, XML or SVG"),
        (lambda: b'<svg xmlns="http://www.w3.org/2000/svg"/>', "a page of HTML, XML or SVG"),
        (lambda: b"#EXTM3U\nhttp://127.0.0.1/\n", "a playlist"),
        (lambda: "Ceci n\u2019est pas une vid\u00e9o.\n".encode() * 40, "a text"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_file_that_is_not_a_video_is_named_by_its_kind(tmp_path, content, kind):
    path = tmp_path / "clip.mp4"
    path.write_bytes(content())
    with pytest.raises(MediaError) as caught:
        probe(path)
    assert str(caught.value) == f"{path}: is {kind}, not a video; give an mp4 (H.264) or webm file"


def test_a_missing_file_a_folder_and_a_sound_are_named(tmp_path):
    with pytest.raises(MediaError, match="there is no such file; check"):
        probe(tmp_path / "gone.mp4")
    with pytest.raises(MediaError, match="is a folder"):
        probe(tmp_path)
    with pytest.raises(MediaError, match="no video stream"):
        probe(sound_only(tmp_path / "song.mp4"))


def test_a_name_cannot_reach_another_protocol(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_mp4(tmp_path / "a.mp4", painted_clip(2), fps=2)
    odd = tmp_path / "concat:a.mp4|a.mp4"
    odd.write_bytes((tmp_path / "a.mp4").read_bytes())
    assert probe(odd).n_frames == 2


@pytest.mark.parametrize(
    ("name", "codec", "sound"),
    [
        ("a.flv", "libx264", ""),
        ("a.mp4", "libx264", ""),
        ("a.mkv", "libx264", ""),
        ("a.webm", "libvpx-vp9", "libopus"),
    ],
)
def test_a_last_slide_lasts_until_the_end_that_its_container_states(tmp_path, name, codec, sound):
    slides = OddFile(name, codec, times=SLIDES, last=18.0, sound=sound, edit=copied(last=18.0))
    clock = probe(make(slides, tmp_path)).clock
    assert clock.starts == (0, 1_000_000, 2_000_000)
    assert clock.end == pytest.approx(20_000_000, abs=1_500)


@pytest.mark.parametrize("name", ["h264.avi", "h264-bframes.avi"])
def test_frames_of_an_avi_are_presented_at_the_times_of_its_packets(tmp_path, name):
    odd = next(odd for odd in odd_files() if odd.name == name)
    clock = probe(make(odd, tmp_path)).clock
    assert clock.starts == tuple(125_000 * k for k in range(16))
    assert clock.end == 2_000_000
