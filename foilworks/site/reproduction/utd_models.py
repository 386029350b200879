"""The tables of video models on UTD's published splits (UTD, Tables 4, 5, 6, A.1 and A.2).

The twelve data sets of UTD with their files, and the authors' lists of videos as a project.
"""

import ast
import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.utd.actions.biases import predict_samples
from evaluation.utd.actions.import_benchmark import import_benchmark
from evaluation.utd.actions.import_splits import import_splits
from evaluation.utd.instructions import CLASSIFICATION, RETRIEVAL
from evaluation.utd.models import BiasRun
from evaluation.utd.pages import benchmark_of
from evaluation.utd.recall import CUTS
from evaluation.utd.requests import PredictionRequest
from foilworks.core.corpus.import_formats.parsing.json_records import read_text
from foilworks.core.projects.models import Project
from foilworks.site.imports.store import import_records
from foilworks.site.reproduction.shared_steps import done, new_project
from foilworks.site.reproduction.table_cells import Caveat, Cell, Source, compare, not_given
from foilworks.site.reproduction.utd_printed import BALANCED, FULL, SPLIT, TABLES

DESCRIPTIONS, SPLITS = "UTD_descriptions", "UTD_splits"
PREDICTIONS, LISTS, VIDEOS = "videoglue_predictions", "metadata", "data"
PAGE = "https://utd-project.github.io"
UNREAD = "{}: records of {} that are not imported: {:,}; the first: {}"
CODE = "https://github.com/ninatu/utd-project"


@dataclass(frozen=True)
class DataSet:
    """`column`: the paper's name; `slug`, `test`, `train`: as in the names of the authors' files.

    `size`: samples of the public test set, of which some are not available any more.
    """

    column: str
    slug: str
    task: str
    size: int
    test: str
    train: str = "train"

    @property
    def splits(self) -> str:
        return f"{SPLITS}/splits_{self.slug}_{self.test}.json"

    def descriptions(self, split: str) -> str:
        return f"{DESCRIPTIONS}/annotations_{self.slug}_{split}.json"

    def videos(self, split: str) -> str:
        return f"{LISTS}/{self.slug}/{split}_info.csv"

    @property
    def classes(self) -> str:
        return f"{LISTS}/{self.slug}/classes.csv"


DATA_SETS = (
    DataSet("UCF", "ucf", CLASSIFICATION, 3_783, "testlist01", "trainlist01"),
    DataSet("SSv2", "ssv2", CLASSIFICATION, 24_777, "val"),
    DataSet("K400", "kinetics_400", CLASSIFICATION, 20_000, "val"),
    DataSet("K600", "kinetics_600", CLASSIFICATION, 30_000, "val"),
    DataSet("K700", "kinetics_700", CLASSIFICATION, 35_000, "val"),
    DataSet("MiT", "MiT", CLASSIFICATION, 33_900, "val"),
    DataSet("MSR", "msrvtt", RETRIEVAL, 1_000, "test"),
    DataSet("DDM", "didemo", RETRIEVAL, 1_004, "test"),
    DataSet("ActN", "activity_net", RETRIEVAL, 4_917, "val"),
    DataSet("LSMDC", "lsmdc", RETRIEVAL, 1_000, "test"),
    DataSet("YC2", "youcook", RETRIEVAL, 3_492, "val"),
    DataSet("S-MiT", "S-MiT", RETRIEVAL, 3_513, "test"),
)
SOURCES = (
    Source(f"{SPLITS}/splits_*.json", PAGE, ("UTD, Table 4 (shares)", "UTD, Tables 5, 6, A.1, A.2", "UTD, Fig. A.1")),
    Source(f"{DESCRIPTIONS}/annotations_*.json", PAGE, ("UTD, Tables 1-3, A.3, A.4", "UTD, Table 4 (kappa)")),
    Source(f"{LISTS}/*/*_info.csv", f"{CODE} (DATASETS.md)", ("UTD, Tables 1-3, A.3, A.4", "UTD, Fig. A.1")),
    Source(f"{PREDICTIONS}/*/*.csv", f"{CODE} (README.md)", ("UTD, Tables 5, 6, A.1, A.2",)),
)
# Share of a public test set that may be missing: its videos vanish from the web.
MAY_BE_MISSING = 0.2
OTHER_SIZE = "the given files have {:,} test samples, the public test set {:,}"
BY_COLUMN = {data_set.column: data_set for data_set in DATA_SETS}


def other_data(data_set: DataSet, n_samples: int) -> Caveat | None:
    """Return why numbers of these samples cannot be compared; None if there are as many as the paper can have had."""
    if (1 - MAY_BE_MISSING) * data_set.size <= n_samples <= data_set.size:
        return None
    return Caveat("other data", OTHER_SIZE.format(n_samples, data_set.size))


def project_of(data_set: DataSet, sources: Path, work: Path) -> tuple[Project, list[str]]:
    """Return a new project with the videos of the authors' lists that are given, and a note of those not read."""
    slug = f"utd-{data_set.slug.lower().replace('_', '-')}"
    project = new_project(slug, f"UTD: {data_set.column}", is_simulated=True)
    notes: list[str] = []
    for split, name in ((data_set.train, "train"), (data_set.test, "test")):
        path = sources / data_set.videos(split)
        if path.is_file():
            list_file = work / "lists" / f"{data_set.slug}-{name}.jsonl"
            list_file.parent.mkdir(parents=True, exist_ok=True)
            with list_file.open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(record) + "\n" for record in _records(path, data_set, name))
            media = sources / VIDEOS / data_set.slug
            report = import_records(project, None, "jsonl", list_file, media_dir=media if media.is_dir() else None)
            if report.errors:
                notes.append(UNREAD.format(data_set.column, path.name, len(report.errors), report.errors[0]))
    return project, notes


def _records(path: Path, data_set: DataSet, split: str) -> Iterator[dict[str, str]]:
    """Yield a record per caption, or one with its class: in classification the class is also the caption."""
    for number, row in enumerate(csv.DictReader(read_text(path).splitlines(keepends=True)), 2):
        name, file = row.get("video_id") or "", row.get("full_path") or ""
        texts = _texts(row)
        if not name or not texts:
            raise EvaluationError(
                f"{path}:{number}: video_id, or caption, captions or class_name is missing; give both"
            )
        for index, text in enumerate(texts):
            record = {"id": f"{name}#{index}", "video": file, "video_key": name, "split": split, "caption": text}
            yield record | ({"class_label": row["class_name"]} if data_set.task == CLASSIFICATION else {})


def _texts(row: dict[str, str]) -> list[str]:
    """Return the captions of a row: a list as Python prints it, one caption, or the class; none if it is broken."""
    if captions := row.get("captions"):
        try:
            return [str(text) for text in ast.literal_eval(captions)]
        except (ValueError, TypeError, SyntaxError, RecursionError):
            return []
    return [text for text in (row.get("caption") or row.get("class_text") or row.get("class_name"),) if text]


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
