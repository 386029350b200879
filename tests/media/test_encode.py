import av
import numpy as np
import pytest

from foilworks.core.media.encode import write_mp4, write_webm
from tests.media.painted import painted_clip, read_index


def test_browsers_can_play_it_while_it_loads(tmp_path):
    path = tmp_path / "clip.mp4"
    write_mp4(path, painted_clip(4), fps=8)
    data = path.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")
    with av.open(str(path)) as container:
        context = container.streams.video[0].codec_context
        assert (context.name, context.pix_fmt) == ("h264", "yuv420p")


def test_equal_frames_decode_to_equal_pictures(tmp_path):
    decoded = []
    for name in ("a.mp4", "b.mp4"):
        write_mp4(tmp_path / name, painted_clip(4), fps=8)
        with av.open(str(tmp_path / name)) as container:
            decoded.append(np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]))
    assert [read_index(picture) for picture in decoded[0]] == [0, 1, 2, 3]
    assert np.array_equal(*decoded)


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        ([], "a video needs at least one frame"),
        ([np.zeros((31, 64, 3), np.uint8)], "the sides must be even for yuv420p, not 64 x 31"),
        ([np.zeros((32, 63, 3), np.uint8)], "the sides must be even for yuv420p, not 63 x 32"),
        ([np.zeros((32, 64), np.uint8)], r"a frame must be uint8 \(height, width, 3\), not uint8 \(32, 64\)"),
        ([np.zeros((32, 64, 4), np.uint8)], "a frame must be uint8 .*, not uint8 .32, 64, 4."),
        ([np.zeros((32, 64, 3), np.float32)], "a frame must be uint8 .*, not float32 .32, 64, 3."),
        (
            [np.zeros((32, 64, 3), np.uint8), np.zeros((32, 32, 3), np.uint8)],
            r"all frames must have one size: \(32, 64, 3\) first, then \(32, 32, 3\)",
        ),
    ],
)
def test_frames_that_cannot_be_encoded_are_rejected(tmp_path, frames, said):
    with pytest.raises(ValueError, match=f"^{said}$"):
        write_mp4(tmp_path / "clip.mp4", frames, fps=8)


def pictures_of(path):
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = list(container.decode(video=0))
        return stream, frames


@pytest.mark.parametrize(("write", "name"), [(write_mp4, "clip.mp4"), (write_webm, "clip.webm")])
def test_quality_is_the_callers_and_colours_are_named(tmp_path, write, name):
    noise = [np.random.default_rng(seed).integers(0, 256, (64, 64, 3)).astype(np.uint8) for seed in range(3)]
    sizes = []
    for crf in (None, 10, 30, 50):
        write(tmp_path / name, noise, 12.5, **({} if crf is None else {"crf": crf}))
        sizes.append((tmp_path / name).stat().st_size)
    assert sizes[1] > sizes[2] > sizes[3]
    assert sizes[0] > sizes[2]
    _, frames = pictures_of(tmp_path / name)
    assert len(frames) == 3
    assert [(int(frame.colorspace), int(frame.color_range)) for frame in frames] == [(6, 1)] * 3
    assert [(int(frame.color_primaries), int(frame.color_trc)) for frame in frames] == [(6, 6)] * 3
    assert [round(frame.time, 2) for frame in frames] == [0.0, 0.08, 0.16]


def test_frames_in_order_are_stored_without_b_frames(tmp_path):
    frames = [np.roll(painted_clip(1)[0], 3 * shift, axis=1) for shift in range(12)]
    orders = {}
    for in_order in (True, False):
        write_mp4(tmp_path / "clip.mp4", frames, fps=8, in_order=in_order)
        with av.open(str(tmp_path / "clip.mp4")) as container:
            orders[in_order] = [packet.pts for packet in container.demux(video=0) if packet.size]
    assert orders[True] == sorted(orders[True])
    assert orders[False] != sorted(orders[False])
