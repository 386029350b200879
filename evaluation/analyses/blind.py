"""Test whether texts alone distinguish foils from captions (docs/explanation/balance.md#blind-audit).

Benchmarks whose foils replace a word are prone to it (Hendricks & Nematzadeh 2021).

Per subtest, before validation (all items) and after it (the valid ones):
(a) the solver of `foilworks audit` chooses between caption and foil (docs/explanation/solver.md): one solution over all
    items, whose rows are the subtests. .5 is chance. `fitted_accuracy` is a bag-of-words classifier scored on its
    training captions: .5 if words say nothing at all.
(b) a language model's preference, where one has scored the texts: evaluation/analyses/preference.py.
(c) length: how often the caption has more words, ties half.
(d) Jensen-Shannon distance of the word frequencies, and the words on one side only.
Of an item with a hard foil among captions of other videos, only the hard foil counts. The others are true texts too,
and words alone cannot give them away.
Shares have percentile intervals of a bootstrap over captions. A resample lacks words, which biases JS and lexical
differences; their intervals are the estimate plus and minus 1.96 bootstrap standard errors.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.analyses.analysis_inputs import ItemFacts, hard_part, valid_part
from evaluation.analyses.questions import questions_of
from evaluation.analyses.sampling import Sample
from evaluation.analyses.text_counts import TextCounts
from evaluation.analyses.words import js_divergence, n_lexical_items, word_counts
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED, mean, mean_intervals
from foilworks.core.corpus.records import TextRecord
from foilworks.core.media.child import ChildLimits, LimitError, run
from foilworks.core.solver.pairs import OVERALL, UNSOLVED, SolvedRow, solved_rows
from foilworks.core.solver.solution import VERSION as SOLVER_VERSION
from foilworks.core.solver.solution import Selection, Verdict
from foilworks.core.solver.solve import first_view
from foilworks.core.text.tokens import words
from generation.balance.balanced_pairs import caption_groups
from generation.balance.classifier import cue_words, fitted

# Results are computed again where the solver changed.
VERSION = f"8 {SOLVER_VERSION}"
INPUT = "texts"
# Draws for JS and lexical differences: each is a pass over the vocabulary, and a standard error needs few.
WORD_DRAWS = 200
# Draws that are computed together have at most so many cells, each of a few arrays of 8 bytes.
BLOCK_CELLS = 250_000
TOP_CUE_WORDS = 10
# The libraries of the solver and its columns occupy 170 MB, which a process returns only at its end.
MANY_TEXTS = 5_000


def compute(
    items: Sequence[ItemFacts], *, draws: int = DRAWS, seed: int = SEED, is_solved: bool = True
) -> dict[str, Any]:
    """Compute, per subtest and overall, the four parts of the module's docstring.

    `solver_accuracy` is None with a `reason` if there are too few items to learn from, or without `is_solved`.
    `n_unjudged` counts the pairs that
    no probe of words can judge (`foilworks.core.text.tokens.unseen_by_words`); `unjudged` has the first of them.
    EvaluationError without items.
    """
    items = hard_part(items)
    if not items:
        raise EvaluationError("there are no items; give at least one caption with a foil")
    names = dict.fromkeys(item.subtest for item in items)
    valid = [item for item in valid_part(items) if item.foils]
    solved: tuple[Solved, Solved] = ({}, {})
    if is_solved:
        of_items = solve(items, seed)
        solved = of_items, of_items if _same_texts(valid, items) else solve(valid, seed)
    return {
        "subtests": [
            _row(name, [item for item in items if item.subtest == name], draws, seed, solved) for name in names
        ],
        "overall": _row(OVERALL, items, draws, seed, solved),
    }


Solved = Mapping[str, SolvedRow]


def solve(items: Sequence[ItemFacts], seed: int = SEED) -> dict[str, SolvedRow]:
    """Return the solver's row of each subtest and overall: value, interval, verdict."""
    sample = sample_pairs(items, seed)
    if not sample.n:
        return {}
    _verdict, solved = solve_sample(sample, seed)
    return {name: {key: value for key, value in row.items() if key != "chance"} for name, row in solved.items()}


