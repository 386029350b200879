"""Store the answers of instruction models in rows, one by one as they arrive, and what they cost."""

from collections.abc import Callable, Mapping, Sequence

from django.db import transaction
from django.db.models import F

from foilworks.core.hub.interfaces import ChatReply, ModelInfo
from foilworks.core.hub.served.budget import Budget
from generation.models import GenerationRun, ModelAnswer, PricedUsage, RunCost, Usage

ROWS = 500
EMPTY = "empty answer"


class RowAnswers:
    """A store of answers. `usage`: the row that counts the spending, or None. `heard(n)` is called with the number of
    replies that arrived or were stored already.

    `stores_refusals`: a refusal and an empty answer are stored as answers. Otherwise they are
    failures, which can be retried.
    """

    def __init__(self, usage: Usage | None, heard: Callable[[int], None], *, stores_refusals: bool = False) -> None:
        self._usage, self.heard, self._stores_refusals = usage, heard, stores_refusals

    def find(self, keys: Sequence[str]) -> Mapping[str, ChatReply]:
        replies = {}
        for first in range(0, len(keys), ROWS):
            for row in ModelAnswer.objects.filter(sha256__in=keys[first : first + ROWS]):
                replies[row.sha256] = _reply(row)
        if replies:
            self._count(reused=len(replies))
            self.heard(len(replies))
        return replies

    def keep(self, replies: Mapping[str, ChatReply], info: ModelInfo) -> None:
        """Store replies with what they cost, in one transaction."""
        reply_list = replies.values()
        rows = [_row(key, reply, info) for key, reply in replies.items() if self._is_answer(reply)]
        with transaction.atomic():
            # Another run may have sent the same request since.
            ModelAnswer.objects.bulk_create(rows, ROWS, ignore_conflicts=True)
            self._count(
                requests=sum(reply.requests for reply in reply_list),
                prompt_tokens=sum(reply.prompt_tokens for reply in reply_list),
                completion_tokens=sum(reply.completion_tokens for reply in reply_list),
                **self._also(list(reply_list)),
            )
        self.heard(len(replies))

    def _also(self, replies: Sequence[ChatReply]) -> dict[str, float]:
        """Return the further counts of a kind of usage."""
        return {}

    def _is_answer(self, reply: ChatReply) -> bool:
        return not reply.failure or (self._stores_refusals and bool(reply.refusal or reply.failure == EMPTY))

    def _count(self, **amounts: float) -> None:
        if self._usage is not None:
            rows = type(self._usage)._default_manager.filter(pk=self._usage.pk)
            rows.update(**{name: F(name) + amount for name, amount in amounts.items() if amount})


class PricedAnswers(RowAnswers):
    """A store that also counts costs. `price`: per million input tokens and output tokens."""

    def __init__(
        self,
        usage: PricedUsage,
        heard: Callable[[int], None],
        price: tuple[float, float] | None,
        *,
        stores_refusals: bool = False,
    ) -> None:
        super().__init__(usage, heard, stores_refusals=stores_refusals)
        self._price = price or (0.0, 0.0)

    def _also(self, replies: Sequence[ChatReply]) -> dict[str, float]:
        into, out = self._price
        spent = sum(reply.prompt_tokens * into + reply.completion_tokens * out for reply in replies)
        return {
            "cached_tokens": sum(reply.cached_tokens for reply in replies),
            "cost": spent / 1e6,
            "answer_seconds": sum(reply.seconds for reply in replies),
        }


def budget_left(limits: Mapping[str, float], usage: PricedUsage, price: tuple[float, float] | None) -> Budget:
    """Return what a run with these limits (requests, tokens, cost) may still spend."""
    return Budget(
        int(limits.get("requests", 0)),
        int(limits.get("tokens", 0)),
        limits.get("cost", 0.0),
        spent_requests=usage.requests,
        spent_tokens=usage.prompt_tokens + usage.completion_tokens,
        spent_cost=usage.cost,
        price=price or (0.0, 0.0),
    )


def run_cost(run: GenerationRun) -> RunCost:
    """Return what the run has spent so far, including earlier attempts."""
    return RunCost.objects.get_or_create(run=run)[0]


def _row(key: str, reply: ChatReply, info: ModelInfo) -> ModelAnswer:
    return ModelAnswer(
        sha256=key,
        text=reply.text,
        cut=reply.cut,
        refusal=reply.refusal[:200],
        finish_reason=reply.reason,
        logprobs=[[list(pair) for pair in row] for row in reply.logprobs] or None,
        model_id=info.model_id[:200],
        model_revision=(reply.revision or info.revision)[:64],
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        clip_tokens=reply.clip_tokens,
        thought_tokens=reply.thought_tokens,
    )


def _reply(row: ModelAnswer) -> ChatReply:
    failure = "" if row.text else f"refused: {row.refusal}" if row.refusal else EMPTY
    return ChatReply(
        row.text,
        failure=failure,
        cut=row.cut,
        revision=row.model_revision,
        refusal=row.refusal,
        reason=row.finish_reason,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        clip_tokens=row.clip_tokens,
        thought_tokens=row.thought_tokens,
        logprobs=tuple(
            tuple((str(token), float(value)) for token, value in token_values) for token_values in row.logprobs or ()
        ),
    )
