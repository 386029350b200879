"""(ViLMA, Tables 1 and 4-6) from the public files: the validation report, and the numbers that it holds."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evaluation.analyses import validation
from evaluation.analyses.analysis_inputs import ItemFacts
from evaluation.score_files.items import read_items
from foilworks.site.reproduction.readability import readability
from foilworks.site.reproduction.table_cells import Caveat, Cell, compare, not_given, other_hash
from foilworks.site.reproduction.vilma_paper import (
    ALL,
    AWARENESS,
    OVERALL,
    PUBLISHED,
    STATE,
    SUBTESTS,
    TABLE_1,
    TABLE_5,
    Subtest,
)

Rows = Mapping[Subtest, Mapping[str, Any]]
Items = Mapping[Subtest, Sequence[ItemFacts]]
Caveats = Mapping[Subtest, Caveat | None]
WHERE = "github.com/ilkerkesen/ViLMA, folder data (MIT licence)"
WORDS = "the paper states neither base, words nor unit of its divergence; ours: base 2, all lower-cased words"
AGREEMENT = "who gave which vote is not public; ours is of the counts of three answers"
MISPRINT = "misprint: {} of {} is {:.2f} %"
CUT = "cut off after two decimals: {} of {} is {:.2f} %"
VALID, VALID_TEST = "#Valid", "#Valid Test"
READABILITY = {"Flesch-Kincaid grade": 4.54, "Flesch reading ease": 83.27}
SYLLABLES = "the paper names neither its count of syllables nor its texts; ours: groups of vowels, distinct captions"
OTHER_SIZE = "this file has {} items, the paper's {}"
OF_COUNTS = "the published file gives another count"
ROW = "{}: {}"
PERCENT = "{} (%)"
# Columns of (ViLMA, Table 4) after the counts: the paper's name, the report's, decimals, why they differ.
OF_WORDS = (
    ("#Lex.it.", "n_lexical_items", 0, WORDS),
    ("JS", "js_all", 3, WORDS),
    ("JS Val.", "js_valid", 3, WORDS),
    ("α", "alpha_all", 3, AGREEMENT),
    ("α Valid", "alpha_valid", 3, AGREEMENT),
)
OF_PROFICIENCY = (
    ("#Lex.it.", "n_lexical_items", 0, WORDS),
    ("JS", "js_all", 3, WORDS),
    ("JS Val.", "js_valid", 3, WORDS),
)


def find_files(sources: Path) -> dict[Subtest, Path]:
    """Return the file of each subtest that is in the folder."""
    path_by_subtest = {}
    for subtest in SUBTESTS:
        paths = [path for name in subtest.files if (path := sources / f"{name}.json").is_file()]
        if paths:
            path_by_subtest[subtest] = paths[0]
    return path_by_subtest


def read_files(files: Mapping[Subtest, Path]) -> Items:
    """Return the items of each file."""
    return {subtest: read_items([path])[0] for subtest, path in files.items()}


def row_name(subtest: Subtest) -> str:
    return ROW.format(subtest.test, subtest.name)


def row_of_pairs(subtest: Subtest) -> str:
    """Return the row of (ViLMA, Table 5): the four subtests of change of state have the same proficiency pairs."""
    return ROW.format(subtest.test, ALL) if subtest.test == STATE else row_name(subtest)


def count_files(files: Mapping[Subtest, Path], items: Items) -> tuple[Cell, ...]:
    """Return the cells of (ViLMA, Tables 1 and 4-6)."""
    rows = {subtest: validation.compute(items[subtest], draws=0)["overall"] for subtest in files}
    polished = {item.caption for subtest in files if subtest.test == AWARENESS for item in items[subtest]}
    caveats = caveats_of(files, items)
    cells = (cell for table in (_table_1, _table_4, _table_5, _table_6) for cell in table(rows, caveats))
    return (*cells, *_readability(sorted(polished), caveats))


def _readability(captions: Sequence[str], caveats: Caveats) -> Iterator[Cell]:
    """Yield how easy the polished captions of situation awareness are to read (ViLMA, Sec. C.3)."""
    caveat = first_caveat([subtest for subtest in SUBTESTS if subtest.test == AWARENESS], caveats)
    numbers = readability(captions) if captions else (None, None)
    for (name, printed), number in zip(READABILITY.items(), numbers, strict=True):
        yield compare("ViLMA, Sec. C.3", name, "captions", printed, number, digits=2, why=SYLLABLES, caveat=caveat)


def caveats_of(files: Mapping[Subtest, Path], items: Items) -> Caveats:
    """Return what keeps the numbers of each subtest from being compared; None if its file is the published one."""
    return {subtest: _caveat(subtest, files.get(subtest), len(items.get(subtest, ()))) for subtest in SUBTESTS}


def _caveat(subtest: Subtest, path: Path | None, n_items: int) -> Caveat | None:
    if path is None:
        return not_given(f"{subtest.files[0]}.json", WHERE)
    if n_items != subtest.n:
        return Caveat("other data", OTHER_SIZE.format(n_items, subtest.n))
    return other_hash(path, [PUBLISHED[name] for name in subtest.files])


def first_caveat(subtests: Iterable[Subtest], caveats: Caveats) -> Caveat | None:
    """Return the first caveat of the subtests: a missing file before a file of other data."""
    of_subtests = [caveat for subtest in subtests if (caveat := caveats[subtest])]
    return min(of_subtests, key=lambda caveat: caveat.state != "not given", default=None)


def misprint(count: int, total: int, percent: float) -> str:
    """Say that a printed percentage does not follow from its own count; "" if it does."""
    recomputed = 100 * count / total
    if abs(recomputed - percent) <= 0.005:
        return ""
    words = CUT if 0 < recomputed - percent < 0.01 else MISPRINT
    return words.format(count, total, recomputed)


def _share(
    make: Any, column: str, printed: tuple[int, float], total: int, reproduced: int | None, n: int | None
) -> Cell:
    """Return the cell of a percentage; a misprint is named."""
    count, percent = printed
    share = 100 * reproduced / n if reproduced is not None and n else None
    return make(PERCENT.format(column), percent, share, digits=2, why=misprint(count, total, percent) or OF_COUNTS)


def _counts(make: Any, subtest: Subtest, row: Mapping[str, Any] | None, *columns: str) -> Iterator[Cell]:
    """Yield counts and percentages: `columns` are attributes of `subtest` with the paper's names."""
    counts = row or {}
    for column in columns:
        printed = getattr(subtest, column)
        title, key = COUNTS[column]
        count = printed if isinstance(printed, int) else printed[0]
        yield make(title, count, counts.get(key), digits=0, why=OF_COUNTS)
        if not isinstance(printed, int):
            yield _share(make, title, printed, subtest.n, counts.get(key), counts.get("n_items"))


