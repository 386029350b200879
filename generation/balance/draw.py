"""Draw foils so that texts do not say which of two opposites is true (docs/explanation/balance.md#draw).

Two foils are opposites if one removes the words that the other inserts, such as "into" and "out of". For each pair of
opposites, a fair coin decides which one the next caption has, until the captions of one side are used up. So counts are
random: with equal counts, a solver that has seen the other captions gives the rarer answer. Only captions with a
partner take part: one of the other side for which the solver, fitted on other videos, finds the same opposite about
equally likely. So the words around the opposites say no more than the opposites do.
"""

import random
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from foilworks.core.solver.questions import Row, separate_answers
from foilworks.core.solver.solve import first_view
from generation.balance.balanced_pairs import Pair, PairSelection
from generation.balance.opposites import Replacement, n_owed, opposed, replacement_of
from generation.errors import GenerationError

# The largest difference between the solver's probabilities for two partners.
CALIPER = 0.15
# Of each caption of the rarer side; the coin rarely needs more.
N_PARTNERS = 2
# Of foils of mere order: no coin can be tossed for them, since each has its own words.
ORDER_ROUNDS = 2
# With fewer replacements, the solver learns nothing.
MIN_SOLVED = 60


def draw(
    pairs: Sequence[Pair], *, seed: int = 0, per_group: int = 1, fixed: Sequence[Pair] = (), by_context: bool = True
) -> PairSelection:
    """Draw at most `per_group` pairs per group. `fixed` pairs stay and count: the draw first makes up for their excess.

    `by_context`: only captions with a partner take part; otherwise only the opposites themselves are balanced.
    Pairs without an opposite, and those left when their opposites are used up, are lost. Of foils with the words of
    their captions in another order, each that the solver sees through needs one that deceives it. The result depends
    neither on the order of the pairs nor on their ids, unless two have the same video and texts.
    GenerationError: `per_group` is below 1.
    """
    if per_group < 1:
        raise GenerationError(f"per_group is {per_group}; draw at least one foil per group")
    generator = random.Random(seed)
    stored = [replacement_of(pair) for pair in fixed]
    candidates = opposed([replacement_of(pair) for pair in sorted(pairs, key=_content)], stored)
    generator.shuffle(candidates)
    rows = _assigned(candidates, Counter(pair.group for pair in fixed), per_group)
    leans = _leans([*rows, *opposed(stored, rows)], seed) if by_context else defaultdict(float)
    selected_ids: set[str] = set()
    for opposites, drawn in _by_opposites(rows):
        if opposites[0] == opposites[1]:
            drawn = _reordered(drawn, leans, seed, generator) if by_context else drawn
        else:
            stored_sides = [row.is_first for row in stored if row.opposites == opposites]
            excess = 2 * sum(stored_sides) - len(stored_sides)
            missing = [row for row in drawn if row.is_first == (excess < 0)][: n_owed(excess, len(stored_sides))]
            missing_ids = {row.pair.id for row in missing}
            others = [row for row in drawn if row.pair.id not in missing_ids]
            drawn = [*missing, *_toss(*_partners(others, leans), generator)]
        selected_ids.update(row.pair.id for row in drawn)
    return PairSelection(
        tuple(pair.id for pair in pairs if pair.id in selected_ids),
        tuple(pair.id for pair in pairs if pair.id not in selected_ids),
        min(len(pairs), per_group * len({pair.group for pair in pairs})),
    )


def _content(pair: Pair) -> tuple[str | int, ...]:
    """Return what orders pairs, the same in every database; of equal ones the number in the id, 99 before 100."""
    return pair.video, pair.caption, pair.foil, len(pair.id), pair.id


def _by_opposites(rows: Iterable[Replacement]) -> list[tuple[tuple[str, str], list[Replacement]]]:
    """Return the rows of each pair of opposites, the pair with the most captions on its rarer side first."""
    rows_by_opposites: dict[tuple[str, str], list[Replacement]] = defaultdict(list)
    for row in rows:
        rows_by_opposites[row.opposites].append(row)

    def rarer_side(rows: list[Replacement]) -> int:
        n_first = sum(row.is_first for row in rows)
        return min(n_first, len(rows) - n_first)

    return sorted(rows_by_opposites.items(), key=lambda item: (-rarer_side(item[1]), item[0]))


