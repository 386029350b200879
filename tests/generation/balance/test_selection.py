"""Balanced selection against every possible choice, on all small random cases."""

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.balance.balanced_pairs import Pair, change, selected_pairs, word_counts
from generation.balance.classifier import fitted
from generation.balance.selection import select
from generation.errors import GenerationError

PHRASES = st.sampled_from(["cut", "fold", "run", "put up", "put down", "cut up", "run run"])


@st.composite
def some_pairs(draw, most=8, prefix=""):
    rows = draw(st.lists(st.tuples(PHRASES, PHRASES, st.integers(0, 3)), min_size=0, max_size=most))
    return [Pair(f"{prefix}{n}", str(group), f"we {a} it", f"we {b} it") for n, (a, b, group) in enumerate(rows)]


def excess(pairs):
    total = Counter()
    for pair in pairs:
        for word, times in change(pair.caption, pair.foil).items():
            total[word] += times
    return {word: times for word, times in total.items() if times}


def brute_force(pairs, per_group, fixed=()):
    """(least imbalance of the words that `fixed` holds, most pairs at that) over every choice that leaves all other
    words in balance."""
    held = set(excess(fixed))
    taken = Counter(pair.group for pair in fixed)
    best = None
    for size in range(len(pairs) + 1):
        for choice in combinations(pairs, size):
            counts = Counter(pair.group for pair in choice)
            if per_group is not None and any(n > max(0, per_group - taken[group]) for group, n in counts.items()):
                continue
            if per_group is None and any(n < sum(p.group == group for p in pairs) for group, n in counts.items()):
                continue
            left = excess([*fixed, *choice])
            if set(left) <= held:
                score = (sum(map(abs, left.values())), -(len(counts) if per_group is None else size))
                best = score if best is None else min(best, score)
    return best


@given(some_pairs(), st.sampled_from([1, 2, None]))
def test_the_selection_is_as_large_as_the_best_of_all_choices(pairs, per_group):
    chosen = select(pairs, per_group=per_group)
    kept = selected_pairs(pairs, chosen.selected)
    assert excess(kept) == {}
    n = len({pair.group for pair in kept}) if per_group is None else len(kept)
    assert (0, -n) == brute_force(pairs, per_group)
    assert chosen.at_most == n
    assert sorted(chosen.selected + chosen.lost) == sorted(pair.id for pair in pairs)


@given(some_pairs(most=7), some_pairs(most=3, prefix="f"))
def test_the_imbalance_of_fixed_pairs_is_minimized(pairs, fixed):
    chosen = select(pairs, per_group=1, fixed=fixed)
    left = excess([*fixed, *selected_pairs(pairs, chosen.selected)])
    assert (sum(map(abs, left.values())), -len(chosen.selected)) == brute_force(pairs, 1, fixed)


@given(some_pairs(), st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_does_not_matter(pairs, generator):
    shuffled = generator.sample(pairs, len(pairs))
    assert set(select(pairs).selected) == set(select(shuffled).selected)


@settings(max_examples=40)
@given(some_pairs(most=20))
def test_a_word_classifier_is_at_chance_on_the_kept_pairs(pairs):
    kept = selected_pairs(pairs, select(pairs, per_group=5).selected)
    assert all(won == 0.5 for won in fitted([(pair.caption, pair.foil) for pair in kept]))


def test_a_large_choice_is_reproducible_and_proved_optimal():
    generator = random.Random(3)
    verbs = [f"v{n}" for n in range(40)]
    pairs = [
        Pair(f"{group}-{n}", str(group), f"a man {source} it", f"a man {generator.choice(verbs)} it up")
        for group in range(300)
        for source in [generator.choice(verbs)]
        for n in range(5)
    ]
    # "up" stands in foils alone: nothing can make up for it.
    assert select(pairs).selected == ()
    mended = [Pair(p.id, p.group, p.caption, p.foil.removesuffix(" up")) for p in pairs]
    chosen = select(mended)
    assert len(chosen.selected) == chosen.at_most > 200
    assert {row.excess for row in word_counts(selected_pairs(mended, chosen.selected))} == {0}
    assert select(mended) == chosen


def test_bad_input_is_refused():
    pair = Pair("a", "g", "x", "y")
    with pytest.raises(GenerationError, match="same id"):
        select([pair, pair])
    with pytest.raises(GenerationError, match="per_group is 0"):
        select([pair], per_group=0)
