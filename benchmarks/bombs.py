"""Import small files that decode to huge ones: print the result, the seconds and the peak memory.

Each file is imported by a process of its own, as `foilworks import` would; the peak is the larger of that process and
the child that decodes. The last two files are at a limit and are accepted. --folder keeps the files.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ["DJANGO_SETTINGS_MODULE"] = "foilworks.site.settings"
MAX_MB, MAX_SECONDS = 500, 5.0
QUICK = {"preset": "ultrafast", "tune": "zerolatency", "threads": "1"}
LONG_TEXT = "x" * 1_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--make", help=argparse.SUPPRESS)
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        FILES[options.make](options.folder / options.make)
        return 0
    if options.read:
        print(json.dumps(read(options.folder)))
        return 0
    with tempfile.TemporaryDirectory(prefix="foilworks-bombs-") as home:
        folder = options.folder or Path(home) / "files"
        folder.mkdir(parents=True, exist_ok=True)
        rows = [measured(folder, name, home) for name in FILES]
    bombs = [row for row in rows if "taken" not in row["answer"]]
    worst = max(row["mb"] for row in bombs), max(row["seconds"] for row in bombs)
    print(f"worst of the refused files: {worst[0]} MB, {worst[1]} s (limits: {MAX_MB} MB, {MAX_SECONDS:g} s)")
    return int(worst[0] > MAX_MB or worst[1] > MAX_SECONDS)


def measured(folder: Path, name: str, home: str) -> dict[str, object]:
    """Create the file if it is missing, import it, print and return the row."""
    if not (folder / name).exists():
        subprocess.run([sys.executable, __file__, "--folder", str(folder), "--make", name], check=True)
    env = {**os.environ, "FOILWORKS_HOME": home}
    command = [sys.executable, __file__, "--folder", str(folder / name), "--read"]
    row = json.loads(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)
    size = (folder / name).stat().st_size
    print(f"{name:22} {size:>9,} bytes  {row['seconds']:>5} s  {row['mb']:>4} MB  {row['answer']}", flush=True)
    return row


def read(path: Path) -> dict[str, object]:
    import django

    django.setup()
    from foilworks.core.corpus.errors import CorpusError
    from foilworks.core.corpus.import_formats.registry import IMPORTERS
    from foilworks.core.corpus.limits import read_file
    from foilworks.core.corpus.video_files.ingest import store_media
    from foilworks.core.media.child import end_children

    began = time.perf_counter()
    if path.suffix == ".parquet":
        try:
            answer = f"accepted: {sum(1 for _ in read_file(IMPORTERS['hf'], path, {}))} records"
        except CorpusError as error:
            answer = str(error).replace(f"{path}: ", "")
    else:
        kept = store_media(path, copy=False)
        answer = kept.error.replace(f"{path.name}: ", "") or f"accepted: {kept.facts.n_frames} frames"
    seconds = round(time.perf_counter() - began, 2)
    end_children()
    peaks = [resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {"seconds": seconds, "mb": max(peaks), "answer": answer}


def video(path: Path, width: int, height: int, n: int, codec: str = "libx264") -> None:
    """Make frames of one grey."""
    with av.open(str(path), "w") as out:
        stream = out.add_stream(codec, rate=25, options=QUICK if codec == "libx264" else {})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        frame = av.VideoFrame(width, height, "yuv420p")
        for plane in frame.planes:
            plane.update(bytes([128]) * plane.buffer_size)
        frame.time_base = Fraction(1, 25)
        for number in range(n):
            frame.pts = number
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))


def claimed(path: Path) -> None:
    """Make a VP9 clip whose frames claim to be 16,384 x 16,384: no available encoder makes real ones."""
    video(path, 64, 64, 2, "libvpx-vp9")
    data = bytearray(path.read_bytes())
    start = data.index(b"\x49\x83\x42") - 1
    bits = int.from_bytes(data[start : start + 9], "big")
    # After 36 bits of the header: width and height minus one, 16 bits each.
    sizes = 0xFFFFFFFF << 4
    data[start : start + 9] = (bits & ~sizes | (16_383 << 16 | 16_383) << 4).to_bytes(9, "big")
    path.write_bytes(data)


def table(path: Path, *, dictionary: bool, in_one_row: bool = False) -> None:
    """Make 1,000 captions, or one record of 1,000 foils, of a megabyte each."""
    import pyarrow
    import pyarrow.parquet

    texts = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 1000, pyarrow.int32()), [LONG_TEXT])
    if not dictionary:
        texts = texts.cast(pyarrow.string())
    if in_one_row:
        foils = pyarrow.ListArray.from_arrays([0, 1000], texts)
        content = {"id": ["1"], "caption": ["A man walks."], "foils": foils}
    else:
        content = {"id": [str(number) for number in range(1000)], "caption": texts}
    encoding = {} if dictionary else {"use_dictionary": False, "column_encoding": {"caption": "DELTA_BYTE_ARRAY"}}
    pyarrow.parquet.write_table(pyarrow.table(content), path, compression="zstd", **encoding)


FILES: dict[str, Callable[[Path], None]] = {
    "16384x16384.webm": claimed,
    "16000x16000.mp4": lambda path: video(path, 16_000, 16_000, 1),
    "8192x8192.mp4": lambda path: video(path, 8192, 8192, 2),
    "100000-frames.mp4": lambda path: video(path, 16, 16, 100_000),
    "100000-frames.mkv": lambda path: video(path, 16, 16, 100_000),
    "dictionary.parquet": lambda path: table(path, dictionary=True),
    "one-row.parquet": lambda path: table(path, dictionary=True, in_one_row=True),
    "prefixes.parquet": lambda path: table(path, dictionary=False),
    "4096x4096.mp4": lambda path: video(path, 4096, 4096, 25),
    "4096x4096.mkv": lambda path: video(path, 4096, 4096, 25, "libx265"),
}


if __name__ == "__main__":
    sys.exit(main())
