"""Where generator and evaluator are one: models whose word annotators asked for while they wrote what is scored now."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from corpus.models import Release
from evaluation.scoring.models import Run


@dataclass(frozen=True)
class Overlap:
    """A scored model that helped to write `n_foils` of the release's `n_all`."""

    run: Run
    n_foils: int
    n_all: int


def foils_by_model(release: Release) -> tuple[Counter[str], int]:
    """(model key -> how many foils' writers asked it, how many foils there are), from the frozen provenance."""
    asked: Counter[str] = Counter()
    total = 0
    for provenance in release.members.values_list("record__provenance", flat=True).iterator():
        for made in provenance or ():
            total += 1
            asked.update((made or {}).get("hints", ()))
    return asked, total


def overlaps(release: Release, runs: Iterable[Run]) -> list[Overlap]:
    """Those of `runs` whose model gave hints to writers of the release; each model once, most foils first."""
    asked, total = foils_by_model(release)
    found: dict[str, Overlap] = {}
    for run in runs if asked else ():
        # A run's key says behind the model's own how its frames were read.
        n = max((n for key, n in asked.items() if run.model_key.startswith(key)), default=0)
        if n and run.model_key not in found:
            found[run.model_key] = Overlap(run, n, total)
    return sorted(found.values(), key=lambda one: (-one.n_foils, one.run.pk))
