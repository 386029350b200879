"""Load the foils that video models screened, with the verdicts of people."""

from collections import defaultdict
from typing import Any

import numpy as np

from evaluation.analyses.screening import ScreenedFoils
from foilworks.core.corpus.models import Subtest
from foilworks.core.corpus.rules.states import CandidateState, FoilVerdict
from foilworks.core.projects.models import Project
from generation.filters.registry import SCREENING
from generation.models import FilterScore, GenerationRun

COLUMNS = (
    "measure__scorer__params__model",
    "run_id",
    "score",
    "sampled",
    "candidate__state",
    "candidate__rejected_by",
    "candidate__foil__verdict",
    "candidate__group__caption__video_id",
)
DECIDED = {CandidateState.ACCEPTED: 1.0, CandidateState.DROPPED: 0.0}
FOUND = {FoilVerdict.VALID: 1.0, FoilVerdict.INVALID: 0.0, FoilVerdict.DISPUTED: np.nan}


def screened_foils(
    project: Project, subtest: Subtest | None = None, run: GenerationRun | None = None
) -> list[ScreenedFoils]:
    """Return one entry per model, by its name. Two queries.

    Left out are foils that another filter rejected or a selection holds back: people see them in no case. A foil that a
    person reworded is a different text, without a verdict.
    """
    runs = GenerationRun.objects.filter(project=project).order_by("pk")
    runs = runs.filter(subtest=subtest) if subtest else runs
    runs_by_id = {
        screening_run.pk: screening_run
        for screening_run in (runs.filter(pk=run.pk) if run else runs)
        if _params(screening_run) is not None
    }
    scored = FilterScore.objects.filter(
        run__in=runs_by_id, filter=SCREENING, score__isnull=False, measure__isnull=False
    )
    scored = scored.filter(candidate__held_back_by="").order_by("pk")
    rows: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for model, *row in scored.values_list(*COLUMNS).iterator() if runs_by_id else ():
        if set(row[4]) <= {SCREENING}:
            rows[model].append(tuple(row))
    return [_entry(model, rows[model], runs_by_id) for model in sorted(rows)]


def _params(run: GenerationRun) -> dict[str, Any] | None:
    return next((row["params"] for row in run.filters if row["slug"] == SCREENING), None)


def threshold_of(run: GenerationRun) -> float:
    """Return the threshold in force: moved since, or of the run's parameters."""
    return float(run.thresholds.get(SCREENING, (_params(run) or {}).get("min", 0.0)))


def _entry(model: str, rows: list[tuple[Any, ...]], runs: dict[int, GenerationRun]) -> ScreenedFoils:
    threshold = {pk: threshold_of(run) for pk, run in runs.items()}
    share = {pk: float((_params(run) or {})["share"]) for pk, run in runs.items()}
    return ScreenedFoils(
        model=model,
        scores=np.array([row[1] for row in rows], dtype=np.float64),
        above=np.array([row[1] >= threshold[row[0]] for row in rows], dtype=np.bool_),
        sampled=np.array([row[2] for row in rows], dtype=np.bool_),
        shares=np.array([share[row[0]] for row in rows], dtype=np.float64),
        valid=np.array([_verdict(row[3], row[5]) for row in rows], dtype=np.float64),
        runs=[str(row[0]) for row in rows],
        videos=[str(row[6]) for row in rows],
        threshold=threshold[max(row[0] for row in rows)],
    )


def _verdict(state: str, verdict: str | None) -> float:
    """Return 1 for a valid foil, 0 for an invalid one; validators take precedence over a reviewer."""
    if verdict in FOUND:
        return FOUND[FoilVerdict(verdict)]
    return DECIDED.get(CandidateState(state), np.nan)
