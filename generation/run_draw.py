"""Draw among the candidates of a run when all are stored: those that passed its other filters wait as "generated"."""

from django.db import transaction

from foilworks.core.corpus.rules.states import CandidateState, next_candidate_state
from foilworks.core.projects.audit_trail import recording as audit
from generation.actions.selections import lock
from generation.batch_storage import ROWS, move_of
from generation.models import Candidate, FilterScore, GenerationRun, Selection
from generation.pipeline import Step
from generation.records import Verdict
from generation.selections.open_candidates import as_pair, pair_columns, pool_of


@transaction.atomic
def draw_run(run: GenerationRun, step: Step) -> None:
    """Draw and move the waiting candidates, with their verdicts and audit rows. Idempotent: moved ones wait no more."""
    lock(run.project)
    waiting = Candidate.objects.filter(group__run=run, state=CandidateState.GENERATED).order_by("id")
    rows = list(waiting.values_list(*pair_columns()))
    pool = pool_of(Selection(project=run.project, subtest=run.subtest))
    held_back = set(
        Candidate.objects.filter(group__run__subtest=run.subtest, state=CandidateState.FILTERED_OUT)
        .exclude(held_back_by="")
        .values_list("id", flat=True)
    )
    others = [pair for pair in pool.open if int(pair.id) not in held_back]
    verdicts = step.module.select(
        [as_pair(row) for row in rows],
        params=step.params,
        fixed=[*pool.fixed, *others],
        per_group=run.subtest.foils_per_item,
        seed=run.seed,
    )
    _store(run, step, {int(pk): verdict for pk, verdict in verdicts.items()})


def _store(run: GenerationRun, step: Step, verdicts: dict[int, Verdict]) -> None:
    scores = (
        FilterScore(
            run=run,
            candidate_id=pk,
            filter=step.slug,
            filter_version=step.version,
            passed=verdict.passed,
            detail=verdict.detail,
        )
        for pk, verdict in verdicts.items()
    )
    FilterScore.objects.bulk_create(scores, ROWS)
    _move(run, [pk for pk, verdict in verdicts.items() if verdict.passed], "")
    _move(run, [pk for pk, verdict in verdicts.items() if not verdict.passed], step.slug)


def _move(run: GenerationRun, ids: list[int], slug: str) -> None:
    """Move candidates out of "generated"; a `slug` holds them back, so that a selection may restore them."""
    rejected_by = [slug] if slug else []
    name = move_of(run, rejected_by)
    new = next_candidate_state(CandidateState.GENERATED, name)
    for start in range(0, len(ids), ROWS):
        rows = Candidate.objects.filter(pk__in=ids[start : start + ROWS])
        rows.update(state=new, rejected_by=rejected_by, held_back_by=slug)
    audit.record_many(
        audit.event(
            run.project,
            None,
            name,
            Candidate(pk=pk),
            from_state=CandidateState.GENERATED,
            to_state=new,
            reason=slug,
            run=run.pk,
        )
        for pk in ids
    )
