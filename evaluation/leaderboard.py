"""The runs of a release with their results, best first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache

from corpus.models import Release
from evaluation.models import Run
from evaluation.queries import run_results

KEPT_SECONDS = 3600


@dataclass(frozen=True)
class Standing:
    """`overall` is a group of evaluation.metrics.pairwise; None while nothing is scored."""

    run: Run
    overall: Mapping[str, Any] | None
    n_missing: int

    @property
    def order(self) -> tuple[float, float, int]:
        """Both right first, then the main test; what is not scored comes last."""
        if self.overall is None:
            return (1.0, 0.0, self.run.pk)
        both = self.overall["P+T"]
        return (-(self.overall["T"] if both is None else both), -self.overall["T"], self.run.pk)


def leaderboard(release: Release) -> list[Standing]:
    """Every run of the release; the results of those that are over are kept, since a release never changes."""
    runs = Run.objects.filter(release=release).select_related("job", "release").order_by("-id")
    return sorted((_standing(run) for run in runs), key=lambda standing: standing.order)


def _standing(run: Run) -> Standing:
    results = results_of(run)
    return Standing(run, results["overall"], len(results["missing"]))


def results_of(run: Run) -> dict[str, Any]:
    """`run_results`, kept for an hour once the run's job is over."""
    if run.job is None or not run.job.is_over or run.job.finished_at is None:
        return run_results(run)
    key = f"results:{run.pk}:{run.job.finished_at.timestamp()}"
    return cache.get_or_set(key, lambda: run_results(run), KEPT_SECONDS)
