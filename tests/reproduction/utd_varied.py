"""Made files in the form of UTD whose numbers differ from cell to cell: some frames have no text. Pure."""

import csv
import json
import random
from pathlib import Path

N_CLASSES = 12
# Concept -> how often the text of a frame names what the video is about.
CHANCES = {
    "objects+composition+activities": 0.4,
    "objects+composition+activities_15_words": 0.5,
    "objects": 0.15,
    "activities": 0.3,
    "verbs": 0.08,
}


def write(folder: Path) -> Path:
    """Write descriptions and lists whose numbers differ from cell to cell: some frames are empty, few texts repeat."""
    draw = random.Random(2)
    # Long texts of different lengths, because the code of the authors gives a tie to the first class.
    classes = {f"act{n}": f"act{n} act{n}s {_words(draw, 40 + 3 * n)}" for n in range(N_CLASSES)}
    for split, n_videos in (("trainlist01", 48), ("testlist01", 60)):
        targets = [f"act{number % N_CLASSES}" for number in range(n_videos)]
        rows = [{"class_name": name, "class_text": classes[name]} for name in targets]
        _write_set(folder, "ucf", split, targets, rows, draw)
    rows = [{"class_name": name, "class_text": text} for name, text in classes.items()]
    _write_rows(folder / "metadata/ucf/classes.csv", rows)
    targets = [f"scene{number}" for number in range(40)]
    captions = [{"captions": str([f"{name} {_words(draw, 2)}", f"{name} {_words(draw, 3)}"])} for name in targets]
    _write_set(folder, "msrvtt", "test", targets, captions, draw)
    return folder


def _write_set(
    folder: Path, name: str, split: str, targets: list[str], rows: list[dict[str, str]], draw: random.Random
) -> None:
    videos = [f"{split}{number:03}" for number in range(len(targets))]
    files = [{"video_id": video, "full_path": f"{video}.mp4"} for video in videos]
    _write_rows(
        folder / f"metadata/{name}/{split}_info.csv", [file | row for file, row in zip(files, rows, strict=True)]
    )
    described = {video: _described(target, draw) for video, target in zip(videos, targets, strict=True)}
    path = folder / f"UTD_descriptions/annotations_{name}_{split}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(described), encoding="utf-8")


def _described(target: str, draw: random.Random) -> dict[str, list[str]]:
    """Return the texts of eight frames per concept; each names its target with another chance."""
    texts = {
        concept: [f"{target if draw.random() < share else ''} {_words(draw, 4)}".strip() for _frame in range(8)]
        for concept, share in CHANCES.items()
    }
    # No text in two frames; never in the middle one.
    texts["verbs"][0] = texts["activities"][5] = ""
    return texts


def _words(draw: random.Random, n: int) -> str:
    return " ".join(f"w{draw.randrange(200)}" for _word in range(n))


def _write_rows(path: Path, rows: list[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
