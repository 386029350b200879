"""(ViLMA, Tables 1 and 4-6) from the public files: the validation report, and the numbers that it holds."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evaluation.analyses import validation
from evaluation.score_files.items import read_items
from foilworks.site.reproduction.table_cells import NOT_GIVEN, Cell, compare
from foilworks.site.reproduction.vilma_paper import ALL, OVERALL, STATE, SUBTESTS, TABLE_1, TABLE_5, Subtest

Rows = Mapping[Subtest, Mapping[str, Any]]
WORDS = "the paper states neither base, words nor unit of its divergence; ours: base 2, all lower-cased words"
AGREEMENT = "who gave which vote is not public; ours is of the counts of three answers"
MISPRINT = "misprint: {} of {} is {:.2f} %"
CUT = "cut off after two decimals: {} of {} is {:.2f} %"
VALID, VALID_TEST = "#Valid", "#Valid Test"
OTHER_FILE = "this file has {} items, the paper's {}"
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


def row_name(subtest: Subtest) -> str:
    return ROW.format(subtest.test, subtest.name)


def row_of_pairs(subtest: Subtest) -> str:
    """Return the row of (ViLMA, Table 5): the four subtests of change of state have the same proficiency pairs."""
    return ROW.format(subtest.test, ALL) if subtest.test == STATE else row_name(subtest)


def count_files(files: Mapping[Subtest, Path]) -> tuple[Cell, ...]:
    """Return the cells of (ViLMA, Tables 1 and 4-6)."""
    rows: dict[Subtest, Mapping[str, Any]] = {}
    for subtest, path in files.items():
        items, _warnings = read_items([path])
        rows[subtest] = validation.compute(items, draws=0)["overall"]
    return (*_table_1(rows), *_table_4(rows), *_table_5(rows), *_table_6(rows))


def missing(subtest: Subtest) -> str:
    return NOT_GIVEN.format(f"{subtest.files[0]}.json")


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
    why = misprint(count, total, percent)
    return make(PERCENT.format(column), percent, share, digits=2, **({"why": why} if why else {}))


def _counts(make: Any, subtest: Subtest, row: Mapping[str, Any] | None, *columns: str) -> Iterator[Cell]:
    """Yield counts and percentages: `columns` are attributes of `subtest` with the paper's names."""
    counts = row or {}
    for column in columns:
        printed = getattr(subtest, column)
        title, key = COUNTS[column]
        count = printed if isinstance(printed, int) else printed[0]
        yield make(title, count, counts.get(key), digits=0)
        if not isinstance(printed, int):
            yield _share(make, title, printed, subtest.n, counts.get(key), counts.get("n_items"))


COUNTS = {
    "n": ("#Inst.", "n_items"),
    "valid": (VALID, "n_valid"),
    "unanimous": ("#Unan.", "n_unanimous"),
    "proficiency": ("#Valid Prof.", "n_valid_proficiency"),
    "both": ("#Both Valid", "n_both"),
}


def _table_1(rows: Rows) -> Iterator[Cell]:
    for test, printed in TABLE_1.items():
        of_test = [subtest for subtest in SUBTESTS if subtest.test == test]
        absent = [subtest for subtest in of_test if subtest not in rows]
        reproduced = None if absent else sum(rows[subtest]["n_both"] or 0 for subtest in of_test)
        why = missing(absent[0]) if absent else ""
        yield compare("ViLMA, Table 1", test, "#exs.", printed, reproduced, digits=0, why=why)


def _maker(table: str, subtest: Subtest, rows: Rows, row_of: Callable[[Subtest], str] = row_name) -> Any:
    """Return `compare` for one row; a file that is missing is the reason of all its cells."""
    row = rows.get(subtest)
    why = OTHER_FILE.format(row["n_items"], subtest.n) if row else missing(subtest)
    return partial(compare, table, row_of(subtest), why=why)


def _table_4(rows: Rows) -> Iterator[Cell]:
    for subtest in SUBTESTS:
        row, make = rows.get(subtest), _maker("ViLMA, Table 4", subtest, rows)
        yield from _counts(make, subtest, row, "n", "valid", "unanimous")
        for (column, key, digits, why), printed in zip(OF_WORDS, subtest.words, strict=True):
            reason = why if row else missing(subtest)
            yield make(column, printed, row[key] if row else None, digits=digits, why=reason)
    yield from _overall("ViLMA, Table 4", rows, ("valid", VALID, True), ("unanimous", "#Unan.", True))


def _table_5(rows: Rows) -> Iterator[Cell]:
    for subtest in SUBTESTS:
        if subtest.files[0] not in TABLE_5:
            continue
        percent, *words = TABLE_5[subtest.files[0]]
        row, make = (rows.get(subtest) or {}).get("proficiency"), _maker("ViLMA, Table 5", subtest, rows, row_of_pairs)
        yield make("#Inst.", subtest.n, row["n_items"] if row else None, digits=0)
        yield make(VALID, subtest.proficiency, row["n_valid"] if row else None, digits=0)
        printed = (subtest.proficiency, float(percent or 0))
        yield _share(make, VALID, printed, subtest.n, row and row["n_valid"], row and row["n_items"])
        for (column, key, digits, why), value in zip(OF_PROFICIENCY, words, strict=True):
            if value is not None:
                reason = why if row else missing(subtest)
                yield make(column, value, row[key] if row else None, digits=digits, why=reason)
    yield from _overall("ViLMA, Table 5", rows, ("proficiency", VALID, True))


def _table_6(rows: Rows) -> Iterator[Cell]:
    for subtest in SUBTESTS:
        make = _maker("ViLMA, Table 6", subtest, rows)
        yield from _counts(make, subtest, rows.get(subtest), "n", "proficiency")
        yield make(VALID_TEST, subtest.valid[0], (rows.get(subtest) or {}).get("n_valid"), digits=0)
        yield from _counts(make, subtest, rows.get(subtest), "both")
    columns = (("proficiency", "#Valid Prof.", False), ("valid", VALID_TEST, False), ("both", "#Both Valid", True))
    yield from _overall("ViLMA, Table 6", rows, *columns)


def _overall(table: str, rows: Rows, *columns: tuple[str, str, bool]) -> Iterator[Cell]:
    """Yield the sums over all subtests, if the files of all are given. Columns: name, title, with a percentage."""
    absent = [subtest for subtest in SUBTESTS if subtest not in rows]
    make = partial(compare, table, "Overall", why=missing(absent[0]) if absent else "")
    total = None if absent else sum(row["n_items"] for row in rows.values())
    yield make("#Inst.", OVERALL["n"], total, digits=0)
    for name, title, with_share in columns:
        count, percent = OVERALL[name]
        reproduced = None if absent else sum(row[COUNTS[name][1]] or 0 for row in rows.values())
        yield make(title, count, reproduced, digits=0)
        if with_share:
            yield _share(make, title, (count, percent), OVERALL["n"], reproduced, total)
