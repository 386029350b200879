"""Multiple-choice items of random captions and a hard foil."""

from collections import Counter

import pytest

from generation.choices.compose import Composed, HardOption, RandomItem, Why, compose, facts_of, plain, sample

CAPTION = "A man is singing."
NEGATIVES = ("A dog barks.", "Two cars race.", "A boy eats.", "Rain falls.")
HARD = [HardOption("A woman is singing.")]


def random_item(number=0, **fields):
    values = {"name": f"random:{number}", "key": str(number), "clip": f"clip{number}", "caption": CAPTION}
    return RandomItem(**{**values, "negatives": NEGATIVES, **fields})


def made(item, options=HARD, seed=0, n_foils=4):
    return compose(item, options, n_foils=n_foils, seed=seed)


def test_the_hard_foil_replaces_one_negative_and_three_stay():
    one = made(random_item())
    assert one.foils[one.replaced] == "A woman is singing."
    assert [text for text in one.foils if text in NEGATIVES] == [t for t in NEGATIVES if t != NEGATIVES[one.replaced]]
    assert one.roles.count("hard") == 1
    assert one.roles[one.replaced] == "hard"


def test_all_versions_of_an_item_keep_the_same_random_captions():
    versions = [[HardOption(f"A woman {verb}.")] for verb in ("sings", "shouts", "sleeps")]
    for number in range(40):
        kept = {tuple(t for t in made(random_item(number), options).foils if t in NEGATIVES) for options in versions}
        assert len(kept) == 1


def test_the_same_seed_gives_the_same_items_and_another_seed_others():
    options = [HardOption(f"A woman {verb}.") for verb in ("sings", "shouts", "sleeps")]
    first, again, other = ([made(random_item(n), options, seed).foils for n in range(20)] for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert made(random_item(0), options[::-1], 1) == made(random_item(0), options, 1)


def test_the_replaced_place_is_uniform():
    # Chi-square with 3 degrees of freedom: 16.3 is exceeded once in 1,000. The seed is fixed, so this is no chance.
    counts = Counter(made(random_item(number)).replaced for number in range(2000))
    assert sum((counts[place] - 500) ** 2 / 500 for place in range(4)) < 16.3


def test_without_hard_foils_all_random_captions_stay():
    one = made(random_item(), None)
    assert (one.foils, one.replaced, one.roles) == (NEGATIVES, None, ["random"] * 4)


@pytest.mark.parametrize(
    ("fields", "options", "why"),
    [
        ({"negatives": NEGATIVES[:3]}, HARD, Why.COUNT),
        ({}, [], Why.NO_HARD),
        ({"true_texts": frozenset(map(plain, NEGATIVES))}, HARD, Why.TRUE),
        ({"negatives": ("a man  is singing",) * 4}, HARD, Why.TRUE),
        ({"negatives": ("A dog barks.",) * 4}, HARD, Why.REPEATED),
        ({"true_texts": frozenset({"a woman is singing"})}, HARD, Why.UNUSABLE),
        ({}, [HardOption("a man is singing")], Why.UNUSABLE),
    ],
)
def test_captions_without_a_clean_choice_are_left_out(fields, options, why):
    assert made(random_item(**fields), options) == why


def test_a_true_caption_may_be_the_one_that_is_replaced():
    place = made(random_item()).replaced
    assert isinstance(made(random_item(true_texts=frozenset({plain(NEGATIVES[place])}))), Composed)


def test_reviewed_foils_come_first_and_unusable_ones_are_skipped():
    options = [HardOption("A girl sings.", reviewed=False), HardOption("Rain falls?"), HardOption("A man sleeps.")]
    texts = {made(random_item(number), options, n_foils=4).hard.text for number in range(30)}
    assert "A man sleeps." in texts
    assert "A girl sings." not in texts


def test_a_sample_is_drawn_by_the_seed_and_keeps_the_order():
    items = [made(random_item(number)) for number in range(20)]
    few = sample(items, 5, 0)
    assert len(few) == 5
    assert few == [one for one in items if one in few]
    assert few == sample(items[::-1], 5, 0)[::-1]
    assert sample(items, None, 0) == items


def test_facts_name_the_hard_foil_its_author_and_the_sources():
    one = made(random_item(), [HardOption("A woman sings.", made_by="person", facts={"edited": "verb", "n": 1})])
    facts = facts_of(one, random="random", hard="verb-h", seed=7)
    assert (facts["hard_foil"], facts["roles"], facts["made_by"], facts["n"]) == (one.replaced, one.roles, "person", 1)
    assert facts["edited"] == ["verb" if role == "hard" else "random" for role in one.roles]
    assert facts["composed"] == {"random": "random:0", "from": "random", "hard": "verb-h", "seed": 7}
    assert facts_of(made(random_item(), None), random="random", hard="", seed=0)["hard_foil"] is None
