"""The tables of video models on UTD's published splits (UTD, Tables 4, 5, 6, A.1 and A.2)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.utd.actions.biases import predict_samples
from evaluation.utd.actions.import_benchmark import import_benchmark
from evaluation.utd.actions.import_splits import import_splits
from evaluation.utd.instructions import CLASSIFICATION
from evaluation.utd.models import BiasRun
from evaluation.utd.pages import benchmark_of
from foilworks.core.projects.models import Project
from foilworks.site.reproduction.records import NOT_GIVEN, Cell, compare
from foilworks.site.reproduction.steps import done
from foilworks.site.reproduction.utd_data import DATA_SETS, PREDICTIONS, DataSet
from foilworks.site.reproduction.utd_printed import BALANCED, FULL, SPLIT, TABLES

TABLES_OF_MODELS = ("5", "6", "A.1", "A.2")
FORMS = {FULL: "full", SPLIT: "split", BALANCED: "balanced"}
# Names that differ between tables, or between the tables and the authors' folders.
OTHER_NAMES = {
    "umt-B-fnK710": ("umt-B-K710-fnK710",),
    "umt-L-fnK710": ("umt-L-K710-fnK710",),
    "umt-B-K710-fnK710": ("umt-B-fnK710",),
    "umt-L-K710-fnK710": ("umt-L-fnK710",),
    "allinone-B-WV2M": ("allinone-B-WV2M+CC", "allinone-WV2M+CC"),
    "allinone-B-WV2M+CC": ("allinone-WV2M+CC",),
    "allinone-B-WV2M+HT": ("allinone-WV2M+HT",),
    "allinone-B-WV2M+HT+CC+YTT+": ("allinone-WV2M+HT+CC+YTT+",),
    "internvid-L-WV10M": ("internvid-L-WebVid10M",),
}
EPOCHS = 50


def rows_of(column: str) -> dict[str, str]:
    """Return {row: its table} of all models that a table lists for the data set."""
    found: dict[str, str] = {}
    for name in TABLES_OF_MODELS:
        if any(each.startswith(f"{column}, ") for each in TABLES[name].columns):
            found |= {row: name for row in TABLES[name].rows if row not in found}
    return found


def file_of(sources: Path, one: DataSet, row: str) -> Path | None:
    """Return the published answers of a model: the last epoch's, or the re-ranked ones before the first ranking."""
    for name in (row, *OTHER_NAMES.get(row, ())):
        folder = sources / PREDICTIONS / f"{one.slug}_{name}"
        wanted = ("valid_*ep.csv",) if one.task == CLASSIFICATION else ("reranked.csv", "contrastive.csv")
        for pattern in wanted:
            if files := sorted(folder.glob(pattern), key=lambda path: (len(path.name), path.name)):
                return files[-1]
    return None


def splits_of(one: DataSet, project: Project, sources: Path) -> BiasRun | None:
    """Return the published splits of the data set as a run."""
    path = sources / one.splits
    return import_splits(None, project, path, task=one.task) if path.is_file() else None


def benchmark(one: DataSet, run: BiasRun, sources: Path, weights: Mapping[str, str]) -> dict[str, Mapping[str, Any]]:
    """Return {row: cells} of the models that have published answers, or weights and videos."""
    named: dict[str, str] = {}
    for row in rows_of(one.column):
        if path := file_of(sources, one, row):
            named[import_benchmark(None, run, path, label=row)[0].label] = row
        elif spec := weights.get(row):
            zero_shot = one.task != CLASSIFICATION
            done(predict_samples(None, run, spec, zero_shot=zero_shot, label=row, epochs=EPOCHS).job)
            named[row] = row
    found = benchmark_of(run) if named else None
    return {named[row["model"]]: row["cells"] for row in found["models"]} if found else {}


def model_cells(found: Mapping[str, Mapping[str, Mapping[str, Any]]], splits: Mapping[str, BiasRun]) -> Iterator[Cell]:
    """Yield the cells of (UTD, Tables 5, 6, A.1 and A.2). `found`: {column: {row: cells}}."""
    for name in TABLES_OF_MODELS:
        for row, heading, paper in TABLES[name].cells():
            column, _, form = heading.partition(", ")
            ours = found.get(column, {}).get(row, {}).get(FORMS[form], {}).get("value")
            why = _missing(column, row, splits) if ours is None else ""
            yield compare(f"UTD, Table {name}", row, heading, paper, _percent(ours), digits=1, why=why)


def _missing(column: str, row: str, splits: Mapping[str, BiasRun]) -> str:
    one = next(each for each in DATA_SETS if each.column == column)
    return NOT_GIVEN.format(f"{PREDICTIONS}/{one.slug}_{row}" if column in splits else one.splits)


def share_cells(splits: Mapping[str, BiasRun]) -> Iterator[Cell]:
    """Yield the shares of (UTD, Table 4) from the published splits."""
    for row, sign in (("% object-biased samples", 1), ("% of full test split in UTD-split", -1)):
        for one in DATA_SETS:
            paper, run = TABLES["4"].number(row, one.column), splits.get(one.column)
            share = run.result["split"]["share_biased"] if run else None
            ours = None if share is None else 100 * (share if sign > 0 else 1 - share)
            why = "" if run else NOT_GIVEN.format(one.splits)
            yield compare("UTD, Table 4", row, one.column, paper, ours, digits=0, why=why)


def both_removed(published: BiasRun, ours: BiasRun) -> tuple[int, int, int]:
    """Return how many samples both splits remove, how many one of them does, and how many samples both have."""
    if not (published.predictions and ours.predictions):
        raise EvaluationError("a run has no samples; measure it first")
    shared = set(published.predictions["ids"]) & set(ours.predictions["ids"])
    theirs, own = (shared & set(run.result["split"]["removed"]) for run in (published, ours))
    return len(theirs & own), len(theirs | own), len(shared)


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value
