"""Query the candidates of a selection: open ones that people have not started on, and fixed ones."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet

from foilworks.core.corpus.models import DROPPED_OUT, Foil
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from generation.balance.records import Pair
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


@dataclass(frozen=True)
class Pool:
    """The candidates of a selection. `open`: waiting or held back, in groups not started; `fixed`: always stay."""

    open: list[Pair]
    fixed: list[Pair]
    ranks: dict[str, int]


def waiting_state(chosen: Selection) -> CandidateState:
    return C.QUEUED if chosen.project.edit_stage else C.IN_REVIEW


def open_candidates(chosen: Selection) -> QuerySet[Candidate]:
    """Return the candidates that a selection may hold back or restore, except `failing_now`: in groups not started."""
    rows = Candidate.objects.filter(group__run__subtest=chosen.subtest)
    if chosen.run_id:
        rows = rows.filter(group__run=chosen.run_id)
    waits = Q(state=waiting_state(chosen)) | (Q(state=C.FILTERED_OUT) & ~Q(held_back_by=""))
    return rows.filter(waits, group__in=_untouched(chosen))


def failing_now(chosen: Selection) -> set[int]:
    """Return held-back candidates that must stay so: they fail changed thresholds of their runs. Two queries, plus
    those of the sheets."""
    held = open_candidates(chosen).filter(state=C.FILTERED_OUT).values_list("group__run", "id")
    ids: dict[int, set[int]] = {}
    for run, pk in held:
        ids.setdefault(run, set()).add(pk)
    runs = GenerationRun.objects.filter(pk__in=ids).select_related("job")
    return {pk for run in runs for pk in ids[run.pk] & failing(run)}


def _untouched(chosen: Selection) -> QuerySet[CandidateGroup]:
    groups = CandidateGroup.objects.filter(run__subtest=chosen.subtest, item=None)
    if not chosen.project.edit_stage:
        # All candidates wait for reviewers, so a group counts as started once it has review tasks.
        shown = Candidate.objects.filter(group=OuterRef("pk"), state=C.IN_REVIEW)
        return groups.exclude(Q(tasked=True) & Exists(shown))
    untouched = (C.GENERATED, C.FILTERED_OUT, C.QUEUED)
    return groups.exclude(Exists(Candidate.objects.filter(group=OuterRef("pk")).exclude(state__in=untouched)))


def pool_of(chosen: Selection) -> Pool:
    """Query the pool: four queries, plus those of `failing_now`."""
    found = open_candidates(chosen).order_by("id")
    out = failing_now(chosen)
    columns = "id", "group_id", "group__caption__text", "text", "rank"
    rows = [row for row in found.values_list(*columns) if row[0] not in out]
    ids = {row[0] for row in rows}
    of_items = Foil.objects.filter(item__subtest=chosen.subtest)
    gone = of_items.filter(DROPPED_OUT | Q(item__state__in=GONE))
    begun = Candidate.objects.filter(group__run__subtest=chosen.subtest, state__in=IN_WORK).exclude(foil__in=gone)
    fixed = [
        Pair(f"c{pk}", str(group), caption, text)
        for pk, group, caption, text in begun.order_by("id").values_list(
            "id", "group_id", "group__caption__text", "text"
        )
        if pk not in ids
    ]
    kept = of_items.filter(candidate=None).exclude(pk__in=gone).order_by("id")
    fixed += [
        Pair(f"f{pk}", f"item{item}", caption, text)
        for pk, item, caption, text in kept.values_list("id", "item_id", "item__caption__text", "text")
    ]
    return Pool(
        open=[Pair(str(pk), str(group), caption, text) for pk, group, caption, text, _rank in rows],
        fixed=fixed,
        ranks={str(row[0]): row[4] for row in rows},
    )
