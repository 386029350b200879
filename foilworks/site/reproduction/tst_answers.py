"""Score the authors' answers of models to VSI-Bench, question by question (TsT, Tables 2 and 8-13). No tables, pure."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foilworks.core.text.language.numbers import VALUES

DISTANCE, SIZE = "object_abs_distance", "object_size_estimation"
NUMERIC = {DISTANCE, SIZE, "object_counting", "room_size_estimation"}
NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*")
# Relative errors that an answer may have: mean relative accuracy is the share of them that it keeps.
CONFIDENCES = np.linspace(0.5, 0.95, 10)
CENTIMETRES = re.compile(r"centimeter|\bcm\b")
MILLIMETRES = re.compile(r"millimeter|\bmm\b")
METRES = re.compile(r"meter|\bm\b")
N_DRAWS = 10
FACTORS = {"hundred": 100, "thousand": 1000}
_WORD = "|".join(sorted((*VALUES, *FACTORS), key=len, reverse=True))
WRITTEN = re.compile(rf"\b(?:{_WORD})(?:[\s-]+(?:and\s+)?(?:{_WORD}))*\b")


@dataclass(frozen=True)
class Answers:
    """Answers of one run by the question's id: its type, and its score in 0..1."""

    types: Mapping[str, str]
    scores: Mapping[str, float]

    def mean(self, ids: Collection[str]) -> float:
        """Return the mean score of the questions in percent."""
        return 100 * float(np.mean([self.scores[name] for name in ids]))

    def of(self, names: Collection[str]) -> "Answers":
        """Return the answers to these questions."""
        return Answers(self.types, {name: score for name, score in self.scores.items() if name in names})


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a JSON Lines file, compressed or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def read_answers(path: Path, *, is_logged: bool) -> Answers:
    """Return the scores of a file of answers.

    `is_logged`: numbers have the score that the authors logged; otherwise their answer is read again (TsT, Table 12).
    """
    types, scores = {}, {}
    for row in rows_of(path):
        kind, name = str(row["question_type"]), str(row["id"])
        if kind not in NUMERIC:
            score = row.get("accuracy")
        elif is_logged:
            score = row.get("MRA:.5:.95:.05")
        else:
            score = relative_accuracy(number_of(str(row["prediction"]), kind), float(row["ground_truth"]))
        if score is not None:
            types[name], scores[name] = kind, float(score)
    return Answers(types, scores)


def number_of(answer: str, kind: str) -> float | None:
    """Return the first number of an answer in the unit of the question's type; None without a number.

    As the authors read it: an answer in millimetres to a question of sizes is read as if in metres.
    """
    text = answer.strip().lower()
    digits = WRITTEN.sub(lambda words: str(_value(words[0])), text.rstrip(".").strip())
    match = NUMBER.search(digits.replace(",", ""))
    if match is None:
        return None
    value = float(match[0])
    is_centimetres, is_millimetres = CENTIMETRES.search(text), MILLIMETRES.search(text)
    if kind == DISTANCE:
        return value / 100 if is_centimetres else value / 1000 if is_millimetres else value
    if kind == SIZE and not is_centimetres:
        return value * 100 if METRES.search(text) else value / 10 if is_millimetres else value
    return value


def _value(words: str) -> int:
    """Return the value of written numbers, such as "two hundred and five"."""
    total = current = 0
    for word in re.findall(_WORD, words):
        if word in FACTORS:
            current = max(current, 1) * FACTORS[word]
        elif current and current % 1000 == 0:
            total, current = total + current, VALUES[word]
        else:
            current += VALUES[word]
    return total + current


def relative_accuracy(answer: float | None, truth: float) -> float:
    """Return the mean relative accuracy: the share of `CONFIDENCES` c with a relative error of at most 1 - c."""
    if answer is None or not truth:
        return 0.0
    return float((abs(answer - truth) / abs(truth) <= 1 - CONFIDENCES).mean())


def shared_ids(vision: Answers, blind: Answers) -> list[str]:
    """Return the ids of the questions with both answers, sorted as texts: random removals draw from this order."""
    return sorted(vision.scores.keys() & blind.scores.keys())


def gaps(vision: Answers, blind: Answers, removed: Collection[str]) -> tuple[float, ...]:
    """Return vision, blind and their gap in percent, for all questions and without the removed ones."""
    ids = shared_ids(vision, blind)
    means = [
        run.mean(names) for names in (ids, [name for name in ids if name not in removed]) for run in (vision, blind)
    ]
    return means[0], means[1], means[0] - means[1], means[2], means[3], means[2] - means[3]


def random_gaps(vision: Answers, blind: Answers, n_removed: int) -> list[float]:
    """Return the gap without `n_removed` questions at random, for the seeds 0 to 9 (TsT, Table 11)."""
    ids = shared_ids(vision, blind)
    differences = np.array([vision.scores[name] - blind.scores[name] for name in ids])
    drawn_gaps = []
    for seed in range(N_DRAWS):
        removed = np.random.default_rng(seed).choice(len(ids), size=n_removed, replace=False)
        drawn_gaps.append(100 * float(np.delete(differences, removed).mean()))
    return drawn_gaps


def removal_counts(types: Mapping[str, str], removed: Collection[str]) -> Counter[str]:
    """Return how many questions of each type are removed."""
    return Counter(types[name] for name in removed if name in types)
