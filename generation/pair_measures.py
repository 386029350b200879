"""Measure pairs of texts with the models of filters, once per pair: stored measures are looked up first. Pure.

Such a filter module has `measure_many(cases, *, params)`, one measure per case, `verdict(measure, *, params)`, which
alone reads thresholds, and `scorer(params)`, everything that its measures depend on. With NEEDS_CLIPS, its measures
depend on the clip of the caption too. An empty measure is not stored: the model gave no answer.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, Protocol

from foilworks.core.text.quoting import quoted
from generation.errors import GenerationError
from generation.records import CUT, Case, Measure, Verdict


class Measures(Protocol):
    """A store of measures, by the filter of the run and the key of the pair."""

    def find(self, slug: str, pairs: Sequence[str]) -> Mapping[str, Measure]:
        """Return the stored measures."""
        ...

    def keep(self, slug: str, measures: Mapping[str, Measure]) -> None:
        """Store new measures."""
        ...


def pair_sha256(case: Case, module: Any = None) -> str:
    """Return the key of a caption and a foil; with the clip, if the filter's module needs it."""
    identity: list[Any] = [case.caption.text, case.foil]
    if needs_clips(module):
        identity.append(case.caption.clip.source if case.caption.clip else None)
    return hashlib.sha256(json.dumps(identity, ensure_ascii=False).encode()).hexdigest()


def needs_clips(module: Any) -> bool:
    """Return whether the filter watches clips."""
    return bool(getattr(module, "NEEDS_CLIPS", False))


def scorer_sha256(slug: str, version: str, depends_on: Mapping[str, Any]) -> str:
    """Return the key of a scorer: the filter, its version and everything that its measures depend on."""
    identity = json.dumps([slug, version, depends_on], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(identity.encode()).hexdigest()


def measures_of(
    slug: str,
    module: Any,
    params: Mapping[str, Any],
    cases: Sequence[Case],
    store: Measures | None,
    extra_arguments: Mapping[str, Any] | None = None,
) -> list[Measure]:
    """Return one measure per case, in order. The model measures each new pair once."""
    keys = [pair_sha256(case, module) for case in cases]
    case_by_key = dict(zip(keys, cases, strict=True))
    measure_by_key = dict(store.find(slug, list(case_by_key))) if store is not None else {}
    missing_keys = [key for key in case_by_key if key not in measure_by_key]
    if missing_keys:
        new_measures = module.measure_many(
            [case_by_key[key] for key in missing_keys], params=dict(params), **(extra_arguments or {})
        )
        new_by_key = dict(zip(missing_keys, new_measures, strict=True))
        for key, measure in new_by_key.items():
            if not all(value is None or isfinite(value) for value in measure.values()):
                foil = case_by_key[key].foil[:80]
                raise GenerationError(
                    f"filter {slug}: the model returned no number for {quoted(foil)}; check the model's files"
                )
        if store is not None:
            store.keep(slug, {key: measure for key, measure in new_by_key.items() if measure})
        measure_by_key |= new_by_key
    return [measure_by_key[key] for key in keys]


def judged(module: Any, cases: Sequence[Case], *, params: Mapping[str, Any]) -> list[Verdict]:
    """Judge each case, in order, without reading or storing measures."""
    return [verdict_of(module, measure, params) for measure in module.measure_many(cases, params=dict(params))]


def verdict_of(module: Any, measure: Measure, params: Mapping[str, Any]) -> Verdict:
    """Return the filter's verdict on a measure. The detail names a text that exceeds the model's max length."""
    verdict: Verdict = module.verdict(measure, params=dict(params))
    if not measure.get(CUT):
        return verdict
    note = f"the text is {measure[CUT]:.0f} tokens longer than the model's max length"
    return replace(verdict, detail=f"{verdict.detail}; {note}" if verdict.detail else note)
