"""(ViLMA, Tables 2 and 7-11): the published items in a project, frozen, and scored with the models that are given.

Language models read only the texts, which are public. The videos are not: models of images and videos are scored only
if the sources have a folder `videos`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.queries import run_results
from foilworks.core.corpus.models import Release
from foilworks.core.projects.models import Project
from foilworks.site.imports.store import import_records
from foilworks.site.reproduction.shared_steps import OVERRIDE, new_project, score
from foilworks.site.reproduction.table_cells import Cell, compare
from foilworks.site.reproduction.tiny_models import write_language_model
from foilworks.site.reproduction.vilma_counts import missing
from foilworks.site.reproduction.vilma_paper import (
    ALL,
    AVERAGE,
    RANDOM,
    SCORES,
    SUBTESTS,
    TEXT_ONLY,
    ScoreTable,
    Subtest,
)

Numbers = Mapping[str, float]
VIDEOS = "videos"
COLUMNS = ("P", "T", "P+T")
COLUMN = "{}, {}"
NO_WEIGHTS = "no weights given; give --weights {}=…"
NO_VIDEOS = "the videos are not public; put them into a folder videos of the sources"
TINY = "a language model of random weights, so only the arithmetic is tried"
OTHER_SCORER = "scores of these weights differ from the printed ones"
OTHER_ITEMS = "these files do not have the paper's items"
NAME = "ViLMA, as published"


@dataclass(frozen=True)
class Scored:
    """`results`: model -> file name -> the results of one subtest; `tiny`: models of random weights."""

    release: Release
    results: Mapping[str, Mapping[str, Mapping[str, Any]]]
    tiny: frozenset[str]


def import_published(files: Mapping[Subtest, Path], sources: Path) -> Project:
    """Store the published items with their votes."""
    project = new_project("reproduce-vilma", NAME, is_simulated=False)
    videos = sources / VIDEOS
    for path in files.values():
        import_records(project, None, "vilma", path, media_dir=videos if videos.is_dir() else None)
    return project


def score_published(
    project: Project, files: Mapping[Subtest, Path], sources: Path, work: Path, weights: Mapping[str, str]
) -> Scored:
    """Freeze the items whose main and proficiency pair are valid, and score every model that can be."""
    release = freeze_release(None, project, name="ViLMA", override=OVERRIDE)
    specs = {model: spec for model, spec in weights.items() if model in TEXT_ONLY or (sources / VIDEOS).is_dir()}
    tiny = frozenset() if TEXT_ONLY[0] in specs else frozenset({TEXT_ONLY[0]})
    if tiny:
        specs[TEXT_ONLY[0]] = f"lm:{write_language_model(work / 'tiny-lm')}"
    results = {}
    for model, spec in specs.items():
        rows_by_subtest = run_results(score(release, spec, model, controls=True))["subtests"]
        results[model] = {
            subtest.files[0]: rows_by_subtest[path.stem]
            for subtest, path in files.items()
            if path.stem in rows_by_subtest
        }
    return Scored(release, results, tiny)


def score_cells(scored: Scored) -> tuple[Cell, ...]:
    """Return every cell of the six tables."""
    return tuple(cell for table in SCORES for cell in _cells(table, scored))


def _cells(table: ScoreTable, scored: Scored) -> Iterator[Cell]:
    columns = [COLUMN.format(group, column) for group in table.groups for column in COLUMNS]
    for model, printed in table.rows().items():
        reproduced = _reproduced(table, model, scored)
        for column, value in zip([*columns, AVERAGE], printed, strict=False):
            yield _cell(table, model, column, value, reproduced, scored)


def _cell(table: ScoreTable, model: str, column: str, printed: float, reproduced: Numbers, scored: Scored) -> Cell:
    name, value = table.name, reproduced.get(column)
    if value is not None and model in scored.tiny:
        return Cell(name, model, column, printed, value, "tiny model", TINY)
    why = OTHER_ITEMS if model == RANDOM else OTHER_SCORER
    if value is None:
        is_scored = model in scored.results or model == RANDOM
        why = _missing_file(table, scored) if is_scored else _unscored(model)
    return compare(name, model, column, printed, value, digits=table.digits, why=why)


def _unscored(model: str) -> str:
    return NO_WEIGHTS.format(model) if model in TEXT_ONLY else NO_VIDEOS


def _missing_file(table: ScoreTable, scored: Scored) -> str:
    """Name the first file that the table needs and that is not given."""
    scored_subtests = {name for results in scored.results.values() for name in results}
    of_table = [subtest for subtest in SUBTESTS if subtest.test == (table.test or subtest.test)]
    return next(
        (missing(subtest) for subtest in of_table if subtest.files[0] not in scored_subtests), "no item is valid"
    )


def _reproduced(table: ScoreTable, model: str, scored: Scored) -> Numbers:
    """Return column -> percentage of one model; `Random` is the chance of the items."""
    results = scored.results.get(model, {})
    if model == RANDOM:
        results = {name: {**row["chance"], "n": row["n"]} for name, row in next(iter(scored.results.values())).items()}
    reproduced: dict[str, float] = {}
    for group in table.groups:
        members = [subtest for subtest in SUBTESTS if _belongs(subtest, table, group)]
        rows = [results.get(subtest.files[0]) for subtest in members]
        for column in COLUMNS:
            if (mean := _pooled(rows, column)) is not None:
                reproduced[COLUMN.format(group, column)] = 100 * mean
    both_solved = [reproduced.get(COLUMN.format(group, COLUMNS[-1])) for group in table.groups]
    if None not in both_solved:
        reproduced[AVERAGE] = sum(filter(None, both_solved)) / len(both_solved)
    return reproduced


def _belongs(subtest: Subtest, table: ScoreTable, group: str) -> bool:
    if not table.test:
        return subtest.test == group
    return subtest.test == table.test and group in {ALL, subtest.name}


def _pooled(rows: list[Mapping[str, Any] | None], column: str) -> float | None:
    """Return the mean over the items of all subtests; None if one is missing or has no pair of both."""
    if any(row is None or row[column] is None for row in rows):
        return None
    complete = [row for row in rows if row is not None]
    return sum(row["n"] * row[column] for row in complete) / sum(row["n"] for row in complete)
