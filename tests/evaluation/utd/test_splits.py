"""UTD-splits against a slow reference and statsmodels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa

from evaluation.utd.splits import balanced_removal, consensus, kappa, quotas, split

samples = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()), min_size=1, max_size=14
)


def slow_quotas(sizes, total):
    """Seats one by one: first the whole ones, then each to the class with the largest fraction left."""
    everything = sum(sizes.values())
    exact = {name: (size * total, everything) for name, size in sizes.items()}
    seats = {name: top // bottom for name, (top, bottom) in exact.items()}
    while sum(seats.values()) < total:
        rest = {name: top - seats[name] * bottom for name, (top, bottom) in exact.items()}
        best = max(rest.values())
        seats[min(name for name in rest if rest[name] == best and seats[name] == exact[name][0] // everything)] += 1
    return seats


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), min_size=1), st.integers(0, 40))
def test_quotas_equal_those_of_the_slow_reference(sizes, total):
    total = min(total, sum(sizes.values()))
    found = quotas(sizes, total)
    assert found == slow_quotas(sizes, total)
    assert sum(found.values()) == total
    assert all(found[name] <= size for name, size in sizes.items())


@given(samples)
def test_the_balanced_split_equals_that_of_the_slow_reference(rows):
    classes = [name for name, _, _ in rows]
    confidence = np.array([value for _, value, _ in rows])
    correct = np.repeat(np.array([[biased] for _, _, biased in rows]), 9, axis=1)
    ids = [f"s{(7 * place) % 16:02d}" for place in range(len(rows))]
    found = split(correct, ids=ids, classes=classes, confidence=confidence)
    assert found.removed == tuple(place for place, (_, _, biased) in enumerate(rows) if biased)
    left = dict(slow_quotas({name: classes.count(name) for name in set(classes)}, len(found.removed)))
    expected = set()
    for name in left:
        own = [place for place in range(len(rows)) if classes[place] == name]
        while left[name]:
            best = max(confidence[place] for place in own)
            first = min((place for place in own if confidence[place] == best), key=lambda place: ids[place])
            own.remove(first)
            expected.add(first)
            left[name] -= 1
    assert found.removed_balanced == tuple(sorted(expected))


def test_a_class_may_vanish_and_quotas_may_remove_unbiased_samples():
    classes = ["a", "b", "b", "b"]
    found = balanced_removal(3, ids=["1", "2", "3", "4"], classes=classes, confidence=np.array([0.1, 0.9, 0.5, 0.7]))
    # 3 x 1/4 = .75 and 3 x 3/4 = 2.25: the remainder goes to a, which is gone altogether.
    assert found == (0, 1, 3)


def test_only_what_all_nine_solve_is_biased():
    correct = np.ones((3, 9), dtype=bool)
    correct[1, 4] = False
    assert consensus(correct).tolist() == [True, False, True]


@given(st.lists(st.integers(0, 9), min_size=2, max_size=30))
def test_kappa_equals_that_of_statsmodels(right):
    correct = np.array([[place < count for place in range(9)] for count in right])
    table = np.column_stack([9 - np.array(right), np.array(right)])
    if sum(right) in {0, 9 * len(right)}:
        assert kappa(correct) is None
    else:
        assert kappa(correct) == pytest.approx(fleiss_kappa(table), abs=1e-12)


def test_retrieval_has_no_classes_and_no_balanced_split():
    assert split(np.ones((2, 9), dtype=bool), ids=["a", "b"]).removed_balanced is None
