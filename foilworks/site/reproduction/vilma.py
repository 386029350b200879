"""Make ViLMA's tables again from its public annotation files (ViLMA, Tables 1, 2 and 4-11, Figs. 3-11 and 23).

Published counts come from the files themselves. The text-only rows need no video; others need the folder `videos`.

Draw the figures of ViLMA that public files allow.

(ViLMA, Tables 2 and 7-11): the published items in a project, frozen, and scored with the models that are given.

Language models read only the texts, which are public. The videos are not: models of images and videos are scored only
if the sources have a folder `videos`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from evaluation.analyses import jensen_shannon
from evaluation.analyses.analysis_inputs import ItemFacts, valid_part
from evaluation.charts.of_reports import word_shifts
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.analysis_pages import PAGES
from evaluation.reports.reports import release_analysis
from evaluation.scoring.queries import run_results
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.models import Release
from foilworks.core.projects.models import Project
from foilworks.site.imports.store import import_records
from foilworks.site.reproduction.audits import audit_files
from foilworks.site.reproduction.progress import begin, plan
from foilworks.site.reproduction.shared_steps import OVERRIDE, check_weights, export, new_project, score, write_ladder
from foilworks.site.reproduction.table_cells import (
    CONTRADICTION,
    Caveat,
    Cell,
    Result,
    Source,
    compare,
    missing_lines,
    not_given,
)
from foilworks.site.reproduction.tiny_models import write_language_model
from foilworks.site.reproduction.vilma_collection import make_again
from foilworks.site.reproduction.vilma_counts import (
    WHERE,
    Caveats,
    Items,
    caveats_of,
    count_files,
    find_files,
    first_caveat,
    read_files,
    row_name,
)
from foilworks.site.reproduction.vilma_misprints import find_misprints
from foilworks.site.reproduction.vilma_paper import (
    ALL,
    AVERAGE,
    AWARENESS,
    COUNTING,
    RANDOM,
    RARE,
    SCORES,
    SPATIAL,
    STATE,
    SUBTESTS,
    TEXT_ONLY,
    ScoreTable,
    Subtest,
)

# (ViLMA, Figs. 3-10): number -> test, and the subtest if the figure is of one.
WORDS = {
    3: (COUNTING, ""),
    4: (AWARENESS, ""),
    5: (RARE, ""),
    6: (SPATIAL, ""),
    7: (STATE, "Action"),
    8: (STATE, "Pre-State"),
    9: (STATE, "Post-State"),
    10: (STATE, "Reverse"),
}
BEFORE, AFTER = "before", "after"
FILE = "figure-{}-{}.svg"
DRAWN = "Figures {}: drawn in figures/; the paper prints no numbers in them."
# (ViLMA, Figs. 11 and 23): number -> analysis, and the parts that its page draws.
OF_SCORES = {11: ("counts", ("of-models", "of-categories")), 23: ("length", ("left", "right"))}
WRITTEN = "Figure {}: drawn in figures/, of the models that were scored{}; the paper prints no numbers in it."
TINY_RUNS = " (a tiny one: no model of the paper was given)"
NOT_MADE = "Figure {}: {}"
NOT_PUBLIC = "ViLMA, Fig. 12: WebVid's captions are not public any more."
EXAMPLES = "All other figures are frames and examples, without numbers."


def draw_words(files: Items, folder: Path) -> str:
    """Draw the words of captions and foils before and after the validation; return what was drawn in one sentence."""
    folder.mkdir(parents=True, exist_ok=True)
    figure_numbers = []
    for number, (test, name) in WORDS.items():
        of_test = [rows for subtest, rows in files.items() if subtest.test == test and name in {"", subtest.name}]
        items = list(chain.from_iterable(of_test))
        if not items:
            continue
        for moment, moment_items in ((BEFORE, items), (AFTER, valid_part(items))):
            _draw_shifts(moment_items, folder / FILE.format(number, moment))
        figure_numbers.append(str(number))
    return DRAWN.format(", ".join(figure_numbers)) if figure_numbers else ""


def _draw_shifts(items: Sequence[ItemFacts], path: Path) -> None:
    if items:
        path.write_bytes(word_shifts(jensen_shannon.compute(items)["top_shifts"], path.stem))


def write_analyses(release: Release, folder: Path, is_tiny: bool) -> tuple[str, ...]:
    """Write and draw accuracy by count and by length (ViLMA, Figs. 11 and 23); return a sentence for each.

    `is_tiny`: the only model that was scored is of random weights.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sentences = []
    for number, (kind, parts) in OF_SCORES.items():
        try:
            analysis = release_analysis(release, kind)
        except EvaluationError as error:
            sentences.append(NOT_MADE.format(number, error))
            continue
        path = folder / f"figure-{number}.json"
        path.write_text(json.dumps(analysis, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        page = PAGES[kind]
        charts = (page.chart, page.second[1]) if page.second else (page.chart,)
        for part, draw in zip(parts, charts, strict=True):
            (folder / FILE.format(number, part)).write_bytes(draw(analysis))
        sentences.append(WRITTEN.format(number, TINY_RUNS if is_tiny else ""))
    return (*sentences, NOT_PUBLIC, EXAMPLES)


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


FEEDS = ("ViLMA, Tables 1, 2 and 4-6", "the table of its test")
SOURCES = tuple(Source(f"{subtest.files[0]}.json", WHERE, FEEDS) for subtest in SUBTESTS)
# Models that the paper scores, and those that make foils.
MODELS = tuple(model for model in SCORES[0].rows() if model != RANDOM)
MAKERS = ("T5", "RoBERTa", "NLI", "CoLA", "lm")
TABLE_3 = "ViLMA, Table 3 describes the models; its only numbers are also in (ViLMA, Table 2)."


def reproduce(sources: Path, work: Path, *, weights: Mapping[str, str], seed: int) -> Result:
    """Return every cell that the files in `sources` allow. `weights`: GPT-2, OPT, CLIP, …; T5, RoBERTa, NLI, CoLA."""
    check_weights(weights, (*MODELS, *MAKERS))
    files = find_files(sources)
    missing = missing_lines(SOURCES, {f"{subtest.files[0]}.json": path for subtest, path in files.items()})
    notes = [CONTRADICTION.format(sentence) for sentence in find_misprints()] + [TABLE_3]
    items = read_files(files)
    cells: tuple[Cell, ...] = count_files(files, items)
    if files:
        work.mkdir(parents=True, exist_ok=True)
        plan(130 + len(files))
        begin("scores of the published items", 40)
        scored = score_published(import_published(files, items, sources, work), files, items, sources, work, weights)
        begin("foils made again", 40)
        second_round = make_again(files, items, sources / VIDEOS, work / "again", weights, seed)
        cells += (*score_cells(scored), *second_round.cells)
        is_tiny = scored.results.keys() == scored.tiny
        notes += [draw_words(items, work / "figures"), *write_analyses(scored.release, work / "figures", is_tiny)]
        notes += [
            *second_round.notes,
            *write_ladder(scored.release, work / "ladder.json"),
            *audit_files({row_name(subtest): path for subtest, path in files.items()}, work, seed),
        ]
        begin("releases", 50)
        notes.append(export(scored.release, work / "release"))
        if second_round.release:
            notes.append(export(second_round.release, work / "release-again"))
    return Result("ViLMA", cells, tuple(filter(None, notes)), missing)
