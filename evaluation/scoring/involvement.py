"""Tell which scored models had a part in making the foils of a release: by hints to writers, or by screening.

Hints were removed in 0.4 (decision 131). Foils and releases from before still name the models that gave them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.scoring.models import Run
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.release_records import SCREENED_BY
from generation.screening.families import family_of, name_of

VERSION = "1"


class ModelInvolvement(StrEnum):
    """What a model did. FAMILY: another model of its family screened."""

    HINTS = "hints"
    SCREENED = "screened"
    FAMILY = "family"


@dataclass(frozen=True)
class Uses:
    """Of a release: foils by the key of each model that gave hints to their writers, and of each that screened them."""

    hints: Counter[str] = field(default_factory=Counter)
    screened: Counter[str] = field(default_factory=Counter)
    n_foils: int = 0


@dataclass(frozen=True)
class Overlap:
    """A scored model that had a part in `n_foils` of the release's `n_all` foils. `model`: the one that screened."""

    run: Run
    n_foils: int
    n_all: int
    involvement: ModelInvolvement = ModelInvolvement.HINTS
    model: str = ""


def uses_of(release: Release) -> Uses:
    """Count the foils by model, from the frozen provenance. One query, or none: a release never changes."""
    fingerprint = digest([VERSION, release.content_hash])
    counts = cached_by_fingerprint(release.project, "uses", str(release.pk), fingerprint, lambda: vars(_uses(release)))
    return Uses(Counter(counts["hints"]), Counter(counts["screened"]), counts["n_foils"])


def _uses(release: Release) -> Uses:
    hints: Counter[str] = Counter()
    screened: Counter[str] = Counter()
    total = 0
    for provenance in release.members.values_list("record__provenance", flat=True).iterator():
        for stored_provenance in provenance or ():
            total += 1
            provenance_of_foil = stored_provenance or {}
            hints.update(_hinting_models(provenance_of_foil))
            screened.update(provenance_of_foil.get(SCREENED_BY, ()))
    return Uses(hints, screened, total)


def _hinting_models(provenance: Mapping[str, Any]) -> Collection[str]:
    # Releases of 0.3 name them beside the facts.
    return provenance.get("hints") or (provenance.get("facts") or {}).get("hints") or ()


def overlaps(uses: Uses, runs: Iterable[Run]) -> list[Overlap]:
    """Return the parts of the models of `runs`; each model and part once, most foils first."""
    overlap_by_model: dict[tuple[str, ModelInvolvement], Overlap] = {}
    for run in runs if uses.hints or uses.screened else ():
        # The key of a run is the model's key plus a suffix for how frames were read.
        n = max((n for key, n in uses.hints.items() if run.model_key.startswith(key)), default=0)
        if n:
            overlap_by_model.setdefault((run.model_key, ModelInvolvement.HINTS), Overlap(run, n, uses.n_foils))
        if screening := screening_part(uses, run):
            overlap_by_model.setdefault((run.model_key, screening.involvement), screening)
    return sorted(overlap_by_model.values(), key=lambda overlap: (-overlap.n_foils, overlap.run.pk))


def screening_part(uses: Uses, run: Run) -> Overlap | None:
    """Return how the model of a run took part in screening, in any revision; else one of its family, or None."""
    family = family_of(run.model_key)
    by_model = [(n, key) for key, n in uses.screened.items() if name_of(key) == name_of(run.model_key)]
    related = [(n, key) for key, n in uses.screened.items() if family and family_of(key) == family]
    for involvement, foil_counts in ((ModelInvolvement.SCREENED, by_model), (ModelInvolvement.FAMILY, related)):
        if foil_counts:
            n, key = max(foil_counts)
            return Overlap(run, n, uses.n_foils, involvement, name_of(key))
    return None
