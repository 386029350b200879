"""Numbers of ViLMA that contradict other numbers of the paper, found by arithmetic alone."""

from collections.abc import Iterator

from foilworks.site.reproduction.vilma_counts import misprint, row_name
from foilworks.site.reproduction.vilma_paper import ALL, OVERALL, SCORES, SUBTESTS, ScoreTable, Subtest

PERCENTAGE = "ViLMA, Table {}, {}: {:.2f} % is printed for {} of {}; {}."
IMPOSSIBLE = "{}, {}, {}: P+T is {}, more than its P ({}) or T ({})."
TOO_FEW = "{}, {}, {}: P+T is {}, less than P + T - 100 = {:.2f} ({} and {})."
NEITHER = "{}, {}: {} over all is {}; the subtests give {:.1f} weighted by their items, {:.1f} as a plain mean."
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
    """A model solves both tests at most as often as each of them, and at least in P + T - 100 % (ViLMA, Sec. 4.2)."""
    for table in SCORES:
        for model, numbers in table.rows().items():
            for at, group in enumerate(table.groups):
                p, t, p_and_t = numbers[3 * at : 3 * at + 3]
                if p_and_t > min(p, t) + ROUNDED:
                    yield IMPOSSIBLE.format(table.name, model, group, p_and_t, p, t)
                if p_and_t < p + t - 100 - ROUNDED:
                    yield TOO_FEW.format(table.name, model, group, p_and_t, p + t - 100, p, t)


def _check_pooled(table: ScoreTable) -> Iterator[str]:
    """The pooled accuracy is between the accuracies of the subtests, and the weighted or the plain mean of them."""
    if ALL not in table.groups:
        return
    sizes = [subtest.both[0] for group in table.groups for subtest in SUBTESTS if _is_group(subtest, table, group)]
    for model, numbers in table.rows().items():
        for at, column in enumerate(COLUMNS):
            *shares, pooled = numbers[at::3]
            weighted = sum(size * share for size, share in zip(sizes, shares, strict=True)) / sum(sizes)
            plain = sum(shares) / len(shares)
            if not min(shares) - ROUNDED <= pooled <= max(shares) + ROUNDED:
                yield BETWEEN.format(table.name, model, column, pooled, min(shares), max(shares))
            elif min(abs(pooled - weighted), abs(pooled - plain)) > ROUNDED:
                yield NEITHER.format(table.name, model, column, pooled, weighted, plain)


def _is_group(subtest: Subtest, table: ScoreTable, group: str) -> bool:
    return subtest.test == table.test and subtest.name == group


def _check_repeated(two: ScoreTable, table: ScoreTable) -> Iterator[str]:
    """(ViLMA, Table 2) repeats the last group of the table of each test."""
    at = 3 * two.groups.index(table.test)
    details = table.rows()
    for model, numbers in two.rows().items():
        for index, column in enumerate(COLUMNS):
            summary, detail = numbers[at + index], details[model][index - 3]
            if abs(summary - detail) > ROUNDED:
                yield OTHER.format(model, table.test, column, summary, table.name, detail)
