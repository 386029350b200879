"""Add rungs to a run that scored the whole clips: by its model, or from score files."""

import secrets
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.score_files.score_readers import AUTO, FORMS
from evaluation.score_files.uploaded_files import safe_name, write_file
from evaluation.scoring.actions.start_run import queued
from evaluation.scoring.models import Run
from evaluation.scoring.run_request import DTYPES
from evaluation.scoring.rung_params import SCORE_FILE, check_rung, ladder_params, ordered
from evaluation.scoring.rungs import FRAMES_TRIED, VERSION
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User
from foilworks.core.text.quoting import quoted


@transaction.atomic
def add_controls(
    person: User, run: Run, frames_tried: int = FRAMES_TRIED, looks: int = 1, names: Collection[str] = ()
) -> Run:
    """Queue the run again with less and less of each clip; only scores that are not stored are computed.

    `looks`: at each item on each rung, so that single items can be judged. `names`: of the rungs and stress tests to
    add to those that the run has; without any, the usual rungs.

    AccessDenied without the researcher's role; EvaluationError: the run is in progress, or is of a score file.
    """
    project = run.release.project
    require_role(person, project, Role.RESEARCHER)
    run = _locked(run)
    stored = run.params.get("ladder") or {}
    added = {*names, *stored.get("rungs", ()), *stored.get("stress", ())}
    ladder = ladder_params(run.release, run.spec, frames_tried, looks, names=added, usual=not names)
    _queue_again(run, ladder)
    audit.record(audit.event(project, person, "evaluation.add_controls", run, rungs=ladder["rungs"], looks=looks))
    return run


@transaction.atomic
def import_rung_scores(
    person: User,
    run: Run,
    rung: str,
    scores: UploadedFile | Path,
    *,
    form: str = AUTO,
    columns: Mapping[str, str] | None = None,
) -> Run:
    """Store the score file of one rung of an imported run, and queue the job that reads it; it replaces an earlier one.

    A path is read where it is; pages give uploaded files.

    AccessDenied without the researcher's role; EvaluationError: an unknown rung or format, a run of a model, a run in
    progress, no room on the disk.
    """
    project = run.release.project
    require_role(person, project, Role.RESEARCHER)
    run = _locked(run)
    check_rung(rung)
    if form not in FORMS:
        raise EvaluationError(f"unknown form {quoted(form)}; choose one of: {', '.join(FORMS)}")
    if run.spec.partition(":")[0] != SCORE_FILE:
        raise EvaluationError(_("This run has a model, which scores the rungs itself. Add the controls instead."))
    path = scores.resolve() if isinstance(scores, Path) else _stored(scores)
    file_facts: dict[str, Any] = {"path": str(path), "form": form, "columns": dict(columns or {})}
    files = {**run.params.get("ladder", {}).get("files", {}), rung: file_facts}
    _queue_again(run, {"rungs": ordered(files), "files": files, "version": VERSION})
    audit.record(audit.event(project, person, "evaluation.import_rung_scores", run, rung=rung))
    return run


def _locked(run: Run) -> Run:
    """Return the run, which nobody else can queue now. EvaluationError: it is in progress."""
    locked_run = (
        Run.objects.select_for_update(of=("self",), no_key=True)
        .select_related("release__project", "job")
        .get(pk=run.pk)
    )
    if locked_run.job is not None and not locked_run.job.is_over:
        raise EvaluationError(_("This run is in progress. Wait until it is done, or stop it."))
    return locked_run


def _queue_again(run: Run, ladder: dict[str, Any]) -> None:
    run.params = {**run.params, "ladder": ladder}
    run.job = queued(run, run.spec.partition(":")[0], run.params.get("dtype", DTYPES[0]))
    run.save(update_fields=["params", "job"])


def _stored(scores: UploadedFile) -> Path:
    path = Path(settings.UPLOAD_ROOT) / f"scores-{secrets.token_hex(8)}" / safe_name(scores.name or "")
    try:
        path.parent.mkdir(parents=True, mode=0o700)
        write_file(scores, path)
    except OSError as error:
        raise EvaluationError(
            _("The files cannot be stored (%(why)s). Free some disk space.") % {"why": error.strerror}
        ) from error
    return path