def sample_pairs(items: Sequence[ItemFacts], seed: int = SEED) -> Sample:
    """Return the pairs of the items, `where` counting them from 0. Each pair is one question; the pairs of a video, or
    else of an item, do not teach each other. Of many pairs, a sample is solved as in an audit."""
    sample = Sample(seed)
    for number, item in enumerate(items):
        for foil in item.foils:
            sample.add(
                TextRecord(item.caption, (foil,), sample.n, subtest=item.subtest, video=item.video or f"item {number}")
            )
    return sample


def solve_sample(
    sample: Sample, seed: int = 0, selection: Selection | None = None
) -> tuple[Verdict, dict[str, SolvedRow]]:
    """Return the verdict of an audit of the sampled texts, and the row of each subtest with its `chance`.

    A subtest of which the sample has few is solved on a sample of equal parts. Many texts are solved `in_own_process`.
    """
    return beside(sample.n, _solve_here)(sample, seed, selection)


# What the audit reads of an item.
_FIELDS = ("id", "subtest", "caption", "foils", "valid", "kept", "hard_foil", "hard_foil_source", "video")


def compute_in_process(items: Sequence[ItemFacts]) -> dict[str, Any]:
    """Compute the same in a process of its own, which reads the items from a file: a message would be a copy."""
    with tempfile.NamedTemporaryFile("w", encoding="ascii") as file:
        for item in items:
            file.write(json.dumps([getattr(item, name) for name in _FIELDS]) + "\n")
        file.flush()
        return in_own_process(_compute_of_file, file.name)


def _compute_of_file(path: str) -> dict[str, Any]:
    with Path(path).open(encoding="ascii") as lines:
        return compute([_fact(json.loads(line)) for line in lines])


def _fact(values: Sequence[Any]) -> ItemFacts:
    fields = dict(zip(_FIELDS, values, strict=True))
    kept = None if fields["kept"] is None else tuple(fields["kept"])
    return ItemFacts(**{**fields, "foils": tuple(fields["foils"]), "kept": kept})


