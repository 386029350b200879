"""Captions a second and peak memory of each rule method, over as many captions as asked for (100,000).

    .venv/bin/python benchmarks/rule_methods.py [--captions 100000] [--methods number,preposition] [--mode corrected]

Each method runs in a process of its own, twice: over a tenth of the captions and over all of them, so that growth of
memory with their number can be seen. Captions are written as they are read: sentences of 16 templates with drawn words.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from generation import pipeline  # noqa: E402 (the root must be on the path first)
from generation.methods.registry import METHODS  # noqa: E402
from generation.records import MODES, CaptionInput  # noqa: E402
from text.registry import load, parse_params  # noqa: E402

RULES = (
    "number",
    "preposition",
    "state_change",
    "actor_swap",
    "gender_swap",
    "identity_swap",
    "existence",
    "random_caption",
)
PERSONS = ("man", "woman", "boy", "girl", "policeman", "chef", "soldier", "dancer", "old lady", "young guy")
THINGS = (
    "cup",
    "box",
    "red shirt",
    "paper",
    "door",
    "bottle",
    "wooden chair",
    "laptop",
    "ball",
    "blue towel",
    "phone",
)
PLACES = ("on a table", "in a kitchen", "under a tree", "behind a car", "in front of a house", "next to a pool")
COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NAMES = [{"name": f"Name{n}", "gender": "f" if n % 2 else "m", "movie": f"movie{n % 20}"} for n in range(400)]
TEMPLATES = (
    "a {person} folds a {thing} {place}.",
    "a {person} opens the {thing} and closes it again",
    "Initially, the {thing} is unfolded.",
    "A {person} pushes a {other} {place}.",
    "a {person} in red chases two dogs",
    "a {person} claps exactly {count} times {place}",
    "someone does exactly {count} push-ups",
    "there is at least one {thing}",
    "there are some {thing}s",
    "{name} looks at {second} {place}.",
    "a woman pushes her {thing} {place}",
    "two men carry a {thing} out of a house",
    "a {person} takes off his {thing}",
    "pouring water into a {thing} from left to right",
    "a {other} throws his {thing} to a {person}",
    "the {thing} falls off of a shelf",
)


class Captions:
    """`number` captions, the same each time they are gone through; none is kept."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __iter__(self) -> Iterator[CaptionInput]:
        rng = random.Random(7)
        for n in range(self.number):
            movie = n % 20
            # Names of one movie: their numbers share its remainder.
            first, second = (f"Name{movie + 20 * rng.randrange(20)}" for _ in range(2))
            text = rng.choice(TEMPLATES).format(
                person=rng.choice(PERSONS),
                other=rng.choice(PERSONS),
                thing=rng.choice(THINGS),
                place=rng.choice(PLACES),
                count=rng.choice(COUNTS),
                name=first,
                second=second,
            )
            yield CaptionInput(f"c{n}", text, f"v{n // 2}", facts={"movie": f"movie{movie}"})


def measure(slug: str, number: int, mode: str) -> dict[str, float]:
    """Seconds, foils and peak memory (MiB) of one method in this process; foils are judged by no filter."""
    raw = {"characters": NAMES} if slug == "identity_swap" else {}
    method = pipeline.Step(slug, load(METHODS[slug]), parse_params(METHODS[slug], raw))
    captions = Captions(number)
    begun = time.perf_counter()
    state = pipeline.prepare(method, captions, mode=mode, seed=0)
    foils = sum(len(one.foils) for one in pipeline.run(method, captions, mode=mode, seed=0, state=state))
    seconds = time.perf_counter() - begun
    unit = 1024**2 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return {"captions": number, "seconds": seconds, "foils": foils, "peak_mib": peak}


def _in_own_process(slug: str, number: int, mode: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", slug, "--captions", str(number), "--mode", mode]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description="Rate and memory of the foil methods by rule.")
    parser.add_argument("--captions", type=int, default=100_000)
    parser.add_argument("--methods", default=",".join(RULES))
    parser.add_argument("--mode", choices=MODES, default="corrected")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.captions, options.mode)))
        return
    print(f"{'method':16}{'captions':>10}{'captions/s':>12}{'foils':>9}{'peak MiB':>10}{'at a tenth':>12}")
    for slug in options.methods.split(","):
        tenth = _in_own_process(slug, max(1, options.captions // 10), options.mode)
        whole = _in_own_process(slug, options.captions, options.mode)
        rate = whole["captions"] / whole["seconds"]
        print(
            f"{slug:16}{whole['captions']:>10,.0f}{rate:>12,.0f}{whole['foils']:>9,.0f}{whole['peak_mib']:>10.0f}"
            f"{tenth['peak_mib']:>12.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
