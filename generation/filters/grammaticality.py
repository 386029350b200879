"""Drop foils that are not well-formed, by the grammaticality part of GRUEN, from two models.

(exp(-exp(loss) / 2) + c) / 8 + 1/2, cut to 0..1, with the masked language model's loss of the sentence and the logit c
of "acceptable" by a classifier trained on CoLA, both as means over sentences. The paper requires .8 (ViLMA,
Sec. C.1), for spatial relations .6 (ViLMA, Sec. C.6).
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from foilworks.core.hub.catalogue.registry import CLASSIFIER, FILLER
from foilworks.core.hub.interfaces import PairClassifier
from foilworks.core.hub.opening import open_helper
from foilworks.core.hub.revisions import fingerprint
from generation.errors import GenerationError
from generation.filters._cuts import with_cuts
from generation.records import Case, Measure, Verdict

VERSION = "1"
COSTLY = True
SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+")
WORD = re.compile(r"\w+")


def scorer(params: dict[str, Any]) -> dict[str, Any]:
    """Return everything that the measures depend on."""
    return {"cola": fingerprint(params["cola"], CLASSIFIER), "lm": fingerprint(params["lm"], FILLER)}


def measure_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Measure]:
    """Return {"score": GRUEN's, "cola": the raw CoLA probability, "likely": the language model's part}."""
    scored_texts = score_texts([case.foil for case in cases], params)
    measures = [{"score": score, "cola": cola, "likely": likely} for score, cola, likely in scored_texts]
    acceptance = open_helper(params["cola"], CLASSIFIER, device=params["device"])
    return with_cuts(measures, acceptance, [[(sentence, None) for sentence in _sentences(case.foil)] for case in cases])


def verdict(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score a foil by GRUEN's grammaticality; passes from params["min"] on. The detail has the raw CoLA probability."""
    score = measure["score"] or 0.0
    detail = f"CoLA probability {measure['cola']:.3f}, language model {measure['likely']:.3f}"
    return Verdict(score >= params["min"], score, detail)


def score_texts(texts: Sequence[str], params: dict[str, Any]) -> list[tuple[float, float, float]]:
    """Return (score, mean CoLA probability, mean of exp(-exp(loss) / 2)) per text."""
    sentences_by_text = [_sentences(text) for text in texts]
    sentences = list(dict.fromkeys(sentence for text_sentences in sentences_by_text for sentence in text_sentences))
    acceptance = open_helper(params["cola"], CLASSIFIER, device=params["device"])
    label_index = acceptable_label(acceptance, "cola")
    logits = acceptance.logits([(sentence, None) for sentence in sentences])
    probabilities = acceptance.probs([(sentence, None) for sentence in sentences])
    losses = open_helper(params["lm"], FILLER, device=params["device"]).self_losses(sentences)
    scores_by_sentence = {
        sentence: (float(logits[row, label_index]), float(probabilities[row, label_index]), _perplexity(losses[row]))
        for row, sentence in enumerate(sentences)
    }
    return [
        _score([scores_by_sentence[sentence] for sentence in text_sentences]) for text_sentences in sentences_by_text
    ]


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in SENTENCE_ENDS.split(text.strip()) if len(WORD.findall(sentence)) > 1]


def _perplexity(loss: float) -> float:
    return math.exp(min(loss, 700.0))


def _score(sentence_scores: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Score a text. Without a sentence of two words it counts 0 in both, as in the published code."""
    logit, probability, perplexity = (
        (sum(column) / len(sentence_scores) for column in zip(*sentence_scores, strict=True))
        if sentence_scores
        else (0.0, 0.0, 0.0)
    )
    likely = math.exp(-perplexity / 2)
    return min(1.0, max(0.0, (likely + logit) / 8 + 0.5)), probability, likely


def acceptable_label(model: PairClassifier, parameter: str) -> int:
    """Return the index of the label by its name; of two unnamed labels the second, as in CoLA.

    `parameter`: the name of the filter's parameter that chose the model.
    """
    acceptable_labels = [label_index for label_index, label in enumerate(model.labels) if label.startswith("accept")]
    if len(acceptable_labels) == 1:
        return acceptable_labels[0]
    if len(model.labels) != 2:
        raise GenerationError(
            f"{model.info.model_id} has the labels {', '.join(model.labels)}; "
            f"choose a classifier trained on CoLA as parameter '{parameter}'"
        )
    return 1
