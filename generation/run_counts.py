"""Count a run's candidates per state and rejections per filter, and list the candidates with their diffs."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from foilworks.core.corpus.rules.states import CandidateState
from generation.filters.registry import DRAW, FILTERS
from generation.instruction_models import endpoints
from generation.models import Candidate, CandidateGroup, FilterScore, GenerationRun, RunCost


@dataclass(frozen=True)
class FilterCount:
    slug: str
    label: str
    judged: int
    rejected: int

    @property
    def share(self) -> float:
        return self.rejected / self.judged if self.judged else 0.0


@dataclass
class RunCounts:
    """Counts of the candidates of one run."""

    generated: int = 0
    rejected: int = 0
    accepted: int = 0


def state_counts(run: GenerationRun) -> list[tuple[str, int]]:
    """Return (state, number of candidates) in the order of the state machine, without empty states."""
    counts = dict(Candidate.objects.filter(group__run=run).values_list("state").annotate(Count("id")).order_by())
    return [(state.value, counts[state]) for state in CandidateState if state in counts]


def counts_by_run(runs: Iterable[GenerationRun]) -> dict[int, RunCounts]:
    """Return the counts of each run, by id. One query."""
    counts = {run.pk: RunCounts() for run in runs}
    rows = Candidate.objects.filter(group__run__in=counts).order_by().values_list("group__run", "state")
    for run, state, n in rows.annotate(n=Count("id")):
        counts[run].generated += n
        counts[run].rejected += n if state == CandidateState.FILTERED_OUT else 0
        counts[run].accepted += n if state == CandidateState.ACCEPTED else 0
    return counts


def filter_counts(run: GenerationRun) -> list[FilterCount]:
    """Return one row per filter of the run: how many candidates it judged and how many it rejected."""
    rows = (
        FilterScore.objects.filter(run=run)
        .values_list("filter")
        .annotate(judged=Count("id"), rejected=Count("id", filter=Q(passed=False)))
        .order_by("filter")
    )
    return [FilterCount(slug, FILTERS[slug].label if slug in FILTERS else slug, n, bad) for slug, n, bad in rows]


def left_out_by_draw(run: GenerationRun) -> list[tuple[str, int]]:
    """Return (why, number of captions) of captions whose foils the other filters passed and the draw left out."""
    scores = FilterScore.objects.filter(run=run, filter=DRAW)
    drawn_groups = scores.filter(passed=True).values("candidate__group")
    rows = scores.filter(passed=False).exclude(candidate__group__in=drawn_groups).order_by("candidate")
    reasons = dict(rows.values_list("candidate__group", "detail").iterator())
    return Counter(reasons.values()).most_common()


def candidates_of(run: GenerationRun, *, state: str = "", rejected_by: str = "") -> QuerySet[Candidate]:
    """Return the run's candidates with clip, caption, author and filter scores loaded, filtered where asked."""
    rows = Candidate.objects.filter(group__run=run)
    if state:
        rows = rows.filter(state=state)
    if rejected_by:
        rows = rows.filter(filter_scores__filter=rejected_by, filter_scores__passed=False)
    return rows.select_related("group__caption__video", "author").prefetch_related("filter_scores")


def without_foil(run: GenerationRun, why: str = "") -> QuerySet[CandidateGroup]:
    """Return the run's captions without foils, in order. `why`: only those with this reason."""
    rows = CandidateGroup.objects.filter(run=run).exclude(skipped_why="")
    if why:
        rows = rows.filter(skipped_why=why)
    return rows.select_related("caption__video").order_by("pk")


@dataclass(frozen=True)
class RunSpending:
    """The spending of a run. `…_limit` 0: none. `money` None: no configured price. `unanswered`: captions to retry."""

    requests: int
    requests_limit: int
    tokens: int
    tokens_limit: int
    reused: int
    unanswered: int
    money: float | None = None
    currency: str = ""
    tokens_per_accepted: float | None = None
    money_per_accepted: float | None = None


def spending_of(run: GenerationRun, states: dict[str, int]) -> RunSpending | None:
    """Return the spending, or None without an instruction model. Two queries. `states`: candidates per state."""
    if not endpoints.asks_a_model(run.params):
        return None
    cost = RunCost.objects.filter(run=run).first() or RunCost(run=run)
    tokens = cost.prompt_tokens + cost.completion_tokens
    endpoint = endpoints.configured().get(run.params["endpoint"])
    money = endpoint.cost(cost.prompt_tokens, cost.completion_tokens) if endpoint else None
    accepted = states.get(CandidateState.ACCEPTED, 0)
    return RunSpending(
        requests=cost.requests,
        requests_limit=run.params["requests"] if endpoint else 0,
        tokens=tokens,
        tokens_limit=run.params["tokens"] if endpoint else 0,
        reused=cost.reused,
        unanswered=CandidateGroup.objects.filter(run=run, unanswered=True).count(),
        money=money,
        currency=endpoint.currency if endpoint else "",
        tokens_per_accepted=tokens / accepted if accepted else None,
        money_per_accepted=money / accepted if accepted and money is not None else None,
    )


def candidates_a_second(run: GenerationRun) -> float | None:
    """Return the candidates per second of the job's last attempt, if it made any."""
    job = run.job
    if job is None or job.started_at is None:
        return None
    n_candidates = Candidate.objects.filter(group__run=run, created_at__gte=job.started_at, author=None).count()
    if not n_candidates:
        return None
    seconds = ((job.finished_at or timezone.now()) - job.started_at).total_seconds()
    return n_candidates / seconds if seconds > 0 else None
