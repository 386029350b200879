"""How much more acceptable a CoLA classifier finds the caption than the foil: the other gap of adversarial refinement.

SugarCrepe (Hsieh et al. 2023) takes a grammar model trained on CoLA. By default it drops nothing: the score is what
generation/balance/adversarial.py chooses by.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from generation.errors import GenerationError
from generation.records import CaptionInput, Case, Measure, Verdict
from hub.interfaces import PairClassifier
from hub.revisions import fingerprint
from hub.table import CLASSIFIER, open_helper

VERSION = "1"
COSTLY = True


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    return judge_many([Case(caption, foil, tuple(others))], params=params)[0]


def judge_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Verdict]:
    return [verdict(one, params=params) for one in measure_many(cases, params=params)]


def scorer(params: dict[str, Any]) -> dict[str, Any]:
    """What the measures depend on."""
    return {"model": fingerprint(params["model"], CLASSIFIER)}


def measure_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Measure]:
    """{"caption", "foil"}: probability of "acceptable". Every text is judged once."""
    model = open_helper(params["model"], CLASSIFIER, device=params["device"])
    at = _acceptable(model)
    texts = list(dict.fromkeys(text for case in cases for text in (case.caption.text, case.foil)))
    values = {text: float(row[at]) for text, row in zip(texts, model.probs([(t, None) for t in texts]), strict=True)}
    return [{"caption": values[case.caption.text], "foil": values[case.foil]} for case in cases]


def verdict(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score: caption minus foil, in -1..1; passes up to params["max"]."""
    caption, foil = measure["caption"] or 0.0, measure["foil"] or 0.0
    return Verdict(caption - foil <= params["max"], caption - foil, f"{caption:.2f} of the caption, {foil:.2f} of it")


def _acceptable(model: PairClassifier) -> int:
    """The label's place by its name; of two nameless labels the second, as CoLA has them."""
    named = [at for at, label in enumerate(model.labels) if label.startswith("accept")]
    if len(named) == 1:
        return named[0]
    if len(model.labels) != 2:
        raise GenerationError(f"{model.info.model_id} is no classifier of acceptability; give one trained on CoLA")
    return 1
