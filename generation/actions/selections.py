"""Start a balanced selection, apply it."""

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from corpus.models import Subtest
from corpus.rules.states import CandidateState
from generation.actions.move_thresholds import lock, move, retask
from generation.errors import GenerationError
from generation.models import Candidate, GenerationRun, Selection
from generation.selections.open_candidates import GAPS, failing_now, open_candidates, waiting_state
from jobs.queue import enqueue
from projects import audit
from projects.access import require_role
from projects.models import Role, User

JOB = "generation.jobs.work_out_selection"
GAPS_WANTED = 2


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
    """Queue the job. `run` None: the candidates of all runs of the subtest. `gaps`: of adversarial refinement.

    AccessDenied without the researcher's role; GenerationError: an unknown kind, not two gaps.
    """
    project = subtest.project
    require_role(person, project, Role.RESEARCHER)
    if kind not in Selection.Kind.values:
        raise GenerationError(f"there is no selection '{kind}'; choose one of: {', '.join(Selection.Kind.values)}")
    params = {}
    if kind == Selection.Kind.ADVERSARIAL:
        if len(set(gaps)) != GAPS_WANTED or not set(gaps) <= set(GAPS):
            raise GenerationError(
                _("Adversarial refinement takes two different gaps of: %(gaps)s.") % {"gaps": ", ".join(GAPS)}
            )
        params = {"gaps": list(gaps)}
    chosen = Selection.objects.create(
        project=project, subtest=subtest, run=run, kind=kind, params=params, seed=seed, created_by=person
    )
    title = f"{chosen.get_kind_display()}: {subtest.name}"
    chosen.job = enqueue(JOB, chosen.pk, title=title, project_id=project.pk)
    chosen.save(update_fields=["job"])
    details = {"kind": kind, "run": run.pk if run else None, "seed": seed, **params}
    audit.record(audit.event(project, person, "generation.start_selection", chosen, **details))
    return chosen


@transaction.atomic
def apply_selection(person: User, chosen: Selection) -> Selection:
    """Work that somebody has begun since the selection was worked out stays as it is, and is counted; so is what fails
    a threshold that has moved, and stays out.

    AccessDenied without the researcher's role; GenerationError: not worked out yet, or applied before.
    """
    project = chosen.project
    require_role(person, project, Role.RESEARCHER)
    if chosen.result is None:
        raise GenerationError(_("The selection is not worked out yet; apply it when its job is done."))
    lock(project)
    if Selection.objects.filter(pk=chosen.pk, applied_at=None).update(applied_at=timezone.now()) != 1:
        raise GenerationError(_("This selection was applied before; make a new one."))
    lost = set(chosen.lost)
    found = list(open_candidates(chosen).values_list("id", "group_id", "state"))
    fail = failing_now(chosen)
    rows = [row for row in found if row[0] not in fail]
    waiting = waiting_state(chosen)
    leave = [pk for pk, _group, state in rows if pk in lost and state == waiting]
    back = [pk for pk, _group, state in rows if pk not in lost and state == CandidateState.FILTERED_OUT]
    move(project, person, leave, waiting, "hold_back", rejected_by=[chosen.kind], held_back_by=chosen.kind)
    come_back = "readmit" if project.edit_stage else "readmit_to_review"
    move(project, person, back, CandidateState.FILTERED_OUT, come_back, rejected_by=[], held_back_by="")
    moved = {*leave, *back}
    retask({group for pk, group, _state in rows if pk in moved})
    elsewhere = lost - {pk for pk, _group, _state in found}
    rejected = Candidate.objects.filter(
        group__run__subtest=chosen.subtest, state=CandidateState.FILTERED_OUT, held_back_by=""
    )
    by_thresholds = elsewhere.intersection(rejected.values_list("id", flat=True)) if elsewhere else set()
    chosen.moved = {
        "held_back": len(leave),
        "came_back": len(back),
        "begun": len(elsewhere - by_thresholds),
        "rejected": len(by_thresholds | fail),
    }
    chosen.applied_by = person
    chosen.save(update_fields=["moved", "applied_by"])
    chosen.refresh_from_db(fields=["applied_at"])
    audit.record(audit.event(project, person, "generation.apply_selection", chosen, kind=chosen.kind, **chosen.moved))
    return chosen
