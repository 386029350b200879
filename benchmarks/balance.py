"""Balanced selection of 20,000 candidates: seconds, what is kept, and how far the proof of the largest choice came.

Worlds differ in how many words there are, how many foils a caption has, and how alike captions and foils use them.

    .venv/bin/python benchmarks/balance.py [--candidates 20000]
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path

# Before this folder, which holds files of the packages' names.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from generation.balance.records import Pair, of_kept, word_counts
from generation.balance.selection import select

# (words, foils a caption, share of foils with a second word, whether foils use words as captions do)
WORLDS = ((300, 1, 0.0, False), (300, 5, 0.0, False), (300, 5, 0.3, True), (3000, 4, 0.3, True), (50, 5, 0.3, True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=20_000)
    options = parser.parse_args()
    for world in WORLDS:
        pairs = _pairs(options.candidates, *world)
        began = time.perf_counter()
        chosen = select(pairs)
        took = time.perf_counter() - began
        assert {row.excess for row in word_counts(of_kept(pairs, chosen.kept))} <= {0}
        found = {"candidates": len(pairs), "kept": len(chosen.kept), "at_most": chosen.at_most}
        print(
            json.dumps(
                {
                    "words": world[0],
                    "foils": world[1],
                    "phrases": world[2],
                    "alike": world[3],
                    **found,
                    "seconds": round(took, 2),
                }
            )
        )


def _pairs(count: int, words: int, foils: int, phrases: float, alike: bool) -> list[Pair]:
    generator = random.Random(1)
    vocabulary = [f"w{n}" for n in range(words)]
    # Zipf's law, as verbs in captions have it.
    source_weights = [1 / (n + 1) for n in range(words)]
    target_weights = source_weights if alike else generator.sample(source_weights, words)
    found = []
    for group in range(count // foils):
        source = generator.choices(vocabulary, source_weights)[0]
        for number in range(foils):
            target = generator.choices(vocabulary, target_weights)[0]
            second = " " + generator.choice(("off", "up", "on", "in")) if generator.random() < phrases else ""
            found.append(Pair(f"{group}-{number}", str(group), f"we {source} it", f"we {target}{second} it"))
    return found


if __name__ == "__main__":
    main()