def beside(n_texts: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as it is run for so many texts: `in_own_process`, or here."""
    return partial(in_own_process, function) if n_texts >= MANY_TEXTS else function


def in_own_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what the function returns in a process of its own. EvaluationError: that process was ended."""
    try:
        return run(ChildLimits(), function, *arguments)
    except LimitError as error:
        raise EvaluationError(
            "the process of the blind audit was ended, often for lack of memory; free 300 MB, then start this again"
        ) from error


def _solve_here(sample: Sample, seed: int, selection: Selection | None) -> tuple[Verdict, dict[str, SolvedRow]]:
    questions, answers = questions_of(sample.overall())
    solution = first_view(questions, answers, seed, selection)
    solved = solved_rows(solution, questions)
    if few := sample.few():
        questions, answers = questions_of(sample.equal_parts())
        of_parts = solved_rows(first_view(questions, answers, seed, selection), questions)
        solved |= {name: row for name, row in of_parts.items() if name in few}
    return solution.headline.verdict, solved


def _row(name: str, items: Sequence[ItemFacts], draws: int, seed: int, solved: tuple[Solved, Solved]) -> dict[str, Any]:
    valid = [item for item in valid_part(items) if item.foils]
    row = {**probes(name, items, solved[0], draws=draws, seed=seed), **_word_divergence(items, seed)}
    of_valid: Mapping[str, Any] | None = None
    if _same_texts(valid, items) and solved[0].get(name) == solved[1].get(name):
        of_valid = row
    elif valid:
        of_valid = {**probes(name, valid, solved[1], draws=draws, seed=seed), **_word_divergence(valid, seed)}
    return {**row, **_hard_foils(items), "valid": of_valid}


def _same_texts(valid: Sequence[ItemFacts], items: Sequence[ItemFacts]) -> bool:
    """Return whether the valid items have the texts of all items, as in a published set: then nothing differs."""
    return [(item.id, item.foils) for item in valid] == [(item.id, item.foils) for item in items]


def _hard_foils(items: Sequence[ItemFacts]) -> dict[str, Any]:
    """Count the items with a hard foil by how it is known; no entry without any, as in tables of earlier versions."""
    sources = Counter(item.hard_foil_source for item in items if item.hard_foil is not None)
    return {"hard_foils": dict(sources)} if sources else {}


def pairs_of(items: Sequence[ItemFacts]) -> list[tuple[str, str]]:
    """Return (caption, foil) for every foil of the items."""
    return [(item.caption, foil) for item in items for foil in item.foils]


def probes(
    name: str,
    items: Sequence[ItemFacts],
    solved: Solved,
    counts: TextCounts | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """Compute what the gate reads of one subtest: its row of `solve`, length, and the most telling words.

    `counts`: of all its texts, if `items` are a sample.
    """
    pairs = pairs_of(items)
    longer = np.array([_win_credit(len(words(caption)), len(words(foil))) for caption, foil in pairs])
    intervals = mean_intervals(longer[:, None], caption_groups(pairs), draws=draws, seed=seed)
    row: dict[str, Any] = {
        "name": name,
        **(counts or _counted(items)).as_row(),
        "caption_longer": mean(longer),
        "caption_longer_ci": intervals[0],
        "words": [asdict(word) for word in cue_words(pairs, top=TOP_CUE_WORDS)],
        "fitted_accuracy": mean(fitted(pairs)),
    }
    return {**row, **solved.get(name, UNSOLVED)}


def _counted(items: Sequence[ItemFacts]) -> TextCounts:
    counts = TextCounts()
    for item in items:
        counts.add(item.id, item.caption, item.foils)
    return counts


def _word_divergence(items: Sequence[ItemFacts], seed: int) -> dict[str, Any]:
    captions, foils = word_counts(items)
    js, lexical = js_divergence(captions, foils), n_lexical_items(captions, foils)
    errors = _standard_errors(items, seed)
    return {
        "js": js,
        "js_ci": None if js is None or errors is None else _normal_interval(js, errors[0], most=1.0),
        "n_lexical_items": lexical,
        "n_lexical_items_ci": None if errors is None else _normal_interval(lexical, errors[1]),
    }


def _normal_interval(value: float, error: float, most: float = float("inf")) -> list[float]:
    return [max(0.0, value - 1.96 * error), min(most, value + 1.96 * error)]


def _standard_errors(items: Sequence[ItemFacts], seed: int) -> tuple[float, float] | None:
    """Compute the errors of JS (base 2) and of the number of one-sided words, over resampled captions; None below two
    captions.

    A caption counts once per item, however many foils it has, as in the values themselves.
    """
    groups = caption_groups([(item.caption, "") for item in items])
    names = {name: row for row, name in enumerate(sorted(set(groups)))}
    if len(names) < 2:
        return None
    rows = [names[group] for group in groups]
    every_word = {word for item in items for text in (item.caption, *item.foils) for word in words(text)}
    vocabulary = {word: at for at, word in enumerate(sorted(every_word))}
    captions = ((row, item.caption) for row, item in zip(rows, items, strict=True))
    foils = ((row, foil) for row, item in zip(rows, items, strict=True) for foil in item.foils)
    sides = [_group_counts(side, vocabulary, len(names)) for side in (captions, foils)]
    generator = np.random.default_rng(seed)
    values = []
    step = max(1, BLOCK_CELLS // max(1, len(vocabulary) + len(names)))
    for start in range(0, WORD_DRAWS, step):
        size = min(step, WORD_DRAWS - start)
        weights = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=size).astype(np.float64)
        values.append(_divergence_of_draws(*(np.asarray(weights @ side) for side in sides)))
    spread = np.concatenate(values).std(axis=0, ddof=1)
    return float(spread[0]), float(spread[1])


def _group_counts(rows: Iterator[tuple[int, str]], vocabulary: dict[str, int], n: int) -> sparse.csr_array:
    cells = np.fromiter(((row, vocabulary[word]) for row, text in rows for word in words(text)), dtype="2q")
    return sparse.csr_array((np.ones(len(cells)), (cells[:, 0], cells[:, 1])), shape=(n, len(vocabulary)))


def _divergence_of_draws(captions: NDArray[np.float64], foils: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute (draws, 2): JS, number of words on one side only, from (draws, vocabulary) counts of both sides."""
    shares = [side / np.maximum(side.sum(axis=1, keepdims=True), 1.0) for side in (captions, foils)]
    middle = (shares[0] + shares[1]) / 2
    divergence = np.zeros(len(captions))
    for share in shares:
        ratio = np.divide(share, middle, out=np.ones_like(share), where=share > 0)
        divergence += (share * np.log2(ratio)).sum(axis=1) / 2
    return np.column_stack([np.sqrt(np.maximum(divergence, 0)), ((captions > 0) != (foils > 0)).sum(axis=1)])


def _win_credit(a: int, b: int) -> float:
    return 0.5 if a == b else float(a > b)
