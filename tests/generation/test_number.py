"""Number replacement: what each caption becomes, word by word, and that corrected runs are balanced."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foilworks.core.text.diff import apply_edits
from generation.errors import GenerationError
from generation.grammar.numbers import find_count, realise
from generation.records import CaptionInput
from generation.trial import try_method
from tests.generation.making import drafts, outcomes, skipped

NO_EXACTLY = "it has no “exactly” before a number; anchor “any” also takes other numbers"

# Caption, count of the foil, foil. The first five are those of (ViLMA, Fig. 13 and Sec. 3.2).
EXACT = [
    ("a man skips rope exactly three times.", 9, "a man skips rope exactly nine times."),
    ("someone peels a melon in exactly two moves.", 5, "someone peels a melon in exactly five moves."),
    ("a man on a bike spins exactly two times.", 5, "a man on a bike spins exactly five times."),
    (
        "each player hits the ball exactly three times using their rackets.",
        1,
        "each player hits the ball exactly one time using their rackets.",
    ),
    ("someone performs exactly one push-up", 7, "someone performs exactly seven push-ups"),
    # Nouns agree; their plurals are not all in s.
    ("a man does exactly one overhead press.", 2, "a man does exactly two overhead presses."),
    (
        "she makes exactly one lateral movement on the monkey bars.",
        8,
        "she makes exactly eight lateral movements on the monkey bars.",
    ),
    ("he does exactly four upright rows.", 1, "he does exactly one upright row."),
    ("he throws exactly four knives.", 1, "he throws exactly one knife."),
    ("a diver catches exactly ten fish.", 1, "a diver catches exactly one fish."),
    ("a woman swims exactly one swimming stroke.", 3, "a woman swims exactly three swimming strokes."),
    ("a man does exactly five jumping jacks.", 1, "a man does exactly one jumping jack."),
    ("he takes exactly one step forward.", 4, "he takes exactly four steps forward."),
    ("she does exactly one full rowing exercise", 6, "she does exactly six full rowing exercises"),
    ("a man does exactly one two-handed swing", 3, "a man does exactly three two-handed swings"),
    # Once, twice, thrice stay adverbs as long as there is one.
    ("a dog barks exactly once.", 2, "a dog barks exactly twice."),
    ("a dog barks exactly once.", 5, "a dog barks exactly five times."),
    ("a dog barks exactly twice.", 1, "a dog barks exactly once."),
    ("a dog barks exactly twice more.", 4, "a dog barks exactly four times more."),
    # "N times" gives "one time", as ViLMA writes it.
    ("a man spins exactly six times.", 1, "a man spins exactly one time."),
    # Digits stay digits, capitals stay capitals, the stop (or none) stays.
    ("A man claps exactly 3 times!", 10, "A man claps exactly 10 times!"),
    ("A man claps exactly 3 times", 1, "A man claps exactly 1 time"),
    ("Exactly Three Times", 4, "Exactly Four Times"),
    ("EXACTLY TWO TIMES", 1, "EXACTLY ONE TIME"),
    # Subjects: the verb agrees too.
    ("Exactly three men jump.", 1, "Exactly one man jumps."),
    ("exactly one man walks down the street", 3, "exactly three men walk down the street"),
    ("exactly three people are dancing", 1, "exactly one person is dancing"),
    ("There are exactly two balls on the table.", 1, "There is exactly one ball on the table."),
    ("there is exactly one ball on the table", 7, "there are exactly seven balls on the table"),
    ("exactly two children running on a beach", 1, "exactly one child running on a beach"),
    ("while exactly two dogs bark, a cat sleeps", 1, "while exactly one dog barks, a cat sleeps"),
    # Only the first count changes, and only what belongs to it.
    (
        "a man jumps exactly three times and claps exactly two times",
        1,
        "a man jumps exactly one time and claps exactly two times",
    ),
    ("a man does exactly one push-up and one squat.", 2, "a man does exactly two push-ups and one squat."),
    # ViLMA's other template; and a slip of its authors is not made worse.
    ("a man skips the rope one time in total.", 8, "a man skips the rope eight times in total."),
    ("a man spins exactly one times with his bare hands.", 9, "a man spins exactly nine times with his bare hands."),
    # Whatever stands around it survives.
    ("🏋🏽 exactly three times — שלום", 4, "🏋🏽 exactly four times — שלום"),
]


@pytest.mark.parametrize(("caption", "count", "expected"), EXACT)
def test_a_caption_becomes_exactly_this_foil(caption, count, expected):
    made = {draft.facts["foil_count"]: draft.foil for draft in drafts("number", caption, foils=20)}
    assert made[count] == expected
    assert sorted(made) == [n for n in range(1, 11) if n != find_count(caption, "exactly").value]


@pytest.mark.parametrize(
    ("caption", "count", "expected"),
    [
        ("three", 5, "five"),
        ("two dogs run", 1, "one dog runs"),
        ("a man with one hand waves", 2, "a man with two hands waves"),
        ("one turn clockwise", 3, "three turns clockwise"),
        ("he waves twice.", 1, "he waves once."),
        ("3 cats sleep", 1, "1 cat sleeps"),
    ],
)
def test_a_bare_number_word_counts_with_anchor_any(caption, count, expected):
    assert skipped("number", caption, anchor="exactly") == NO_EXACTLY
    made = {draft.facts["foil_count"]: draft.foil for draft in drafts("number", caption, foils=20, anchor="any")}
    assert made[count] == expected


@pytest.mark.parametrize(
    "caption",
    [
        "no one waves",
        "they hug one another",
        "the one in red jumps",
        "room 3",
        "a two-wheeled cart",
        "at one side",
        "once he sits, he eats",
        "one of the men jumps",
        "a t-shirt with number 7",
    ],
)
def test_words_that_only_look_like_counts_are_not_counts(caption):
    assert skipped("number", caption, anchor="any") == "it has no number that counts a thing"


@pytest.mark.parametrize(
    ("caption", "why"),
    [
        ("a man claps.", NO_EXACTLY),
        ("a man claps three times.", NO_EXACTLY),
        ("exactly the same man", NO_EXACTLY),
        ("exactly one-handed", NO_EXACTLY),
        ("exactly twenty-one times", NO_EXACTLY),
        ("a man claps exactly eleven times.", "the count 11 is not within 1..10 (parameter max)"),
        ("a man claps exactly 12 times.", "the count 12 is not within 1..10 (parameter max)"),
        ("a man claps exactly zero times.", "the count 0 is not within 1..10 (parameter max)"),
        ("exactly two hundred people", "'two' is part of another number, not a plain count"),
        ("exactly twenty one people", "'twenty' is part of another number, not a plain count"),
        ("he runs exactly 3.5 miles", "'3' is part of another number, not a plain count"),
        ("he runs exactly 3,000 miles", "'3' is part of another number, not a plain count"),
        ("exactly three or four times", "'three' is part of another number, not a plain count"),
        ("exactly one and a half turns", "'one' is part of another number, not a plain count"),
        ("exactly two thirds of it", "'two' is part of another number, not a plain count"),
        ("a man claps at least three times in total.", "'three' is a bound or an estimate, not a plain count"),
        ("a man claps exactly three times or so", "'three' is a bound or an estimate, not a plain count"),
        ("it is exactly ten o'clock", "'ten' is part of another number, not a plain count"),
        ("exactly 50 % of it", "'50' is part of another number, not a plain count"),
        # The verb, or who "his" is, cannot be told without a parser: nothing is made rather than something wrong.
        ("exactly one of the men jumps", "no other count keeps the sentence grammatical"),
        ("exactly one man waves his hand", "no other count keeps the sentence grammatical"),
        ("there is exactly one ball that bounces", "no other count keeps the sentence grammatical"),
        ("a man and exactly one woman dance", "no other count keeps the sentence grammatical"),
    ],
)
def test_a_caption_is_skipped_with_its_reason(caption, why):
    assert skipped("number", caption, anchor="exactly") == why


@pytest.mark.parametrize(
    "caption",
    [
        "At least three people dance.",
        "two or more dogs bark",
        "three people or more dance",
        "3+ people dance",
        "no more than two men sit",
        "fewer than four cats sit",
        "as many as five dogs run",
        "about two men dance",
        "over two men dance",
        "a dog barks about twice",
        "up to three dogs bark",
        "he jumps nearly four times",
        "two and more dogs bark",
        "while some three dogs bark, a cat sleeps",
    ],
)
def test_bounds_and_estimates_are_skipped(caption):
    assert skipped("number", caption, anchor="any").endswith("is a bound or an estimate, not a plain count")


@pytest.mark.parametrize(
    "caption",
    [
        "a dog jumps over two men",
        "he walks up to two men",
        "he runs around three trees",
        "he spins around twice",
        "she flips over two times",
        "only two men dance",
        "two dogs and more cats run",
        "two men sit and so does a dog",
    ],
)
def test_words_about_places_and_turns_are_not_bounds(caption):
    assert drafts("number", caption, anchor="any")


def test_if_only_a_count_of_one_is_unsure_the_other_counts_remain():
    made = {draft.facts["foil_count"] for draft in drafts("number", "exactly three men wave their hats", foils=20)}
    assert made == {2, 4, 5, 6, 7, 8, 9, 10}


def test_a_caption_that_contradicts_its_annotated_count_is_skipped():
    text = "a man claps exactly three times."
    why = skipped("number", text, {"count": 4})
    assert why == "the caption states three, but the video's annotated count is 4; correct one of them"
    assert skipped("number", text, {"count": "4"}) == why
    (outcome,) = outcomes("number", [CaptionInput("1", text, facts={"count": 3})])
    assert len(outcome.foils) == 1


def test_mode_paper_draws_across_the_split():
    easy = drafts("number", "he claps exactly two times", mode="paper", foils=20)
    assert {draft.facts["foil_count"] for draft in easy} == {4, 5, 6, 7, 8, 9, 10}
    assert {draft.facts["split"] for draft in easy} == {"easy"}
    difficult = drafts("number", "he claps exactly seven times", mode="paper", foils=20)
    assert {draft.facts["foil_count"] for draft in difficult} == {1, 2, 3}
    assert {draft.facts["split"] for draft in difficult} == {"difficult"}


# Foils with each count in ViLMA's released files, counting easy and difficult.
RELEASED = {
    "easy": {4: 195, 5: 175, 6: 141, 7: 120, 8: 119, 9: 103, 10: 106},
    "difficult": {1: 319, 2: 285, 3: 291},
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("split", ["easy", "difficult"])
def test_mode_paper_has_the_counts_of_the_released_files(split, seed):
    released = RELEASED[split]
    values = [1, 2, 3] if split == "easy" else [4, 5, 6, 7, 8, 9, 10]
    counts = [values[at % len(values)] for at in range(sum(released.values()))]
    made = Counter()
    for (_, foil), n in pairs_of(outcomes("number", claps(counts), mode="paper", split=split, seed=seed)).items():
        made[foil] += n
    assert sum(abs(made[count] - n) for count, n in released.items()) <= 2 * len(released)
    assert made.total() == len(counts)


def test_mode_paper_keeps_the_proportions_if_some_captions_cannot_state_one():
    captions = claps([5] * 60)
    stubborn = [CaptionInput(f"s{at}", "exactly five of them clap.", video=f"w{at}") for at in range(30)]
    found = outcomes("number", [*stubborn, *captions], mode="paper")
    alone = {draft.facts["foil_count"] for draft in drafts("number", stubborn[0].text, mode="paper", foils=9)}
    assert 1 not in alone
    made = Counter(judged.draft.facts["foil_count"] for one in found for judged in one.foils)
    assert made[1] >= 30


def test_mode_paper_draws_a_single_caption_by_the_same_proportions():
    seen = Counter(
        draft.facts["foil_count"]
        for seed in range(400)
        for draft in drafts("number", "he claps exactly two times", mode="paper", seed=seed)
    )
    assert set(seen) == {4, 5, 6, 7, 8, 9, 10}
    assert seen[4] > seen[10]


@pytest.mark.parametrize("mode", ["paper", "corrected"])
def test_a_split_uses_only_its_own_captions(mode):
    small, large = "he claps exactly two times", "he claps exactly seven times"
    assert (
        skipped("number", large, mode=mode, split="easy") == "the count 7 is not in the easy subtest (parameter split)"
    )
    assert skipped("number", small, mode=mode, split="difficult").startswith("the count 2 is not in the difficult")
    (draft,) = drafts("number", small, mode=mode, split="easy")
    assert draft.facts["foil_count"] > 3
    (draft,) = drafts("number", large, mode=mode, split="difficult")
    assert draft.facts["foil_count"] <= 3


@pytest.mark.parametrize(("params", "name"), [({"foils": 0}, "foils"), ({"max": 1}, "max"), ({"max": 21}, "max")])
def test_parameters_out_of_range_are_named(params, name):
    with pytest.raises(GenerationError, match=f"parameter '{name}'"):
        drafts("number", "he claps exactly two times", **params)


WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
COUNTS = st.lists(st.integers(1, 10), min_size=2, max_size=60)


def claps(counts):
    return [
        CaptionInput(f"c{at}", f"a man claps exactly {WORDS[n - 1]} {'time' if n == 1 else 'times'}.", video=f"v{at}")
        for at, n in enumerate(counts)
    ]


def pairs_of(found):
    return Counter(
        (judged.draft.facts["count"], judged.draft.facts["foil_count"]) for one in found for judged in one.foils
    )


def smaller_is_true(pairs):
    """The share that someone gets who always takes the smaller number for the true one."""
    return Fraction(sum(n for (true, foil), n in pairs.items() if true < foil), sum(pairs.values()))


def drawn_pairs(counts, seed=0):
    """Count of the caption and of the foil in a drawn run."""
    result = try_method("number", claps(counts), mode="corrected", seed=seed, raw_params={}, is_drawn=True)
    return Counter((row["facts"]["count"], row["facts"]["foil_count"]) for row in result["candidates"])


@given(COUNTS, st.integers(0, 5))
@settings(max_examples=50, deadline=None)
def test_a_drawn_run_has_both_counts_of_a_pair_or_neither(counts, seed):
    pairs = drawn_pairs(counts, seed)
    assert all(set(counts) >= {true, foil} for true, foil in pairs)
    assert pairs.total() <= len(counts)
    assert sum(n for (true, _), n in pairs.items() if true == counts[0]) <= counts.count(counts[0])


@pytest.mark.full
def test_the_smaller_number_solves_mode_paper_but_not_a_drawn_run():
    counts = [1] * 30 + [2] * 36 + [3] * 29
    paper = pairs_of(outcomes("number", claps(counts), mode="paper"))
    assert smaller_is_true(paper) == 1
    shares = [smaller_is_true(drawn_pairs(counts, seed)) for seed in range(20)]
    assert abs(sum(shares) / len(shares) - Fraction(1, 2)) < Fraction(1, 20)
    # A coin, no quota.
    assert len(set(shares)) > 5
    assert max(sum(drawn_pairs(counts, seed).values()) for seed in range(5)) >= 60


def test_once_is_a_foil_where_a_caption_has_it():
    captions = [CaptionInput("a", "it rings exactly once."), CaptionInput("b", "it rings exactly four times.")]
    texts = set()
    for seed in range(10):
        result = try_method("number", captions, mode="corrected", seed=seed, raw_params={}, is_drawn=True)
        texts |= {row["foil"] for row in result["candidates"]}
    # Else the word alone would mark the true sentence.
    assert texts == {"it rings exactly once.", "it rings exactly four times."}


@given(st.sampled_from(EXACT), st.integers(1, 10))
@settings(deadline=None)
def test_two_swaps_can_restore_the_caption(row, number):
    caption = row[0]
    count = find_count(caption, "exactly")
    edits = realise(count, number)
    if edits is None or number == count.value or caption.startswith("a man spins exactly one times"):
        return
    foil = apply_edits(caption, edits)
    back = realise(find_count(foil, "exactly"), count.value, adverb=count.adverb)
    assert apply_edits(foil, back) == caption


# Labels, ranges, idioms, units, errors and pairs are no plain counts.
UNCOUNTED = [
    "there is a dog leaning on an adult 1.",
    "cook the potato for 8 10 minutes",
    "Snowball and another one bites the dust",
    "Four people have drinks while two of them talk to the camera",
    "A girl is standing between two single beds.",
    "add one egg salt and flour and whisk together",
    "in one bowl beat egg while adding cold water",
    "add 1 tbsp dijon and whisk again",
    "add 1 tsp cumin seeds and green chilies",
    "add seven spices to the beef in a bowl",
]


@pytest.mark.parametrize("caption", UNCOUNTED)
def test_a_number_that_counts_no_things_is_left_alone(caption):
    assert skipped("number", caption, foils=19, anchor="any")


@pytest.mark.parametrize(
    ("caption", "never"),
    [
        ("Two cats lick a person's finger.", {8, 10}),
        ("two womens cutting lemon", {1}),
        ("Two guys set up a studio outside and started singing.", {1}),
        ("A cat was walking on his two front paws.", {1, 3}),
        ("A dish in a container with two sections.", {1}),
    ],
)
def test_a_count_that_nobody_writes_is_not_drawn(caption, never):
    made = drafts("number", caption, foils=19, anchor="any")
    assert not never & {draft.facts["foil_count"] for draft in made}
