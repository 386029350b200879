"""Make TsT's tables again from its public files: answers of models per question, and lists of removed questions.

Our own audit and pruning of VSI-Bench are beside them; models are neither trained nor run.
"""

import json
import random
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from foilworks.site.reproduction.audits import audit_cells, audit_notes, audits, prune_file
from foilworks.site.reproduction.progress import begin, plan
from foilworks.site.reproduction.shared_steps import check_weights
from foilworks.site.reproduction.table_cells import (
    CONTRADICTION,
    Caveat,
    Cell,
    Result,
    Source,
    compare,
    missing_lines,
    not_given,
    other_hash,
)
from foilworks.site.reproduction.tst_answers import (
    Answers,
    gaps,
    random_gaps,
    read_answers,
    removal_counts,
    rows_of,
    shared_ids,
)
from foilworks.site.reproduction.tst_printed import (
    BASE,
    BASE_BLIND,
    CAMBRIAN,
    COLUMNS,
    GAPS,
    OVERLAP,
    RUNS,
    T1,
    T2,
    T4,
    T8,
    T9,
    T10,
    T11,
    T12,
    T13,
    T14,
    TABLES,
    TUNED,
    contradictions,
    digits_of,
)

PAPER = "TsT"
CODE = "https://github.com/vision-x-nyu/test-set-training"
DATA = "reproduce/data"
PREDICTIONS, GPT, MMMU = f"{DATA}/preds", f"{DATA}/gpt4o", f"{DATA}/ibp/mmmu"
PILOT, LLM, RF = f"{DATA}/vsi_bench_debiased_v1_removed_ids.txt", f"{DATA}/ibp/llm", f"{DATA}/ibp/rf"
QUESTIONS = "test.jsonl"
HUB = "https://huggingface.co/datasets/nyu-visionx/VSI-Bench"
SOURCES = (
    Source(f"{PREDICTIONS}/*.jsonl*", CODE, ("TsT, Tables 2 and 9-13",)),
    Source(PILOT, CODE, ("TsT, Tables 2 and 9-12",)),
    Source(f"{RF}/*/removed_ids.txt", CODE, (T10, T13)),
    Source(f"{RF}/*/summary.json", CODE, (T14,)),
    Source(f"{LLM}/*_removed_ids.txt", CODE, (T8, T13)),
    Source(f"{MMMU}/*.jsonl.gz", CODE, (T8,)),
    Source(f"{GPT}/*_mc.jsonl*", CODE, (f"{T1} (GPT-4o)",)),
    Source(QUESTIONS, HUB, ("TsT, Tables 9 and 13", "our audit and pruning")),
)
# SHA-256 of the list of removed questions, and SHA-1 of the questions' order, as the authors' repository states them.
PILOT_HASH = "76fc941f75956f7d3796ae017d2ec06a7eb4c447862624ca27e09c9eb58ae9e9"
ORDER = "8c48d42738671ef11a1ccb6300c81ed5d893f10f"
ALL_TYPES = {kind: int(numbers[0] or 0) for kind, numbers in TABLES[T9].rows.items()}
OF_GPT = {
    "VSI-Bench, MC": ("vsi", 2490),
    "CV-Bench": ("cvb", 2638),
    "MMMU": ("mmmu", 847),
    "VideoMME": ("video_mme", 2700),
}
SWEEP = tuple(TABLES[T14].rows)
N_MMMU, N_LLM, N_DRAWS, N_MATCHED = 900, 200, 1000, 200
OTHER_QUESTIONS = Caveat("other data", "the given answers are not of the 5,130 questions of VSI-Bench")
OTHER_LIST = Caveat("other data", "the given list has another number of questions than the published one")
OTHER_SIZE = "{} has {:,} questions, the published file {:,}"
OTHER_NUMBER = "the published files give another number"
NOT_SHIPPED = Caveat("not published", "the answers with videos are of a version of VSI-Bench that is not public")
TRAINED = Caveat("needs weights", "a language model of 7 billion weights, tuned on the other folds")
NO_TRUTH = Caveat(
    "not given",
    "the right answers, which the authors may not share; they are at https://huggingface.co/datasets/lmms-lab/Video-MME",
)
FORESTS = Caveat("not given", f"the authors' random forest and its features; run their code, published at {CODE}")
VSI = "VSI-Bench"
OURS, OURS_GAPS = "Ours: audit of VSI-Bench", "Ours: questions with options that our pruning keeps"


