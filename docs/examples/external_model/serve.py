"""A model outside transformers, as foilworks asks it: JSON lines in, JSON lines out. Needs numpy and nothing else.

This one reads how bright a clip is and matches that with the words of the texts. Put your own model in its place:
load it before the first line is printed, and keep stdout for answers alone (logs go to stderr).
"""

import json
import os
import sys

import numpy as np

BRIGHT, DARK = {"bright", "white", "light", "day"}, {"dark", "black", "night"}


def main() -> None:
    print(f"on {os.environ['FOILWORKS_DEVICE']}", file=sys.stderr)
    answer(
        {
            "protocol": 1,
            "model_id": "example/brightness",
            "revision": "1",
            "interface": "scorer",
            "kind": "logit",
            "frames": 4,
            "size": None,
        }
    )
    for line in sys.stdin:
        question = json.loads(line)
        try:
            frames = np.load(question["video"]["frames"])  # uint8 (frames, height, width, 3), RGB
            brightness = frames.mean() / 127.5 - 1
            scores = [brightness * wanted(text) for text in question["texts"]]
        except (OSError, ValueError) as error:
            # This clip is listed in the run; the next one is asked as if nothing had been.
            answer({"id": question["id"], "error": str(error)})
            continue
        answer({"id": question["id"], "scores": scores})


def wanted(text: str) -> float:
    words = set(text.lower().split())
    return float(len(words & BRIGHT) - len(words & DARK))


def answer(said: dict) -> None:
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
