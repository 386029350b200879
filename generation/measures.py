"""What filters with a model find out about pairs of texts, found out once: kept measures are looked up first. Pure.

Such a filter module has `measure_many(cases, *, params)`, one measure a case, `verdict(measure, *, params)`, which
alone reads thresholds, and `scorer(params)`, all that its measures depend on.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, Protocol

from generation.errors import GenerationError
from generation.records import CUT, Case, Measure, Verdict
from text.quoting import quoted


class Measures(Protocol):
    """Where measures are kept, by the filter of the run and the key of the pair."""

    def find(self, slug: str, pairs: Sequence[str]) -> Mapping[str, Measure]:
        """The measures that are there."""
        ...

    def keep(self, slug: str, found: Mapping[str, Measure]) -> None:
        """Newly found ones."""
        ...


def pair_sha256(case: Case) -> str:
    """The key of caption and foil."""
    return hashlib.sha256(json.dumps([case.caption.text, case.foil], ensure_ascii=False).encode()).hexdigest()


def scorer_sha256(slug: str, version: str, depends_on: Mapping[str, Any]) -> str:
    """The key of a scorer: the filter, its version and all that its measures depend on."""
    told = json.dumps([slug, version, depends_on], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(told.encode()).hexdigest()


def measures_of(
    slug: str, module: Any, params: Mapping[str, Any], cases: Sequence[Case], kept: Measures | None
) -> list[Measure]:
    """One a case, in their order; equal pairs and those that are kept cost the model nothing."""
    keys = [pair_sha256(case) for case in cases]
    once = dict(zip(keys, cases, strict=True))
    found = dict(kept.find(slug, list(once))) if kept is not None else {}
    left = [key for key in once if key not in found]
    if left:
        made = module.measure_many([once[key] for key in left], params=dict(params))
        new = dict(zip(left, made, strict=True))
        for key, measure in new.items():
            if not all(value is None or isfinite(value) for value in measure.values()):
                foil = once[key].foil[:80]
                raise GenerationError(
                    f"filter {slug}: its model gives no number for {quoted(foil)}; check the model's files"
                )
        if kept is not None:
            kept.keep(slug, new)
        found |= new
    return [found[key] for key in keys]


def judged(module: Any, cases: Sequence[Case], *, params: Mapping[str, Any]) -> list[Verdict]:
    """What such a filter says of each case, in their order; nothing is looked up or kept."""
    return [verdict_of(module, measure, params) for measure in module.measure_many(cases, params=dict(params))]


def verdict_of(module: Any, measure: Measure, params: Mapping[str, Any]) -> Verdict:
    """What the filter says of a measure. The detail names a text that its model did not read to the end."""
    found: Verdict = module.verdict(measure, params=dict(params))
    if not measure.get(CUT):
        return found
    note = f"the text is {measure[CUT]:.0f} tokens longer than the model reads"
    return replace(found, detail=f"{found.detail}; {note}" if found.detail else note)
