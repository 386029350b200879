"""Solve questions without options from their texts: words by exact match, numbers by mean relative accuracy as well.

Of n training answers, each candidate has a credit per item. A solver predicts these credits from the question, and
answers with the candidate whose expected credit is highest. It learns on the other folds, which share no video.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.audit.records import VERDICTS, Verdict
from evaluation.metrics.open_answers import EXACT, MRA, best_constant, constant_credits, plain, reference_number
from foilworks.core.corpus.records import TextRecord
from foilworks.core.solver.folds import folds_of, largest_group_share
from foilworks.core.solver.folds import structure_of as structure_of_questions
from foilworks.core.solver.inference import block_interval, verdict_of
from foilworks.core.solver.learner import N_FOLDS
from foilworks.core.solver.questions import Question
from foilworks.core.solver.scikit_learn import ExtraTreesRegressor
from foilworks.core.text.tokens import words

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
WORDS, NUMBERS = "words", "numbers"
# A type of question asks for numbers if so many of its right answers are numbers.
NUMBER_SHARE = 0.95
# Candidates per type: the most frequent training answers. Features: the most frequent words and pairs of words.
MAX_CANDIDATES, MAX_FEATURES, MIN_COUNT = 200, 400, 3
N_TREES, MIN_LEAF, MAX_TARGETS = 40, 3, 8
# Weight of the answers to less specific questions, in answers.
PRIOR = 1.0
# Of a type whose right answers mostly occur once, exact match measures no vocabulary.
MIN_CLOSED = 0.5
# A constant answer that is right so often is a shortcut by itself.
CONSTANT_WARN = 0.5
MAX_SHOWN = 5


@dataclass(frozen=True)
class OpenType:
    """One type of question: the solver's `value`, and the best constant `answer` with its `constant` value."""

    name: str
    n: int
    value: float
    constant: float
    answer: str


@dataclass(frozen=True)
class OpenResult:
    """What is answered of the questions of one kind (`words` or `numbers`), under one metric.

    `chance`: the value of the best constant answer per type. `closed`: the share of right answers that another video
    has too. `why`: the reason of "cannot_tell": those of the solver, or "open" (answers occur once).
    """

    kind: str
    metric: str
    value: float
    interval: tuple[float, float]
    chance: float
    n: int
    n_blocks: int
    verdict: Verdict
    why: str
    closed: float
    types: list[OpenType]
    examples: list[dict[str, str]] = field(default_factory=list)


def solve_open(records: Sequence[TextRecord], seed: int = 0) -> list[OpenResult]:
    """Return the results of n questions without options: words by exact match, numbers by both metrics."""
    number_types = _number_types(records)
    results = []
    for kind, metrics in ((WORDS, (EXACT,)), (NUMBERS, (MRA, EXACT))):
        rows = [record for record in records if (record.subtest in number_types) == (kind == NUMBERS)]
        # Of a type of numbers, an answer that is none is no answer to measure.
        rows = [row for row in rows if kind == WORDS or reference_number(row.right) is not None]
        results += [_solve(kind, metric, rows, seed) for metric in metrics if rows]
    return results


def as_result(results: Sequence[OpenResult]) -> list[dict[str, Any]]:
    """Return the results as JSON."""
    return [asdict(result) for result in results]


def worst_of(results: Sequence[OpenResult]) -> Verdict:
    """Return the worst verdict."""
    return max((result.verdict for result in results), key=VERDICTS.index, default="nothing_found")


def _number_types(records: Sequence[TextRecord]) -> set[str]:
    n, numbers = Counter(record.subtest for record in records), Counter[str]()
    for record in records:
        numbers[record.subtest] += reference_number(record.right) is not None
    return {name for name, count in n.items() if numbers[name] >= NUMBER_SHARE * count}


