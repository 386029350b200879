"""Methods that ask models, with models that answer by hashes: what is asked, ranked, judged and noted."""

import math

import pytest

from foilworks.core.hub.adapters.fake import FILL_SPANS, FILL_WORDS, FakeFiller, FakeScorer, FakeSpanFiller
from generation.filters import grammaticality, nli
from generation.grammar.prepositions import relations, replacements
from generation.methods import _proficiency
from generation.methods.preposition import NONE_FOUND, RANKED_CORPUS, RANKED_LIST
from generation.records import CaptionInput, Verdict
from tests.generation.making import drafts, outcomes, skipped

FAKES = {"model": "fake-mask:", "nli": "fake-classifier:", "cola": "fake-classifier:cola", "lm": "fake-mask:"}


def by_likelihood(before: str, after: str, words: list[str]) -> list[tuple[str, float]]:
    scores = FakeSpanFiller().span_scores([(f"{before}<extra_id_0>{after}", word) for word in words])
    return sorted(zip(words, scores, strict=True), key=lambda pair: -pair[1])


def test_the_most_likely_prepositions_are_the_foils_with_the_models_facts():
    text = "a man pours water into a glass"
    (relation,) = relations(text, "corrected")
    words = sorted({*replacements(relation, "corrected", None), "out of"})
    wanted = by_likelihood("a man pours water ", " a glass", words)
    made = drafts("preposition", text, model="fake-t5:", top=3)
    assert [(one.target, one.facts["log_likelihood"]) for one in made] == [
        (word, round(score, 5)) for word, score in wanted[:3]
    ]
    assert [one.rank for one in made] == [0, 1, 2]
    assert {(one.model_id, one.model_revision, one.method) for one in made} == {("fake/spans", "1", "preposition")}
    assert {one.facts["ranking"] for one in made} == {RANKED_LIST}
    assert {one.facts["from"] for one in made} == {"into"}
    everything = drafts("preposition", text, model="fake-t5:", top=200)
    assert sorted(one.target for one in everything) == words
    # What the model ranks is not named an opposite that needs no ranking.
    assert {one.facts["ranking"] for one in everything} == {RANKED_LIST}


def test_mode_paper_ranks_whole_foils_behind_a_subject():
    text = "pouring water into a glass"
    (relation,) = relations(text, "paper")
    words = sorted(replacements(relation, "paper", None))
    foils = [f"someone pouring water {word} a glass" for word in words]
    scores = [score.value for score in FakeScorer().score(None, foils)]
    wanted = sorted(zip(words, scores, strict=True), key=lambda pair: -pair[1])
    made = drafts("preposition", text, model="fake-t5:", top=4, mode="paper")
    assert [(one.target, one.facts["log_likelihood"]) for one in made] == [
        (word, round(score, 5)) for word, score in wanted[:4]
    ]


def test_every_caption_of_several_batches_is_ranked_by_the_corpus():
    captions = [CaptionInput(f"under{n}", f"man {n} is under a bridge") for n in range(70)]
    captions += [CaptionInput("none", "it rains"), CaptionInput("behind", "a man is behind a bridge")]
    made = {one.caption.id: one for one in outcomes("preposition", captions, model="fake-t5:", top=5, min_corpus=1)}
    assert made["none"].skipped == (NONE_FOUND,)
    assert {name for name, one in made.items() if one.foils} == {one.id for one in captions} - {"none"}
    facts = [judged.draft.facts for name, one in made.items() for judged in one.foils]
    assert {one["ranking"] for one in facts} == {RANKED_CORPUS}


def test_exact_opposites_are_not_ranked():
    made = drafts("preposition", "a ball rolls to the left.", model="fake-t5:", top=3)
    assert [one.foil for one in made] == ["a ball rolls to the right."]
    assert drafts("preposition", "it moves up", pairs="up:down", model="fake-t5:")[0].model_id == ""


