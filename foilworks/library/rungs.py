"""Compute an evidence ladder: how much of a score needs the clip, several frames or their order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.number_text import share
from foilworks.core.text.quoting import quoted
from foilworks.library.audits import read_rungs
from foilworks.library.inputs import Data, opened_files, opened_sources
from foilworks.library.results import Bar, Result, Row

# Columns of `scores` beside those of the rungs.
ITEM, CHANCE = "id", "chance"
# What intervals draw; score files name it `cluster`.
CLUSTERS = ("video", "cluster")


@dataclass(frozen=True, repr=False)
class Ladder(Result):
    """The result of `ladder`. Tables: `parts`, what each rung adds in shares of -1..1; `rungs`, with shares of 0..1.

    >>> import foilworks
    >>> ladder = foilworks.ladder([{"id": str(n), "no_clip": n % 2, "full": 1} for n in range(40)])
    >>> [(row["rung"], row["T"]) for row in ladder.tables()["rungs"]]
    [('no_clip', 0.5), ('full', 1.0)]
    """

    def summary(self) -> str:
        """Return the score with the full clip, and what each rung adds."""
        result = self.document
        if not result["parts"]:
            return f"{result['n']:,} items with all rungs, which show no parts"
        steps = ", ".join(f"{'+'.join(row['parts'])} {100 * row['value']:+.1f} points" for row in result["parts"])
        full = share(result["rungs"]["full"]["T"])
        return f"{full} of {result['n']:,} items with the full clip; chance {share(result['chance'])}, {steps}"

    def tables(self) -> Mapping[str, Sequence[Row]]:
        """Return the parts and the rungs."""
        rungs = [{"rung": name, **row} for name, row in self.document["rungs"].items()]
        return {"parts": self.document["parts"], "rungs": rungs}

    def bars(self) -> Sequence[Bar]:
        """Return the score at each rung."""
        chance = self.document["chance"]
        return [Bar(name, row["T"], row["ci"], chance) for name, row in self.document["rungs"].items()]


def ladder(scores: Data, benchmark: Data | None = None, *, with_partly: bool = False) -> Ladder:
    """Compute how much of a score needs the clip, several frames or their order (docs/explanation/ladder.md).

    Without `benchmark`: n records with `id`, a column per rung (`no_clip`, `best_frame`, `shuffled`, `full`, …) with a
    credit of 0..1 or right and wrong, and optional `video` or `cluster` (intervals draw them) and `chance` (0..1, else
    0.5). With `benchmark`: rung -> predictions or scores by id, as of `foilworks audit --rung`; `with_partly` accepts
    rungs of which more than a tenth cannot be read. Values are shares of 0..1.

    EvaluationError: the full clip has no scores, a credit is not in 0..1, or predictions cannot be read.

    >>> import foilworks
    >>> rows = [{"id": str(n), "no_clip": n % 2, "full": 1} for n in range(40)]
    >>> foilworks.ladder(rows)["rungs"]["full"]["drop"] is None, foilworks.ladder(rows)["rungs"]["no_clip"]["drop"]
    (True, 0.5)
    """
    from evaluation.audit.ladder import by_id, ladder_of

    if benchmark is not None:
        if not isinstance(scores, Mapping):
            raise EvaluationError("scores: give predictions by rung, such as {'full': PATH, 'no_clip': PATH}")
        from evaluation.audit.file_reader import Problems, read_all

        with opened_sources(benchmark) as sources:
            items = by_id(read_all(sources, Problems()))
        return Ladder(ladder_of(read_rungs(scores, items, {}), items, with_partly=with_partly))
    with opened_files(scores, "scores") as files:
        if len(files) != 1:
            raise EvaluationError(f"scores: {len(files)} files; give the scores, or one file of them")
        from evaluation.score_files.tables import Table

        return Ladder(_of_table(Table(files[0].path)))


def _of_table(table: Any) -> dict[str, Any]:
    import numpy as np

    from evaluation.metrics import ladder as metric

    rungs = [str(name) for name in metric.RUNGS if name in table.names]
    if metric.FULL not in rungs:
        raise EvaluationError(f"scores: has no column full; give one column per rung: {', '.join(metric.RUNGS)}")
    credit: dict[str, list[float]] = {name: [] for name in rungs}
    chance, clusters, ids = [], [], set[str]()
    for row in table.rows():
        key = row.key or row.text(ITEM)
        if key in ids:
            row.fail(ITEM, f"{quoted(key)} occurs twice", "give each item one record")
        ids.add(key)
        source = next((row.text(name) for name in CLUSTERS if row.fields.get(name)), "")
        clusters.append(f"video {source}" if source else f"item {key}")
        chance.append(_share(row, CHANCE, 0.5))
        for name in rungs:
            credit[name].append(_share(row, name, np.nan))
    columns = {name: np.array(values) for name, values in credit.items()}
    return metric.compute(metric.LadderScores(columns, np.array(chance), clusters))


def _share(row: Any, name: str, missing: float) -> float:
    from evaluation.score_files.json_records import number_of

    value = row.fields.get(name)
    if value is None or value == "":
        return missing
    number = {"true": 1.0, "false": 0.0}.get(str(value).strip().lower(), number_of(value) if row.is_text else value)
    if not isinstance(number, int | float) or not 0 <= number <= 1:
        row.fail(name, f"is {quoted(str(value))}", "give a number of 0 to 1, or true or false")
    return float(number)
