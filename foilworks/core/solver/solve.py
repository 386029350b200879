"""Measure how far questions can be answered without their videos, from their texts and their file.

The measure is a lower bound: a solver that learns on the test set itself (TsT, arXiv 2511.04655) answers at least so
many items. Features see no answers, and learners see those of training folds only.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from foilworks.core.solver.design import Design
from foilworks.core.solver.folds import Structure, largest_group_share, structure_of
from foilworks.core.solver.inference import (
    INFLATION,
    block_interval,
    holm,
    largest_fair,
    p_above,
    resampled_interval,
    verdict_of,
)
from foilworks.core.solver.learner import N_FOLDS
from foilworks.core.solver.passes import DECIMALS, Passes, answer_tiers, fingerprint_of, spread_folds
from foilworks.core.solver.questions import Answers, Question, check_questions
from foilworks.core.solver.solution import (
    HEADLINE,
    TIERS,
    FamilyImportance,
    Interval,
    ItemScore,
    KindResult,
    PartName,
    PartResult,
    Selection,
    Solution,
    Tier,
    TierResult,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
# Steps done, all steps, and the state to store.
Progress = Callable[[int, int, dict[str, Any]], None]
REPEATS = 5
PERMUTATIONS = 100
# Above this number of items, a corrected resampled variance takes the place of permutations.
MAX_PERMUTED = 2_000
# With fewer, folds have too few groups.
MIN_GROUPS = N_FOLDS


def first_view(
    questions: Sequence[Question], answers: Answers, seed: int = 0, selection: Selection | None = None
) -> Solution:
    """Return what one pass of folds finds. It never says "nothing_found", only "nothing_found_so_far".

    `selection`: the record of the selection that left these questions.
    ValueError: the answers do not fit the questions, or there are no questions.
    """
    return _solve(questions, answers, seed, 1, 0, None, None, selection, is_certified=False)


def certify(
    questions: Sequence[Question],
    answers: Answers,
    seed: int = 0,
    repeats: int = REPEATS,
    permutations: int = PERMUTATIONS,
    progress: Progress | None = None,
    state: dict[str, Any] | None = None,
    selection: Selection | None = None,
) -> Solution:
    """Return what repeated folds find, and the share of redrawn answers that reach it.

    `progress` is called after each step with a state of JSON values; pass the last one as `state` to resume. Above
    `MAX_PERMUTED` items there are no permutations. With labels, half of the permutations keep the prior of each kind.
    ValueError: as in `first_view`, or the state belongs to other questions, answers or another seed.
    """
    return _solve(
        questions, answers, seed, max(2, repeats), permutations, progress, state, selection, is_certified=True
    )


def _solve(
    questions: Sequence[Question],
    answers: Answers,
    seed: int,
    repeats: int,
    permutations: int,
    progress: Progress | None,
    state: dict[str, Any] | None,
    selection: Selection | None,
    *,
    is_certified: bool,
) -> Solution:
    check_questions(questions, answers)
    structure = structure_of(questions, answers)
    fingerprint = fingerprint_of(questions, answers, seed)
    passes = Passes(**state) if state else Passes(fingerprint)
    if passes.fingerprint != fingerprint:
        raise ValueError("the state belongs to other questions, answers or another seed; start without a state")
    chance = np.array([1 / len(question.options) for question in questions])
    # Families that removed nothing chose nothing, so they may acquit.
    selection = selection if selection and selection.removed else None
    if len(np.unique(structure.groups)) >= MIN_GROUPS:
        _run(passes, Design.of(questions), answers, structure, seed, repeats, permutations, progress)
    else:
        _fill_with_chance(passes, chance)
    tiers = {tier: _tier_result(tier, passes, structure, chance, is_certified) for tier in TIERS}
    credits = passes.mean_credits(HEADLINE)
    labels = [
        question.options[answer] for question, answer in zip(questions, answers, strict=True) if question.is_label
    ]
    return Solution(
        tiers,
        _parts(credits, structure, chance),
        _kinds(questions, credits, structure, chance),
        _items(questions, passes, chance),
        sorted(
            (FamilyImportance(name, value - float(chance.mean())) for name, value in passes.families.items()),
            key=lambda row: -row.importance,
        ),
        max(map(labels.count, set(labels))) / len(labels) if labels else None,
        passes.learners,
        is_certified,
        seed,
        passes.repeats,
        len(passes.uniform) + len(passes.permuted),
        largest_fair(passes.mean_credits("item"), chance),
        _held_out(questions, answers, structure, seed, passes.repeats) if selection else None,
        selection.probes if selection else (),
    )


def _held_out(
    questions: Sequence[Question], answers: Answers, structure: Structure, seed: int, repeats: int
) -> TierResult | None:
    """Return what the reserved families find, or None with too few groups: `tiers` then say so."""
    if len(np.unique(structure.groups)) < MIN_GROUPS:
        return None
    design, rows = Design.of_reserved(questions), []
    for repeat in range(repeats):
        folds = spread_folds(design, answers, structure.groups, seed + repeat)
        answered = answer_tiers(design, answers, folds, (HEADLINE,), seed + repeat)
        rows.append(design.layout.credits(answered.scores[HEADLINE], answers))
    level, n = float((1 / design.layout.sizes).mean()), len(questions)
    value, interval = block_interval(np.mean(rows, axis=0), structure.blocks)
    verdict, why, n_needed = verdict_of(value, interval, level, n, largest_group_share(structure), repeats > 1)
    n_blocks = len(np.unique(structure.blocks))
    return TierResult(HEADLINE, value, interval, level, n, n_blocks, verdict, n_needed, why=why)


def _run(
    passes: Passes,
    design: Design,
    answers: Answers,
    structure: Structure,
    seed: int,
    repeats: int,
    permutations: int,
    progress: Progress | None,
) -> None:
    """Run the steps that the passes lack."""
    questions = design.layout.questions
    if len(questions) > MAX_PERMUTED:
        permutations = 0
    n_permuted = permutations // 2 if any(question.is_label for question in questions) else 0
    groups = structure.groups
    steps = [
        partial(passes.add_repeat, design, answers, groups, seed + repeat) for repeat in range(passes.repeats, repeats)
    ]
    # It costs a quarter of a view and decides nothing, so only a certificate has it.
    is_compared = structure.is_grouped and repeats > 1
    if is_compared and passes.ungrouped is None:
        steps.append(partial(passes.add_ungrouped, design, answers, structure.sets, seed))
    for draw in range(len(passes.uniform), permutations - n_permuted):
        redrawn = redraw(questions, answers, structure, seed + draw)
        steps.append(partial(passes.add_uniform, design, redrawn, groups, seed + draw))
    for draw in range(len(passes.permuted), n_permuted):
        redrawn = permute_labels(questions, answers, structure, seed + draw)
        steps.append(partial(passes.add_permuted, design, redrawn, groups, seed + draw))
    total = repeats + is_compared + permutations
    for number, step in enumerate(steps, total - len(steps) + 1):
        step()
        if progress:
            progress(number, total, passes.as_state())


def redraw(questions: Sequence[Question], answers: Answers, structure: Structure, seed: int) -> Answers:
    """Return (n,) answers drawn uniformly; in a mirrored set all move by one step, so that they still differ."""
    generator = np.random.default_rng(seed)
    sets = np.where(structure.mirrored >= 0, structure.mirrored, structure.mirrored.max() + 1 + np.arange(len(answers)))
    shifts = generator.integers(0, 2**31, int(sets.max()) + 1)[sets]
    redrawn = np.empty_like(answers)
    for index, question in enumerate(questions):
        order = sorted(range(len(question.options)), key=question.options.__getitem__)
        redrawn[index] = order[(order.index(int(answers[index])) + shifts[index]) % len(order)]
    return redrawn


def permute_labels(questions: Sequence[Question], answers: Answers, structure: Structure, seed: int) -> Answers:
    """Return (n,) answers in which labels are exchanged among the items of a kind; others are redrawn uniformly."""
    generator = np.random.default_rng(seed)
    redrawn = redraw(questions, answers, structure, seed)
    by_kind = defaultdict(list)
    for index, question in enumerate(questions):
        if question.is_label and structure.mirrored[index] < 0:
            by_kind[question.kind, question.options].append(index)
    for items in by_kind.values():
        redrawn[items] = answers[generator.permutation(items)]
    return redrawn


def _fill_with_chance(passes: Passes, chance: Floats) -> None:
    for tier in TIERS:
        passes.credits[tier] = [chance.tolist()]
        passes.right[tier] = [chance.tolist()]
    passes.reasons = [""] * len(chance)


def _tier_result(tier: Tier, passes: Passes, structure: Structure, chance: Floats, is_certified: bool) -> TierResult:
    credits, level = passes.mean_credits(tier), float(chance.mean())
    n, n_blocks = len(credits), len(np.unique(structure.blocks))
    value, interval = block_interval(credits, structure.blocks, _inflation(passes, chance))
    if is_certified and n > MAX_PERMUTED:
        interval = _wider(interval, resampled_interval(np.array(passes.fold_values), 1 / N_FOLDS, value))
    is_headline = tier == HEADLINE
    ungrouped = passes.ungrouped if is_headline else None
    if len(np.unique(structure.groups)) < MIN_GROUPS:
        return TierResult(tier, level, (0.0, 1.0), level, n, n_blocks, "cannot_tell", None, ungrouped, why="few")
    verdict, why, n_needed = verdict_of(value, interval, level, n, largest_group_share(structure), is_certified)
    p_value, p_prior = (_p_of(value, rows) if is_headline else None for rows in (passes.uniform, passes.permuted))
    return TierResult(
        tier, value, interval, level, n, n_blocks, verdict, n_needed, ungrouped, p_value, p_prior, why=why
    )


def _p_of(value: float, redrawn: Sequence[float]) -> float | None:
    """Return the share of values under redrawn answers that reach the value (Phipson & Smyth 2010)."""
    return (1 + sum(row >= value for row in redrawn)) / (1 + len(redrawn)) if redrawn else None


def _inflation(passes: Passes, chance: Floats) -> float:
    """Return how much wider than binomial the spread is: that of redrawn answers if it was measured and is larger."""
    if len(passes.uniform) < 20:
        return INFLATION
    binomial = float(np.sqrt((chance * (1 - chance)).sum())) / len(chance)
    return max(INFLATION, float(np.std(passes.uniform, ddof=1)) / binomial)


def _wider(first: Interval, second: Interval) -> Interval:
    return min(first[0], second[0]), max(first[1], second[1])


def _parts(credits: Floats, structure: Structure, chance: Floats) -> list[PartResult]:
    is_mirrored, is_copy = structure.mirrored >= 0, structure.copies >= 0
    parts = []
    rows: list[tuple[PartName, NDArray[np.bool_], Codes | None]] = [
        ("mirrored", is_mirrored, structure.mirrored),
        ("copies", is_copy, structure.copies),
        ("others", ~is_mirrored & ~is_copy, None),
    ]
    for name, members, codes in rows:
        # Without such sets, the others are all items: the headline.
        if (members.any() and not members.all()) or (name != "others" and members.any()):
            value, interval = block_interval(credits[members], structure.blocks[members])
            n_sets = 0 if codes is None else len(np.unique(codes[members]))
            parts.append(PartResult(name, value, interval, float(chance[members].mean()), int(members.sum()), n_sets))
    return parts


def _kinds(questions: Sequence[Question], credits: Floats, structure: Structure, chance: Floats) -> list[KindResult]:
    members = defaultdict(list)
    for index, question in enumerate(questions):
        members[question.kind].append(index)
    if len(members) < 2:
        return []
    rows = []
    for kind, items in sorted(members.items()):
        value, interval = block_interval(credits[items], structure.blocks[items])
        level = float(chance[items].mean())
        rows.append((kind, value, interval, level, len(items), p_above(value, level, interval)))
    corrected = holm([row[-1] for row in rows])
    return [KindResult(*row, p_holm) for row, p_holm in zip(rows, corrected, strict=True)]


def _items(questions: Sequence[Question], passes: Passes, chance: Floats) -> list[ItemScore]:
    right = np.array(passes.right[HEADLINE])
    scores = right.mean(axis=0)
    spread = right.std(axis=0, ddof=1) if len(right) > 1 else None
    credits = {tier: passes.mean_credits(tier) for tier in TIERS}
    items = []
    for index, question in enumerate(questions):
        tier: Tier | Literal[""] = next((name for name in TIERS if credits[name][index] > 0.5), "")
        items.append(
            ItemScore(
                id=question.id,
                s=round(float(scores[index]), DECIMALS),
                s_minus_chance=round(float(scores[index] - chance[index]), DECIMALS),
                sd=None if spread is None else round(float(spread[index]), DECIMALS),
                tier=tier,
                reason=passes.reasons[index],
                n_options=len(question.options),
            )
        )
    return items