def reproduce(sources: Path, work: Path, *, weights: Mapping[str, str], seed: int) -> Result:
    """Return every cell that the files in `sources` allow. `weights`: none, because no model runs."""
    check_weights(weights, ())
    work.mkdir(parents=True, exist_ok=True)
    files = Files(sources)
    plan(5 if (sources / QUESTIONS).is_file() else 1)
    begin("tables")
    cells = [
        *_table_1(files),
        *_gap_tables(files),
        *_rest(T4, FORESTS),
        *_table_8(files),
        *_table_9(files),
        *_table_10(files),
        *_table_11(files),
        *_table_13(files),
        *_table_14(files),
    ]
    notes = [CONTRADICTION.format(sentence) for sentence in contradictions()]
    if (sources / QUESTIONS).is_file():
        own_cells, own_notes = _own(files, work, seed)
        cells, notes = [*cells, *own_cells], [*notes, *own_notes]
    given_sources = {source.name: True for source in SOURCES if any(sources.glob(source.name))}
    return Result(PAPER, tuple(cells), tuple(notes), missing_lines(SOURCES, given_sources))


@dataclass
class Files:
    """The files of the authors' repository, read once."""

    folder: Path
    _answers: dict[tuple[str, bool], Answers] = field(default_factory=dict)

    def answers(self, name: str, *, is_logged: bool = False) -> Answers | None:
        """Return the answers of a file; None without it."""
        path = next(self.folder.glob(f"{PREDICTIONS}/{name}.jsonl*"), None)
        if path is None:
            return None
        if (name, is_logged) not in self._answers:
            self._answers[name, is_logged] = read_answers(path, is_logged=is_logged)
        return self._answers[name, is_logged]

    def run(self, row: str, *, is_logged: bool = False) -> tuple[Answers, Answers] | None:
        """Return a run's answers with and without videos; None if a file is missing."""
        vision, blind = (self.answers(name, is_logged=is_logged) for name in RUNS[row])
        return None if vision is None or blind is None else (vision, blind)

    def ids(self, name: str) -> set[str] | None:
        """Return the ids of a list; None without it."""
        path = self.folder / name
        return set(path.read_text(encoding="utf-8").split()) if path.is_file() else None

    def summary(self, name: str) -> dict[str, Any] | None:
        """Return what the authors' code says of a list; None without it."""
        path = self.folder / RF / name / "summary.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    @cached_property
    def types(self) -> Mapping[str, str]:
        """Return the type of each question, from the questions or from answers to them; {} without both."""
        path = self.folder / QUESTIONS
        if path.is_file():
            return {str(row["id"]): str(row["question_type"]) for row in rows_of(path)}
        answers = self.answers(RUNS[TUNED][0])
        return answers.types if answers else {}

    @property
    def of_types(self) -> Caveat | None:
        """Return what keeps counts of question types from being compared."""
        if not self.types:
            return not_given(f"{QUESTIONS} or {PREDICTIONS}", f"{HUB} and {CODE}")
        return None if Counter(self.types.values()) == ALL_TYPES else OTHER_QUESTIONS

    @cached_property
    def pilot(self) -> Caveat | None:
        """Return what keeps numbers of the list of removed questions from being compared."""
        path = self.folder / PILOT
        return other_hash(path, [PILOT_HASH]) if path.is_file() else not_given(PILOT, CODE)


def _cells(
    table: str, row: str, numbers: Sequence[float | None] | None, caveats: Sequence[Caveat | None] | Caveat | None
) -> Iterator[Cell]:
    """Yield the cells of a row that the paper prints. `caveats`: one per column, or one of all."""
    columns = COLUMNS[table]
    of_columns = [caveats] * len(columns) if caveats is None or isinstance(caveats, Caveat) else caveats
    for at, column in enumerate(columns):
        paper = TABLES[table].number(row, column)
        if paper is not None:
            digits = digits_of(table, row, column)
            ours = numbers[at] if numbers else None
            yield compare(table, row, column, paper, ours, digits=digits, why=OTHER_NUMBER, caveat=of_columns[at])


def _rest(table: str, caveat: Caveat) -> Iterator[Cell]:
    for row in TABLES[table].rows:
        yield from _cells(table, row, None, caveat)


def _caveat(*answers: Answers | None) -> Caveat | None:
    """Return what keeps numbers of these answers from being compared; None if they are of the published questions."""
    if any(run is None for run in answers):
        return not_given(PREDICTIONS, CODE)
    published = all(Counter(run.types.values()) == ALL_TYPES for run in answers if run)
    return None if published else OTHER_QUESTIONS


def _first(*caveats: Caveat | None) -> Caveat | None:
    """Return the first caveat, a missing file before other data."""
    given = [caveat for caveat in caveats if caveat]
    return min(given, key=lambda caveat: caveat.state != "not given", default=None)


