"""Filters that ask models: what is made of their answers, on real architectures and on answers given by hand."""

import math
import re

import numpy as np
import pytest

from foilworks.core.hub.interfaces import Score, ScoreKind
from foilworks.core.text.registry import parse_params
from generation.errors import GenerationError
from generation.filters import grammaticality, meaning, nli, perplexity, sentence_similarity
from generation.filters.registry import FILTERS
from generation.pair_measures import judged
from generation.records import CaptionInput, Case
from tests.generation.test_filters_language import VECTORS
from tests.hub import folders

CASES = [
    Case(CaptionInput("1", "a man folds a red shirt"), "a man opens a red shirt"),
    Case(CaptionInput("2", "a woman opens the door"), "a woman folds the door"),
    Case(CaptionInput("1", "a man folds a red shirt"), "a man jumps a red shirt"),
]


def asked(module, **params):
    slug = module.__name__.rsplit(".", 1)[-1]
    device = {} if slug == "perplexity" and "model" not in params else {"device": "cpu"}
    return judged(module, CASES, params=parse_params(FILTERS[slug], {**device, **params}))


class Given:
    """A model whose answers are written down here."""

    def __init__(self, **parts):
        self.__dict__.update(parts)


def give(monkeypatch, module, model):
    monkeypatch.setattr(module, "open_helper", lambda *args, **options: model)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {
        nli: {"model": str(folders.classifier(root / "nli"))},
        grammaticality: {
            "cola": str(folders.classifier(root / "cola", ("unacceptable", "acceptable"))),
            "lm": str(folders.masked_lm(root / "mask")),
        },
        perplexity: {"model": str(folders.causal_lm(root / "lm"))},
        sentence_similarity: {"model": str(folders.sentence_encoder(root / "sentence"))},
        meaning: {"model": str(folders.sentence_encoder(root / "meaning")), "vectors": VECTORS},
    }


@pytest.mark.parametrize("module", [nli, grammaticality, perplexity, sentence_similarity, meaning])
def test_a_batch_gets_the_same_verdicts_as_single_cases(module, models):
    slug = module.__name__.rsplit(".", 1)[-1]
    params = parse_params(FILTERS[slug], {**models[module], "device": "cpu"})
    together = judged(module, CASES, params=params)
    for case, verdict in zip(CASES, together, strict=True):
        (alone,) = judged(module, [case], params=params)
        assert alone.score == pytest.approx(verdict.score, abs=1e-4)
        assert alone.passed is verdict.passed
        assert verdict.passed or verdict.detail


def test_a_foil_is_dropped_if_entailment_is_most_likely(monkeypatch):
    rows = np.array([[0.4, 0.3, 0.3], [0.4, 0.5, 0.1], [0.1, 0.2, 0.7]], np.float32)
    seen = []
    labels = ("entailment", "neutral", "contradiction")
    give(monkeypatch, nli, Given(labels=labels, probs=lambda pairs: seen.extend(pairs) or rows))
    verdicts = asked(nli)
    assert [verdict.passed for verdict in verdicts] == [False, True, True]
    assert [verdict.score for verdict in verdicts] == pytest.approx([0.4, 0.4, 0.1])
    assert verdicts[0].detail == "entailed by the caption (0.40)"
    # Premise caption, hypothesis foil.
    assert seen[0] == ("a man folds a red shirt", "a man opens a red shirt")
    assert [verdict.passed for verdict in asked(nli, max_entailment=0.2)] == [False, False, True]


def test_a_model_without_label_names_needs_the_parameter(monkeypatch):
    rows = np.array([[0.1, 0.2, 0.7]] * 3, np.float32)
    model = Given(labels=("label_0", "label_1", "label_2"), probs=lambda pairs: rows, info=Given(model_id="m"))
    give(monkeypatch, nli, model)
    with pytest.raises(GenerationError, match="m has the labels 0 label_0, 1 label_1, 2 label_2; set parameter"):
        asked(nli)
    assert [verdict.passed for verdict in asked(nli, entailment=2)] == [False] * 3
    assert [verdict.passed for verdict in asked(nli, entailment=0)] == [True] * 3


def test_grammaticality_is_gruens_formula(monkeypatch):
    """Loss ln 2 -> perplexity 2 -> exp(-1) = .3679; logit 3: (.3679 + 3) / 8 + .5 = .9210; logit 2: .7960."""
    logits = np.array([[0, 3], [0, 2], [0, 9]], np.float32)
    model = Given(
        labels=("unacceptable", "acceptable"),
        logits=lambda pairs: logits,
        probs=lambda pairs: np.exp(logits) / np.exp(logits).sum(1)[:, None],
        self_losses=lambda texts: [math.log(2)] * len(texts),
    )
    give(monkeypatch, grammaticality, model)
    verdicts = asked(grammaticality)
    assert [verdict.score for verdict in verdicts] == pytest.approx([0.92099, 0.79599, 1.0], abs=1e-4)
    assert [verdict.passed for verdict in verdicts] == [True, False, True]
    # e^3 / (1 + e^3) = .953
    assert verdicts[0].detail == "CoLA probability 0.953, language model 0.368"


