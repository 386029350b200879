"""Thresholds of a run, moved: what passes now comes back, what fails now is held back, and nobody's work is touched."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from django.db import transaction
from django.utils.translation import gettext as _

from corpus.rules.states import CandidateState, next_candidate_state
from generation.errors import GenerationError
from generation.models import Candidate, CandidateGroup, GenerationRun
from generation.thresholds.arithmetic import Preview, preview
from projects import audit
from projects.access import require_role
from projects.models import Project, Role, User

ROWS = 500


@transaction.atomic
def move_thresholds(person: User, run: GenerationRun, wanted: Mapping[str, float]) -> Preview:
    """Apply `preview(run, wanted)`, and remember the thresholds with the run; what was done is the answer.

    Groups that somebody has begun are left as they are. AccessDenied without the researcher's role; GenerationError:
    nothing would move, or somebody took one of the candidates in this very moment.
    """
    require_role(person, run.project, Role.RESEARCHER)
    lock(run.project)
    found = preview(run, wanted)
    back, leave = (np.flatnonzero(which) for which in (found.comes_back, found.leaves))
    if not len(back) and not len(leave) and found.at == run.thresholds:
        raise GenerationError(_("Nothing moves with these thresholds."))
    ids = found.sheet.ids
    waiting = CandidateState.QUEUED if run.project.edit_stage else CandidateState.IN_REVIEW
    come_back = "readmit" if run.project.edit_stage else "readmit_to_review"
    move(run.project, person, ids[back].tolist(), CandidateState.FILTERED_OUT, come_back, rejected_by=[])
    for reasons, places in _by_reasons(found, leave).items():
        move(run.project, person, ids[places].tolist(), waiting, "hold_back", rejected_by=list(reasons))
    retask(np.unique(found.sheet.groups[np.concatenate([back, leave])]).tolist())
    before, run.thresholds = run.thresholds, dict(found.at)
    run.save(update_fields=["thresholds"])
    details = {"before": before, "thresholds": run.thresholds, "came_back": len(back), "left": len(leave)}
    audit.record(audit.event(run.project, person, "generation.move_thresholds", run, **details))
    return found


def lock(project: Project) -> None:
    """Making tasks and choosing candidates wait for each other."""
    Project.objects.select_for_update(no_key=True).only("pk").get(pk=project.pk)


def move(project: Project, person: User, ids: Sequence[int], old: CandidateState, name: str, **also: object) -> None:
    """Move these candidates, all from `old`, with one audit row each. GenerationError where one is there no more."""
    new = next_candidate_state(old, name)
    for start in range(0, len(ids), ROWS):
        part = ids[start : start + ROWS]
        if Candidate.objects.filter(pk__in=part, state=old).update(state=new, **also) != len(part):
            raise GenerationError(_("Somebody has just taken one of these foils; look again and apply once more."))
    reason = ", ".join(also.get("rejected_by") or ())  # type: ignore[arg-type]
    audit.record_many(
        audit.event(project, person, name, Candidate(pk=pk), from_state=old, to_state=new, reason=reason) for pk in ids
    )


def retask(groups: Iterable[int]) -> None:
    """What the groups need next is asked anew when somebody claims work."""
    wanted = list(groups)
    for start in range(0, len(wanted), ROWS):
        CandidateGroup.objects.filter(pk__in=wanted[start : start + ROWS]).update(tasked=False)


def _by_reasons(found: Preview, places: np.ndarray) -> dict[tuple[str, ...], np.ndarray]:
    grouped: dict[tuple[str, ...], list[int]] = {}
    for at in places.tolist():
        grouped.setdefault(tuple(found.reasons(at)), []).append(at)
    return {reasons: np.array(which, dtype=np.int64) for reasons, which in grouped.items()}
