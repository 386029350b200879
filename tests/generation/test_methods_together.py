"""What holds for every method at once, on any text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foilworks.core.text.diff import apply_edits
from generation.methods.registry import METHODS
from generation.records import MODES, CaptionInput
from tests.generation.making import outcomes

PARAMS = {
    "preposition": {"top": 50, "min_corpus": 3},
    "number": {"foils": 3, "anchor": "any"},
    "fake": {"foils": 3},
    "proficiency_object": {
        "model": "fake-mask:",
        "nli": "fake-classifier:",
        "cola": "fake-classifier:cola",
        "lm": "fake-mask:",
        "min": 0.5,
        "spans": "fake-t5:",
    },
    "proficiency_action": {
        "spans": "fake-t5:",
        "model": "fake-mask:",
        "nli": "fake-classifier:",
        "min": 0.3,
        "cola": "fake-classifier:cola",
        "lm": "fake-mask:",
    },
    "object_swap": {"model": "fake-mask:", "detector": ""},
    "span_infill": {"model": "fake-t5:", "which": "every"},
    "mask_fill": {"model": "fake-mask:", "which": "every", "target": "noun"},
}
# Their foils are, or may be, sentences of other captions, with the signs that stand there.
OF_OTHERS = {"random_caption", "proficiency_action", "chat"}
FRAGMENTS = st.sampled_from(
    [
        "exactly",
        "Exactly",
        "one",
        "two",
        "THREE",
        "4",
        "once",
        "twice",
        "times",
        "time",
        "men",
        "man",
        "jumps",
        "jump",
        "there",
        "are",
        "is",
        "a",
        "an",
        "the",
        "box",
        "on",
        "onto",
        "in",
        "out",
        "of",
        "out of",
        "in front of",
        "from",
        "left",
        "right",
        "to",
        "from left to right",
        "up",
        "down",
        "with",
        "red",
        "circle",
        "and",
        "his",
        "🙂",
        "שלום",
        "مرحبا",
        "e\u0301",
        "acroſs",
        "\u2126n",
        "İn",
        "ON",
        "On",
        ".",
        ",",
        "-",
        "—",
        "'",
        "’s",
        "\x00",
        "\u200f",
        "\u00a0",
    ]
)
SEPARATORS = st.sampled_from([" ", " ", " ", "  ", "\n", ""])
CAPTIONS = st.one_of(
    st.text(max_size=40),
    st.lists(st.tuples(FRAGMENTS, SEPARATORS), max_size=12).map(lambda pairs: "".join(a + b for a, b in pairs)),
)


def as_captions(texts):
    return [CaptionInput(f"c{at}", text) for at, text in enumerate(texts)]


def foreign(text):
    """What is no English letter, digit or white space: no method may touch it."""
    return [char for char in text if not (char.isascii() and char.isalnum()) and not char.isspace()]


@pytest.mark.parametrize("slug", METHODS)
@given(
    texts=st.lists(CAPTIONS, min_size=1, max_size=6),
    seed=st.integers(0, 3),
    size=st.integers(1, 3),
    shuffle=st.randoms(use_true_random=False),
)
@settings(max_examples=120, deadline=None)
def test_foils_equal_their_edits_in_any_order_and_batches(slug, texts, seed, size, shuffle):
    # Captions are drawn once for all that is asked of them: drawing costs far more than making foils.
    captions = as_captions(texts)
    mixed = list(captions)
    shuffle.shuffle(mixed)
    params = PARAMS.get(slug, {})
    for mode in MODES:
        first = outcomes(slug, captions, mode=mode, seed=seed, **params)
        differ_only_inside_their_edits(first, slug, mode)
        second = outcomes(slug, mixed, mode=mode, seed=seed, batch_size=size, **params)
        assert {one.caption.id: one for one in first} == {one.caption.id: one for one in second}


def differ_only_inside_their_edits(found, slug, mode):
    """Each foil, and its edits rebuild it."""
    for outcome in found:
        text = outcome.caption.text
        assert outcome.foils or outcome.skipped or outcome.blanks
        for judged in outcome.foils:
            draft = judged.draft
            start, end = draft.span
            assert draft.foil != text
            assert text[:start] + draft.target + text[end:] == draft.foil
            assert text[start:end] == draft.source
            assert apply_edits(text, draft.edits) == draft.foil
            if slug not in OF_OTHERS:
                # What changes places keeps its signs: their order may be another.
                assert sorted(foreign(text)) == sorted(foreign(draft.foil))
            if slug not in {*OF_OTHERS, "actor_swap"}:
                assert foreign(text) == foreign(draft.foil)
            assert (draft.method, draft.mode, draft.caption_id) == (slug, mode, outcome.caption.id)
        assert len({judged.draft.foil for judged in outcome.foils}) == len(outcome.foils)


def test_another_seed_makes_other_foils():
    captions = as_captions([f"putting cup {n} of many on the table" for n in range(20)])
    made = [
        [one.foils[0].draft.foil for one in outcomes("preposition", captions, seed=seed, min_corpus=99)]
        for seed in (1, 2)
    ]
    assert made[0] != made[1]


@pytest.mark.full
@pytest.mark.parametrize(
    ("slug", "piece"),
    [("number", "a man claps exactly three times "), ("preposition", "a cup on a table "), ("fake", "circle ")],
)
def test_a_caption_of_a_million_characters_is_processed(slug, piece):
    text = piece * (1_000_000 // len(piece))
    (outcome,) = outcomes(slug, [CaptionInput("long", text)])
    assert outcome.foils
