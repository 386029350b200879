"""Measure the search for natural pairs: seconds and memory against the number of captions.

Captions are drawn from templates with words of unequal frequency, so that short ones ("a man is …") fill large buckets,
as in real corpora. Each size runs in its own process; `ratio` is seconds per caption, relative to the smallest size.

    .venv/bin/python benchmarks/pairs.py [--sizes 10000,30000,100000]
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SUBJECTS = "man woman boy girl dog cat child player chef singer horse bird monkey person group driver dancer"
LOOKS = "young old small large happy black white brown tall blonde"
PLACES = "kitchen garden park street beach field stage gym pool forest office classroom garage river road"
DETAILS = "loudly quickly slowly carefully twice alone together outside today again"


def captions(n: int) -> Iterator[object]:
    """Yield n captions, each of its own clip; about a quarter have the shortest template."""
    from generation.pairs.records import PairCaption
    from generation.pairs.word_groups import NOUNS, VERBS

    rng = random.Random(n)
    verbs = [word.split("/")[0] for line in VERBS for word in line.split()]
    things = [word.split("/")[0] for line in NOUNS for word in line.split()]
    for number in range(n):
        subject, verb, thing = (_drawn(rng, words) for words in (SUBJECTS.split(), verbs, things))
        text = f"a {subject} is {verb}ing"
        if rng.random() < 0.75:
            text = (
                f"a {_drawn(rng, LOOKS.split())} {subject} is {verb}ing a {thing} in the {_drawn(rng, PLACES.split())}"
            )
        if rng.random() < 0.5:
            text += f" {_drawn(rng, DETAILS.split())}"
        label = f"class {rng.randrange(50)}"
        yield PairCaption(number, text, f"clip{number}", f"source{number}", label=label, duration=rng.uniform(2, 20))


def _drawn(rng: random.Random, words: Sequence[str]) -> str:
    """Draw a word: early ones are frequent."""
    return words[min(len(words) - 1, int(rng.expovariate(4 / len(words))))]


def measure(n: int) -> dict[str, object]:
    """Search n captions in this process."""
    from generation.pairs.natural import natural_pairs

    started = time.perf_counter()
    kinds = Counter(pair.change for pair in natural_pairs(captions(n)))  # type: ignore[arg-type]
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = sum(kinds.values())
    return {
        "captions": n,
        "seconds": round(seconds, 2),
        "peak_mb": round(peak),
        "pairs": found,
        "per_thousand": round(1000 * found / n, 1),
        "kinds": dict(kinds.most_common()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,30000,100000")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    per_caption = 0.0
    for size in options.sizes.split(","):
        command = [sys.executable, __file__, "--one", size]
        result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        cost = result["seconds"] / result["captions"]
        per_caption = per_caption or cost
        print(json.dumps({**result, "ratio": round(cost / per_caption, 2)}), flush=True)


if __name__ == "__main__":
    main()
