"""Draw the figures of ViLMA that public files allow."""

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from evaluation.analyses import jensen_shannon
from evaluation.analyses.analysis_inputs import ItemFacts, valid_part
from evaluation.charts.of_reports import word_shifts
from evaluation.errors import EvaluationError
from evaluation.reports.analysis_pages import PAGES
from evaluation.reports.reports import release_analysis
from foilworks.core.corpus.models import Release
from foilworks.site.reproduction.vilma_counts import Items
from foilworks.site.reproduction.vilma_paper import AWARENESS, COUNTING, RARE, SPATIAL, STATE

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
TINY = " (a tiny one: no model of the paper was given)"
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
        sentences.append(WRITTEN.format(number, TINY if is_tiny else ""))
    return (*sentences, NOT_PUBLIC, EXAMPLES)
