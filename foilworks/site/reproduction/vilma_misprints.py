"""Numbers of ViLMA that contradict other numbers of the paper, found by arithmetic alone."""

from collections.abc import Iterator

from foilworks.site.reproduction.vilma_counts import misprint, row_name
from foilworks.site.reproduction.vilma_paper import ALL, OVERALL, SCORES, SUBTESTS, ScoreTable

PERCENTAGE = "ViLMA, Table {}, {}: {:.2f} % is printed for {} of {}; {}."
IMPOSSIBLE = "{}, {}, {}: P+T is {}, more than its P ({}) or T ({})."
OTHER = "ViLMA, Table 2, {}, {}: {} is {}, but {} has {}."
BETWEEN = "{}, {}: {} over all is {}, outside of its subtests ({} to {})."
SIXTEEN = "The text speaks of 12 video-language models; (ViLMA, Table 2) lists 16."
COLUMNS = ("P", "T", "P+T")
# Half a unit of each of two rounded numbers, and binary fractions.
ROUNDED = 0.1 + 1e-9


def find_misprints() -> tuple[str, ...]:
    """Return one sentence per number."""
    two, *other_tables = SCORES
    sentences = [*_percentages(), SIXTEEN, *_impossible()]
    for table in other_tables:
        sentences += [*_check_pooled(table), *_check_repeated(two, table)]
    return tuple(sentences)


def _percentages() -> Iterator[str]:
    for subtest in SUBTESTS:
        for number, (count, percent) in ((4, subtest.valid), (4, subtest.unanimous), (6, subtest.both)):
            if why := misprint(count, subtest.n, percent):
                yield PERCENTAGE.format(number, row_name(subtest), percent, count, subtest.n, why)
    for number, name in ((4, "valid"), (4, "unanimous"), (6, "both")):
        count, percent = OVERALL[name]
        if why := misprint(count, OVERALL["n"], percent):
            yield PERCENTAGE.format(number, "Overall", percent, count, OVERALL["n"], why)


def _impossible() -> Iterator[str]:
    """A model cannot solve both tests more often than one of them (ViLMA, Sec. 4.2)."""
    for table in SCORES:
        for model, numbers in table.rows().items():
            for at, group in enumerate(table.groups):
                p, t, p_and_t = numbers[3 * at : 3 * at + 3]
                if p_and_t > min(p, t) + ROUNDED:
                    yield IMPOSSIBLE.format(table.name, model, group, p_and_t, p, t)


def _check_pooled(table: ScoreTable) -> Iterator[str]:
    """The pooled accuracy is between the accuracies of the subtests."""
    if ALL not in table.groups:
        return
    for model, numbers in table.rows().items():
        for at, column in enumerate(COLUMNS):
            *shares, pooled = numbers[at::3]
            if not min(shares) - ROUNDED <= pooled <= max(shares) + ROUNDED:
                yield BETWEEN.format(table.name, model, column, pooled, min(shares), max(shares))


def _check_repeated(two: ScoreTable, table: ScoreTable) -> Iterator[str]:
    """(ViLMA, Table 2) repeats the last group of the table of each test."""
    at = 3 * two.groups.index(table.test)
    details = table.rows()
    for model, numbers in two.rows().items():
        for index, column in enumerate(COLUMNS):
            summary, detail = numbers[at + index], details[model][index - 3]
            if abs(summary - detail) > ROUNDED:
                yield OTHER.format(model, table.test, column, summary, table.name, detail)
