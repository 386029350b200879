"""The twelve data sets of UTD with their files, and the authors' lists of videos as a project."""

import ast
import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluation.errors import EvaluationError
from evaluation.utd.instructions import CLASSIFICATION, RETRIEVAL
from foilworks.core.corpus.import_formats.parsing.json_records import read_text
from foilworks.core.projects.models import Project
from foilworks.site.imports.store import import_records
from foilworks.site.reproduction.shared_steps import new_project
from foilworks.site.reproduction.table_cells import Caveat, Source

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
