"""What holds for the swaps by rule on sentences that they can work on: spans, seeds, foreign letters."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foilworks.core.text.diff import apply_edits
from generation.records import MODES, CaptionInput
from tests.generation.making import outcomes

NAMES = ("Harry", "Ron", "Ann", "Eve", "Zoë", "Иван")
CAST = [{"name": name, "gender": "m" if at < 2 or at == 5 else "f"} for at, name in enumerate(NAMES)]
PERSONS = st.sampled_from(
    ["a man", "The woman in red", "two boys", "a young lady with glasses", "an old man", "a girl", "three guys", *NAMES]
)
VERBS = st.sampled_from(
    [
        "pushes",
        "push",
        "is chased by",
        "hugs",
        "follows",
        "open",
        "opens",
        "folds",
        "takes off",
        "stares at",
        "are hit by",
    ]
)
OBJECTS = st.sampled_from(
    ["a door", "his hat", "her bag", "the paper", "her", "him", "each other", "a box", "it", "the light on", "a candle"]
)
TAILS = st.sampled_from(
    ["", ".", " שלום", " 🙂!", " — “café”.", " out of a house", " into a bag.", " from left to right", "\n"]
)
SENTENCES = st.one_of(
    st.tuples(PERSONS, VERBS, st.one_of(PERSONS, OBJECTS), TAILS).map(lambda four: f"{' '.join(four[:3])}{four[3]}"),
    st.tuples(
        st.sampled_from(["is at least one", "are some", "is some"]), st.sampled_from(["cup", "cups", "water", "hats"])
    ).map(lambda two: f"there {two[0]} {two[1]}"),
    st.tuples(
        st.sampled_from(["Initially", "At the end"]), st.sampled_from(["open", "torn", "off", "in pieces", "folded"])
    ).map(lambda two: f"{two[0]}, the thing is {two[1]}."),
)
PARAMS = {"identity_swap": {"characters": CAST, "foils": 2}, "existence": {"foils": 2}, "random_caption": {"pool": 3}}
SLUGS = ("actor_swap", "gender_swap", "identity_swap", "existence", "random_caption", "state_change")
EVERY = pytest.mark.parametrize(("slug", "mode"), [(slug, mode) for slug in SLUGS for mode in MODES])


def given_captions(texts):
    return [CaptionInput(f"c{at}", text, f"v{at}") for at, text in enumerate(texts)]


def foreign(text):
    """Letters and signs outside English letters, digits and the marks that names may bring."""
    kept = [char for char in text if not char.isascii() and char not in "ëИван"]
    return sorted(kept)


@EVERY
@given(texts=st.lists(SENTENCES, min_size=1, max_size=4), seed=st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_a_foil_differs_only_inside_the_recorded_spans_and_they_rebuild_it(slug, mode, texts, seed):
    captions = given_captions(texts)
    for outcome in outcomes(slug, captions, mode=mode, seed=seed, **PARAMS.get(slug, {})):
        text = outcome.caption.text
        assert outcome.foils or outcome.skipped
        for draft in (judged.draft for judged in outcome.foils):
            start, end = draft.span
            assert draft.foil != text
            assert draft.foil.startswith(text[:start])
            assert draft.foil.endswith(text[end:])
            assert apply_edits(text, draft.edits) == draft.foil
            kept = "".join(text[a.end : b.start] for a, b in zip(draft.edits, draft.edits[1:], strict=False))
            assert all(piece in draft.foil for piece in kept.split())
            if slug != "random_caption":
                assert foreign(draft.foil) == foreign(text)


@EVERY
@given(texts=st.lists(SENTENCES, min_size=1, max_size=5, unique=True), seed=st.integers(0, 5), size=st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_the_same_seed_makes_the_same_foils_whatever_the_batches(slug, mode, texts, seed, size):
    captions = given_captions(texts)
    options = {"mode": mode, "seed": seed, **PARAMS.get(slug, {})}
    first = outcomes(slug, captions, **options)
    second = outcomes(slug, captions[::-1], batch_size=size, **options)
    assert {one.caption.id: one for one in first} == {one.caption.id: one for one in second}


@pytest.mark.full
@pytest.mark.parametrize(
    ("slug", "piece"),
    [
        ("actor_swap", "a dog chases a cat. "),
        ("gender_swap", "a man and a woman walk "),
        ("state_change", "he folds a box "),
        ("identity_swap", "Ann smiles "),
        ("random_caption", "a man walks "),
        ("existence", "there is at least one cup "),
        ("direction", "a man walks slowly and "),
        ("attribute_swap", "a tall man and a short woman in a striped shirt and a plain skirt. "),
        ("event_order", "she opens the door. then he closes the box. "),
        ("negation", "the dog is not on the sofa. "),
    ],
)
def test_a_caption_of_a_million_characters_is_processed(slug, piece):
    text = piece * (1_000_000 // len(piece))
    captions = [CaptionInput("long", text, "v1"), CaptionInput("short", "x", "v2")]
    assert len(outcomes(slug, captions, **PARAMS.get(slug, {}))) == 2
