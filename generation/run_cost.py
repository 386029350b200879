"""What a run has cost so far: for its page. Requests, tokens, money where a price is known, and time."""

from dataclasses import dataclass

from django.utils import timezone

from corpus.rules.states import CandidateState
from generation.asking import endpoints
from generation.models import Candidate, CandidateGroup, GenerationRun, RunCost


@dataclass(frozen=True)
class RunSpending:
    """`…_limit` 0: none. `money` None: no price is configured. `unanswered`: captions that can be asked about again."""

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
    """None for a run that asks no instruction model; two queries. `states`: how many candidates are in each."""
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
    """Of the job's last attempt, where it made any."""
    job = run.job
    if job is None or job.started_at is None:
        return None
    made = Candidate.objects.filter(group__run=run, created_at__gte=job.started_at, author=None).count()
    if not made:
        return None
    seconds = ((job.finished_at or timezone.now()) - job.started_at).total_seconds()
    return made / seconds if seconds > 0 else None