def _table_1(files: Files) -> Iterator[Cell]:
    """Yield what GPT-4o answers without pictures; an answer that names no option is wrong (TsT, Table 1)."""
    for row in TABLES[T1].rows:
        share: float | None = None
        caveat: Caveat | None = TRAINED
        if row in OF_GPT:
            slug, n = OF_GPT[row]
            path = next(files.folder.glob(f"{GPT}/{slug}_mc.jsonl*"), None)
            caveat = not_given(f"{GPT}/{slug}_mc.jsonl.gz", CODE)
            if path is not None:
                answers = list(rows_of(path))
                known = [answer for answer in answers if answer.get("ground_truth")]
                share = 100 * statistics.mean(map(_is_right, known)) if known else None
                other = Caveat("other data", OTHER_SIZE.format(path.name, len(known), n))
                caveat = None if len(known) == n else other if known else NO_TRUTH
        yield from _cells(T1, row, [share, None, None, None], [caveat, TRAINED, TRAINED, TRAINED])


def _is_right(answer: Mapping[str, Any]) -> bool:
    letter = str(answer["prediction"] or "").strip().strip("().:").upper()
    return letter == str(answer["ground_truth"]).strip().upper()


def _gap_tables(files: Files) -> Iterator[Cell]:
    """Yield (TsT, Tables 2 and 12)."""
    removed = files.ids(PILOT)
    base = files.answers(BASE_BLIND)
    kept = [name for name in base.scores if name not in removed] if base and removed is not None else []
    blind = [base.mean(base.scores), base.mean(kept)] if base and kept else [None, None]
    of_blind = _first(_caveat(base), files.pilot)
    numbers = [None, blind[0], None, None, blind[1], None]
    caveats = [NOT_SHIPPED if number is None and base else of_blind for number in numbers]
    yield from _cells(T2, BASE, numbers, caveats)
    for table, rows in ((T2, (TUNED,)), (T12, tuple(TABLES[T12].rows))):
        for row in rows:
            run = files.run(row)
            caveat = _first(_caveat(*(run or (None,))), files.pilot)
            yield from _cells(table, row, gaps(*run, removed) if run and removed is not None else None, caveat)


def _table_8(files: Files) -> Iterator[Cell]:
    """Yield MMMU with and without the questions that TsT-LLM removes, and without as many at random (TsT, Table 8)."""
    paths = [files.folder / f"{MMMU}/llava_ov_7b_mmmu_val_{mode}.jsonl.gz" for mode in ("vision", "blind")]
    removed = files.ids(f"{LLM}/mmmu_delta_removed_ids.txt")
    if removed is None or not all(path.is_file() for path in paths):
        yield from _rest(T8, not_given(f"{MMMU} and {LLM}/mmmu_delta_removed_ids.txt", CODE))
        return
    vision, blind = ({row["id"]: float(row["correct"]) for row in rows_of(path)} for path in paths)
    ids = sorted(vision.keys() & blind.keys())
    kept = [name for name in ids if name not in removed]

    def means(names: Sequence[str]) -> list[float]:
        shares = [100 * statistics.fmean(run[name] for name in names) for run in (vision, blind)]
        return [len(names), *shares, shares[0] - shares[1]]

    drawn_gaps = []
    for seed in range(N_DRAWS):
        drawn = set(random.Random(seed).sample(ids, len(ids) - len(kept)))
        drawn_gaps.append(means([name for name in ids if name not in drawn])[3])
    caveat = None if len(ids) == N_MMMU else Caveat("other data", OTHER_SIZE.format("MMMU", len(ids), N_MMMU))
    spread = [statistics.fmean(drawn_gaps), statistics.pstdev(drawn_gaps), min(drawn_gaps), max(drawn_gaps)]
    rows = ([*means(ids), None, None, None], [*means(kept), None, None, None], [None, None, None, *spread])
    for row, numbers in zip(TABLES[T8].rows, rows, strict=True):
        yield from _cells(T8, row, numbers, caveat)


def _table_9(files: Files) -> Iterator[Cell]:
    types, removed = files.types, files.ids(PILOT)
    sizes = Counter(types.values())
    counts = None if removed is None else removal_counts(types, removed)
    caveat = _first(files.of_types, files.pilot)
    for row in TABLES[T9].rows:
        numbers = [sizes[row], counts[row], sizes[row] - counts[row]] if types and counts is not None else None
        yield from _cells(T9, row, numbers, caveat)


def _table_10(files: Files) -> Iterator[Cell]:
    """Yield the gap of the tuned model without the questions of each list (TsT, Table 10)."""
    run = files.run(TUNED, is_logged=True)
    of_run = _caveat(*(run or (None,)))
    for row in TABLES[T10].rows:
        is_pilot = row == "manual pilot"
        removed = set[str]() if row == "original" else files.ids(PILOT if is_pilot else f"{RF}/{row}/removed_ids.txt")
        of_list = files.pilot if is_pilot else _of_list(row, removed)
        numbers = None
        if run and removed is not None:
            ids = shared_ids(*run)
            n_removed = len(removed.intersection(ids))
            drawn = statistics.fmean(random_gaps(*run, n_removed))
            share = 100 * n_removed / len(ids)
            numbers = [share, len(ids) - n_removed, gaps(*run, removed)[5], drawn]
        yield from _cells(T10, row, numbers, _first(of_run, of_list))


