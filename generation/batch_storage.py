"""Store one batch of a run: groups, candidates with provenance, filter scores and the audit row of each move."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from django.db import transaction

from foilworks.core.corpus.models import Caption, Foil
from foilworks.core.corpus.rules.states import CandidateState, next_candidate_state
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent
from generation.filters.registry import DRAW
from generation.models import Candidate, CandidateGroup, FilterScore, GenerationRun
from generation.pipeline import Judged, Outcome
from generation.records import CaptionInput, Verdict
from generation.stored_measures import RowMeasures
from generation.thresholds.registry import THRESHOLDS

MAX_REASON_LENGTH = 200
MAX_DETAIL_LENGTH = 300
ROWS = 500
# A rejected text may be proposed again; the filters judge it again.
OUT_OF_PLAY = (CandidateState.FILTERED_OUT, CandidateState.DROPPED, CandidateState.SUPERSEDED)


@transaction.atomic
def store_batch(
    run: GenerationRun,
    outcomes: Sequence[Outcome],
    rows: Mapping[str, Caption],
    measures: RowMeasures | None = None,
) -> None:
    """Store the outcomes of captions (`rows` by CaptionInput.id) that have no group in the run, or a group for which a
    model gave no answer. `measures`: the store of this batch's measures.
    """
    groups = _groups(run, outcomes, rows)
    pairs = [
        (_candidate(run, group, judged), judged)
        for group, outcome in zip(groups, outcomes, strict=True)
        for judged in outcome.foils
    ]
    Candidate.objects.bulk_create([candidate for candidate, _ in pairs], ROWS)
    FilterScore.objects.bulk_create([score for pair in pairs for score in _scores(run, *pair, measures)], ROWS)
    audit.record_many(_event(run, candidate) for candidate, _ in pairs if candidate.state != CandidateState.GENERATED)


def _groups(run: GenerationRun, outcomes: Sequence[Outcome], rows: Mapping[str, Caption]) -> list[CandidateGroup]:
    """Return the current group of each outcome; a group without an answer is reopened."""
    captions = [rows[outcome.caption.id].pk for outcome in outcomes]
    groups_by_caption = {
        group.caption_id: group for group in CandidateGroup.objects.filter(run=run, caption__in=captions)
    }
    groups = []
    for outcome in outcomes:
        caption = rows[outcome.caption.id]
        group = groups_by_caption.get(caption.pk) or CandidateGroup(run=run, caption=caption)
        group.skipped_why, group.missing, group.unanswered = _why(outcome), list(outcome.missing), outcome.unanswered
        # Annotation creates tasks from the new candidates.
        group.tasked = group.tasked and not outcome.foils
        groups.append(group)
    CandidateGroup.objects.bulk_create([group for group in groups if group.pk is None], ROWS)
    CandidateGroup.objects.bulk_update(
        list(groups_by_caption.values()), ["skipped_why", "missing", "unanswered", "tasked"], ROWS
    )
    return groups


def done_captions(run: GenerationRun, captions: Sequence[Caption]) -> set[int]:
    """Return the ids of the captions that the run has processed. Captions without a model's answer are not included."""
    ids = [caption.pk for caption in captions]
    groups = CandidateGroup.objects.filter(run=run, caption__in=ids, unanswered=False)
    return set(groups.values_list("caption_id", flat=True))


def judged_by(run: GenerationRun, slug: str) -> Iterator[tuple[str, str, str, bool]]:
    """Yield (caption's name, its text, the foil, passed) for each foil that the filter judged in the run, in order."""
    rows = FilterScore.objects.filter(run=run, filter=slug).order_by("candidate_id")
    columns = ("candidate__group__caption_id", "candidate__group__caption__text", "candidate__text", "passed")
    for caption, text, foil, passed in rows.values_list(*columns).iterator(ROWS):
        yield str(caption), text, foil, passed


