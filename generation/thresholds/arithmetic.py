"""Preview other thresholds of a run by arithmetic over stored scores, without running filters again."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from generation.errors import GenerationError
from generation.models import GenerationRun
from generation.thresholds.cached_scores import (
    NOT_JUDGED,
    PASSED,
    CandidateStates,
    RunScores,
    candidate_states,
    run_scores,
)
from generation.thresholds.registry import THRESHOLDS, Threshold, movable

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Preview:
    """The effect of the thresholds `at` on a run. `passes`: (n,) under every filter; `fails`: filter -> (n,).

    `unjudged`: (n,) passes its filters, but some filter did not judge it because a cheaper one had rejected it.
    """

    sheet: RunScores
    standing: CandidateStates
    at: Mapping[str, float]
    fails: Mapping[str, Flags]
    passes: Flags
    unjudged: Flags

    @property
    def comes_back(self) -> Flags:
        return self.passes & self.standing.out & self.standing.free

    @property
    def leaves(self) -> Flags:
        return ~self.passes & ~self.unjudged & self.standing.waits

    @property
    def would_pass(self) -> int:
        return int(self.passes.sum())

    @property
    def n_back(self) -> int:
        return int(self.comes_back.sum())

    @property
    def n_leave(self) -> int:
        return int(self.leaves.sum())

    @property
    def n_unjudged(self) -> int:
        return int((self.unjudged & self.standing.out).sum())

    @property
    def n_held_back(self) -> int:
        return int((self.passes & self.standing.held_back).sum())

    @property
    def n_begun(self) -> int:
        """Count candidates that would move, but stay because people have started on their group."""
        return int((~self.standing.free & self.standing.out & self.passes).sum())

    def reasons(self, at: int) -> list[str]:
        """Return the filters that the candidate at this index fails, in order."""
        return [slug for slug, failed in self.fails.items() if failed[at]]


def preview(run: GenerationRun, thresholds: Mapping[str, float]) -> Preview:
    """Preview `thresholds`: filter -> threshold. Other filters keep their verdicts. GenerationError: see `checked`."""
    at = checked(run, thresholds)
    sheet = run_scores(run)
    fails, failed, unjudged = _verdicts(sheet, at, movable(run.filters))
    return Preview(sheet, candidate_states(run, sheet), at, fails, ~failed & ~unjudged, ~failed & unjudged)


def failing(run: GenerationRun) -> set[int]:
    """Return the ids of the run's candidates that fail a filter under the current thresholds."""
    sheet = run_scores(run)
    # Also under a threshold changed while its filter was movable.
    _fails, failed, _unasked = _verdicts(sheet, run.thresholds, THRESHOLDS)
    return set(sheet.ids[failed].tolist())


def checked(run: GenerationRun, thresholds: Mapping[str, float]) -> dict[str, float]:
    """Check the thresholds. GenerationError: the run is in progress, or a filter has no movable threshold."""
    if run.job and not run.job.is_over:
        raise GenerationError(_("The run is still generating foils. Change its thresholds when it is done."))
    movable_thresholds = movable(run.filters)
    for slug, value in thresholds.items():
        if slug not in movable_thresholds:
            raise GenerationError(
                _("The filter %(filter)s has no threshold in this run. Filters with a threshold: %(known)s.")
                % {"filter": slug, "known": ", ".join(movable_thresholds) or "–"}
            )
        if not np.isfinite(value):
            raise GenerationError(_("The threshold of %(filter)s is not a number. Enter a number.") % {"filter": slug})
    return {slug: float(thresholds[slug]) for slug in movable_thresholds if slug in thresholds}


def _verdicts(
    sheet: RunScores, at: Mapping[str, float], movable_thresholds: Mapping[str, Threshold]
) -> tuple[dict[str, Flags], Flags, Flags]:
    """Return filter -> failing candidates, those failing any, and those that some filter did not judge."""
    fails = {}
    failed, unjudged = np.zeros(len(sheet.ids), dtype=np.bool_), np.zeros(len(sheet.ids), dtype=np.bool_)
    for slug, verdicts in sheet.verdicts.items():
        judged = verdicts != NOT_JUDGED
        passed = verdicts == PASSED
        if slug in at:
            scores = sheet.scores[slug]
            passed = np.where(np.isnan(scores), passed, movable_thresholds[slug].holds(scores, at[slug]))
            # A sheet cached by an older version has no draws, and no filter that draws.
            passed = passed | sheet.sampled[slug] if slug in sheet.sampled else passed
        fails[slug] = judged & ~passed
        failed |= fails[slug]
        unjudged |= ~judged
    return fails, failed, unjudged