def _solve(kind: str, metric: str, records: Sequence[TextRecord], seed: int) -> OpenResult:
    answers = [record.right.strip() if kind == NUMBERS else plain(record.right) for record in records]
    structure = structure_of_questions([_question(record) for record in records], np.zeros(len(records), np.int64))
    types = dict.fromkeys(record.subtest for record in records)
    members = {name: [row for row, record in enumerate(records) if record.subtest == name] for name in types}
    constants = {name: best_constant(metric, [answers[row] for row in rows]) for name, rows in members.items()}
    chance = sum(constants[name][1] * len(rows) for name, rows in members.items()) / len(records)
    is_learned = len(np.unique(structure.groups)) >= N_FOLDS
    predicted = [constants[record.subtest][0] for record in records]
    if is_learned:
        predicted = _predicted(metric, records, answers, structure.groups, seed)
    credits = credits_of(metric, predicted, answers)
    value, interval = block_interval(credits, structure.blocks)
    written = {plain(answer): answer for answer in answers} if metric == EXACT else {}
    largest = largest_group_share(structure)
    closed = _closed_share(answers, structure.blocks)
    is_open = metric == EXACT and closed < MIN_CLOSED
    verdict: Verdict = "cannot_tell"
    why = "few"
    if is_learned:
        verdict, why = _verdict(value, interval, chance, len(records), largest, is_open)
    rows_of_types = [
        OpenType(
            name,
            len(rows),
            float(credits[rows].mean()),
            constants[name][1],
            written.get(constants[name][0], constants[name][0]),
        )
        for name, rows in members.items()
    ]
    return OpenResult(
        kind, metric, value, interval, chance, len(records), len(np.unique(structure.blocks)), verdict, why, closed,
        rows_of_types, _examples(records, predicted, credits),
    )  # fmt: skip


def _verdict(
    value: float, interval: tuple[float, float], chance: float, n: int, largest_group: float, is_open: bool
) -> tuple[Verdict, str]:
    """Return the verdict beside the best constants, and the reason of "cannot_tell"."""
    verdict, why, _needed = verdict_of(value, interval, min(1.0, chance), n, largest_group, is_certified=False)
    if verdict == "fail":
        return verdict, why
    if is_open:
        return "cannot_tell", "open"
    # Below a constant that knows all answers of its type: no sign of an opposite answer.
    if verdict in {"reversed", "nothing_found_so_far"}:
        return ("warn" if chance >= CONSTANT_WARN else "nothing_found_so_far"), ""
    return verdict, why


def _question(record: TextRecord) -> Question:
    return Question(record.id, record.question, ("",), video=record.video, clip=record.clip, kind=record.subtest)


def credits_of(metric: str, predicted: Sequence[str], answers: Sequence[str]) -> Floats:
    """Return (n,) credits of n predicted answers."""
    table: dict[tuple[str, str], float] = {}
    for pair in set(zip(predicted, answers, strict=True)):
        table[pair] = float(constant_credits(metric, [pair[0]], [pair[1]])[0, 0])
    return np.array([table[pair] for pair in zip(predicted, answers, strict=True)])


def _closed_share(answers: Sequence[str], blocks: Codes) -> float:
    """Return the share of answers that another block has, too."""
    blocks_of: dict[str, set[int]] = {}
    for answer, block in zip(answers, blocks.tolist(), strict=True):
        blocks_of.setdefault(answer, set()).add(block)
    return sum(len(blocks_of[answer]) > 1 for answer in answers) / len(answers)


def _predicted(
    metric: str, records: Sequence[TextRecord], answers: Sequence[str], groups: Codes, seed: int
) -> list[str]:
    """Return n answers, each of a solver that learned from the other folds."""
    folds = folds_of(groups, np.zeros(len(records), np.int64), N_FOLDS, seed)
    question_words = [words(record.question) for record in records]
    predicted = [""] * len(records)
    for name in dict.fromkeys(record.subtest for record in records):
        rows = np.array([row for row, record in enumerate(records) if record.subtest == name])
        for fold in range(N_FOLDS):
            training, held_out = rows[folds[rows] != fold], rows[folds[rows] == fold]
            if not len(held_out):
                continue
            training = training if len(training) else np.flatnonzero(folds != fold)
            candidates = [
                text for text, _n in Counter(answers[row] for row in training.tolist()).most_common(MAX_CANDIDATES)
            ]
            credits = constant_credits(metric, candidates, [answers[row] for row in training.tolist()])
            known_words, asked_words = ([question_words[row] for row in part.tolist()] for part in (training, held_out))
            expected = _by_openings(known_words, asked_words, credits)
            if len(training) >= 2 * MIN_LEAF and len(candidates) > 1:
                expected = expected + _by_trees(known_words, asked_words, credits, seed)
            for row, column in zip(held_out.tolist(), expected.argmax(axis=0).tolist(), strict=True):
                predicted[row] = candidates[column]
    return predicted


