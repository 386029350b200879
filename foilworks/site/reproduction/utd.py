"""Make the tables of UTD again from public files: descriptions, lists of videos, splits and models' answers.

Every number comes from the product: `utd import`, `utd bias`, `utd bring`, `utd benchmark` and `utd export`. Without
the paper's text encoder, a hashing one is used, and every such number says "tiny model".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation.utd.actions.biases import measure_bias
from evaluation.utd.actions.descriptions import import_descriptions
from evaluation.utd.class_texts import read_class_texts
from evaluation.utd.concepts import ACTIVITIES, AVERAGE, DESCRIPTION, MAX_SCORE, MIDDLE, OBJECTS, SEQUENCE, VERBS
from evaluation.utd.downloads import FILES
from evaluation.utd.models import BiasRun, Descriptions
from evaluation.utd.requests import BiasRequest
from foilworks.core.projects.models import Project
from foilworks.site.reproduction.progress import begin, plan
from foilworks.site.reproduction.shared_steps import check_weights, done
from foilworks.site.reproduction.table_cells import Caveat, Cell, Result, compare, missing_lines, not_given
from foilworks.site.reproduction.utd_models import (
    BY_COLUMN,
    DATA_SETS,
    PAGE,
    SOURCES,
    TABLES_OF_MODELS,
    DataSet,
    benchmark,
    both_removed,
    model_cells,
    more_cells,
    other_data,
    project_of,
    recall_cells,
    share_cells,
    splits_of,
)
from foilworks.site.reproduction.utd_printed import CONCEPTS, SETS, TABLES, USER_STUDY

PAPER, STUDY = "UTD", "UTD, Sec. 4.2 (user study)"
NO_ANSWERS = Caveat("not published", "the answers of the seven people")
ENCODER, TINY_ENCODER = "SFR-Embedding-Mistral", "fake-words:"
TINY = Caveat(
    "tiny model", "encoded by hashed words, not by SFR-Embedding-Mistral: give --weights SFR-Embedding-Mistral=SPEC"
)
OTHER_RUN = "computed with the given encoder from the given descriptions; the paper's bootstrap draws are not published"
CONCEPT_OF = dict(zip(CONCEPTS, (DESCRIPTION, OBJECTS, ACTIVITIES, VERBS), strict=True))
TIME_OF = {
    "sequence of frames": SEQUENCE,
    "average over frames": AVERAGE,
    "max-score frame": MAX_SCORE,
    "middle frame": MIDDLE,
}
IN_ORDER = "sequence of frames"
SAME = {"A.4": ENCODER, "A.5": "LLaVA-1.6-Mistral-7B", "A.6": "descriptions, sequence of frames"}
NEEDS = {
    "A.4": "needs the encoder's weights: give --weights {}=SPEC",
    "A.5": "needs the videos, and descriptions by {}: `foilworks utd describe --set describer=M`",
    "A.6": "needs the videos and the weights: give --weights {}=SPEC",
}
AGREED = "{}: our split and the published one both remove {} samples, and one of them removes {}, of {} that both have."
MAX_SCORE_NOTE = (
    "UTD, Sec. 4.5 says that the max-score frame is a better indicator than all frames for six sets. On Kinetics-400 "
    "both are 48.0 (UTD, Table 3), so it holds for five."
)
NAMES_NOTE = (
    "UTD, Table A.1 shortens the names of three models: allinone-B-WV2M is allinone-B-WV2M+CC of (UTD, Table 5), and "
    "umt-B-fnK710 and umt-L-fnK710 are umt-B-K710-fnK710 and umt-L-K710-fnK710."
)
SUMS_NOTE = (
    "The differences that the tables of UTD print, and the numbers that two of its tables share, agree with each other."
)
FIGURES_NOTE = (
    "UTD, Figs. A.1 and F.1-F.6 print no numbers. The class distribution is drawn as classes.svg per data set; "
    "descriptions and samples are on the pages of each run."
)
NOTES = (MAX_SCORE_NOTE, NAMES_NOTE, SUMS_NOTE, FIGURES_NOTE)


@dataclass
class DataSetResults:
    """What was made of each data set, by the paper's name of it."""

    splits: dict[str, BiasRun] = field(default_factory=dict)
    models: dict[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    biases: dict[str, BiasRun] = field(default_factory=dict)
    encoders: dict[tuple[str, str], BiasRun] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def reproduce(sources: Path, work: Path, *, weights: Mapping[str, str], seed: int) -> Result:
    """Return every cell that the files in `sources` allow; files of each data set are written below `work`."""
    check_weights(weights, (*TABLES["A.4"].rows, *(row for name in TABLES_OF_MODELS for row in TABLES[name].rows)))
    results = DataSetResults()
    given_sets = [
        data_set
        for data_set in DATA_SETS
        if any((sources / name).is_file() for name in (data_set.splits, data_set.descriptions(data_set.test)))
    ]
    plan(len(given_sets))
    for data_set in given_sets:
        begin(data_set.column)
        _make(data_set, sources, work, weights, seed, results)
    tiny = ENCODER not in weights
    cells = [
        *bias_cells(results, tiny),
        *share_cells(results.splits),
        *model_cells(results.models, results.splits),
        *more_cells(sources, results.splits),
        *recall_cells(results.biases),
        *_ablation_cells(results, tiny),
        *(compare(STUDY, row, "UCF", paper, None, digits=1, caveat=NO_ANSWERS) for row, paper in USER_STUDY.items()),
    ]
    given_sources = {source.name: True for source in SOURCES if any(sources.glob(source.name))}
    agreements = [
        AGREED.format(name, *both_removed(results.splits[name], run))
        for name, run in results.biases.items()
        if name in results.splits
    ]
    return Result(
        PAPER, tuple(_sorted(cells)), (*NOTES, *results.notes, *agreements), missing_lines(SOURCES, given_sources)
    )


def _make(
    data_set: DataSet, sources: Path, work: Path, weights: Mapping[str, str], seed: int, results: DataSetResults
) -> None:
    project, notes = project_of(data_set, sources, work)
    results.notes += notes
    published = splits_of(data_set, project, sources)
    if published is not None:
        results.splits[data_set.column] = published
        results.models[data_set.column] = benchmark(data_set, published, sources, weights)
        _export(published, work / data_set.slug / "published")
    described = _import_descriptions(data_set, project, sources)
    if described is None:
        return
    texts = read_class_texts(sources / data_set.classes) if (sources / data_set.classes).is_file() else {}

    def measured(encoder: str) -> BiasRun:
        bias_request = BiasRequest(task=data_set.task, encoder=encoder, class_texts=texts, seed=seed)
        run = measure_bias(None, described, bias_request)
        done(run.job)
        run.refresh_from_db()
        return run

    results.biases[data_set.column] = measured(weights.get(ENCODER, TINY_ENCODER))
    _export(results.biases[data_set.column], work / data_set.slug)
    for row in TABLES["A.4"].rows:
        if row in weights and row != ENCODER and data_set.column in TABLES["A.4"].columns:
            results.encoders[row, data_set.column] = measured(weights[row])


def _import_descriptions(data_set: DataSet, project: Project, sources: Path) -> Descriptions | None:
    """Import the descriptions that are given, if the list of test videos is."""
    paths = [sources / data_set.descriptions(split) for split in (data_set.train, data_set.test)]
    paths = [path for path in paths if path.is_file()]
    if not paths or not (sources / data_set.videos(data_set.test)).is_file():
        return None
    imported = import_descriptions(None, project, paths, name=data_set.column)
    if imported.job is not None:
        done(imported.job)
    return imported


def _export(run: BiasRun, folder: Path) -> None:
    """Write what `utd export` writes of the run: splits, predictions, tables and charts."""
    folder.mkdir(parents=True, exist_ok=True)
    for (file_stem, extension), make in FILES.items():
        if (content := make(run)) is not None:
            (folder / f"{file_stem}.{extension}").write_bytes(content[0])


def bias_cells(results: DataSetResults, tiny: bool) -> Iterator[Cell]:
    """Yield (UTD, Tables 1, 2, 3 and A.3), and the kappa of (UTD, Table 4)."""
    for row, column, paper in TABLES["1"].cells():
        yield _bias_cell(results, tiny, "1", row, column, paper, "common", row, IN_ORDER)
    for row, heading, paper in TABLES["2"].cells():
        column, _, concept = heading.partition(", ")
        kind = row.partition(" ")[0]
        yield _bias_cell(results, tiny, "2", row, heading, paper, kind, concept, IN_ORDER, column)
    for row, column, paper in TABLES["3"].cells():
        yield _bias_cell(results, tiny, "3", row, column, paper, "common", CONCEPTS[0], row)
    for row, column, paper in TABLES["A.3"].cells():
        concept, _, time = row.partition(", ")
        yield _bias_cell(results, tiny, "A.3", row, column, paper, "common", concept, time)
    row = "Fleiss' kappa"
    for column in SETS:
        run = results.biases.get(column)
        kappa = run.result["split"]["kappa"] if run else None
        reproduced, paper = None if kappa is None else 100 * kappa, TABLES["4"].number(row, column)
        yield _cell("UTD, Table 4", row, column, paper, reproduced, tiny, run)


def _bias_cell(
    results: DataSetResults,
    tiny: bool,
    table: str,
    row: str,
    heading: str,
    paper: float | None,
    kind: str,
    concept: str,
    time: str,
    column: str = "",
) -> Cell:
    run = results.biases.get(column or heading)
    reproduced = value_of(run, kind, CONCEPT_OF[concept], TIME_OF[time]) if run else None
    return _cell(f"UTD, Table {table}", row, heading, paper, reproduced, tiny, run, column or heading)


def value_of(run: BiasRun, kind: str, concept: str, time: str) -> float | None:
    """Return a cell of the run in percent; None if it has none (no train split, a text that is missing)."""
    rows = {row["concept"]: row["cells"] for row in (run.result or {}).get(kind) or ()}
    value = next((cell["value"] for cell in rows.get(concept, ()) if cell["temporal"] == time), None)
    return None if value is None else 100 * value


def _ablation_cells(results: DataSetResults, tiny: bool) -> Iterator[Cell]:
    """Yield (UTD, Tables A.4-A.6): the row of our own descriptions and encoder, and what has weights."""
    for table, own_row in SAME.items():
        for row, column, paper in TABLES[table].cells():
            form = NEEDS[table]
            if row == own_row:
                yield _bias_cell(results, tiny, table, row, column, paper, "common", CONCEPTS[0], IN_ORDER)
            elif run := results.encoders.get((row, column)):
                reproduced = value_of(run, "common", DESCRIPTION, SEQUENCE)
                yield _cell(f"UTD, Table {table}", row, column, paper, reproduced, False, run)
            else:
                caveat = Caveat("needs weights", form.format(row))
                yield compare(f"UTD, Table {table}", row, column, paper, None, digits=1, caveat=caveat)


def _cell(
    table: str,
    row: str,
    heading: str,
    paper: float | None,
    reproduced: float | None,
    tiny: bool,
    run: BiasRun | None,
    column: str = "",
) -> Cell:
    """Return a cell of the data set `column`, by default the heading. `tiny`: words were hashed instead of encoded."""
    data_set = BY_COLUMN[column or heading]
    if run is None:
        caveat: Caveat | None = _without_split(data_set, data_set.test)
    elif reproduced is None:
        caveat = _without_split(data_set, data_set.train)
    else:
        caveat = TINY if tiny else other_data(data_set, run.result["n"])
    return compare(table, row, heading, paper, reproduced, digits=1, why=OTHER_RUN, caveat=caveat)


def _without_split(data_set: DataSet, split: str) -> Caveat:
    return not_given(f"{data_set.descriptions(split)} and {data_set.videos(split)}", PAGE)


def _sorted(cells: list[Cell]) -> list[Cell]:
    """Return the cells table by table, in the paper's order of tables."""
    order = [f"UTD, Table {name}" for name in TABLES]
    return sorted(cells, key=lambda cell: order.index(cell.table) if cell.table in order else len(order))