COUNTS = {
    "n": ("#Inst.", "n_items"),
    "valid": (VALID, "n_valid"),
    "unanimous": ("#Unan.", "n_unanimous"),
    "proficiency": ("#Valid Prof.", "n_valid_proficiency"),
    "both": ("#Both Valid", "n_both"),
}


def _table_1(rows: Rows, caveats: Caveats) -> Iterator[Cell]:
    for test, printed in TABLE_1.items():
        of_test = [subtest for subtest in SUBTESTS if subtest.test == test]
        is_whole = all(subtest in rows for subtest in of_test)
        reproduced = sum(rows[subtest]["n_both"] or 0 for subtest in of_test) if is_whole else None
        caveat = first_caveat(of_test, caveats)
        yield compare("ViLMA, Table 1", test, "#exs.", printed, reproduced, digits=0, why=OF_COUNTS, caveat=caveat)


def _maker(table: str, subtest: Subtest, caveats: Caveats, row_of: Callable[[Subtest], str] = row_name) -> Any:
    """Return `compare` for one row."""
    return partial(compare, table, row_of(subtest), caveat=caveats[subtest])


def _table_4(rows: Rows, caveats: Caveats) -> Iterator[Cell]:
    for subtest in SUBTESTS:
        row, make = rows.get(subtest), _maker("ViLMA, Table 4", subtest, caveats)
        yield from _counts(make, subtest, row, "n", "valid", "unanimous")
        for (column, key, digits, why), printed in zip(OF_WORDS, subtest.words, strict=True):
            yield make(column, printed, row[key] if row else None, digits=digits, why=why)
    yield from _overall("ViLMA, Table 4", rows, caveats, ("valid", VALID, True), ("unanimous", "#Unan.", True))


def _table_5(rows: Rows, caveats: Caveats) -> Iterator[Cell]:
    for subtest in SUBTESTS:
        if subtest.files[0] not in TABLE_5:
            continue
        percent, *words = TABLE_5[subtest.files[0]]
        row = (rows.get(subtest) or {}).get("proficiency")
        make = _maker("ViLMA, Table 5", subtest, caveats, row_of_pairs)
        yield make("#Inst.", subtest.n, row["n_items"] if row else None, digits=0, why=OF_COUNTS)
        yield make(VALID, subtest.proficiency, row["n_valid"] if row else None, digits=0, why=OF_COUNTS)
        printed = (subtest.proficiency, float(percent or 0))
        yield _share(make, VALID, printed, subtest.n, row and row["n_valid"], row and row["n_items"])
        for (column, key, digits, why), value in zip(OF_PROFICIENCY, words, strict=True):
            if value is not None:
                yield make(column, value, row[key] if row else None, digits=digits, why=why)
    yield from _overall("ViLMA, Table 5", rows, caveats, ("proficiency", VALID, True))


def _table_6(rows: Rows, caveats: Caveats) -> Iterator[Cell]:
    for subtest in SUBTESTS:
        row, make = rows.get(subtest), _maker("ViLMA, Table 6", subtest, caveats)
        yield from _counts(make, subtest, row, "n", "proficiency")
        yield make(VALID_TEST, subtest.valid[0], (row or {}).get("n_valid"), digits=0, why=OF_COUNTS)
        yield from _counts(make, subtest, row, "both")
    columns = (("proficiency", "#Valid Prof.", False), ("valid", VALID_TEST, False), ("both", "#Both Valid", True))
    yield from _overall("ViLMA, Table 6", rows, caveats, *columns)


def _overall(table: str, rows: Rows, caveats: Caveats, *columns: tuple[str, str, bool]) -> Iterator[Cell]:
    """Yield the sums over all subtests, if the files of all are given. Columns: name, title, with a percentage."""
    is_whole = len(rows) == len(SUBTESTS)
    make = partial(compare, table, "Overall", caveat=first_caveat(SUBTESTS, caveats))
    total = sum(row["n_items"] for row in rows.values()) if is_whole else None
    yield make("#Inst.", OVERALL["n"], total, digits=0, why=OF_COUNTS)
    for name, title, with_share in columns:
        count, percent = OVERALL[name]
        reproduced = sum(row[COUNTS[name][1]] or 0 for row in rows.values()) if is_whole else None
        yield make(title, count, reproduced, digits=0, why=OF_COUNTS)
        if with_share:
            yield _share(make, title, (count, percent), OVERALL["n"], reproduced, total)
