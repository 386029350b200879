"""The numbers that TsT prints (TsT, Tables 1, 2, 4 and 8-14) in its version of 2026. Pure."""

from collections.abc import Iterator

from foilworks.site.reproduction.printed_checks import differing, repeated
from foilworks.site.reproduction.printed_tables import PrintedTable, printed

# Runs: the paper's row, and the files of its answers with and without videos.
RUNS = {
    "LLaVA-Video-7B + VSI-Train-10k": ("vsi_train_10k", "vsi_train_10k_blind"),
    "Cambrian-S": ("cambrian-s", "cambrian-s_blind"),
    "InternVL3-9B": ("internvl3_9b", "internvl3_9b_blind"),
    "InternVL2.5-26B": ("internvl2_5_26b", "internvl2_5_26b_blind"),
    "InternVL2.5-8B": ("internvl2_5_8b", "internvl2_5_8b_blind"),
    "LLaVA-OneVision-7B": ("llava_ov_7b", "llava_ov_7b_blind"),
    "LLaVA-Video-7B": ("llava_vid_7b_2026", "llava_vid_7b_2026_blind"),
}
TUNED, CAMBRIAN, BASE = "LLaVA-Video-7B + VSI-Train-10k", "Cambrian-S", "LLaVA-Video-7B"
GAPS = ("vision", "blind", "gap", "vision, debiased", "blind, debiased", "gap, debiased")
# The blind answers of (TsT, Table 2) are of another run than those of (TsT, Table 12).
BASE_BLIND = "llava_vid_7b_blind"

