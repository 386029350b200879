"""Make eight small videos of moving squares with captions, as stand-ins for your own clips (docs/tutorial.md).

python docs/examples/own_clips.py my-clips     (creates this folder)
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np

from foilworks.core.media.encode import write_mp4

SIDE, SQUARE, FRAMES, RATE = 128, 24, 36, 12.0
COLOURS = {"red": (200, 40, 40), "blue": (40, 70, 200)}
# Position of the square at the start and at the end: (x0, y0, x1, y1), as shares of the free width and height.
WAYS = {"right": (0, 0.5, 1, 0.5), "left": (1, 0.5, 0, 0.5), "top": (0.5, 1, 0.5, 0), "bottom": (0.5, 0, 0.5, 1)}


def pictures(colour: str, way: str) -> list[np.ndarray]:
    """Draw one square that moves on a light background: FRAMES pictures, each uint8 (SIDE, SIDE, 3)."""
    x0, y0, x1, y1 = WAYS[way]
    clip = []
    for share in np.linspace(0, 1, FRAMES):
        picture = np.full((SIDE, SIDE, 3), 230, np.uint8)
        x, y = (round((SIDE - SQUARE) * (a + (b - a) * share)) for a, b in ((x0, x1), (y0, y1)))
        picture[y : y + SQUARE, x : x + SQUARE] = COLOURS[colour]
        clip.append(picture)
    return clip


def make(folder: Path) -> None:
    """Write the clips; list the red ones in clips.jsonl and the blue ones in more.csv, to import in two ways."""
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