def test_a_text_without_a_sentence_counts_as_the_published_code_counts_it(models):
    """exp(0) is not added there: the language model's part is exp(-0 / 2) = 1, so (1 + 0) / 8 + .5 = .625."""
    params = parse_params(FILTERS["grammaticality"], {**models[grammaticality], "device": "cpu"})
    ((score, _, _),) = grammaticality.score_texts(["word"], params)
    assert score == pytest.approx(0.625)


def test_a_classifier_of_another_task_is_refused(models):
    with pytest.raises(GenerationError, match="choose a classifier trained on CoLA as parameter 'cola'"):
        asked(grammaticality, **{**models[grammaticality], "cola": models[nli]["model"]})


def perplexities(monkeypatch, values):
    def score(clip, texts):
        return [Score(-math.log(values[text]), ScoreKind.LOG_LIKELIHOOD) for text in texts]

    give(monkeypatch, perplexity, Given(score=score))


def test_perplexity_corrected_and_as_printed(monkeypatch):
    """Caption 100: foil 150 is +.5 (under .6); the door: 500 -> 900 is +.8 but over 750; 230 is +1.3 and under 750."""
    values = {
        "a man folds a red shirt": 100,
        "a man opens a red shirt": 150,
        "a woman opens the door": 500,
        "a woman folds the door": 900,
        "a man jumps a red shirt": 230,
    }
    perplexities(monkeypatch, values)
    verdicts = asked(perplexity)
    assert [verdict.score for verdict in verdicts] == pytest.approx([0.5, 0.8, 1.3])
    assert [verdict.passed for verdict in verdicts] == [True, False, True]
    assert verdicts[1].detail == "perplexity 500 for the caption, 900 for the foil"
    # As printed the sign is turned: all of these pass, and a foil that reads better than its caption does not.
    assert [verdict.passed for verdict in asked(perplexity, formula="paper")] == [True] * 3
    perplexities(monkeypatch, {**values, "a man opens a red shirt": 30, "a man folds a red shirt": 100})
    printed = asked(perplexity, formula="paper")[0]
    assert (printed.score, asked(perplexity)[0].passed) == (pytest.approx(0.7), True)
    assert printed.passed  # .7 is over .6, but under 1.4 with 30 under 750


def test_sentence_similarity_is_the_cosine(models):
    verdicts = asked(sentence_similarity, **models[sentence_similarity], max=-1.0)
    assert all(-1 <= verdict.score <= 1 for verdict in verdicts)
    assert [verdict.passed for verdict in verdicts] == [False] * 3
    assert all(verdict.passed for verdict in asked(sentence_similarity, **models[sentence_similarity], max=1.1))


def test_meaning_is_antonym_or_both_similarities(models):
    door = CaptionInput("1", "a man opens a door")
    cases = [Case(door, "a man closes a door"), Case(door, "a man paints a door")]
    folding = Case(CaptionInput("2", "a man folds a door"), "a man creases a door")
    given = {**models[meaning], "device": "cpu", "tagger": "offline"}

    def passes(case, **bars):
        params = parse_params(FILTERS["meaning"], {**given, **bars})
        return judged(meaning, [case], params=params)[0]

    # An antonym passes whatever the encoder would say.
    assert passes(cases[0], sentence_max=-1.0) == meaning.Verdict(True, None, "an antonym")
    assert passes(cases[1], sentence_max=1.1).passed
    assert not passes(cases[1], sentence_max=-1.0).passed
    # fold and crease: cosine .96 of words.
    assert passes(folding, sentence_max=1.1).detail == "cosine of words 0.96"
    assert passes(folding, sentence_max=1.1, word_max=0.97).passed


@pytest.mark.parametrize("module", [nli, grammaticality, perplexity, sentence_similarity, meaning])
def test_a_truncated_text_is_reported(module, models):
    slug = module.__name__.rsplit(".", 1)[-1]
    params = parse_params(FILTERS[slug], {**models[module], "device": "cpu"})
    long = Case(CaptionInput("3", "a man folds a red shirt"), " ".join(["a woman folds the door"] * 30))
    short, cut = judged(module, [CASES[1], long], params=params)
    assert "longer than the model's max length" not in short.detail
    assert re.search(r"(^|; )the text is \d+ tokens longer than the model's max length$", cut.detail)
