"""Serve a model outside transformers to Foilworks: JSON lines in, JSON lines out. Needs only numpy.

This model measures the brightness of a clip and compares it with words of the texts. Replace it with your own model.
Load the model before you print the first line, and print only answers on stdout (logs go to stderr).
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
            # The run lists this clip as failed and continues with the next one.
            answer({"id": question["id"], "error": str(error)})
            continue
        answer({"id": question["id"], "scores": scores})


def wanted(text: str) -> float:
    words = set(text.lower().split())
    return float(len(words & BRIGHT) - len(words & DARK))


def answer(message: dict) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
