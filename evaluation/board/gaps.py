"""Compare each model of a release on its public and its private items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.board.leaderboard import latest_runs
from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.metrics import gap
from evaluation.metrics.ranking import ModelScores, scoped_credit
from evaluation.scoring.models import Run
from evaluation.scoring.queries import SCORE_FILE, records_of
from evaluation.scoring.run_results import (
    Axes,
    axes_from,
    axes_of,
    credits_from,
    credits_of,
    fingerprint_of,
    is_comparable,
)
from foilworks.core.corpus.models import Release


@dataclass(frozen=True)
class GapRow:
    """One model. `found`: its shares and their gap (evaluation.metrics.gap); None without scores of private items.

    `is_file`: its scores came as a file, which never has private items.
    """

    run: Run
    found: Mapping[str, Any] | None
    is_file: bool


def gaps_of(release: Release) -> list[GapRow]:
    """Return the models with scores on T, those with a gap first; empty if the release holds nothing back."""
    if not release.n_private:
        return []
    rows = [_row(run) for run in latest_runs(release) if is_comparable(run) and run.model_key]
    return sorted(rows, key=lambda row: (row.found is None, -row.found["gap"] if row.found else 0.0, row.run.label))


def _row(run: Run) -> GapRow:
    if run.spec.startswith(SCORE_FILE):
        return GapRow(run, None, is_file=True)
    fingerprint = digest([gap.VERSION, fingerprint_of(run)])
    subject = str(run.pk)
    shares = cached_by_fingerprint(run.release.project, "gap", subject, fingerprint, lambda: _measured(run))
    return GapRow(run, shares or None, is_file=False)


def _measured(run: Run) -> dict[str, Any]:
    public = axes_of(run.release)
    records = records_of(run.release, private=True)
    private = axes_from(records)
    sides = (public, credits_of(run, public)), (private, credits_from(run, private, records))
    values = [(_credit(axes, credits.main, credits.proficiency), axes.clusters) for axes, credits in sides]
    return gap.gap(*values[0], *values[1]) or {}


def _credit(axes: Axes, main: Any, proficiency: Any) -> Any:
    """Return T as the board counts it: over the items with a scored pair, if there are any."""
    return scoped_credit(ModelScores("", main, proficiency, None), "T", np.ones(len(axes.ids), dtype=bool))


def as_table(rows: Sequence[GapRow]) -> list[dict[str, Any]]:
    """Return the rows for exports."""
    return [
        {"model": row.run.label, "model_key": row.run.model_key, "protocol": row.run.protocol, "T": row.found}
        for row in rows
    ]