T1, T2, T4, T8, T9, T10, T11, T12, T13, T14 = (f"TsT, Table {n}" for n in (1, 2, 4, 8, 9, 10, 11, 12, 13, 14))
TABLE_1 = """
VSI-Bench      | - 24.7 42.7 17.9
VSI-Bench, MC  | 34.0 25.5 39.1 13.6
VSI-Bench, NUM | - 24.0 46.0 21.9
CV-Bench       | 44.8 47.3 60.3 13.1
MMMU           | 52.3 34.2 33.6 -0.7
VideoMME       | 46.6 29.2 33.4 4.1
MMStar         | - 24.2 29.5 5.4
"""
TABLE_2 = """
LLaVA-Video-7B                 | 36.7 25.9 10.8 31.3 20.3 11.0
LLaVA-Video-7B + VSI-Train-10k | 57.1 44.7 12.4 48.7 32.0 16.7
"""
TABLE_4 = """
VSI-Bench | 43.0 38.8
CV-Bench  | 56.1 55.7
"""
TABLE_8 = """
original            | 900 49.4 42.8 6.7 - - -
removed by TsT-LLM  | 800 47.9 40.4 7.5 - - -
1,000 random removals | - - - 6.69 0.58 4.62 8.75
"""
TABLE_9 = """
object_size_estimation      | 953 600 353
object_abs_distance         | 834 400 434
object_rel_distance         | 710 400 310
obj_appearance_order        | 618 300 318
object_counting             | 565 314 251
object_rel_direction_medium | 378 324 54
object_rel_direction_hard   | 373 257 116
room_size_estimation        | 288 88 200
object_rel_direction_easy   | 217 5 212
route_planning              | 194 80 114
"""
TABLE_10 = """
original          | - - 12.4 -
pf_b1000          | 19.5 4130 12.4 12.2
pt_uniform54      | 54.0 2360 14.1 12.2
pt_v1budgets_s1   | 54.0 2362 14.5 12.4
pt_v1budgets_s42  | 54.0 2362 14.7 12.4
manual pilot      | 54.0 2362 16.7 12.4
"""
TABLE_11 = """
LLaVA-Video-7B + VSI-Train-10k | 16.65 12.45 0.61
Cambrian-S                     | 26.04 19.36 0.81
"""
TABLE_12 = """
Cambrian-S                     | 66.05 46.86 19.20 58.34 32.30 26.04
LLaVA-Video-7B + VSI-Train-10k | 57.05 44.69 12.36 48.66 32.01 16.65
InternVL3-9B                   | 43.58 32.53 11.05 41.49 28.24 13.24
InternVL2.5-26B                | 45.30 32.45 12.84 38.39 25.07 13.31
InternVL2.5-8B                 | 44.04 31.61 12.43 37.54 24.24 13.30
LLaVA-OneVision-7B             | 35.92 26.97 8.95 29.62 21.16 8.45
LLaVA-Video-7B                 | 37.04 25.89 11.15 31.85 20.23 11.62
"""
TABLE_13 = """
obj_appearance_order   | 15.5 40.1
object_counting        | 15.9 15.2
object_size_estimation | 0.4 31.2
object_abs_distance    | 0.2 12.2
"""
OVERLAP = {"shared": (68, 0), "union": (1132, 0), "Jaccard": (0.060, 3), "Jaccard, 200 each": (0.050, 3)}
TABLE_14 = """
200  | 3.9 0.337 0.421
500  | 9.7 0.308 0.385
1000 | 19.5 0.270 0.329
1500 | 29.2 0.246 0.270
2000 | 39.0 0.219 0.210
2500 | 48.7 0.200 0.138
"""
COLUMNS = {
    T1: ("GPT-4o", "zero-shot", "TsT-LLM", "gain"),
    T2: GAPS,
    T4: ("random folds", "grouped folds"),
    T8: ("questions", "vision", "blind", "gap", "sd of the gap", "least gap", "greatest gap"),
    T9: ("original", "removed", "kept"),
    T10: ("removed, %", "kept", "gap", "gap, random"),
    T11: ("gap", "gap, random", "sd of random"),
    T12: GAPS,
    T13: ("TsT-LLM", "TsT-RF"),
    T14: ("removed, %", "s(x), MC", "s(x), NUM"),
}
_TEXTS = (TABLE_1, TABLE_2, TABLE_4, TABLE_8, TABLE_9, TABLE_10, TABLE_11, TABLE_12, TABLE_13, TABLE_14)
TABLES: dict[str, PrintedTable] = {
    name: printed(text, columns) for (name, columns), text in zip(COLUMNS.items(), _TEXTS, strict=True)
}
# Decimals of a table's numbers, or of one column.
DIGITS = {T11: 2, T12: 2, (T14, "s(x), MC"): 3, (T14, "s(x), NUM"): 3, T9: 0, (T10, "kept"): 0, (T8, "questions"): 0}
RANDOM_REMOVALS = "1,000 random removals"
# What the proceedings print in other places for numbers of the tables above.
PROCEEDINGS = (
    (T2, TUNED, "gap, debiased", 16.6),
    (T4, "VSI-Bench", "random folds", 43.5),
    (T4, "CV-Bench", "random folds", 75.5),
)
NARROWED = "{}: the gap between vision and blind narrows on the debiased set for {} of {} models: {}."


def digits_of(table: str, row: str, column: str) -> int:
    """Return the decimals that the paper prints."""
    if row == RANDOM_REMOVALS:
        return 2
    return DIGITS.get((table, column), DIGITS.get(table, 1))


def contradictions() -> Iterator[str]:
    """Yield a sentence per number that does not follow from its parts, or that two places print differently."""
    for name in (T2, T12):
        table = TABLES[name]
        for end in ("", ", debiased"):
            yield from differing(name, table, f"vision{end}", f"blind{end}", f"gap{end}", digits_of(name, "", ""))
    yield from differing(T1, TABLES[T1], "TsT-LLM", "zero-shot", "gain", 1)
    yield from differing(T9, TABLES[T9], "original", "removed", "kept", 0)
    for row in TABLES[T2].rows:
        for column in GAPS:
            yield from repeated(row, column, *((name, TABLES[name].number(row, column)) for name in (T2, T12)))
    for table, row, column, number in PROCEEDINGS:
        yield from repeated(row, column, (table, TABLES[table].number(row, column)), ("the proceedings", number))
    rows = TABLES[T12].rows
    narrowed = [row for row, numbers in rows.items() if (numbers[5] or 0) < (numbers[2] or 0)]
    yield NARROWED.format(T12, len(narrowed), len(rows), ", ".join(narrowed))
