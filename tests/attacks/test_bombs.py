"""Small files that decode to too much: one file costs no worker its memory, and no queue its hour."""

from fractions import Fraction

import av
import pytest

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.limits import read_file
from foilworks.core.corpus.video_files.ingest import store_media
from foilworks.core.media.child import end_children
from tests.attacks.guards import guarded_by, without_setting
from tests.media.painted import painted_clip

PIXELS = without_setting("MAX_VIDEO_PIXELS", "pixels per frame of an imported video are limited", 0)
FRAMES = without_setting("MAX_VIDEO_FRAMES", "frames of an imported video are limited", 0)
SECONDS = without_setting("MAX_VIDEO_SECONDS", "the duration of an imported video is limited", 0)
STREAMS = without_setting("MAX_VIDEO_STREAMS", "streams of an imported video are limited", 0)
MEMORY = without_setting("MAX_DECODE_MEMORY_MB", "memory for decoding an imported file is limited", 0)
TABLES = without_setting("MAX_TABLE_MB", "the decoded size of an imported table is limited", 0)


def flat(path, side=64, n=1, rate=8):
    """Frames of one grey: few bytes, whatever their size."""
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=rate, options={"preset": "ultrafast", "tune": "zerolatency"})
        stream.width = stream.height = side
        stream.pix_fmt = "yuv420p"
        frame = av.VideoFrame(side, side, "yuv420p")
        for plane in frame.planes:
            plane.update(bytes([128]) * plane.buffer_size)
        for number in range(n):
            frame.pts = number
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return path


def refused(path):
    return store_media(path, copy=False).error


@guarded_by(PIXELS)
def test_a_small_video_does_not_fill_the_memory(tmp_path):
    path = flat(tmp_path / "large.mp4", side=4112)
    assert path.stat().st_size < 100_000
    assert "has 4112 x 4112 pixels, more than the limit of 16777216 pixels" in refused(path)


@guarded_by(FRAMES)
def test_a_small_video_does_not_take_an_hour_by_its_frames(tmp_path, settings):
    settings.MAX_VIDEO_FRAMES = settings.MAX_VIDEO_FRAMES and 300
    assert "has 301 frames, more than the limit of 300 frames" in refused(flat(tmp_path / "long.mp4", n=301))


@guarded_by(SECONDS)
def test_a_video_does_not_last_for_days(tmp_path, settings):
    settings.MAX_VIDEO_SECONDS = settings.MAX_VIDEO_SECONDS and 10
    assert "more than the limit of 10 seconds" in refused(flat(tmp_path / "slow.mp4", n=3, rate=Fraction(1, 10)))


@guarded_by(STREAMS)
def test_a_video_has_no_thousand_streams(tmp_path, settings):
    settings.MAX_VIDEO_STREAMS = settings.MAX_VIDEO_STREAMS and 2
    with av.open(str(tmp_path / "many.mkv"), "w") as out:
        for stream in [out.add_stream("mpeg4", rate=8, width=64, height=32, pix_fmt="yuv420p") for _ in range(3)]:
            out.mux(stream.encode(av.VideoFrame.from_ndarray(painted_clip(1)[0], format="rgb24")))
            out.mux(stream.encode(None))
    assert "has 3 streams, more than the limit of 2 streams" in refused(tmp_path / "many.mkv")


@guarded_by(MEMORY)
def test_a_decoder_has_so_much_memory_and_no_more(tmp_path, settings):
    settings.MAX_DECODE_MEMORY_MB = settings.MAX_DECODE_MEMORY_MB and 8
    # Memory that a child has already is not counted again.
    end_children()
    assert "needs more than the limit of 8 MB of memory" in refused(flat(tmp_path / "clip.mp4", side=3072))


@guarded_by(TABLES)
def test_a_small_table_does_not_fill_the_memory(tmp_path, settings):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    settings.MAX_TABLE_MB = settings.MAX_TABLE_MB and 2
    captions = arrow.DictionaryArray.from_arrays(arrow.array([0] * 40, arrow.int32()), ["x" * 10**5])
    ids = arrow.array([str(number) for number in range(40)])
    parquet.write_table(arrow.table({"id": ids, "caption": captions}), tmp_path / "b.parquet", compression="zstd")
    assert (tmp_path / "b.parquet").stat().st_size < 5_000
    with pytest.raises(CorpusError, match="decodes to at least 3 MB, more than the limit of 2 MB; split it"):
        list(read_file(IMPORTERS["hf"], tmp_path / "b.parquet", {}))
