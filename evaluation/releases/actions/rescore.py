"""Queue runs of the models of the previous release on a new one."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.board.leaderboard import latest_runs
from evaluation.releases.changes import previous_of
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run
from evaluation.scoring.queries import SCORE_FILE
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.run_results import is_settled
from foilworks.core.corpus.models import Release
from foilworks.core.projects.models import User
from foilworks.core.text.errors import ActionableError

ENDPOINT = "endpoint:"
# Of the earlier run, as the new run has to have it.
KEPT = ("form", "columns", "proficiency", "sent_by")


@dataclass(frozen=True)
class RescoreResult:
    """The queued runs, and (label, why) of models that are not run again."""

    runs: Sequence[Run]
    left_out: Sequence[tuple[str, str]]


def rescore(person: User | None, release: Release, *, endpoints: bool = False) -> RescoreResult:
    """Queue the models of the previous release that are not on this one yet.

    Stored scores are used again, so a model scores only new texts and clips. Models behind an endpoint cost money:
    only with `endpoints`. AccessDenied without the researcher's role.
    """
    before = previous_of(release)
    scored = {(run.spec, run.protocol) for run in latest_runs(release)}
    runs, left_out = [], []
    for run in latest_runs(before) if before is not None else ():
        if (run.spec, run.protocol) in scored or not is_settled(run) or not run.model_key:
            continue
        if run.spec.startswith(ENDPOINT) and not endpoints:
            left_out.append((run.label, "it is behind an endpoint, which may cost money"))
            continue
        try:
            runs.append(_start_again(person, release, run))
        except ActionableError as error:
            left_out.append((run.label, str(error)))
    return RescoreResult(runs, left_out)


def _start_again(person: User | None, release: Release, run: Run) -> Run:
    params = {name: run.params[name] for name in KEPT if name in run.params}
    is_file = run.spec.startswith(SCORE_FILE)
    return start_run(
        person,
        release,
        RunRequest(
            run.spec,
            protocol=run.protocol,
            device=run.device,
            label=run.label,
            control=bool(run.params.get("control")),
            dtype=run.params.get("dtype", "auto"),
            kept_file=params if is_file else None,
            budget=run.params.get("budget"),
        ),
    )
