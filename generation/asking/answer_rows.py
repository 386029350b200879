"""Answers of instruction models kept in rows, one by one as they come, and what a run has spent on them."""

from collections.abc import Callable, Mapping, Sequence

from django.db import transaction
from django.db.models import F

from generation.models import GenerationRun, ModelAnswer, RunCost
from hub.interfaces import ChatReply, ModelInfo

ROWS = 500


class RowAnswers:
    """For one run, or for work without a cost of its own. `heard(n)` is called with the number of replies that came or
    were there already.
    """

    def __init__(self, run: GenerationRun | None, heard: Callable[[int], None]) -> None:
        self._cost = RunCost.objects.get_or_create(run=run)[0] if run is not None else RunCost()
        self._heard = heard

    @property
    def spent(self) -> tuple[int, int]:
        """(requests, tokens) so far, of earlier attempts too."""
        return self._cost.requests, self._cost.prompt_tokens + self._cost.completion_tokens

    def find(self, keys: Sequence[str]) -> Mapping[str, ChatReply]:
        found = {}
        for first in range(0, len(keys), ROWS):
            for row in ModelAnswer.objects.filter(sha256__in=keys[first : first + ROWS]):
                found[row.sha256] = ChatReply(row.text, cut=row.cut, revision=row.model_revision)
        if found:
            RunCost.objects.filter(pk=self._cost.pk).update(reused=F("reused") + len(found))
            self._heard(len(found))
        return found

    def keep(self, found: Mapping[str, ChatReply], info: ModelInfo) -> None:
        """Written at once: a killed worker loses what was on its way, and nothing that had come."""
        replies = found.values()
        rows = [_row(key, reply, info) for key, reply in found.items() if not reply.failure]
        with transaction.atomic():
            # Another run may have asked the same in the meantime.
            ModelAnswer.objects.bulk_create(rows, ROWS, ignore_conflicts=True)
            RunCost.objects.filter(pk=self._cost.pk).update(
                requests=F("requests") + sum(reply.requests for reply in replies),
                prompt_tokens=F("prompt_tokens") + sum(reply.prompt_tokens for reply in replies),
                completion_tokens=F("completion_tokens") + sum(reply.completion_tokens for reply in replies),
            )
        self._heard(len(found))


def _row(key: str, reply: ChatReply, info: ModelInfo) -> ModelAnswer:
    return ModelAnswer(
        sha256=key,
        text=reply.text,
        cut=reply.cut,
        model_id=info.model_id[:200],
        model_revision=(reply.revision or info.revision)[:64],
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
    )