def judged_by(monkeypatch, *, entailed: set[str] = frozenset(), scores: dict[str, float]) -> list[str]:
    """Judge foils by the listed word in them; return what is judged and with which parameters."""
    asked: list = []

    def said(module, cases, params):
        asked.append((module, [case.foil for case in cases], dict(params)))
        words = [
            next((one for one in sorted({*entailed, *scores}) if one in case.foil.split()[4:]), "") for case in cases
        ]
        if module is nli:
            return [Verdict(word not in entailed, 0.5, "entailed") for word in words]
        return [Verdict(scores.get(word, 0) >= params["min"], scores.get(word, 0)) for word in words]

    monkeypatch.setattr(_proficiency, "judged", said)
    return asked


def words_for(before: str, after: str, allowed=None) -> list[str]:
    (row,) = FakeFiller().fill([f"{before}[MASK]{after}"], 50, allowed)
    return [fill.text for fill in row]


def probability_of(word: str, allowed: list[str]) -> float:
    (row,) = FakeFiller().fill(["a man folds a red [MASK]"], 50, allowed)
    return next(math.exp(fill.log_probability) for fill in row if fill.text == word)


def test_the_most_grammatical_word_that_is_not_entailed_replaces_the_object(monkeypatch):
    nouns = [word for word in words_for("a man folds a red ", "") if word in {"anchor", "balloon", "candle", "drum"}]
    first, second, third, *_ = nouns
    asked = judged_by(monkeypatch, entailed={second}, scores={first: 0.7, third: 0.9})
    (draft,) = drafts("proficiency_object", "a man folds a red shirt", **FAKES, top=3, min=0.5)
    assert draft.foil == f"a man folds a red {third}"
    assert (draft.model_id, draft.model_revision, draft.method) == ("fake/mask", "1", "proficiency_object")
    assert draft.facts == {
        "from": "shirt",
        "to": third,
        "probability": draft.facts["probability"],
        "tagger": draft.facts["tagger"],
        "grammaticality": 0.9,
    }
    assert draft.facts["probability"] == round(probability_of(third, ["anchor", "balloon", "candle", "drum"]), 5)
    (entails, foils, told), (reads_well, others, bars) = asked[:2]
    assert (entails, reads_well) == (nli, grammaticality)
    assert foils == [f"a man folds a red {word}" for word in (first, second, third)]
    # Entailed foils are not judged again.
    assert others == [f"a man folds a red {word}" for word in (first, third)]
    assert {name: told[name] for name in ("device", "model", "max_entailment")} == {
        "device": "auto",
        "model": "fake-classifier:",
        "max_entailment": 0.0,
    }
    assert bars == {"device": "auto", "cola": "fake-classifier:cola", "lm": "fake-mask:", "min": 0.5}


def test_a_caption_without_a_good_word_is_skipped_with_the_counts(monkeypatch):
    judged_by(monkeypatch, entailed={"anchor", "drum"}, scores={})
    said = "of 4 words, 2 are entailed and the others are not grammatical enough"
    assert skipped("proficiency_object", "a man folds a red shirt", **FAKES, top=4, min=0.5) == said
    assert skipped("proficiency_object", "it rains", **FAKES) == (
        "it has neither an object nor a subject that can be replaced"
    )
    assert skipped("proficiency_object", "it rains", **FAKES, target="landmark") == (
        "it has no noun that can be replaced"
    )
    # The model could not tell its blank from the caption's.
    assert "neither an object" in skipped("proficiency_object", "a man folds a [MASK] shirt", **FAKES)


def test_equal_scores_keep_the_more_probable_word(monkeypatch):
    judged_by(monkeypatch, scores=dict.fromkeys(FILL_WORDS, 0.8))
    best = words_for("a man folds a red ", "", ["anchor", "balloon", "candle", "drum"])[0]
    (draft,) = drafts("proficiency_object", "a man folds a red shirt", **FAKES, min=0.5)
    assert draft.target == best
    # Mode paper takes any word of the model.
    (draft,) = drafts("proficiency_object", "a man folds a red shirt", **FAKES, min=0.5, mode="paper")
    assert draft.target == words_for("a man folds a red ", "")[0]
    (draft,) = drafts("proficiency_object", "a man folds a red drum", **FAKES, min=0.5)
    assert draft.target != "drum"
    (draft,) = drafts("proficiency_object", "a man folds a cup on a box", **FAKES, min=0.5, target="landmark")
    assert draft.source == "box"


