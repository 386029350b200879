from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foilworks.core.text.registry import load, parse_params
from generation.default_filters import DEFAULT_FILTERS
from generation.filters import duplicate, identical, minimal_edit
from generation.filters.registry import DRAW, FILTERS
from generation.records import CaptionInput, Case
from tests.generation import making

# A few opposites and near-synonyms; every word has length one.
VECTORS = Path(__file__).with_name("vectors.txt")
FAKES = {
    "nli": {"model": "fake-classifier:"},
    "grammaticality": {"cola": "fake-classifier:cola", "lm": "fake-mask:"},
    "perplexity": {"model": "fake:text"},
    "plausibility_gap": {"model": "fake:text"},
    "grammar_gap": {"model": "fake-classifier:cola"},
    "sentence_similarity": {"model": "fake:"},
    "word_similarity": {"vectors": str(VECTORS)},
    "meaning": {"model": "fake:", "vectors": str(VECTORS)},
}
CAPTION = CaptionInput("1", "A man folds a red shirt.")


def judge(module, foil, caption=CAPTION, others=(), **params):
    slug = module.__name__.rsplit(".", 1)[-1]
    return making.judge(module, Case(caption, foil, tuple(others)), parse_params(FILTERS[slug], params))


@pytest.mark.parametrize(
    ("foil", "same"),
    [
        ("A man folds a red shirt.", True),
        ("a MAN folds  a red shirt", True),
        ("A man folds a red shirt!", True),
        ("A man folds a red t-shirt.", False),
        ("A man unfolds a red shirt.", False),
        ("Ａ man folds a red shirt", True),
    ],
)
def test_identical_ignores_case_blanks_and_punctuation(foil, same):
    verdict = judge(identical, foil)
    assert verdict.passed is not same
    assert verdict.score == float(same)


def test_texts_of_symbols_only_are_compared_as_they_are():
    assert judge(identical, "🙃", CaptionInput("1", "🙂")).passed
    assert judge(identical, "???", CaptionInput("1", "!!!")).passed
    assert not judge(identical, "!!!", CaptionInput("1", "!!!")).passed


def test_accents_and_other_scripts_make_texts_different():
    assert judge(identical, "un pêcheur", CaptionInput("1", "un pécheur")).passed
    assert not judge(identical, "e\u0301té", CaptionInput("1", "\u00e9te\u0301")).passed
    assert judge(identical, "שלום לך", CaptionInput("1", "שלום לכם")).passed


@pytest.mark.parametrize(
    ("others", "count"),
    [
        ([], 0),
        (["A man tears a red shirt."], 0),
        (["a man drops a red shirt", "A man tears a red shirt."], 1),
        (["a man drops a red shirt", "A MAN DROPS A RED SHIRT!"], 2),
        (["a man drops a redshirt"], 1),
    ],
)
def test_duplicate_counts_the_same_texts_among_the_others(others, count):
    verdict = judge(duplicate, "A man drops a red shirt.", others=others)
    assert verdict.score == count
    assert verdict.passed is (count == 0)
    assert bool(verdict.detail) is (count > 0)


@pytest.mark.parametrize(
    ("foil", "changed", "passed"),
    [
        ("A man unfolds a red shirt.", 1, True),
        ("A man puts away a red shirt.", 2, True),
        ("A woman drops a blue shirt.", 3, False),
        # Case and punctuation are no change of words.
        ("a man unfolds a RED shirt", 1, True),
    ],
)
def test_minimal_edit_counts_changed_words(foil, changed, passed):
    verdict = judge(minimal_edit, foil, max_words=2)
    assert (verdict.score, verdict.passed) == (changed, passed)
    assert verdict.detail == ("" if passed else "3 words changed, at most 2 allowed")


@pytest.mark.parametrize(
    ("caption", "foil", "lost"),
    [
        ("Then Harry lifts a wand.", "Then Ron lifts a wand.", "Harry"),
        ("Then Harry lifts a wand.", "Then Harry drops a wand.", ""),
        ("She greets Mary-Jane O'Neil.", "She greets Mary-Ann O'Neil.", "Mary-Jane"),
        # The first word of a sentence has its capital from the place.
        ("He sits. Dogs bark.", "He sits. Cats bark.", ""),
        ("A MAN FOLDS", "A MAN DROPS", ""),
        ("then I fold", "then he folds", ""),
    ],
)
def test_changed_names_are_rejected(caption, foil, lost):
    verdict = judge(minimal_edit, foil, CaptionInput("1", caption), max_words=9)
    assert verdict.passed is (lost == "")
    assert lost in verdict.detail
    assert judge(minimal_edit, foil, CaptionInput("1", caption), max_words=9, entities="free").passed


def test_changed_listed_entities_are_rejected():
    caption = CaptionInput("1", "a man opens a red door", facts={"entities": ["man", "red door"]})
    assert judge(minimal_edit, "a man closes a red door", caption).passed
    verdict = judge(minimal_edit, "a man opens a red window", caption)
    assert verdict.detail == "an entity changed: red door"


def test_words_and_entities_of_a_script_without_spaces():
    caption = CaptionInput("1", "一个男人打开红门", facts={"entities": ["男人"]})
    verdict = judge(minimal_edit, "一个男人关上红门", caption, max_words=2)
    assert (verdict.score, verdict.passed) == (2, True)
    assert judge(minimal_edit, "一个女人打开红门", caption, max_words=2).detail == "an entity changed: 男人"
    assert not judge(minimal_edit, "两条狗在雨里奔跑", caption, max_words=2, entities="free").passed


def test_the_default_filters_are_in_the_registry():
    assert set(DEFAULT_FILTERS) <= set(FILTERS)


@pytest.mark.parametrize("slug", [slug for slug in FILTERS if slug != DRAW])
@given(caption=st.text(), foil=st.text(), others=st.lists(st.text(), max_size=3))
@settings(max_examples=50, deadline=None)
def test_every_filter_judges_any_text_reproducibly(slug, caption, foil, others):
    module = load(FILTERS[slug])
    params = parse_params(FILTERS[slug], FAKES.get(slug, {}))
    case = Case(CaptionInput("1", caption), foil, tuple(others))
    learns = hasattr(module, "prepare")
    # Learnt anew each time: a closing filter counts what it has kept.
    verdict, again = (
        making.judge(
            module, case, params, **({"state": module.prepare([case.caption], params=params)} if learns else {})
        )
        for _ in range(2)
    )
    assert verdict == again
    assert verdict.passed or verdict.detail
    assert isinstance(module.VERSION, str)
    assert isinstance(module.COSTLY, bool)
