"""Proficiency by object: real architectures for the mechanics, answers by hand for the choice."""

import pytest

from foilworks.core.hub.adapters.fake import FILL_WORDS as WORDS
from foilworks.core.hub.interfaces import Fill, ModelInfo, ScoreKind
from foilworks.core.text.language.tools import tagger
from generation import pipeline
from generation.filters import grammaticality, nli
from generation.grammar.landmarks import landmark
from generation.methods import _proficiency
from generation.records import CaptionInput, Verdict
from tests.generation.making import drafts, skipped, step
from tests.hub import folders

FAKES = {"model": "fake-mask:", "nli": "fake-classifier:", "cola": "fake-classifier:cola", "lm": "fake-mask:"}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {
        "model": str(folders.masked_lm(root / "mask")),
        "nli": str(folders.classifier(root / "nli")),
        "cola": str(folders.classifier(root / "cola", ("unacceptable", "acceptable"))),
        "lm": str(folders.masked_lm(root / "lm", roberta=True)),
        "device": "cpu",
        "tagger": "offline",
    }


def judged_by(monkeypatch, entailed: set[str], scores: dict[str, float]):
    """Foils by their new word: those that are entailed, and the grammaticality of the others (else 0)."""

    def word(case):
        return next((one for one in {*entailed, *scores} if one in case.foil.split()), "")

    def entails(cases, params):
        return [Verdict(word(case) not in entailed, 0.5, "entailed") for case in cases]

    def reads_well(cases, params):
        found = [scores.get(word(case), 0) for case in cases]
        return [Verdict(score >= params["min"], score) for score in found]

    said = {nli: entails, grammaticality: reads_well}
    monkeypatch.setattr(_proficiency, "judged", lambda module, cases, params: said[module](cases, params))


def offered(models, text):
    """The words that the model gives for the blank."""
    given = {"model": models["model"], "device": "cpu", "tagger": "offline", "target": "object", "top": 3, "foils": 3}
    return [draft.facts["to"] for draft in drafts("mask_fill", text, **given)]


def test_the_most_grammatical_foil_that_is_not_entailed_is_kept(monkeypatch, models):
    text = "a man folds a red shirt"
    first, second, *_ = words = offered(models, text)
    judged_by(monkeypatch, set(), {first: 0.85, second: 0.9})
    (draft,) = drafts("proficiency_object", text, **models)
    assert (draft.source, draft.facts["to"], draft.facts["grammaticality"]) == ("shirt", second, 0.9)
    assert draft.model_id == "mask"
    judged_by(monkeypatch, {second}, {first: 0.85, second: 0.9})
    assert drafts("proficiency_object", text, **models)[0].facts["to"] == first
    judged_by(monkeypatch, {second}, {first: 0.79, second: 0.9})
    wanted = f"of {len(words)} words, 1 are entailed and the others are not grammatical enough"
    assert skipped("proficiency_object", text, **models) == wanted


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("a man folds a shirt on a table", "shirt"),
        ("a boy picks up a ball", "ball"),
        ("a dog jumps on the table", "dog"),
        ("a woman walks in a park", "woman"),
        ("the boy slowly opens an old box", "box"),
    ],
)
def test_the_subject_is_replaced_if_the_verb_has_no_object(monkeypatch, models, text, source):
    judged_by(monkeypatch, set(), dict.fromkeys(WORDS, 0.9))
    (draft,) = drafts("proficiency_object", text, **{**models, "model": "fake-mask:", "min": 0.0})
    assert draft.facts["from"] == source


def test_a_caption_without_a_noun_is_skipped():
    wanted = "it has neither an object nor a subject that can be replaced"
    assert skipped("proficiency_object", "it jumps", **FAKES) == wanted


def test_a_batch_runs_each_model_once(monkeypatch, models):
    method = step("proficiency_object", **models, min=0.0)
    given = [CaptionInput(str(at), f"a {who} folds a red shirt") for at, who in enumerate(["man", "woman", "dog"])]
    state = pipeline.prepare(method, given, mode="corrected", seed=0)
    calls = []
    real = nli.measure_many
    monkeypatch.setattr(
        nli, "measure_many", lambda cases, params: calls.append(len(cases)) or real(cases, params=params)
    )
    made = list(pipeline.run(method, given, mode="corrected", seed=0, state=state))
    # Three words a caption, less one that a model with random weights happens to offer twice or unchanged.
    assert len(calls) == 1
    assert 3 <= calls[0] <= 9
    assert all(len(one.foils) <= 1 for one in made)


class Phrases:
    """A text-to-text model whose answers are written down here."""

    blank = "<extra_id_0>"
    info = ModelInfo("phrases", "1", ScoreKind.LOG_LIKELIHOOD, needs_video=False)
    asked: tuple[str, ...] = ()

    def fill_spans(self, texts, k, *, beams, longest):
        Phrases.asked = tuple(texts)
        given = ("wine glass", "shirts", "and a hat", "shirt", "big wooden box", "a very long old box")
        return [[Fill(text, -float(at)) for at, text in enumerate(given)] for _ in texts]


def test_phrases_of_a_text_to_text_model_are_judged_together_with_words(monkeypatch, models):
    monkeypatch.setattr("generation.methods.proficiency_object.open_helper", lambda *args, **options: Phrases())
    judged_by(monkeypatch, set(), {"glass": 0.95, "wooden": 0.9})
    (draft,) = drafts("proficiency_object", "a man folds a red shirt", **models, spans="any")
    assert (draft.foil, draft.model_id) == ("a man folds a red wine glass", "phrases")
    assert Phrases.asked == ("a man folds a red <extra_id_0>",)
    judged_by(monkeypatch, {"glass"}, {"wooden": 0.9})
    assert drafts("proficiency_object", "a man folds a red shirt", **models, spans="any")[0].target == "big wooden box"
    # Mode paper takes any phrase but the word that stood there.
    judged_by(monkeypatch, set(), {"hat": 0.99})
    (draft,) = drafts("proficiency_object", "a man folds a red shirt", **models, spans="any", mode="paper")
    assert draft.target == "and a hat"


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("rolling a can on a flat surface", "surface"),
        ("pretending to pour water out of a cup, but the jug is empty", "cup"),
        ("pushing a pen from left to right", "right"),
        ("moving a towel across a table until it falls down", "table"),
        ("putting a ring, two keys and a coin on the shelf", "shelf"),
    ],
)
def test_the_landmark_is_the_last_noun_of_the_first_clause(caption, expected):
    assert landmark(tagger("offline").tag(caption)).word == expected


def test_the_target_landmark_replaces_it_and_names_a_missing_one(monkeypatch, models):
    monkeypatch.setattr(_proficiency, "judged", lambda module, cases, params: [Verdict(True, 0.9) for _ in cases])
    (draft,) = drafts("proficiency_object", "a man puts a cup on a red box", target="landmark", **models)
    assert draft.facts["from"] == "box"
    assert (
        skipped("proficiency_object", "he runs", target="landmark", **models) == "it has no noun that can be replaced"
    )
