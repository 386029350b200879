"""(ViLMA, Tables 2 and 7-11): the published items in a project, frozen, and scored with the models that are given.

Language models read only the texts, which are public. The videos are not: models of images and videos are scored only
if the sources have a folder `videos`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.analyses.analysis_inputs import ItemFacts
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.queries import run_results
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.models import Release
from foilworks.core.projects.models import Project
from foilworks.site.imports.store import import_records
from foilworks.site.reproduction.shared_steps import OVERRIDE, new_project, score
from foilworks.site.reproduction.table_cells import Caveat, Cell, compare, not_given
from foilworks.site.reproduction.tiny_models import write_language_model
from foilworks.site.reproduction.vilma_counts import Caveats, Items, caveats_of, first_caveat
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
NO_WEIGHTS = Caveat("needs weights", "give the language model with --weights NAME=SPEC")
NO_VIDEOS = Caveat("needs weights", "give the model with --weights NAME=SPEC, and the clips in the folder videos")
ONLY_WEIGHTS = not_given(VIDEOS, "the pages of the source data sets, under their terms")
NO_ITEM = Caveat("other data", "no item of the given files is valid")
TINY = Caveat("tiny model", "a language model of random weights, so only the arithmetic is tried")
# In figures and in the release, which show no states.
TINY_LABEL = "{} (tiny model)"
OTHER_SCORER = "scores of these weights differ from the printed ones"
OF_ITEMS = "the chance of the published items is another number"
NAME = "ViLMA, as published"


@dataclass(frozen=True)
class Scored:
    """`results`: model -> file name -> the results of one subtest; `tiny`: models of random weights.

    `weights`: the names of the models that were given, with or without videos.
    """

    release: Release
    results: Mapping[str, Mapping[str, Mapping[str, Any]]]
    tiny: frozenset[str]
    caveats: Caveats
    weights: frozenset[str]


def import_published(files: Mapping[Subtest, Path], items: Items, sources: Path, work: Path) -> Project:
    """Store the published items whose main and proficiency pair are valid, as in (ViLMA, Tables 2 and 7-11)."""
    project = new_project("reproduce-vilma", NAME, is_simulated=False)
    videos = sources / VIDEOS
    for subtest, path in files.items():
        both_valid = _write_valid(path, items[subtest], work / "both-valid" / path.name)
        import_records(project, None, "vilma", both_valid, media_dir=videos if videos.is_dir() else None)
    return project


def _write_valid(path: Path, items: Sequence[ItemFacts], out: Path) -> Path:
    """Write the records whose main and proficiency pair are valid by their votes."""
    both = {item.id.partition(":")[2] for item in items if item.valid and item.proficiency and item.proficiency.valid}
    records = {member.key: member.value for member in members(path, read_text(path))}
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({key: records[key] for key in records if key in both}, ensure_ascii=False), "utf-8")
    return out


def score_published(
    project: Project,
    files: Mapping[Subtest, Path],
    items: Items,
    sources: Path,
    work: Path,
    weights: Mapping[str, str],
) -> Scored:
    """Freeze the items of `import_published`, and score every model that can be."""
    release = freeze_release(None, project, name="ViLMA", override=OVERRIDE)
    specs = {model: spec for model, spec in weights.items() if model in TEXT_ONLY or (sources / VIDEOS).is_dir()}
    tiny = frozenset() if TEXT_ONLY[0] in specs else frozenset({TEXT_ONLY[0]})
    if tiny:
        specs[TEXT_ONLY[0]] = f"lm:{write_language_model(work / 'tiny-lm')}"
    results = {}
    for model, spec in specs.items():
        label = TINY_LABEL.format(model) if model in tiny else model
        rows_by_subtest = run_results(score(release, spec, label, controls=model not in tiny))["subtests"]
        results[model] = {
            subtest.files[0]: rows_by_subtest[path.stem]
            for subtest, path in files.items()
            if path.stem in rows_by_subtest
        }
    return Scored(release, results, tiny, caveats_of(files, items), frozenset(weights))


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
    why = OF_ITEMS if model == RANDOM else OTHER_SCORER
    value, caveat = reproduced.get(column), _caveat(table, model, column, scored)
    if value is None and caveat in {None, TINY}:
        caveat = NO_ITEM
    return compare(table.name, model, column, printed, value, digits=table.digits, why=why, caveat=caveat)


def _caveat(table: ScoreTable, model: str, column: str, scored: Scored) -> Caveat | None:
    """Return what keeps the number of a model from being compared: the model first, then the files of its subtests."""
    if model not in scored.results and model != RANDOM:
        without_videos = ONLY_WEIGHTS if model in scored.weights else NO_VIDEOS
        return NO_WEIGHTS if model in TEXT_ONLY else without_videos
    groups = table.groups if column == AVERAGE else (column.rpartition(", ")[0],)
    subtests = [subtest for group in groups for subtest in SUBTESTS if _belongs(subtest, table, group)]
    of_files = first_caveat(subtests, scored.caveats)
    is_missing = of_files is not None and of_files.state == "not given"
    return TINY if model in scored.tiny and not is_missing else of_files


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
