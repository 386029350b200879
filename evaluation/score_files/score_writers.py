"""Write the scores of a run in formats that other code reads, from the same rows that the metrics use.

Items that do not fit a format are left out: RCAD's array has rows of one width, so items with a different number of
foils are not in it.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evaluation.metrics.ties import hit, standing
from evaluation.score_files.two_clips import CELLS
from foilworks.core.corpus.records import WINNER, ReleaseScore
from foilworks.core.corpus.rules.two_clips import two_of_each
from foilworks.core.text.storable import safe_row

Rows = Sequence[ReleaseScore]


def pairs(rows: Rows) -> bytes:
    """Write JSON lines that `foilworks metrics pairwise` and a `file:` run read."""
    return "".join(json.dumps(_pair(row), ensure_ascii=False) + "\n" for row in rows).encode()


def _pair(row: ReleaseScore) -> dict[str, Any]:
    record: dict[str, Any] = {"id": row.id, "caption": row.caption, "foils": list(row.foils)}
    if row.proficiency_caption is not None:
        record["proficiency"] = {"caption": row.proficiency_caption, "foils": list(row.proficiency_foils)}
    if row.kind == WINNER:
        record["kind"] = WINNER
    facts = {"subtest": row.subtest, "test": row.test, "cluster": row.cluster}
    return {**record, **facts, "higher_is_better": row.higher_is_better}


def vilma(rows: Rows) -> bytes:
    """Write ViLMA's `{id: {"scores": [caption, foil...]}}` of the main items.

    Perplexities are not negated, because its scripts do that, and are marked for our readers.
    """
    return _object({row.id: _scores(row, row.caption, row.foils) for row in rows})


def vilma_proficiency(rows: Rows) -> bytes:
    """Write the same for the proficiency items, under the ids of their main items."""
    able = ((row, row.proficiency_caption) for row in rows if row.proficiency_caption is not None)
    return _object({row.id: _scores(row, caption, row.proficiency_foils) for row, caption in able})


def _scores(row: ReleaseScore, caption: float, foils: Sequence[float]) -> dict[str, Any]:
    scores = {"scores": [caption, *foils]}
    return scores if row.higher_is_better else {**scores, "higher_is_better": False}


def _object(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def rcad_csv(rows: Rows) -> bytes:
    """Write `id` and the scores, the positive first; higher is better (a perplexity is negated)."""
    return _csv(["id", "scores"], [[row.id, *_rising(row)] for row in rows])


def rcad_npy(rows: Rows) -> bytes:
    """Write (items, candidates) of the most frequent number of candidates, in the order of rcad_csv."""
    widths = Counter(len(row.foils) for row in rows)
    width = max(widths, key=lambda n: (widths[n], n), default=0)
    table = np.array([_rising(row) for row in rows if len(row.foils) == width], dtype=np.float64)
    out = io.BytesIO()
    np.save(out, table.reshape(-1, width + 1), allow_pickle=False)
    return out.getvalue()


def mc(rows: Rows) -> bytes:
    """Write `id,prediction,right`: the candidate with the highest score (the first of equals), the right one at 0."""
    return _csv(["id", "prediction", "right"], [[row.id, int(np.argmax(_rising(row))), 0] for row in rows])


def utd(rows: Rows) -> bytes:
    """Write `sample,class,correct`: 1 if the caption scores above every foil; the class is the subtest."""
    lines = []
    for row in rows:
        credit = hit(standing(np.array([_rising(row)])), "strict")[0]
        lines.append([row.id, row.subtest, int(credit)])
    return _csv(["sample", "class", "correct"], lines)


def _rising(row: ReleaseScore) -> list[float]:
    sign = 1.0 if row.higher_is_better else -1.0
    return [sign * value for value in (row.caption, *row.foils)]


def winoground(rows: Rows) -> bytes:
    """Write `{"id", "c0_i0", "c1_i0", "c0_i1", "c1_i1"}` of each pair with both items; `id` is the name of the pair."""
    pair_keys = [(row.subtest, row.pair) if row.pair else None for row in rows]
    lines = []
    for first, second in two_of_each(pair_keys, [row.id for row in rows]):
        right0, wrong1, right1, wrong0 = (*_rising(rows[first])[:2], *_rising(rows[second])[:2])
        cells = dict(zip(CELLS, (right0, wrong1, wrong0, right1), strict=True))
        lines.append({"id": rows[first].pair, "subtest": rows[first].subtest, **cells})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def _csv(header: list[str], lines: list[list[Any]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *(safe_row(line) for line in lines)])
    return out.getvalue().encode()


# name -> (label, extension, writer)
WRITERS: dict[str, tuple[str, str, Callable[[Rows], bytes]]] = {
    "pairs": ("Foilworks, JSON lines", "jsonl", pairs),
    "vilma": ("ViLMA, main items", "json", vilma),
    "vilma-proficiency": ("ViLMA, proficiency items", "json", vilma_proficiency),
    "rcad-csv": ("RCAD, CSV", "csv", rcad_csv),
    "rcad-npy": ("RCAD, NumPy", "npy", rcad_npy),
    "winoground": ("Winoground, four scores per pair", "jsonl", winoground),
    "mc": ("Multiple choice, predictions", "csv", mc),
    "utd": ("UTD, right or wrong", "csv", utd),
}
# Formats without scores, which suit runs that only know the winner.
OF_PAIRS = "winoground"
OF_WINNERS = ("pairs", "mc", "utd")


def writers_of(*, only_winners: bool, pairs: bool = False) -> dict[str, tuple[str, str, Callable[[Rows], bytes]]]:
    """Return the formats that a run's scores may be written in. `pairs`: it has items of two clips."""
    names = OF_WINNERS if only_winners else [name for name in WRITERS if pairs or name != OF_PAIRS]
    return {name: WRITERS[name] for name in names}