def test_phrases_are_judged_beside_the_words_in_mode_paper(monkeypatch):
    words = words_for("a man folds a red ", "")
    asked = judged_by(monkeypatch, scores={"jumping": 0.95, words[0]: 0.9})
    text = "a man folds a red shirt"
    (draft,) = drafts("proficiency_object", text, **FAKES, spans="fake-t5:", top=9, min=0.5, mode="paper")
    assert (draft.target, draft.model_id) == ("jumping over", "fake/spans")
    phrases = [word for word, _ in by_likelihood("a man folds a red ", "", list(FILL_SPANS))]
    assert asked[0][1] == [f"a man folds a red {word}" for word in [*words[:9], *phrases[:8]]]
    asked.clear()
    drafts("proficiency_object", text, **FAKES, spans="fake-t5:", top=2, min=0.5, mode="paper")
    assert asked[0][1] == [f"a man folds a red {word}" for word in [*words[:2], *phrases[:2]]]


@pytest.mark.parametrize("method", ["proficiency_object", "proficiency_action", "preposition"])
def test_a_number_of_words_below_one_is_refused(method):
    models = {"model": "fake-t5:"} if method == "preposition" else FAKES
    with pytest.raises(Exception, match=r"^parameter 'top' is 0; give a whole number from 1$"):
        outcomes(method, [CaptionInput("one", "a man folds a red shirt")], **models, top=0)


@pytest.mark.parametrize(
    ("objects", "made", "dropped"),
    [
        ([], ["anchor", "balloon"], []),
        (["drum"], ["anchor", "balloon"], ["drum"]),
        # A synonym and a part of a name are seen as well.
        (["hot-air balloon", "anchor"], ["candle", "drum"], ["anchor", "balloon"]),
    ],
)
def test_an_object_that_is_seen_in_the_video_is_not_a_foil(objects, made, dropped):
    caption = CaptionInput("one", "a man folds a red shirt", facts={"objects": objects})
    (outcome,) = outcomes("object_swap", [caption], model="fake-mask:", foils=2, top=10)
    found = [judged.draft for judged in outcome.foils]
    assert [(one.target, one.rank, one.method) for one in found] == [
        (word, rank, "object_swap") for rank, word in enumerate(made)
    ]
    assert [one.facts["dropped_as_seen"] for one in found] == [dropped] * 2
    assert [one.facts["seen"] for one in found] == [sorted(objects)] * 2
    assert {one.model_id for one in found} == {"fake/mask"}


def test_a_caption_whose_words_are_all_seen_is_skipped():
    seen = {"objects": ["drum", "anchor", "balloon", "candle"]}
    said = "all 4 words that the models agree on are seen in the video"
    assert skipped("object_swap", "a man folds a red shirt", facts=seen, model="fake-mask:", top=10) == said


def test_the_new_word_is_seen_with_the_noun_before_it():
    caption = CaptionInput("one", "a man lifts a cell anchor", facts={"objects": ["cell phone", "cell drum"]})
    (outcome,) = outcomes("object_swap", [caption], model="fake-mask:", foils=9, top=10)
    assert "drum" in outcome.foils[0].draft.facts["dropped_as_seen"]


def test_the_subject_is_replaced_by_the_most_probable_word_without_an_object(monkeypatch):
    judged_by(monkeypatch, scores=dict.fromkeys(FILL_WORDS, 0.8))
    (draft,) = drafts("proficiency_object", "a dog jumps", **FAKES, min=0.0)
    assert draft.source == "dog"
