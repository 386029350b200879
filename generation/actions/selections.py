"""Choose among a run's candidates: balanced selections, other thresholds."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from foilworks.core.corpus.models import Subtest
from foilworks.core.corpus.rules.states import CandidateState, next_candidate_state
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.quoting import quoted
from generation.errors import GenerationError
from generation.models import Candidate, CandidateGroup, GenerationRun, Selection
from generation.selections.open_candidates import GAPS, GAPS_WANTED, failing_now, open_candidates, waiting_state
from generation.thresholds.arithmetic import Preview, preview

JOB = "generation.select"
ROWS = 500


def why_no_selection(project: Project) -> str:
    """Return why no selection can be computed now; "" if one can."""
    if GenerationRun.objects.filter(project=project).exists():
        return ""
    return _("There is nothing to select from: this project has no generation run yet. Start a run first.")


@transaction.atomic
def start_selection(
    person: User,
    subtest: Subtest,
    kind: str,
    *,
    run: GenerationRun | None = None,
    seed: int = 0,
    gaps: Sequence[str] = (),
) -> Selection:
    """Queue the job of a selection. `run` None: the candidates of all runs of the subtest. `gaps`: two score filters.

    AccessDenied: not a researcher. GenerationError: an unknown kind, or not two gaps.
    """
    project = subtest.project
    require_role(person, project, Role.RESEARCHER)
    if kind not in Selection.Kind.values:
        raise GenerationError(
            f"there is no selection {quoted(kind)}; choose one of: {', '.join(Selection.Kind.values)}"
        )
    params = {}
    if kind == Selection.Kind.ADVERSARIAL:
        if len(set(gaps)) != GAPS_WANTED or not set(gaps) <= set(GAPS):
            raise GenerationError(
                _("Adversarial refinement needs two different gaps. Choose from: %(gaps)s.") % {"gaps": ", ".join(GAPS)}
            )
        params = {"gaps": list(gaps)}
    selection = Selection.objects.create(
        project=project, subtest=subtest, run=run, kind=kind, params=params, seed=seed, created_by=person
    )
    title = f"{selection.get_kind_display()}: {subtest.name}"
    selection.job = enqueue(JOB, selection.pk, title=title, project_id=project.pk)
    selection.save(update_fields=["job"])
    details = {"kind": kind, "run": run.pk if run else None, "seed": seed, **params}
    audit.record(audit.event(project, person, "generation.start_selection", selection, **details))
    return selection


@transaction.atomic
def apply_selection(person: User, selection: Selection) -> Selection:
    """Apply a selection. Groups that people started on since it was computed stay unchanged and are counted, as are
    candidates that fail a changed threshold, which stay out.

    AccessDenied: not a researcher. GenerationError: not computed yet, or applied before.
    """
    project = selection.project
    require_role(person, project, Role.RESEARCHER)
    if selection.result is None:
        raise GenerationError(_("The selection is not computed yet. Apply it when its job is done."))
    lock(project)
    if Selection.objects.filter(pk=selection.pk, applied_at=None).update(applied_at=timezone.now()) != 1:
        raise GenerationError(_("This selection was already applied. Compute a new one."))
    lost_ids = set(selection.lost)
    candidate_rows = list(open_candidates(selection).values_list("id", "group_id", "state"))
    fail = failing_now(selection)
    rows = [row for row in candidate_rows if row[0] not in fail]
    open_state = waiting_state(selection)
    held_back = [pk for pk, _group, state in rows if pk in lost_ids and state == open_state]
    readmitted = [pk for pk, _group, state in rows if pk not in lost_ids and state == CandidateState.FILTERED_OUT]
    move(project, person, held_back, open_state, "hold_back", rejected_by=[selection.kind], held_back_by=selection.kind)
    come_back = "readmit" if project.edit_stage else "readmit_to_review"
    move(project, person, readmitted, CandidateState.FILTERED_OUT, come_back, rejected_by=[], held_back_by="")
    moved_ids = {*held_back, *readmitted}
    reset_tasks({group for pk, group, _state in rows if pk in moved_ids})
    elsewhere = lost_ids - {pk for pk, _group, _state in candidate_rows}
    rejected = Candidate.objects.filter(
        group__run__subtest=selection.subtest, state=CandidateState.FILTERED_OUT, held_back_by=""
    )
    by_thresholds = elsewhere.intersection(rejected.values_list("id", flat=True)) if elsewhere else set()
    selection.moved = {
        "held_back": len(held_back),
        "came_back": len(readmitted),
        "begun": len(elsewhere - by_thresholds),
        "rejected": len(by_thresholds | fail),
    }
    selection.applied_by = person
    selection.save(update_fields=["moved", "applied_by"])
    selection.refresh_from_db(fields=["applied_at"])
    audit.record(
        audit.event(project, person, "generation.apply_selection", selection, kind=selection.kind, **selection.moved)
    )
    return selection


@transaction.atomic
def move_thresholds(person: User, run: GenerationRun, thresholds: Mapping[str, float]) -> Preview:
    """Apply `preview(run, wanted)` and store the thresholds with the run. Return what changed.

    Groups that people have started on stay unchanged. AccessDenied: not a researcher. GenerationError:
    no verdict would change, or a person has just started on one of the candidates.
    """
    require_role(person, run.project, Role.RESEARCHER)
    lock(run.project)
    threshold_preview = preview(run, thresholds)
    readmitted, held_back = (
        np.flatnonzero(flags) for flags in (threshold_preview.comes_back, threshold_preview.leaves)
    )
    if not len(readmitted) and not len(held_back) and threshold_preview.at == run.thresholds:
        raise GenerationError(_("These thresholds change no verdict. Choose other values."))
    ids = threshold_preview.sheet.ids
    waiting = CandidateState.QUEUED if run.project.edit_stage else CandidateState.IN_REVIEW
    come_back = "readmit" if run.project.edit_stage else "readmit_to_review"
    move(run.project, person, ids[readmitted].tolist(), CandidateState.FILTERED_OUT, come_back, rejected_by=[])
    for reasons, indices in _by_reasons(threshold_preview, held_back).items():
        move(run.project, person, ids[indices].tolist(), waiting, "hold_back", rejected_by=list(reasons))
    reset_tasks(np.unique(threshold_preview.sheet.groups[np.concatenate([readmitted, held_back])]).tolist())
    before, run.thresholds = run.thresholds, dict(threshold_preview.at)
    run.save(update_fields=["thresholds"])
    details = {"before": before, "thresholds": run.thresholds, "came_back": len(readmitted), "left": len(held_back)}
    audit.record(audit.event(run.project, person, "generation.move_thresholds", run, **details))
    return threshold_preview


def lock(project: Project) -> None:
    """Lock the project, so that creating tasks and choosing candidates wait for each other."""
    Project.objects.select_for_update(no_key=True).only("pk").get(pk=project.pk)


def move(project: Project, person: User, ids: Sequence[int], old: CandidateState, name: str, **also: object) -> None:
    """Move candidates out of state `old`, with one audit row each. GenerationError: one has another state by now."""
    new = next_candidate_state(old, name)
    for start in range(0, len(ids), ROWS):
        batch = ids[start : start + ROWS]
        if Candidate.objects.filter(pk__in=batch, state=old).update(state=new, **also) != len(batch):
            raise GenerationError(
                _("Another person has just started to work on one of these foils. Reload the page and apply again.")
            )
    reason = ", ".join(also.get("rejected_by") or ())  # type: ignore[arg-type]
    audit.record_many(
        audit.event(project, person, name, Candidate(pk=pk), from_state=old, to_state=new, reason=reason) for pk in ids
    )


def reset_tasks(groups: Iterable[int]) -> None:
    """Let annotation compute the tasks of these groups again at the next claim."""
    group_ids = list(groups)
    for start in range(0, len(group_ids), ROWS):
        CandidateGroup.objects.filter(pk__in=group_ids[start : start + ROWS]).update(tasked=False)


def _by_reasons(threshold_preview: Preview, indices: np.ndarray) -> dict[tuple[str, ...], np.ndarray]:
    grouped: dict[tuple[str, ...], list[int]] = {}
    for index in indices.tolist():
        grouped.setdefault(tuple(threshold_preview.reasons(index)), []).append(index)
    return {reasons: np.array(indices_of_reasons, dtype=np.int64) for reasons, indices_of_reasons in grouped.items()}