def _of_list(row: str, removed: set[str] | None) -> Caveat | None:
    if removed is None:
        return not_given(f"{RF}/{row}/removed_ids.txt", CODE)
    kept = TABLES[T10].number(row, "kept") if row in TABLES[T10].rows else None
    return OTHER_LIST if kept is not None and len(removed) != sum(ALL_TYPES.values()) - kept else None


def _table_11(files: Files) -> Iterator[Cell]:
    removed = files.ids(PILOT)
    for row in (TUNED, CAMBRIAN):
        run, numbers = files.run(row), None
        if run and removed is not None:
            drawn = random_gaps(*run, len(removed.intersection(shared_ids(*run))))
            numbers = [gaps(*run, removed)[5], statistics.fmean(drawn), statistics.stdev(drawn)]
        yield from _cells(T11, row, numbers, _first(_caveat(*(run or (None,))), files.pilot))


def _table_13(files: Files) -> Iterator[Cell]:
    """Yield what both diagnostics remove by question type, and how far their lists are the same (TsT, Table 13)."""
    types = files.types
    halves = [files.ids(f"{LLM}/vsi_pf_{form}_removed_ids.txt") for form in ("mc", "num")]
    forest, matched = (files.ids(f"{RF}/pf_b{n}/removed_ids.txt") for n in (N_DRAWS, N_MATCHED))
    llm = halves[0] | halves[1] if halves[0] is not None and halves[1] is not None else None
    absent = next((name for name, ids in ((LLM, llm), (RF, forest), (RF, matched)) if ids is None), "")
    lengths = [len(ids) for ids in (llm, forest, matched) if ids is not None]
    of_lists = None if lengths == [N_LLM, N_DRAWS, N_MATCHED] else OTHER_LIST
    caveat = not_given(absent, CODE) if absent else of_lists
    sizes = Counter(types.values())
    counts = [removal_counts(types, ids) for ids in (llm, forest)] if types and llm and forest else None
    for row in TABLES[T13].rows:
        numbers = [100 * count[row] / sizes[row] for count in counts] if counts else None
        yield from _cells(T13, row, numbers, _first(files.of_types, caveat))
    values: list[float | None] = [None] * len(OVERLAP)
    if llm and forest and matched:
        shared, union = len(llm & forest), len(llm | forest)
        values = [shared, union, shared / union, len(llm & matched) / len(llm | matched)]
    for (column, (paper, digits)), value in zip(OVERLAP.items(), values, strict=True):
        yield compare(T13, "overlap", column, paper, value, digits=digits, why=OTHER_NUMBER, caveat=caveat)


def _table_14(files: Files) -> Iterator[Cell]:
    """Yield what each list removes, and the mean bias of what is left, from the authors' summaries (TsT, Table 14)."""
    for row in SWEEP:
        summary, numbers = files.summary(f"pf_b{row}"), None
        caveat: Caveat | None = not_given(f"{RF}/pf_b{row}/summary.json", CODE)
        if summary:
            bias = {group["group"]: group["mean_bias_last_iteration"] for group in summary["groups"]}
            numbers = [100 * summary["n_removed"] / summary["n_rows"], bias["mc"], bias["num"]]
            caveat = None if summary["row_order_sha1"] == ORDER else OTHER_QUESTIONS
        yield from _cells(T14, row, numbers, caveat)


def _own(files: Files, work: Path, seed: int) -> tuple[list[Cell], list[str]]:
    """Audit and prune the questions with options, and return each run's gap with and without what we remove.

    The paper has none of these numbers.
    """
    path = files.folder / QUESTIONS
    documents = audits({VSI: path}, work, seed)
    selected = prune_file(VSI, path, work, seed)
    cells = [*audit_cells(OURS, documents)]
    for row in RUNS:
        if run := files.run(row):
            vision, blind = (answers.of(selected.names) for answers in run)
            if not selected.removed.issuperset(vision.scores):
                numbers = gaps(vision, blind, selected.removed)
                cells += [compare(OURS_GAPS, row, *pair, digits=2) for pair in _unprinted(numbers)]
    return cells, [*audit_notes(documents), selected.note]


def _unprinted(numbers: Sequence[float]) -> Iterator[tuple[str, None, float]]:
    return ((column, None, number) for column, number in zip(GAPS, numbers, strict=True))
