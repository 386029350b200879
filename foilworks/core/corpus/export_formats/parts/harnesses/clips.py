"""Find the clip of an item below `videos/`, or below the folder in FOILWORKS_VIDEOS. Trims are cut by ffmpeg."""

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def clip_of(item: dict) -> str:
    """Return the path of the item's clip. FileNotFoundError: the video is not there; it names where it should be."""
    root = Path(os.environ.get("FOILWORKS_VIDEOS") or FOLDER / "videos")
    exact_path = root / item["video"]
    path = exact_path if exact_path.is_file() else next(iter(sorted(root.glob(f"{item['video']}.*"))), None)
    if path is None:
        raise FileNotFoundError(f"{exact_path}: there is no such video; copy it there, or set FOILWORKS_VIDEOS")
    if item.get("start") is None and item.get("end") is None:
        return str(path)
    return _cut(path, item)


def _cut(path: Path, item: dict) -> str:
    """Cut the trim once; later calls find it."""
    if item["unit"] != "sec":
        raise ValueError(f"{item['id']}: its trim is in {item['unit']}; cut the clip yourself and remove start and end")
    start, end = item["start"] or 0.0, item["end"]
    name = hashlib.sha256(f"{path.resolve()} {path.stat().st_mtime_ns} {start} {end}".encode()).hexdigest()[:24]
    cut = Path(os.environ.get("FOILWORKS_CLIPS") or FOLDER / "clips") / f"{name}.mp4"
    if cut.is_file():
        return str(cut)
    cut.parent.mkdir(parents=True, exist_ok=True)
    length = [] if end is None else ["-t", str(end - start)]
    with tempfile.NamedTemporaryFile(dir=cut.parent, suffix=".mp4", delete=False) as temp_file:
        command = ["ffmpeg", "-v", "error", "-y", "-ss", str(start), "-i", str(path), *length, "-an", temp_file.name]
        subprocess.run(command, check=True)
    Path(temp_file.name).replace(cut)
    return str(cut)
