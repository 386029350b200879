"""Make the tables of UTD again from public files: descriptions, lists of videos, splits and models' answers.

Every number comes from the product: `utd import`, `utd bias`, `utd bring`, `utd benchmark`, `utd export` and the object
check. Without the paper's text encoder, a hashing one is used, and every such number says "tiny model".
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
from foilworks.core.projects.models import Project
from foilworks.site.reproduction.records import NOT_GIVEN, Cell, Result, compare, missing_lines
from foilworks.site.reproduction.steps import check_weights, done
from foilworks.site.reproduction.utd_data import DATA_SETS, SOURCES, DataSet, project_of
from foilworks.site.reproduction.utd_models import (
    TABLES_OF_MODELS,
    benchmark,
    both_removed,
    model_cells,
    share_cells,
    splits_of,
)
from foilworks.site.reproduction.utd_printed import CONCEPTS, SETS, TABLES
from foilworks.site.reproduction.utd_study import study_cells

PAPER = "UTD"
ENCODER, TINY_ENCODER = "SFR-Embedding-Mistral", "fake-words:"
TINY = "encoded by hashed words, not by SFR-Embedding-Mistral: give --weights SFR-Embedding-Mistral=SPEC"
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
class Found:
    """What was made of each data set, by the paper's name of it."""

    splits: dict[str, BiasRun] = field(default_factory=dict)
    models: dict[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    biases: dict[str, BiasRun] = field(default_factory=dict)
    encoders: dict[tuple[str, str], BiasRun] = field(default_factory=dict)
    descriptions: dict[str, Descriptions] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def reproduce(sources: Path, work: Path, *, weights: Mapping[str, str], seed: int) -> Result:
    """Return every cell that the files in `sources` allow; files of each data set are written below `work`."""
    check_weights(weights, (*TABLES["A.4"].rows, *(row for name in TABLES_OF_MODELS for row in TABLES[name].rows)))
    found = Found()
    for one in DATA_SETS:
        if any((sources / name).is_file() for name in (one.splits, one.descriptions(one.test))):
            _make(one, sources, work, weights, seed, found)
    tiny = ENCODER not in weights
    cells = [
        *bias_cells(found, tiny),
        *share_cells(found.splits),
        *model_cells(found.models, found.splits),
        *_ablation_cells(found, tiny),
        *study_cells(found.descriptions, work, seed),
    ]
    given = {source.name: True for source in SOURCES if any(sources.glob(source.name))}
    agreements = [
        AGREED.format(name, *both_removed(found.splits[name], run))
        for name, run in found.biases.items()
        if name in found.splits
    ]
    return Result(PAPER, tuple(_sorted(cells)), (*NOTES, *found.notes, *agreements), missing_lines(SOURCES, given))


def _make(one: DataSet, sources: Path, work: Path, weights: Mapping[str, str], seed: int, found: Found) -> None:
    project, notes = project_of(one, sources, work)
    found.notes += notes
    published = splits_of(one, project, sources)
    if published is not None:
        found.splits[one.column] = published
        found.models[one.column] = benchmark(one, published, sources, weights)
        _export(published, work / one.slug / "published")
    described = _described(one, project, sources)
    if described is None:
        return
    found.descriptions[one.column] = described
    texts = read_class_texts(sources / one.classes) if (sources / one.classes).is_file() else {}

    def measured(encoder: str) -> BiasRun:
        run = measure_bias(None, described, task=one.task, encoder=encoder, class_texts=texts, seed=seed)
        done(run.job)
        run.refresh_from_db()
        return run

    found.biases[one.column] = measured(weights.get(ENCODER, TINY_ENCODER))
    _export(found.biases[one.column], work / one.slug)
    for row in TABLES["A.4"].rows:
        if row in weights and row != ENCODER and one.column in TABLES["A.4"].columns:
            found.encoders[row, one.column] = measured(weights[row])


def _described(one: DataSet, project: Project, sources: Path) -> Descriptions | None:
    """Import the descriptions that are given, if the list of test videos is."""
    paths = [sources / one.descriptions(split) for split in (one.train, one.test)]
    paths = [path for path in paths if path.is_file()]
    if not paths or not (sources / one.videos(one.test)).is_file():
        return None
    made = import_descriptions(None, project, paths, name=one.column)
    if made.job is not None:
        done(made.job)
    return made


def _export(run: BiasRun, folder: Path) -> None:
    """Write what `utd export` writes of the run: splits, predictions, tables and charts."""
    folder.mkdir(parents=True, exist_ok=True)
    for (what, extension), make in FILES.items():
        if (content := make(run)) is not None:
            (folder / f"{what}.{extension}").write_bytes(content[0])


def bias_cells(found: Found, tiny: bool) -> Iterator[Cell]:
    """Yield (UTD, Tables 1, 2, 3 and A.3), and the kappa of (UTD, Table 4)."""
    for row, column, paper in TABLES["1"].cells():
        yield _measured(found, tiny, "1", row, column, paper, "common", row, IN_ORDER)
    for row, heading, paper in TABLES["2"].cells():
        column, _, concept = heading.partition(", ")
        kind = row.partition(" ")[0]
        yield _measured(found, tiny, "2", row, heading, paper, kind, concept, IN_ORDER, column)
    for row, column, paper in TABLES["3"].cells():
        yield _measured(found, tiny, "3", row, column, paper, "common", CONCEPTS[0], row)
    for row, column, paper in TABLES["A.3"].cells():
        concept, _, time = row.partition(", ")
        yield _measured(found, tiny, "A.3", row, column, paper, "common", concept, time)
    row = "Fleiss' kappa"
    for column in SETS:
        run = found.biases.get(column)
        kappa = run.result["split"]["kappa"] if run else None
        ours = None if kappa is None else 100 * kappa
        yield _cell("UTD, Table 4", row, column, TABLES["4"].number(row, column), ours, tiny, _absent(column))


def _measured(
    found: Found,
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
    run = found.biases.get(column or heading)
    ours = value_of(run, kind, CONCEPT_OF[concept], TIME_OF[time]) if run else None
    return _cell(f"UTD, Table {table}", row, heading, paper, ours, tiny, _absent(column or heading))


def value_of(run: BiasRun, kind: str, concept: str, time: str) -> float | None:
    """Return a cell of the run in percent; None if it has none (no train split, a text that is missing)."""
    rows = {row["concept"]: row["cells"] for row in (run.result or {}).get(kind) or ()}
    value = next((cell["value"] for cell in rows.get(concept, ()) if cell["temporal"] == time), None)
    return None if value is None else 100 * value


def _ablation_cells(found: Found, tiny: bool) -> Iterator[Cell]:
    """Yield (UTD, Tables A.4-A.6): the row of our own descriptions and encoder, and what has weights."""
    for table, own in SAME.items():
        for row, column, paper in TABLES[table].cells():
            form = NEEDS[table]
            if row == own:
                yield _measured(found, tiny, table, row, column, paper, "common", CONCEPTS[0], IN_ORDER)
            elif run := found.encoders.get((row, column)):
                yield compare(
                    f"UTD, Table {table}", row, column, paper, value_of(run, "common", DESCRIPTION, SEQUENCE), digits=1
                )
            else:
                yield compare(f"UTD, Table {table}", row, column, paper, None, digits=1, why=form.format(row))


def _cell(table: str, row: str, column: str, paper: float | None, ours: float | None, tiny: bool, absent: str) -> Cell:
    if ours is None:
        return compare(table, row, column, paper, None, digits=1, why=absent)
    return (
        Cell(table, row, column, paper, ours, "tiny model", TINY)
        if tiny
        else compare(table, row, column, paper, ours, digits=1)
    )


def _absent(column: str) -> str:
    one = next(each for each in DATA_SETS if each.column == column)
    return NOT_GIVEN.format(f"{one.descriptions(one.test)} and {one.videos(one.test)}")


def _sorted(cells: list[Cell]) -> list[Cell]:
    """Return the cells table by table, in the paper's order of tables."""
    order = [f"UTD, Table {name}" for name in TABLES]
    return sorted(cells, key=lambda cell: order.index(cell.table) if cell.table in order else len(order))
