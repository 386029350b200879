"""The tables of video models on UTD's published splits (UTD, Tables 4, 5, 6, A.1 and A.2)."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.utd.actions.biases import predict_samples
from evaluation.utd.actions.import_benchmark import import_benchmark
from evaluation.utd.actions.import_splits import import_splits
from evaluation.utd.instructions import CLASSIFICATION
from evaluation.utd.models import BiasRun
from evaluation.utd.pages import benchmark_of
from evaluation.utd.recall import CUTS
from evaluation.utd.requests import PredictionRequest
from foilworks.core.corpus.import_formats.parsing.json_records import read_text
from foilworks.core.projects.models import Project
from foilworks.site.reproduction.shared_steps import done
from foilworks.site.reproduction.table_cells import Caveat, Cell, compare, not_given
from foilworks.site.reproduction.utd_data import BY_COLUMN, CODE, DATA_SETS, PAGE, PREDICTIONS, DataSet, other_data
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
OTHER_RUN = "computed from the given answers; the published answers are of other epochs, weights or videos"
OTHER_SPLIT = "counted in the given split"
OF_CODE, RECALL = "UTD, code: R@5, R@10 and top-5 of the models", "UTD, code: recall of descriptions, both directions"
MORE = {"R5": "R@5", "R10": "R@10", "acc_top5": "top-5"}


def rows_of(column: str) -> dict[str, str]:
    """Return {row: its table} of all models that a table lists for the data set."""
    table_by_row: dict[str, str] = {}
    for name in TABLES_OF_MODELS:
        if any(heading.startswith(f"{column}, ") for heading in TABLES[name].columns):
            table_by_row |= {row: name for row in TABLES[name].rows if row not in table_by_row}
    return table_by_row


def file_of(sources: Path, data_set: DataSet, row: str) -> Path | None:
    """Return the published answers of a model: the last epoch's, or the re-ranked ones before the first ranking."""
    for name in (row, *OTHER_NAMES.get(row, ())):
        folder = sources / PREDICTIONS / f"{data_set.slug}_{name}"
        patterns = ("valid_*ep.csv",) if data_set.task == CLASSIFICATION else ("reranked.csv", "contrastive.csv")
        for pattern in patterns:
            if files := sorted(folder.glob(pattern), key=lambda path: (len(path.name), path.name)):
                return files[-1]
    return None


def splits_of(data_set: DataSet, project: Project, sources: Path) -> BiasRun | None:
    """Return the published splits of the data set as a run."""
    path = sources / data_set.splits
    return import_splits(None, project, path, task=data_set.task) if path.is_file() else None


def benchmark(
    data_set: DataSet, run: BiasRun, sources: Path, weights: Mapping[str, str]
) -> dict[str, Mapping[str, Any]]:
    """Return {row: cells} of the models that have published answers, or weights and videos."""
    row_by_label: dict[str, str] = {}
    for row in rows_of(data_set.column):
        if path := file_of(sources, data_set, row):
            row_by_label[import_benchmark(None, run, path, label=row)[0].label] = row
        elif spec := weights.get(row):
            zero_shot = data_set.task != CLASSIFICATION
            done(predict_samples(None, run, PredictionRequest(spec, zero_shot=zero_shot, label=row, epochs=EPOCHS)).job)
            row_by_label[row] = row
    table = benchmark_of(run) if row_by_label else None
    return {row_by_label[row["model"]]: row["cells"] for row in table["models"]} if table else {}


def model_cells(
    cells_by_column: Mapping[str, Mapping[str, Mapping[str, Any]]], splits: Mapping[str, BiasRun]
) -> Iterator[Cell]:
    """Yield the cells of (UTD, Tables 5, 6, A.1 and A.2). `cells_by_column`: {column: {row: cells}}."""
    for name in TABLES_OF_MODELS:
        for row, heading, paper in TABLES[name].cells():
            column, _, form = heading.partition(", ")
            reproduced = cells_by_column.get(column, {}).get(row, {}).get(FORMS[form], {}).get("value")
            caveat = _caveat(column, row, splits, is_given=reproduced is not None)
            yield compare(
                f"UTD, Table {name}", row, heading, paper, _percent(reproduced), digits=1, why=OTHER_RUN, caveat=caveat
            )


def more_cells(sources: Path, splits: Mapping[str, BiasRun]) -> Iterator[Cell]:
    """Yield R@5, R@10 and top-5 of the published answers, which the authors' code prints and the paper does not."""
    for column, run in splits.items():
        data_set, removed = BY_COLUMN[column], set(run.result["split"]["removed"])
        for row in rows_of(column):
            path = file_of(sources, data_set, row)
            answers = list(csv.DictReader(read_text(path).splitlines())) if path else []
            for name in MORE if answers else ():
                if name not in answers[0]:
                    continue
                for form, some in (
                    (FULL, answers),
                    (SPLIT, [answer for answer in answers if answer["video_id"] not in removed]),
                ):
                    share = 100 * fmean(float(answer[name]) for answer in some) if some else None
                    yield compare(OF_CODE, row, f"{column}, {MORE[name]}, {form}", None, share, digits=1)


def recall_cells(biases: Mapping[str, BiasRun]) -> Iterator[Cell]:
    """Yield how often texts about a video find it among the first 1, 5 and 10, and the reverse (UTD's code)."""
    for column, run in biases.items():
        for row in run.result["recall"]:
            for name in CUTS:
                heading = f"{column}, {row['direction']}, {name}"
                yield compare(RECALL, row["concept"], heading, None, 100 * row[name], digits=1)


def _caveat(column: str, row: str, splits: Mapping[str, BiasRun], *, is_given: bool) -> Caveat | None:
    data_set, run = BY_COLUMN[column], splits.get(column)
    if run is None:
        return not_given(data_set.splits, PAGE)
    if not is_given:
        return not_given(f"{PREDICTIONS}/{data_set.slug}_{row}", CODE)
    return other_data(data_set, run.result["split"]["n"])


def share_cells(splits: Mapping[str, BiasRun]) -> Iterator[Cell]:
    """Yield the shares of (UTD, Table 4) from the published splits."""
    for row, sign in (("% object-biased samples", 1), ("% of full test split in UTD-split", -1)):
        for data_set in DATA_SETS:
            paper, run = TABLES["4"].number(row, data_set.column), splits.get(data_set.column)
            share = run.result["split"]["share_biased"] if run else None
            reproduced = None if share is None else 100 * (share if sign > 0 else 1 - share)
            caveat = other_data(data_set, run.result["split"]["n"]) if run else not_given(data_set.splits, PAGE)
            yield compare(
                "UTD, Table 4", row, data_set.column, paper, reproduced, digits=0, why=OTHER_SPLIT, caveat=caveat
            )


def both_removed(published: BiasRun, measured: BiasRun) -> tuple[int, int, int]:
    """Return how many samples both splits remove, how many one of them does, and how many samples both have."""
    if not (published.predictions and measured.predictions):
        raise EvaluationError("a run has no samples; measure it first")
    shared = set(published.predictions["ids"]) & set(measured.predictions["ids"])
    published_removed, own_removed = (shared & set(run.result["split"]["removed"]) for run in (published, measured))
    return len(published_removed & own_removed), len(published_removed | own_removed), len(shared)


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value
