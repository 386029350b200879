"""The draw: fair between opposites, random in its counts, the same in any order, and aware of what is stored."""

import random
from collections import Counter

import pytest

from generation.balance.balanced_pairs import Pair
from generation.balance.draw import draw
from generation.balance.opposites import replacement_of, unbalanced
from generation.errors import GenerationError


def pairs(caption: str, foil: str, n: int, start: int = 0) -> list[Pair]:
    return [
        Pair(f"{caption}{k}", f"{caption}{k}", f"thing {k} {caption}", f"thing {k} {foil}")
        for k in range(start, start + n)
    ]


def sides(rows: list[Pair], ids: tuple[str, ...]) -> Counter[str]:
    selected = set(ids)
    return Counter(replacement_of(row).removed for row in rows if row.id in selected)


def test_a_coin_decides_until_one_side_is_used_up():
    rows = [*pairs("up", "down", 40), *pairs("down", "up", 10)]
    counts = [sides(rows, draw(rows, seed=seed, by_context=False).selected) for seed in range(60)]
    assert all(count["down"] == 10 or count["up"] == 20 for count in counts)
    ups = [count["up"] for count in counts]
    assert len(set(ups)) > 8
    # The number of heads before the tenth tail has mean 10 and deviation sqrt(20); four errors of the mean of 60.
    assert 7.7 <= sum(ups) / len(ups) <= 12.3


def test_captions_without_an_opposite_are_lost_and_mere_order_needs_none():
    rows = [
        *pairs("up", "down", 3),
        *pairs("down", "up", 3),
        *pairs("on", "under", 5),
        Pair("swap", "swap", "a dog chases a cat", "a cat chases a dog"),
    ]
    chosen = draw(rows, by_context=False)
    assert "swap" in chosen.selected
    assert not sides(rows, chosen.selected)["on"]
    assert set(chosen.selected) | set(chosen.lost) == {row.id for row in rows}


def test_the_order_of_the_pairs_changes_nothing_and_the_seed_does():
    rows = [*pairs("up", "down", 20), *pairs("down", "up", 20)]
    chosen = set(draw(rows, seed=3, by_context=False).selected)
    for seed in range(5):
        shuffled = random.Random(seed).sample(rows, len(rows))
        assert set(draw(shuffled, seed=3, by_context=False).selected) == chosen
    assert set(draw(rows, seed=4, by_context=False).selected) != chosen


def test_the_numbers_of_rows_change_nothing():
    rows = [*pairs("up", "down", 15), *pairs("down", "up", 15)]
    texts = []
    for first in (1, 90):
        numbered = [Pair(str(n), str(n), row.caption, row.foil) for n, row in enumerate(rows, first)]
        chosen = set(draw(numbered, seed=4, by_context=False).selected)
        texts.append({row.caption for row in numbered if row.id in chosen})
    assert texts[0] == texts[1]


def test_a_group_gets_as_many_foils_as_its_item_needs():
    texts = ("up", "down", "left")
    rows = [
        Pair(f"{a}{k}{b}", f"{a}{k}", f"thing {k} {a}", f"thing {k} {b}")
        for k in range(10)
        for a in texts
        for b in texts
        if a != b
    ]
    for per_group in (1, 2):
        chosen = set(draw(rows, per_group=per_group, by_context=False).selected)
        assert max(Counter(row.group for row in rows if row.id in chosen).values()) == per_group
    with pytest.raises(GenerationError, match="per_group is 0"):
        draw(rows, per_group=0)


def test_stored_foils_beyond_chance_are_made_up_for_and_chance_is_left_alone():
    rows = [*pairs("up", "down", 40, 100), *pairs("down", "up", 40, 100)]
    stored = [Pair(f"s{row.id}", f"s{row.id}", row.caption, row.foil) for row in pairs("up", "down", 25)]
    (row,) = unbalanced(stored)
    assert (row.frequent, row.rare, row.n_missing, row.n_foils) == ("up", "down", 20, 25)
    means = Counter()
    for seed in range(40):
        means.update(sides(rows, draw(rows, seed=seed, fixed=stored, by_context=False).selected))
    # Twenty more captions with "down" than with "up"; the coin is fair for the rest.
    assert 14 <= (means["down"] - means["up"]) / 40 <= 26
    assert unbalanced([*stored[:4], Pair("b", "b", "it is down", "it is up")]) == [type(row)("up", "down", 1, 5)]
    assert unbalanced(stored[:1]) == []


def test_counts_are_opposites_without_the_nouns_that_agree_with_them():
    row = replacement_of(Pair("1", "1", "Two dogs run", "One dog runs"))
    assert (row.removed, row.inserted) == ("two", "one")
    row = replacement_of(Pair("1", "1", "a dog doesn't run", "a dog runs"))
    assert (row.removed, row.inserted) == ("not", "")
    row = replacement_of(Pair("1", "1", "a man opens his box", "a woman opens her box"))
    assert row.opposites == ("her woman", "his man")


def test_words_around_opposites_do_not_tell_the_true_one():
    """In kitchens things go in, in shops out; elsewhere either: only these can be drawn."""
    generator = random.Random(0)
    rows = []
    for k in range(300):
        place = ("kitchen", "shop", "park")[k % 3]
        word = {"kitchen": "into", "shop": "out of"}.get(place) or generator.choice(("into", "out of"))
        other = "out of" if word == "into" else "into"
        text = f"person {k} steps {{}} a car near the {place}"
        rows.append(Pair(str(k), str(k), text.format(word), text.format(other), video=str(k)))
    selected = set(draw(rows, seed=1).selected)
    chosen = [row for row in rows if row.id in selected]
    assert len(chosen) > 60
    assert sum("park" in row.caption for row in chosen) / len(chosen) > 0.9


def test_of_foils_of_mere_order_those_that_the_solver_sees_through_need_others_that_deceive_it():
    """Of three in four, "sneezes" is last in the caption; of the others, it is first."""
    rows = []
    for k in range(240):
        texts = f"person {k} folds a shirt then sneezes", f"person {k} sneezes then folds a shirt"
        caption, foil = texts if k % 4 else reversed(texts)
        rows.append(Pair(str(k), str(k), caption, foil, video=str(k)))
    selected = set(draw(rows, seed=2).selected)
    last = [row.caption.endswith("sneezes") for row in rows if row.id in selected]
    assert 60 < len(last) < 200
    assert 0.4 < sum(last) / len(last) < 0.6
    assert len(draw(rows, seed=2, by_context=False).selected) == 240
