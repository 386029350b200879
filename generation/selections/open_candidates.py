"""Query the candidates of a selection: open ones that people have not started on, and fixed ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from foilworks.core.corpus.models import DROPPED_OUT, Foil
from foilworks.core.corpus.release_records import cluster
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from generation.balance.balanced_pairs import Pair
from generation.models import Candidate, CandidateGroup, GenerationRun, Selection
from generation.thresholds.arithmetic import failing

C = CandidateState
# In progress or done: they stay, and the choice takes them as given.
IN_WORK = (C.EDITING, C.IN_REVIEW, C.RETURNED, C.ACCEPTED)
GONE = (ItemState.INVALID, ItemState.REQUEUED, ItemState.RETRACTED)
# Filters whose score is a gap of caption and foil: above 0 the model prefers the caption.
GAPS = ("plausibility_gap", "grammar_gap", "perplexity")
# Adversarial refinement uses as many.
GAPS_WANTED = 2
# What names the source of a clip.
VIDEO_FIELDS = ("source_dataset", "source_id", "sha256", "key")


@dataclass(frozen=True)
class Pool:
    """The candidates of a selection. `open`: waiting or held back, in groups not started; `fixed`: always stay."""

    open: list[Pair]
    fixed: list[Pair]
    ranks: dict[str, int]


def waiting_state(selection: Selection) -> CandidateState:
    return C.QUEUED if selection.project.edit_stage else C.IN_REVIEW


def open_candidates(selection: Selection) -> QuerySet[Candidate]:
    """Return the candidates that a selection may hold back or restore, except `failing_now`: in groups not started."""
    rows = Candidate.objects.filter(group__run__subtest=selection.subtest)
    if selection.run_id:
        rows = rows.filter(group__run=selection.run_id)
    waits = Q(state=waiting_state(selection)) | (Q(state=C.FILTERED_OUT) & ~Q(held_back_by=""))
    return rows.filter(waits, group__in=_untouched(selection))


def failing_now(selection: Selection) -> set[int]:
    """Return held-back candidates that must stay so: they fail changed thresholds of their runs. Two queries, plus
    those of the sheets."""
    held_back = open_candidates(selection).filter(state=C.FILTERED_OUT).values_list("group__run", "id")
    ids: dict[int, set[int]] = {}
    for run, pk in held_back:
        ids.setdefault(run, set()).add(pk)
    runs = GenerationRun.objects.filter(pk__in=ids).select_related("job")
    return {pk for run in runs for pk in ids[run.pk] & failing(run)}


def _untouched(selection: Selection) -> QuerySet[CandidateGroup]:
    groups = CandidateGroup.objects.filter(run__subtest=selection.subtest, item=None)
    if not selection.project.edit_stage:
        # All candidates wait for reviewers, so a group counts as started once it has review tasks.
        in_review = Candidate.objects.filter(group=OuterRef("pk"), state=C.IN_REVIEW)
        return groups.exclude(Q(tasked=True) & Exists(in_review))
    untouched = (C.GENERATED, C.FILTERED_OUT, C.QUEUED)
    return groups.exclude(Exists(Candidate.objects.filter(group=OuterRef("pk")).exclude(state__in=untouched)))


def pool_of(selection: Selection) -> Pool:
    """Query the pool: four queries, plus those of `failing_now`."""
    candidates = open_candidates(selection).order_by("id")
    excluded_ids = failing_now(selection)
    columns = pair_columns()
    rows = [row for row in candidates.values_list(*columns) if row[0] not in excluded_ids]
    ids = {row[0] for row in rows}
    of_items = Foil.objects.filter(item__subtest=selection.subtest)
    dropped_foils = of_items.filter(DROPPED_OUT | Q(item__state__in=GONE))
    begun_candidates = Candidate.objects.filter(group__run__subtest=selection.subtest, state__in=IN_WORK).exclude(
        foil__in=dropped_foils
    )
    fixed = [
        replace(as_pair(row), id=f"c{row[0]}")
        for row in begun_candidates.order_by("id").values_list(*columns)
        if row[0] not in ids
    ]
    item_foils = of_items.filter(candidate=None).exclude(pk__in=dropped_foils).order_by("id")
    fixed += [
        Pair(f"f{pk}", f"item{item}", caption, text, _source_video(video))
        for pk, item, caption, text, *video in item_foils.values_list(
            "id", "item_id", "item__caption__text", "text", *_video_columns("item__caption__video")
        )
    ]
    return Pool(
        open=[as_pair(row) for row in rows],
        fixed=fixed,
        ranks={str(row[0]): row[4] for row in rows},
    )


def pair_columns() -> tuple[str, ...]:
    """Return the columns of a candidate that `as_pair` reads."""
    return "id", "group_id", "group__caption__text", "text", "rank", *_video_columns("group__caption__video")


def as_pair(row: Sequence[Any]) -> Pair:
    """Return the pair of a candidate from its `pair_columns`."""
    pk, group, caption, text, _rank, *video = row
    return Pair(str(pk), str(group), caption, text, _source_video(video))


def _video_columns(prefix: str) -> list[str]:
    return [f"{prefix}__{field}" for field in VIDEO_FIELDS]


def _source_video(values: Sequence[str]) -> str:
    return cluster(dict(zip(VIDEO_FIELDS, values, strict=True)))
