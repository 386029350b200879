"""What would pass if a run's thresholds stood elsewhere: arithmetic over a sheet of stored scores, nothing is rerun."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from generation.errors import GenerationError
from generation.models import GenerationRun
from generation.thresholds.registry import THRESHOLDS, Threshold, movable
from generation.thresholds.score_sheets import NOT_ASKED, PASSED, ScoreStanding, Sheet, sheet_of, standing_of

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Preview:
    """What the thresholds `at` make of a run. `passes`: (n,) under every filter; `fails`: filter -> (n,).

    `unjudged`: (n,) would pass what was asked, but some filter was not, since another had rejected the foil before.
    """

    sheet: Sheet
    standing: ScoreStanding
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
        """Would move, and stays since somebody has begun with its group."""
        return int((~self.standing.free & self.standing.out & self.passes).sum())

    def reasons(self, at: int) -> list[str]:
        """The filters that the candidate at this place fails, in their order."""
        return [slug for slug, failed in self.fails.items() if failed[at]]


def preview(run: GenerationRun, wanted: Mapping[str, float]) -> Preview:
    """`wanted`: filter -> threshold; filters without one keep what they said. GenerationError: see `checked`."""
    at = checked(run, wanted)
    sheet = sheet_of(run)
    fails, failed, unasked = _verdicts(sheet, at, movable(run.filters))
    return Preview(sheet, standing_of(run, sheet), at, fails, ~failed & ~unasked, ~failed & unasked)


def failing(run: GenerationRun) -> set[int]:
    """Ids of the run's candidates that fail a filter where its thresholds stand now."""
    sheet = sheet_of(run)
    # Also by one that was moved while its filter could be.
    _fails, failed, _unasked = _verdicts(sheet, run.thresholds, THRESHOLDS)
    return set(sheet.ids[failed].tolist())


def checked(run: GenerationRun, wanted: Mapping[str, float]) -> dict[str, float]:
    """The thresholds as numbers. GenerationError: the run is still at work, or a filter that has none to move."""
    if run.job and not run.job.is_over:
        raise GenerationError(_("The run is still generating foils. Change its thresholds when it is done."))
    known = movable(run.filters)
    for slug, value in wanted.items():
        if slug not in known:
            raise GenerationError(
                _("The filter %(filter)s has no threshold in this run. Filters with a threshold: %(known)s.")
                % {"filter": slug, "known": ", ".join(known) or "–"}
            )
        if not np.isfinite(value):
            raise GenerationError(_("The threshold of %(filter)s is not a number. Enter a number.") % {"filter": slug})
    return {slug: float(wanted[slug]) for slug in known if slug in wanted}


def _verdicts(
    sheet: Sheet, at: Mapping[str, float], known: Mapping[str, Threshold]
) -> tuple[dict[str, Flags], Flags, Flags]:
    """filter -> who fails it, who fails any, and who some filter has not been asked about."""
    fails = {}
    failed, unasked = np.zeros(len(sheet.ids), dtype=np.bool_), np.zeros(len(sheet.ids), dtype=np.bool_)
    for slug, verdicts in sheet.verdicts.items():
        asked = verdicts != NOT_ASKED
        passed = verdicts == PASSED
        if slug in at:
            scores = sheet.scores[slug]
            passed = np.where(np.isnan(scores), passed, known[slug].holds(scores, at[slug]))
        fails[slug] = asked & ~passed
        failed |= fails[slug]
        unasked |= ~asked
    return fails, failed, unasked
