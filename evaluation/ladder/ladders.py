"""Compute the evidence ladder of a run, and of a release over all its runs: once after they end, then cached."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.board.leaderboard import latest_runs
from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.metrics import ladder
from evaluation.metrics.ladder import CHAIN, FULL, LEVELS, REQUIRED, UNKNOWN, LadderScores
from evaluation.scoring.models import Run
from evaluation.scoring.run_results import (
    RUNGS_VERSION,
    Axes,
    axes_of,
    credits_from,
    credits_of,
    fingerprint_of,
    is_comparable,
    is_settled,
    rungs_of,
)
from evaluation.scoring.rungs import Rung
from foilworks.core.corpus.models import Release

Floats = NDArray[np.float64]
# In addition to the metric's own version: raise it if ladders are computed differently.
VERSION = "2"
KIND = "ladder"


def chance_of(axes: Axes) -> Floats:
    """Return the credit of a guess on each item, (n,)."""
    return 1.0 / (1.0 + np.array(axes.n_foils, dtype=np.float64))


def has_ladder(run: Run) -> bool:
    return is_settled(run) and len(rungs_of(run)) > 1


def scored_rungs(run: Run) -> list[str]:
    """Return the rungs of the run with a score; it can lack scores that it was asked for."""
    return cached_by_fingerprint(
        run.release.project,
        KIND,
        f"rungs {run.pk}",
        _fingerprint([run]),
        lambda: list(credit_by_rung(run, axes_of(run.release))),
    )


def credit_by_rung(run: Run, axes: Axes) -> dict[str, Floats]:
    """Return {rung: (n,) credit} of every rung with a score."""
    credits = {str(rung): credits_of(run, axes, rung).main for rung in rungs_of(run)}
    return {rung: credit for rung, credit in credits.items() if not np.isnan(credit).all()}


def ladder_of_run(run: Run) -> dict[str, Any] | None:
    """Return `metrics.ladder` of the run, also by subtest; None if it scored no rung but the full clip."""
    if not has_ladder(run):
        return None

    def make() -> dict[str, Any]:
        axes = axes_of(run.release)
        data = LadderScores(credit_by_rung(run, axes), chance_of(axes), axes.clusters)
        names = dict.fromkeys(axes.subtests)
        subtests = {name: ladder.compute(data.only(axes.scope(f"subtest:{name}"))) for name in names}
        return {"overall": ladder.compute(data), "subtests": subtests, "needs": _needs([data.credit], axes)}

    facts = {"run": run.pk, "model": run.label, "model_key": run.model_key, "protocol": run.protocol}
    results = cached_by_fingerprint(run.release.project, KIND, str(run.pk), _fingerprint([run]), make)
    # The other rungs have no scores yet, for example while a job waits for a worker.
    return None if results["overall"]["rungs"].keys() == {FULL} else {**facts, **results}


def _fingerprint(runs: Sequence[Run]) -> str:
    """Return what ladders follow from: the scores of the runs, and which views they are of."""
    scored = [[fingerprint_of(run), run.params.get("ladder")] for run in runs]
    return digest([VERSION, RUNGS_VERSION, ladder.VERSION, scored])


def ladder_runs(release: Release) -> list[Run]:
    """Return the runs whose rungs are compared over a benchmark, latest first, one per model and protocol.

    Those with the whole chain; if there are none, those that share the most rungs of it.
    """
    chains: dict[tuple[str, ...], list[Run]] = {}
    for run in latest_runs(release):
        if has_ladder(run) and is_comparable(run):
            scored = scored_rungs(run)
            chain = tuple(rung for rung in CHAIN if rung in scored)
            if len(chain) > 1:
                chains.setdefault(chain, []).append(run)
    return max(chains.items(), key=lambda chain_runs: (len(chain_runs[0]), len(chain_runs[1])), default=((), []))[1]


def ladder_of_release(release: Release) -> dict[str, Any] | None:
    """Return the share of items that some model solves at each rung, by subtest and overall; None without a ladder.

    `models`: those counted; `luck`: what guesses would give; `needs`: the number of items by what they need.
    """
    runs = ladder_runs(release)
    if not runs:
        return None

    def make() -> dict[str, Any]:
        axes = axes_of(release)
        models, chance = [credit_by_rung(run, axes) for run in runs], chance_of(axes)

        def of(mask: NDArray[np.bool_]) -> dict[str, Any]:
            within = [{rung: values[mask] for rung, values in model.items()} for model in models]
            names = [name for name, is_in in zip(axes.clusters, mask, strict=True) if is_in]
            return ladder.of_models(within, chance[mask], names)

        return {
            "overall": of(axes.scope("")),
            "subtests": {name: of(axes.scope(f"subtest:{name}")) for name in dict.fromkeys(axes.subtests)},
            "needs": _needs(models, axes),
        }

    results = cached_by_fingerprint(release.project, KIND, f"release {release.pk}", _fingerprint(runs), make)
    models = [{"run": run.pk, "model": run.label, "model_key": run.model_key, "protocol": run.protocol} for run in runs]
    return {"release": release.pk, "models": models, **results}


def levels_of(runs: Sequence[Run], axes: Axes, private: Sequence[Mapping[str, Any]] | None = None) -> NDArray[np.int64]:
    """Return (n,) what each public item of the runs' release needs (metrics.ladder.levels_of).

    `private`: the private records, whose axes are `axes`, instead of the public ones.
    """

    def credit_of(run: Run) -> dict[str, Floats]:
        if private is None:
            return credit_by_rung(run, axes)
        # The same rungs as for public items: an item without a score on one of them is unknown.
        return {rung: credits_from(run, axes, private, Rung(rung)).main for rung in scored_rungs(run)}

    def make() -> list[int]:
        levels: list[int] = ladder.levels_of([credit_of(run) for run in runs]).tolist()
        return levels

    subject = f"{'levels' if private is None else 'private levels'} {sorted(run.pk for run in runs)}"
    stored_levels = cached_by_fingerprint(runs[0].release.project, KIND, subject, _fingerprint(runs), make)
    return np.array(stored_levels, dtype=np.int64)


def lacking(runs: Sequence[Run], need: str) -> list[str]:
    """Return the rungs without which a run cannot show that an item needs this, "model: rung" each."""
    scored = {run.pk: scored_rungs(run) for run in runs}
    return [f"{run.label}: {rung}" for run in runs for rung in REQUIRED[need] if rung not in scored[run.pk]]


def _needs(models: Sequence[Mapping[str, Floats]], axes: Axes) -> dict[str, Any]:
    """Count the items by what they need, beside how many of them guesses alone may give at most."""
    if any(FULL not in model for model in models):
        return {"counts": {}, "scored": [], "n_unknown": len(axes.ids), "luck": None}
    levels = ladder.levels_of(models)
    counts = {name: int((levels == level).sum()) for name, level in LEVELS.items()}
    lucky = ladder.lucky(chance_of(axes)[levels != UNKNOWN], len(models))
    return {
        "counts": counts,
        "scored": ladder.scored_levels(models),
        "n_unknown": int((levels == UNKNOWN).sum()),
        "luck": float(lucky.mean()) if len(lucky) else None,
    }
