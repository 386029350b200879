"""Filters that tag words or hold them against lists, counts and vectors."""

from pathlib import Path

import pytest

from foilworks.core.text.registry import load, parse_params
from generation.errors import GenerationError
from generation.filters.registry import FILTERS
from generation.instruction_models.prompts import built_in
from generation.records import CaptionInput, Case
from tests.generation import making

VECTORS = str(Path(__file__).with_name("vectors.txt"))


def judge(slug, caption, foil, *, siblings=(), learnt=None, **params):
    module = load(FILTERS[slug])
    known = {param.name for param in FILTERS[slug].params}
    given = parse_params(FILTERS[slug], {**({"tagger": "offline"} if "tagger" in known else {}), **params})
    state = {} if learnt is None else {"state": module.prepare(learnt, params=given)}
    return making.judge(module, Case(CaptionInput("1", caption, siblings=siblings), foil), given, **state)


@pytest.mark.parametrize(
    ("foil", "passed"),
    [
        ("A man closes the door.", True),
        ("A man shuts the door.", True),
        ("A man paints the door.", False),
        ("A man opens the window.", False),
    ],
)
def test_antonyms_are_found_by_lemma_in_any_form(foil, passed):
    verdict = judge("antonym", "A man opens the door.", foil)
    assert verdict.passed is passed
    assert verdict.score == float(passed)


def test_antonyms_hold_in_both_directions_and_for_other_parts_of_speech():
    assert judge("antonym", "A man is pushing a car.", "A man is pulling a car.").passed
    assert judge("antonym", "A man is pulling a car.", "A man is pushing a car.").passed
    assert judge("antonym", "a big dog runs", "a small dog runs").passed


@pytest.mark.parametrize(
    ("caption", "foil", "wrong"),
    [
        ("A man folds a shirt.", "A man irons a shirt.", 0),
        ("A man folds a shirt.", "A man folds a towel.", 0),
        ("A man folds a shirt.", "A man folds quickly.", 1),
        ("A man folds a red shirt.", "A man folds a shirt.", 1),
        ("A man folds an apple.", "A man folds a shirt.", 0),
        # Method II of Feint6K updates the prepositions of a new verb.
        ("Two girls climb up a ladder.", "Two girls carry a ladder.", 0),
        ("A dog is running after a cat.", "A dog is running away from a cat.", 0),
        ("A man drinks milk from a glass.", "A man spills milk out of a glass.", 0),
        ("A man stirs up batter.", "A man hits batter.", 0),
        ("A man climbs a ladder.", "A man falls off a ladder.", 0),
        ("A man looks at a ladder.", "A man looks tired.", 1),
        ("A man folds a shirt.", "A man folds with a shirt.", 1),
    ],
)
def test_part_of_speech_is_compared_edit_by_edit(caption, foil, wrong):
    verdict = judge("part_of_speech", caption, foil)
    assert (verdict.score, verdict.passed) == (wrong, wrong == 0)


@pytest.mark.parametrize(
    ("caption", "foil", "wrong"),
    [
        ("a man eats an apple", "a man eats a carrot", 0),
        ("a man eats an apple", "a man eats carrots", 1),
        ("two boys lift boxes", "two boys lift chairs", 0),
        ("a man eats an apple", "a man cooks an apple", 0),
    ],
)
def test_a_change_between_singular_and_plural_is_rejected(caption, foil, wrong):
    verdict = judge("number_kept", caption, foil)
    assert (verdict.score, verdict.passed) == (wrong, wrong == 0)
    assert ("differ in number" in verdict.detail) is bool(wrong)


def test_a_foil_needs_a_verb():
    assert judge("has_verb", "a man folds a shirt", "a man irons a shirt").score == 1
    verdict = judge("has_verb", "a man folds a shirt", "a man with a shirt")
    assert (verdict.passed, verdict.score, verdict.detail) == (False, 0, "it has no verb")


