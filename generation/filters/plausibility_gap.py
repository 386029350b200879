"""How much likelier a language model finds the caption than the foil: one of the two gaps of adversarial refinement.

SugarCrepe (Hsieh et al. 2023) takes a plausibility model for it; here any model of text alone serves. By default it
drops nothing: the score is what generation/balance/adversarial.py chooses by.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from generation.records import CaptionInput, Case, Measure, Verdict
from hub.revisions import fingerprint
from hub.table import TEXT_SCORER, open_helper

VERSION = "1"
COSTLY = True


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    return judge_many([Case(caption, foil, tuple(others))], params=params)[0]


def judge_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Verdict]:
    return [verdict(one, params=params) for one in measure_many(cases, params=params)]


def scorer(params: dict[str, Any]) -> dict[str, Any]:
    """What the measures depend on."""
    return {"model": fingerprint(params["model"], TEXT_SCORER)}


def measure_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Measure]:
    """{"caption", "foil"}: mean log-likelihood of a token, in nats. Every text is scored once."""
    model = open_helper(params["model"], TEXT_SCORER, device=params["device"])
    texts = list(dict.fromkeys(text for case in cases for text in (case.caption.text, case.foil)))
    values = {text: score.value for text, score in zip(texts, model.score(None, texts), strict=True)}
    return [{"caption": values[case.caption.text], "foil": values[case.foil]} for case in cases]


def verdict(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score: caption minus foil; passes up to params["max"]."""
    caption, foil = measure["caption"] or 0.0, measure["foil"] or 0.0
    return Verdict(caption - foil <= params["max"], caption - foil, f"{caption:.2f} of the caption, {foil:.2f} of it")
