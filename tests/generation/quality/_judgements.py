"""The judgements of foils by readers: judged.tsv, its import from the readers' files, and what the page says of them.

judged.tsv has keys and no texts, because the captions are licensed. Readers see a caption and a foil, shuffled, and not
who made the foil. They answer three questions: g (grammatical), f (false given the caption), p (plausible).
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from evaluation.analyses.agreement_data import fleiss_kappa, percent_agreement
from evaluation.metrics.comparison import Difference, paired_difference
from tests.generation.quality import Result

QUESTIONS = "gfp"
READERS = ("A", "B")
HEADER = "# method, key of (caption, foil), origin, reader, verdict, failed questions. __main__.py explains them.\n"
# Names of the readers' files -> method; other files have the name of their method.
METHODS = {
    "gender": "gender_swap",
    "identity": "identity_swap",
    "prep": "preposition",
    "prepnatural": "preposition",
    "state": "state_change",
    "swap": "actor_swap",
}

Known = dict[tuple[str, str], dict[str, str]]


def key_of(caption: str, foil: str) -> str:
    """Return the key of a judged pair; it does not reveal the texts."""
    return hashlib.sha256(f"{caption.strip()}\n{foil.strip()}".encode()).hexdigest()[:16]


@dataclass(frozen=True, order=True)
class Judgement:
    """A reader's verdict on a foil; `failed`: the questions answered with no. `origin`: ours or authors."""

    method: str
    key: str
    origin: str
    reader: str
    failed: str

    def line(self) -> str:
        verdict = "fault" if self.failed else "accept"
        return "\t".join((self.method, self.key, self.origin, self.reader, verdict, self.failed or "-")) + "\n"


def stored(path: Path) -> list[Judgement]:
    """Return the judgements of judged.tsv."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    cells = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return [
        Judgement(method, key, origin, reader, failed.strip("-")) for method, key, origin, reader, _, failed in cells
    ]


def store(path: Path, folder: Path) -> tuple[int, int]:
    """Add the judgements of a folder to judged.tsv; return how many are new, and how many there are.

    A reader's first judgement of a foil counts. If the folder has new files, import it again.
    """
    found = {(one.method, one.key, one.origin, one.reader): one for one in stored(path)}
    before = len(found)
    for one in imported(folder):
        found.setdefault((one.method, one.key, one.origin, one.reader), one)
    path.write_text(HEADER + "".join(one.line() for one in sorted(found.values())), encoding="utf-8")
    return len(found) - before, len(found)


def imported(folder: Path) -> Iterator[Judgement]:
    """Yield the judgements of NAME.A.jsonl and NAME.B.jsonl on the foils of NAME.tsv (n, caption, foil).

    NAME.key.json has the origin of each line; without it, all foils are ours. The digits that end NAME do not count.
    """
    for path in sorted(folder.glob("*.tsv")):
        name = path.stem.rstrip("0123456789")
        key_file = path.with_suffix(".key.json")
        origins = json.loads(key_file.read_text(encoding="utf-8")) if key_file.exists() else []
        pairs = [line.split("\t")[1:3] for line in path.read_text(encoding="utf-8").splitlines()[1:]]
        for reader in READERS:
            for n, failed in _answers(path.with_suffix(f".{reader}.jsonl")):
                origin = origins[n] if origins else "ours"
                yield Judgement(METHODS.get(name, name), key_of(*pairs[n]), origin, reader, failed)


def _answers(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else (), 1):
        try:
            answer = json.loads(line)
            yield answer["n"], "".join(question for question in QUESTIONS if not answer[question])
        except (ValueError, KeyError, TypeError) as error:
            form = '{"n": 0, "g": 1, "f": 1, "p": 1}'
            raise SystemExit(f"{path}:{number}: not a judgement; write it as {form}") from error


def by_text(judgements: Iterable[Judgement]) -> Known:
    """Return (method, key) -> {reader: failed questions}, whoever made the foil; the first judgement counts."""
    known: Known = {}
    for one in judgements:
        known.setdefault((one.method, one.key), {}).setdefault(one.reader, one.failed)
    return known


@dataclass
class Verdicts:
    """One reader's verdicts on the foils of some captions: caption -> foil -> failed questions."""

    by_caption: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, caption: str, foil: str, failed: str) -> None:
        self.by_caption.setdefault(caption.strip(), {})[foil.strip()] = failed

    @property
    def failed(self) -> list[str]:
        return [failed for foils in self.by_caption.values() for failed in foils.values()]

    def among(self, captions: Iterable[str]) -> "Verdicts":
        """Return the verdicts on these captions alone."""
        return Verdicts({caption: self.by_caption[caption] for caption in captions if caption in self.by_caption})

    def share(self, caption: str) -> float:
        """Return the share of the caption's judged foils that are accepted."""
        failed = list(self.by_caption[caption].values())
        return failed.count("") / len(failed)


def verdicts(method: str, results: Iterable[Result], origin: str, reader: str, known: Known) -> Verdicts:
    """Return a reader's verdicts on the foils of `origin`: "foils" (made now) or "authors"."""
    found = Verdicts()
    for result in results:
        for foil in getattr(result, origin):
            failed = known.get((method, key_of(result.caption, foil)), {}).get(reader)
            if failed is not None:
                found.add(result.caption, foil, failed)
    return found


def difference(ours: Verdicts, authors: Verdicts) -> Difference:
    """Return our share minus the authors', paired by caption, with a percentile interval over captions."""
    both = sorted(ours.by_caption.keys() & authors.by_caption.keys())
    a, b = (np.array([side.share(caption) for caption in both]) for side in (ours, authors))
    return paired_difference(a, b, None)


def agreement(
    method: str, known: Mapping[tuple[str, str], Mapping[str, str]]
) -> tuple[int, float | None, float | None]:
    """Return how many foils of a method both readers judged, the share of equal verdicts, and Fleiss' kappa."""
    judged = [by for (of, _), by in known.items() if of == method and len(by) == len(READERS)]
    counts = np.array([[list(by.values()).count(""), sum(map(bool, by.values()))] for by in judged], dtype=np.int64)
    counts = counts.reshape(-1, 2)
    return len(judged), percent_agreement(counts), fleiss_kappa(counts)
