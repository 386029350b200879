"""Judge proficiency foils: entailment first, then grammaticality, with each model once per batch."""

from collections.abc import Mapping, Sequence
from typing import Any

from generation.filters import grammaticality, nli
from generation.pair_measures import judged
from generation.records import CaptionInput, Case, FoilDraft, Verdict

Verdicts = Mapping[tuple[str, str], tuple[Verdict, Verdict | None]]


def verdicts_of(
    captions: Sequence[CaptionInput],
    drafts: Sequence[Sequence[FoilDraft]],
    params: Mapping[str, Any],
    *,
    grammar: bool = True,
) -> Verdicts:
    """Return (caption id, foil) -> (entailment, grammaticality if requested and not entailed)."""
    cases = [
        Case(caption, draft.foil)
        for caption, caption_drafts in zip(captions, drafts, strict=True)
        for draft in caption_drafts
    ]
    if not cases:
        return {}
    shared_params = {"device": params["device"]}
    nli_params = {**shared_params, "model": params["nli"], "entailment": params["entailment"], "max_entailment": 0.0}
    entailed = judged(nli, cases, params=nli_params)
    remaining_cases = [case for case, verdict in zip(cases, entailed, strict=True) if verdict.passed] if grammar else []
    grammar_params = {**shared_params, "cola": params["cola"], "lm": params["lm"], "min": params["min"]}
    grammatical = iter(judged(grammaticality, remaining_cases, params=grammar_params) if remaining_cases else ())
    return {
        (case.caption.id, case.foil): (verdict, next(grammatical) if verdict.passed and grammar else None)
        for case, verdict in zip(cases, entailed, strict=True)
    }
