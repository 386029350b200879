"""Make ViLMA's tables again from its public annotation files (ViLMA, Tables 1, 2 and 4-11, Figs. 3-11 and 23).

Published counts come from the files themselves. The text-only rows need no video; others need the folder `videos`.
"""

from collections.abc import Mapping
from pathlib import Path

from foilworks.site.reproduction.audits import audit_files
from foilworks.site.reproduction.progress import begin, plan
from foilworks.site.reproduction.shared_steps import check_weights, export, write_ladder
from foilworks.site.reproduction.table_cells import CONTRADICTION, Cell, Result, Source, missing_lines
from foilworks.site.reproduction.vilma_collection import make_again
from foilworks.site.reproduction.vilma_counts import WHERE, count_files, find_files, read_files, row_name
from foilworks.site.reproduction.vilma_figures import draw_words, write_analyses
from foilworks.site.reproduction.vilma_misprints import find_misprints
from foilworks.site.reproduction.vilma_paper import RANDOM, SCORES, SUBTESTS
from foilworks.site.reproduction.vilma_scores import VIDEOS, import_published, score_cells, score_published

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