def known_foils(
    run: GenerationRun, captions: Sequence[CaptionInput], rows: Mapping[str, Caption]
) -> dict[str, list[str]]:
    """Return the captions' foils in the run's subtest: accepted foils, and open candidates of other runs."""
    names = {rows[caption.id].pk: caption.id for caption in captions}
    foils_by_caption: dict[str, list[str]] = {}
    foils = Foil.objects.filter(item__subtest=run.subtest, item__caption__in=names)
    candidates = Candidate.objects.filter(group__run__subtest=run.subtest, group__caption__in=names)
    candidates = candidates.exclude(group__run=run.pk).exclude(state__in=OUT_OF_PLAY)
    for caption, text in [
        *foils.order_by("pk").values_list("item__caption", "text"),
        *candidates.order_by("pk").values_list("group__caption", "text"),
    ]:
        foils_by_caption.setdefault(names[caption], []).append(text)
    return foils_by_caption


def _why(outcome: Outcome) -> str:
    return "" if outcome.foils or outcome.blanks else "; ".join(outcome.skipped)[:MAX_REASON_LENGTH]


def _rejected_by(run: GenerationRun, judged: Judged) -> list[str]:
    """Return the filters that it fails under the run's current thresholds. A foil not judged by a filter stays out."""
    slugs = [row["slug"] for row in run.filters if row["slug"] != DRAW]
    fails = [slug for slug in slugs if slug in judged.verdicts and not _passes(run, slug, judged.verdicts[slug])]
    return fails if fails or judged.verdicts.keys() >= set(slugs) else list(judged.rejected_by)


def _passes(run: GenerationRun, slug: str, verdict: Verdict) -> bool:
    if slug not in run.thresholds or verdict.score is None:
        return verdict.passed
    return verdict.sampled or bool(THRESHOLDS[slug].holds(np.array(verdict.score), run.thresholds[slug]))


def _candidate(run: GenerationRun, group: CandidateGroup, judged: Judged) -> Candidate:
    draft = judged.draft
    rejected_by = _rejected_by(run, judged)
    start, end = draft.span
    return Candidate(
        group=group,
        rank=draft.rank,
        text=draft.foil,
        text_sha256=hashlib.sha256(draft.foil.encode()).hexdigest(),
        state=_state(run, rejected_by),
        method=draft.method,
        method_version=run.method_version,
        mode=draft.mode,
        model_id=draft.model_id,
        model_revision=draft.model_revision,
        prompt_template=draft.prompt_template,
        prompt_hash=draft.prompt_hash,
        seed=run.seed,
        edits=[[edit.start, edit.end, edit.target] for edit in draft.edits],
        span_start=start,
        span_end=end,
        source=draft.source,
        target=draft.target,
        facts=dict(draft.facts),
        rejected_by=rejected_by,
    )


def _state(run: GenerationRun, rejected_by: Sequence[str]) -> CandidateState:
    """Return the state of a new candidate. If the run ends with a draw, those that passed wait for it (run_draw.py)."""
    if not rejected_by and any(row["slug"] == DRAW for row in run.filters):
        return CandidateState.GENERATED
    return next_candidate_state(CandidateState.GENERATED, move_of(run, rejected_by))


def move_of(run: GenerationRun, rejected_by: Sequence[str]) -> str:
    """Return the move of a candidate out of the state "generated"."""
    if rejected_by:
        return "reject"
    return "queue" if run.project.edit_stage else "skip_editing"


def _scores(
    run: GenerationRun, candidate: Candidate, judged: Judged, measures: RowMeasures | None
) -> Iterator[FilterScore]:
    versions = {row["slug"]: row["version"] for row in run.filters}
    for slug, verdict in judged.verdicts.items():
        yield FilterScore(
            run=run,
            candidate=candidate,
            filter=slug,
            filter_version=versions[slug],
            measure_id=measures.row(slug, judged.pairs.get(slug, "")) if measures else None,
            score=verdict.score,
            passed=verdict.passed,
            detail=verdict.detail[:MAX_DETAIL_LENGTH],
            sampled=verdict.sampled,
        )


def _event(run: GenerationRun, candidate: Candidate) -> AuditEvent:
    return audit.event(
        run.project,
        None,
        move_of(run, candidate.rejected_by),
        candidate,
        from_state=CandidateState.GENERATED,
        to_state=candidate.state,
        reason=", ".join(candidate.rejected_by),
        run=run.pk,
    )
