import av
import numpy as np
import pytest

from media.encode import write_mp4
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
    "frames",
    [
        [],
        [np.zeros((31, 64, 3), np.uint8)],
        [np.zeros((32, 64), np.uint8)],
        [np.zeros((32, 64, 3), np.float32)],
        [np.zeros((32, 64, 3), np.uint8), np.zeros((32, 32, 3), np.uint8)],
    ],
)
def test_frames_that_cannot_be_encoded_are_rejected(tmp_path, frames):
    with pytest.raises(ValueError):
        write_mp4(tmp_path / "clip.mp4", frames, fps=8)