def _assigned(rows: Sequence[Replacement], group_sizes: Counter[str], per_group: int) -> list[Replacement]:
    """Return at most `per_group` rows of each group, each for another pair of opposites.

    Of groups that have other opposites, the more frequent side of a pair gets no more than the coin can use.
    """
    n_of_group = Counter(row.pair.group for row in rows)
    sizes = Counter(group_sizes)
    assigned = []
    for _opposites, rows_of_opposites in _by_opposites(rows):
        open_rows = [row for row in rows_of_opposites if sizes[row.pair.group] < per_group]
        open_rows = list({row.pair.group: row for row in open_rows}.values())
        n_first = sum(row.is_first for row in open_rows)
        room = dict.fromkeys((True, False), N_PARTNERS * min(n_first, len(open_rows) - n_first))
        for row in sorted(open_rows, key=lambda row: n_of_group[row.pair.group] > 1):
            if n_of_group[row.pair.group] == 1 or room[row.is_first] > 0:
                room[row.is_first] -= 1
                sizes[row.pair.group] += 1
                assigned.append(row)
    return assigned


def _leans(rows: Sequence[Replacement], seed: int) -> dict[str, float]:
    """Return id -> how probable the solver, fitted on other videos, finds it that the first opposite is true, minus .5.

    With too few rows to learn from, all are 0. Several rows of a group are solved apart: a caption in several items
    would be recognized.
    """
    rounds: dict[int, list[Replacement]] = defaultdict(list)
    n_of_group: Counter[str] = Counter()
    for row in rows:
        rounds[n_of_group[row.pair.group]].append(row)
        n_of_group[row.pair.group] += 1
    leans: dict[str, float] = defaultdict(float)
    for rows_of_round in rounds.values():
        if len(rows_of_round) >= MIN_SOLVED:
            leans |= _solved(rows_of_round, seed)
    return leans


def _solved(rows: Sequence[Replacement], seed: int) -> dict[str, float]:
    questions, answers = separate_answers(
        Row(row.pair.caption, (row.pair.foil,), video=row.pair.video or row.pair.group, id=row.pair.id) for row in rows
    )
    scores = {item.id: item.s_minus_chance for item in first_view(questions, answers, seed=seed).items}
    return {row.pair.id: scores[row.pair.id] * (1 if row.is_first else -1) for row in rows}


def _partners(rows: Sequence[Replacement], leans: Mapping[str, float]) -> tuple[list[Replacement], list[Replacement]]:
    """Return the rows of both sides that have a partner on the other: their leans differ by at most CALIPER.

    Each row of the rarer side has up to two partners; the second ones come first, where the coin rarely gets.
    """
    sides = [row for row in rows if row.is_first], [row for row in rows if not row.is_first]
    rarer = int(len(sides[0]) > len(sides[1]))
    open_rows = sorted(sides[1 - rarer], key=lambda row: leans[row.pair.id])
    open_leans = [leans[row.pair.id] for row in open_rows]
    matched, partners = [], []
    for row in sides[rarer]:
        partner = _take_nearest(leans[row.pair.id], open_leans, open_rows)
        if partner:
            matched.append(row)
            partners.append(partner)
    seconds = (_take_nearest(leans[row.pair.id], open_leans, open_rows) for row in matched)
    partners = [*filter(None, seconds), *partners]
    return (partners, matched) if rarer else (matched, partners)


def _reordered(
    rows: Sequence[Replacement], leans: Mapping[str, float], seed: int, generator: random.Random
) -> list[Replacement]:
    """Return the rows of mere order that the solver sees through as often as it is deceived.

    A solver that learns from fewer rows finds other cues: they are matched ORDER_ROUNDS times.
    """
    drawn = list(rows)
    for number in range(ORDER_ROUNDS):
        if not any(leans.values()):
            break
        drawn = _toss(*_partners(drawn, leans), generator)
        leans = _leans(drawn, seed + number + 1)
    return drawn


def _take_nearest(lean: float, open_leans: list[float], open_rows: list[Replacement]) -> Replacement | None:
    """Remove and return the row whose lean is nearest; None if none is within CALIPER. `open_leans`: sorted."""
    at = bisect_left(open_leans, lean)
    distances = {index: abs(open_leans[index] - lean) for index in (at - 1, at) if 0 <= index < len(open_leans)}
    nearest = min(distances, key=lambda index: distances[index], default=-1)
    if nearest < 0 or distances[nearest] > CALIPER:
        return None
    open_leans.pop(nearest)
    return open_rows.pop(nearest)


def _toss(first: list[Replacement], second: list[Replacement], generator: random.Random) -> list[Replacement]:
    """Return the rows that a fair coin draws until one side is used up."""
    sides = (first, second)
    drawn = []
    while all(sides):
        drawn.append(sides[generator.random() < 0.5].pop())
    return drawn