def _by_openings(training: Sequence[Sequence[str]], held_out: Sequence[Sequence[str]], credits: Floats) -> Floats:
    """Return (candidates, held_out) mean credits of the questions with the same beginning.

    Each longer beginning adds its own answers to those of the shorter one, which weigh as `PRIOR` answers.
    """
    sums: dict[tuple[str, ...], Floats] = {}
    counts: Counter[tuple[str, ...]] = Counter()
    for column, text in enumerate(training):
        for key in _keys(text):
            sums[key] = sums.get(key, 0.0) + credits[:, column]
            counts[key] += 1
    expected = np.empty((len(credits), len(held_out)))
    for column, text in enumerate(held_out):
        mean = credits.mean(axis=1)
        for key in _keys(text):
            if key in sums:
                mean = (sums[key] + PRIOR * mean) / (counts[key] + PRIOR)
        expected[:, column] = mean
    return expected


def _keys(text: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for length in (1, 2, 3, 4, 6, 8):
        if length < len(text):
            yield tuple(text[:length])
    yield ("", *text)


def _by_trees(
    training: Sequence[Sequence[str]], held_out: Sequence[Sequence[str]], credits: Floats, seed: int
) -> Floats:
    """Return (candidates, held_out) expected credits: means over the leaves of a forest (Meinshausen 2006)."""
    counts = Counter(term for text in training for term in _terms(text))
    terms = [term for term, n in counts.most_common(MAX_FEATURES) if n >= MIN_COUNT]
    index = {term: column for column, term in enumerate(terms)}
    known_rows, asked_rows = _features(training, index), _features(held_out, index)
    forest = ExtraTreesRegressor(
        N_TREES, min_samples_leaf=MIN_LEAF, max_features=0.1, bootstrap=False, random_state=seed, n_jobs=1
    )
    forest.fit(known_rows, _targets(credits))
    leaves = np.vstack([forest.apply(known_rows), forest.apply(asked_rows)])
    offsets = np.arange(N_TREES) * (int(leaves.max()) + 1)
    codes = np.unique(leaves + offsets, return_inverse=True)[1].reshape(leaves.shape)
    n_leaves = int(codes.max()) + 1
    matrix = sparse.csr_array(
        (np.ones(codes.size), codes.ravel(), np.arange(0, codes.size + 1, N_TREES)), shape=(len(codes), n_leaves)
    )
    of_known, of_asked = matrix[: len(training)], matrix[len(training) :]
    sizes = np.maximum(1.0, np.asarray(of_known.sum(axis=0)).ravel())
    of_leaves = (of_known.T @ credits.T) / sizes[:, None]
    expected: Floats = np.asarray(of_asked @ of_leaves).T / N_TREES
    return expected


def _targets(credits: Floats) -> Floats:
    """Return (training, few) columns that separate items whose credits differ: their first principal components."""
    centred = (credits - credits.mean(axis=1, keepdims=True)).T
    left, weights, _right = np.linalg.svd(centred, full_matrices=False)
    return left[:, :MAX_TARGETS] * weights[:MAX_TARGETS]


def _terms(text: Sequence[str]) -> set[str]:
    return {*text, *(" ".join(pair) for pair in pairwise(text))}


def _features(texts: Sequence[Sequence[str]], index: dict[str, int]) -> NDArray[np.float32]:
    rows = np.zeros((len(texts), len(index) + 1), np.float32)
    for row, text in enumerate(texts):
        rows[row, [index[term] for term in _terms(text) if term in index]] = 1.0
        rows[row, -1] = len(text)
    return rows


def _examples(records: Sequence[TextRecord], predicted: Sequence[str], credits: Floats) -> list[dict[str, str]]:
    """Return the first right answers, one per type."""
    rows: dict[str, dict[str, str]] = {}
    for record, answer, credit in zip(records, predicted, credits, strict=True):
        if credit == 1.0:
            texts = {"question": record.question, "right": record.right, "predicted": answer}
            rows.setdefault(record.subtest, {"id": record.id or str(record.where), **texts})
    return list(rows.values())[:MAX_SHOWN]