def test_a_new_verb_must_be_frequent_in_the_captions_learnt_from():
    """ "iron" three times in three forms, "fold" once; the noun "iron" counts nothing."""
    texts = ["a man irons a shirt", "a man is ironing a shirt", "two men iron shirts", "a man folds a shirt", "an iron"]
    learnt = [CaptionInput(str(at), text) for at, text in enumerate(texts)]
    options = {"learnt": learnt, "more_than": 2}
    assert judge("frequency", "a man folds a shirt", "a man irons a shirt", **options).score == 3
    assert judge("frequency", "a man folds a shirt", "a man irons a shirt", **options).passed
    verdict = judge("frequency", "a man irons a shirt", "a man folds a shirt", **options)
    assert (verdict.passed, verdict.score) == (False, 1)
    assert verdict.detail == "'fold' occurs 1 times in the train captions"
    assert not judge("frequency", "a man irons a shirt", "a man irons a shirt", learnt=learnt, more_than=3).score
    # Whatever is beside it.
    assert judge("frequency", "a man folds up a shirt", "a man irons a shirt", **options).score == 3
    # A new noun is not asked about.
    assert judge("frequency", "a man irons a shirt", "a man irons a towel", **options).score is None


def test_word_similarity_by_hand():
    """open . close = 0; fold . crease = .6 x .8 + .8 x .6 = .96; close . shut = .9."""
    assert judge("word_similarity", "a man opens a door", "a man closes a door", vectors=VECTORS).score == 0
    verdict = judge("word_similarity", "a man folds a shirt", "a man creases a shirt", vectors=VECTORS)
    assert verdict.score == pytest.approx(0.96, abs=1e-5)
    assert (verdict.passed, verdict.detail) == (False, "cosine of words 0.96")
    assert judge("word_similarity", "a man folds a shirt", "a man irons a shirt", vectors=VECTORS).score is None


@pytest.mark.parametrize(
    ("caption", "foil", "cosine"),
    [
        # fold . crease = .96, fold . open is unknown.
        ("a man folds up a shirt", "a man creases a shirt", 0.96),
        ("a man folds a shirt", "a man is creasing over a shirt", 0.96),
        ("a man folds a shirt with care", "a man with care creases a shirt", 0.96),
        ("a man walks", "a man is walking slowly", 1.0),
    ],
)
def test_a_new_verb_is_compared_with_the_old_one_whatever_is_beside_it(caption, foil, cosine):
    assert judge("word_similarity", caption, foil, vectors=VECTORS).score == pytest.approx(cosine, abs=1e-5)


def test_missing_vectors_give_one_clear_message(tmp_path):
    foil = ("a man folds a shirt", "a man irons a shirt")
    with pytest.raises(GenerationError, match=r"parameter 'vectors' is empty; give the path of counter-fitted"):
        judge("word_similarity", *foil)
    with pytest.raises(GenerationError, match=r"nowhere.txt: vectors: file not found"):
        judge("word_similarity", *foil, vectors=str(tmp_path / "nowhere.txt"))
    for content, said in [
        ("fold 1 0\niron 1 x\n", "2: vectors: the line is not a word with numbers"),
        ("fold 1 0\niron 1\n", "2: vectors: 1 numbers instead of 2"),
        ("fold nan 0\n", "1: vectors: 2 numbers"),
    ]:
        path = tmp_path / f"{abs(hash(content))}.txt"
        path.write_text(content)
        with pytest.raises(GenerationError, match=said):
            judge("word_similarity", *foil, vectors=str(path))


def test_a_true_caption_of_the_video_is_rejected():
    siblings = ("A dog runs.", "A man irons a shirt!")
    verdict = judge("other_captions", "A man folds a shirt.", "a man irons a SHIRT", siblings=siblings)
    assert (verdict.passed, verdict.detail) == (False, "a true caption of the video: A man irons a shirt!")
    assert judge("other_captions", "A man folds a shirt.", "a man tears a shirt", siblings=siblings).passed


def test_part_of_speech_keeps_every_example_of_our_own_prompt():
    for caption, foils in built_in("counterfactual@1").examples:
        for foil in foils:
            verdict = judge("part_of_speech", caption, foil)
            assert verdict.passed, (caption, foil, verdict.detail)
