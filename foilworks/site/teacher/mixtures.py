"""Mix the negatives of a training from several sources by stated shares. Pure.

A source is `run:ID`, `subtest:NAME`, `imported`, `people` or `pairs`. Each caption gets up to `count` negatives, one
after the other from the source that is furthest below its share over all captions so far. So a source that has too few
texts for one caption makes up for that at other captions, if it can.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.errors import EvaluationError
from foilworks.core.text.quoting import quoted

RUN, SUBTEST, IMPORTED, PEOPLE, PAIRS = "run", "subtest", "imported", "people", "pairs"
# Sources without a name after a colon.
PLAIN = (IMPORTED, PEOPLE, PAIRS)
FORMS = ("run:ID", "subtest:NAME", *PLAIN)
# As in the paper's default (Feint6K, Sec. 5.1).
PER_CAPTION = 10
MAX_PER_CAPTION = 1000
ROUNDING = 1e-6
NEGATIVES, COUNT, MIX_SEED = "negatives", "per_caption", "negatives_seed"


@dataclass(frozen=True)
class Source:
    """One source with its share of all negatives; `name` is the run's id or the subtest's name."""

    kind: str
    name: str
    share: float

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind

    def __str__(self) -> str:
        return f"{self.key}={self.share:.10g}"


@dataclass(frozen=True)
class Mixture:
    """`count` negatives per caption from the sources; `seed` draws among the texts of a source that is not a run."""

    sources: tuple[Source, ...]
    count: int = PER_CAPTION
    seed: int = 0

    @property
    def params(self) -> dict[str, Any]:
        """Return the mixture as parameters of a training."""
        return {NEGATIVES: list(map(str, self.sources)), COUNT: self.count, MIX_SEED: self.seed}


def mixture_of(lines: Sequence[str], count: int = PER_CAPTION, seed: int = 0) -> Mixture | None:
    """Read `SOURCE=SHARE` of each source, or SOURCE alone for equal shares; None without any.

    EvaluationError: an unknown or repeated source, shares that do not add up to 1.
    """
    if not lines:
        return None
    if not 1 <= count <= MAX_PER_CAPTION:
        raise EvaluationError(f"per_caption: is {count}; give a number from 1 to {MAX_PER_CAPTION}")
    read = [_source(line) for line in lines]
    with_share = [share for _, _, share in read if share is not None]
    if with_share and len(with_share) < len(read):
        raise EvaluationError("negatives: some sources have a share and some have none; give all of them one, or none")
    if with_share and abs(sum(with_share) - 1) > ROUNDING:
        raise EvaluationError(f"negatives: the shares add up to {sum(with_share):g}; give shares that add up to 1")
    equal = 1 / len(read)
    sources = tuple(Source(kind, name, equal if share is None else share) for kind, name, share in read)
    keys = [source.key for source in sources]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise EvaluationError(f"negatives: {quoted(twice[0])} is there more than once; give each source once")
    return Mixture(sources, count, seed)


def mixture_in(params: Mapping[str, Any]) -> Mixture | None:
    """Return the mixture that a training's parameters have, None for the paper's runs of actions and objects."""
    return mixture_of(params.get(NEGATIVES, ()), params.get(COUNT, PER_CAPTION), params.get(MIX_SEED, 0))


def _source(line: str) -> tuple[str, str, float | None]:
    key, share = line.strip(), None
    head, mark, tail = key.rpartition("=")
    if mark:
        try:
            share = float(tail)
        except ValueError:
            # The name of a subtest may contain the sign.
            share = None
        else:
            key = head.strip()
    if share is not None and not 0 < share <= 1:
        raise EvaluationError(
            f"negatives: the share of {quoted(key)} is {tail.strip()}; give a number above 0 and up to 1"
        )
    kind, colon, name = key.partition(":")
    name = name.strip()
    if (kind in PLAIN and not colon) or (kind == SUBTEST and name) or (kind == RUN and name.isdecimal()):
        return kind, name, share
    raise EvaluationError(f"negatives: {quoted(line)} is not a source; give one of: {', '.join(FORMS)}")


@dataclass(frozen=True)
class Mixed:
    """The negatives by caption, how many each source gave, and how many texts it had."""

    negatives: dict[int, list[str]]
    taken: dict[str, int]
    available: dict[str, int]

    def shares(self, mixture: Mixture) -> list[dict[str, Any]]:
        """Return a row per source: its stated share, the achieved one, and `missing` where it had too few texts."""
        total = sum(self.taken.values())
        rows = []
        for source in mixture.sources:
            taken = self.taken[source.key]
            # Less than one text is rounding.
            missing = max(0, round(source.share * total - taken))
            rows.append(
                {
                    "source": source.key,
                    "share": source.share,
                    "achieved": taken / total if total else 0.0,
                    "negatives": taken,
                    "available": self.available[source.key],
                    "missing": missing,
                }
            )
        return rows


def mixed(mixture: Mixture, texts: Mapping[str, Mapping[int, Sequence[str]]]) -> Mixed:
    """Choose the negatives of each caption from {source: {caption: its texts, the preferred first}}.

    Depends only on the texts and the mixture.
    """
    captions = sorted({caption for of_source in texts.values() for caption in of_source})
    taken = {source.key: 0 for source in mixture.sources}
    negatives_by_caption: dict[int, list[str]] = {}
    # Captions with few sources first: the others can make up for what these lack.
    captions.sort(
        key=lambda caption: (sum(bool(texts[key].get(caption)) for key in taken), _mark(mixture.seed, caption))
    )
    for caption in captions:
        remaining_texts = {
            source.key: _ordered(mixture, source, texts[source.key].get(caption, ())) for source in mixture.sources
        }
        negatives: list[str] = []
        while len(negatives) < mixture.count and (
            open_sources := [key for key in remaining_texts if remaining_texts[key]]
        ):
            total = sum(taken.values()) + 1
            behind = {source.key: source.share * total - taken[source.key] for source in mixture.sources}
            key = max(open_sources, key=behind.__getitem__)
            taken[key] += _take(remaining_texts[key], negatives)
        negatives_by_caption[caption] = negatives
    available = {key: sum(map(len, texts[key].values())) for key in taken}
    return Mixed(negatives_by_caption, taken, available)


def _take(texts: list[str], negatives: list[str]) -> int:
    """Move the next text that no other source gave; return how many were moved."""
    while texts:
        text = texts.pop(0)
        if text not in negatives:
            negatives.append(text)
            return 1
    return 0


def _ordered(mixture: Mixture, source: Source, texts: Sequence[str]) -> list[str]:
    """Return the texts in the order in which they are taken: of a run, by rank; of others, drawn by the seed."""
    ordered = list(texts)
    if source.kind != RUN:
        ordered.sort(key=lambda text: _mark(mixture.seed, source.key, text))
    return ordered


def _mark(*values: object) -> str:
    return hashlib.sha256("\0".join(map(str, values)).encode()).hexdigest()


def warnings_of(mixture: Mixture, mix: Mixed) -> list[str]:
    """Return a sentence for each source that had too few texts for its share, and for captions with too few."""
    words = (
        "{source}: has too few texts for its share of {share:g}; it gives {negatives} negatives (a share of "
        "{achieved:.2f}), {missing} less than it should; add foils to it, or lower its share"
    )
    warnings = [words.format(**row) for row in mix.shares(mixture) if row["missing"]]
    if short := sum(0 < len(texts) < mixture.count for texts in mix.negatives.values()):
        warnings.append(
            f"{short} captions have fewer than {mixture.count} negatives; add foils to the sources, or lower "
            "the number per caption"
        )
    return warnings
