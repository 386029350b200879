"""Eight small videos of moving squares with their captions, for the tutorial: stand-ins for your own.

python docs/examples/own_clips.py my-clips     (the folder that is made)
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np

from media.encode import write_mp4

SIDE, SQUARE, FRAMES, RATE = 128, 24, 36, 12.0
COLOURS = {"red": (200, 40, 40), "blue": (40, 70, 200)}
# Where the square is at the beginning and at the end, across and down, in shares of the free way.
WAYS = {"right": (0, 0.5, 1, 0.5), "left": (1, 0.5, 0, 0.5), "top": (0.5, 1, 0.5, 0), "bottom": (0.5, 0, 0.5, 1)}


def pictures(colour: str, way: str) -> list[np.ndarray]:
    """uint8 (FRAMES, SIDE, SIDE, 3): one square on a light field."""
    x0, y0, x1, y1 = WAYS[way]
    clip = []
    for share in np.linspace(0, 1, FRAMES):
        picture = np.full((SIDE, SIDE, 3), 230, np.uint8)
        x, y = (round((SIDE - SQUARE) * (a + (b - a) * share)) for a, b in ((x0, x1), (y0, y1)))
        picture[y : y + SQUARE, x : x + SQUARE] = COLOURS[colour]
        clip.append(picture)
    return clip


def make(folder: Path) -> None:
    """The red clips are listed in clips.jsonl, the blue ones in more.csv: the tutorial brings them in by two ways."""
    folder.mkdir(parents=True)
    rows = []
    for colour in COLOURS:
        for way in WAYS:
            write_mp4(folder / f"{colour}-{way}.mp4", pictures(colour, way), RATE)
            caption = f"a {colour} square moves to the {way}."
            rows.append({"id": f"{colour}-{way}", "video": f"{colour}-{way}.mp4", "caption": caption})
    red, blue = rows[: len(WAYS)], rows[len(WAYS) :]
    (folder / "clips.jsonl").write_text("".join(json.dumps(row) + "\n" for row in red), encoding="utf-8")
    with (folder / "more.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(blue[0]))
        writer.writeheader()
        writer.writerows(blue)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
