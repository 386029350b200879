"""Random captions: whose they are, how they are drawn, that memory is bounded."""

import pytest

from generation.errors import GenerationError
from generation.methods.random_caption import prepare
from generation.records import CaptionInput
from tests.generation.making import outcomes

TEXTS = (
    "a man rides a horse",
    "two women play tennis.",
    "A dog jumps over a fence",
    "someone pours water",
    "kids dance",
    "a chef chops onions",
    "the candle burns",
    "a hand waves",
    "a mandarin is peeled",
    "a human walks",
    "a boy is chased by a dog",
    "an old man sleeps",
    "the door opens",
    "a girl hugs a bear",
    "two men meet",
    "a woman pours milk out of a jug",
    "a cup stands on top of a box",
    "a man jumps off of a roof",
    "a car drives from left to right",
    "he claps exactly once",
    "she waves exactly twice",
    "the paper tears",
    "a chopper lands",
    "someone folds a shirt",
    "a cat sleeps",
    "people cheer",
    "a train stops.",
    "Rain falls",
    "🙂 a smile — שלום",
    "a ball bounces",
    "a baby laughs",
    "she ties her shoes",
)


def captions(movie=None, texts=TEXTS):
    facts = {"movie": movie} if movie else {}
    return [CaptionInput(f"{movie}{n}", text, f"v{movie}{n}", facts=facts) for n, text in enumerate(texts)]


def foils(outcome):
    return [judged.draft.foil for judged in outcome.foils]


def test_each_caption_gets_four_texts_of_four_other_videos():
    for mode in ("corrected", "paper"):
        for outcome in outcomes("random_caption", captions(), mode=mode):
            drafts = [judged.draft for judged in outcome.foils]
            assert len({draft.foil for draft in drafts}) == 4
            assert {draft.foil for draft in drafts} <= set(TEXTS) - {outcome.caption.text}
            assert outcome.caption.video not in {draft.facts["from_video"] for draft in drafts}
            assert [draft.rank for draft in drafts] == [0, 1, 2, 3]
            assert all(draft.source == outcome.caption.text for draft in drafts)


@pytest.mark.parametrize("text", TEXTS)
def test_with_one_other_video_its_caption_is_the_foil(text):
    """Every text comes back whole, letter for letter."""
    given = [CaptionInput("a", "a lamp", "v1"), CaptionInput("b", text, "v2")]
    first, second = outcomes("random_caption", given)
    assert foils(first) == [text]
    assert foils(second) == ["a lamp"]


def test_captions_of_the_same_movie_where_there_are_movies():
    given = captions("A", TEXTS[:6]) + captions("B", TEXTS[6:12])
    for outcome in outcomes("random_caption", given):
        pool = TEXTS[:6] if outcome.caption.facts["movie"] == "A" else TEXTS[6:12]
        assert set(foils(outcome)) <= set(pool)
    (alone,) = outcomes("random_caption", captions("C", ["x"]))
    assert alone.skipped == ("no other video of its movie has a different caption",)


def test_a_foil_is_never_a_text_of_the_same_video():
    given = [
        CaptionInput("a", "a cat sleeps", "v1", siblings=("a dog runs",)),
        CaptionInput("b", "A Dog  runs", "v2"),
        CaptionInput("c", "a cat sleeps", "v3"),
        CaptionInput("d", "a cow eats", "v1"),
    ]
    assert foils(outcomes("random_caption", given)[0]) == []
    assert foils(outcomes("random_caption", given, mode="paper")[0]) == ["A Dog  runs"]


def test_each_negative_is_from_another_video():
    given = [CaptionInput("a", "x", "v1"), *(CaptionInput(f"b{n}", f"text {n}", "v2") for n in range(9))]
    assert len(foils(outcomes("random_caption", given)[0])) == 1
    assert len(foils(outcomes("random_caption", given, mode="paper")[0])) == 4


def test_draws_are_uniform():
    given = captions()
    counts = dict.fromkeys(TEXTS, 0)
    for seed in range(60):
        for outcome in outcomes("random_caption", given, seed=seed):
            for foil in foils(outcome):
                counts[foil] += 1
    # 60 seeds, 32 captions, 4 foils: 240 each.
    assert all(180 <= count <= 300 for count in counts.values())


def test_the_pool_is_bounded_and_the_same_in_any_order():
    given = [CaptionInput(f"c{n}", f"text {n}", f"v{n}") for n in range(500)]
    params = {"foils": 4, "pool": 60}
    pool = prepare(given, params=params, mode="corrected", seed=1)
    assert len(pool[""]) == 60
    assert prepare(given[::-1], params=params, mode="corrected", seed=1) == pool
    assert prepare(given, params=params, mode="corrected", seed=2) != pool
    # A uniform sample: the mean of 60 of 0..499 has a standard deviation of 18.
    assert 170 < sum(int(other.text.split()[1]) for other in pool[""]) / 60 < 330
    assert all(len(foils(one)) == 4 for one in outcomes("random_caption", given, pool=60))


def test_a_wrong_parameter_is_named():
    with pytest.raises(GenerationError, match="'pool' is 0"):
        outcomes("random_caption", captions(), pool=0)
    with pytest.raises(GenerationError, match="'foils' is 0"):
        outcomes("random_caption", captions(), foils=0)
