"""Store what a served model answered: the answers, the outcome of each question, and their cost."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Max, Min
from django.utils import timezone

from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.models import Run, ServedAnswer
from evaluation.scoring.served.served_model import Answered
from evaluation.scoring.shards.work import ROWS_PER_QUERY, ClipWork
from text.storable import storable

ROWS_AT_ONCE = 64
UPDATED = ("outcome", "answer", "share", "why", "version", "asked_at")
KEY = ("release", "model_key", "protocol", "clip_key", "request_sha256")


class OutcomeRows:
    """Writes a row for each question that got a reply, in batches; `close` writes the rest."""

    def __init__(self, run: Run, work: Iterable[ClipWork]) -> None:
        self._run = run
        self._position = {each.clip.key: min(each.items.values()) for each in work}
        self._waiting: dict[tuple[str, str], ServedAnswer] = {}

    def note(self, found: Answered) -> None:
        reading = found.reading
        row = ServedAnswer(
            release_id=self._run.release_id,
            model_key=self._run.model_key,
            protocol=self._run.protocol,
            clip_key=found.clip_key,
            position=self._position[found.clip_key],
            texts=[text_key(text) for text in found.question.texts],
            options=len(found.question.options),
            number=found.question.number,
            outcome=reading.outcome.value,
            answer=reading.answer,
            share=max(reading.shares) if reading.shares else None,
            why=storable(reading.why)[:300],
            version=found.reply.revision,
            request_sha256=found.key,
            asked_at=timezone.now(),
        )
        self._waiting[found.clip_key, found.key] = row
        if len(self._waiting) >= ROWS_AT_ONCE:
            self.close()

    def close(self) -> None:
        ServedAnswer.objects.bulk_create(
            self._waiting.values(), update_conflicts=True, update_fields=UPDATED, unique_fields=KEY
        )
        self._waiting.clear()


def adopt_answers(run: Run, work: Iterable[ClipWork]) -> None:
    """Copy what the same model answered about the same clips for other releases of the project.

    Their scores count here too, so their outcomes do.
    """
    asked = {each.clip.key: each for each in work}
    keys = list(asked)
    for first in range(0, len(keys), ROWS_PER_QUERY):
        some = keys[first : first + ROWS_PER_QUERY]
        others = ServedAnswer.objects.filter(
            release__project=run.release.project_id, model_key=run.model_key, protocol=run.protocol, clip_key__in=some
        ).exclude(release=run.release_id)
        rows = []
        for row in others.order_by("pk"):
            each = asked[row.clip_key]
            if {*row.texts} <= {text_key(text) for text in each.texts}:
                row.pk, row.release_id, row.position = None, run.release_id, min(each.items.values())
                rows.append(row)
        ServedAnswer.objects.bulk_create(rows, ROWS_PER_QUERY, ignore_conflicts=True)


def note_versions(run: Run) -> None:
    """Note in the run which versions of the model answered, and when, for the board."""
    rows = ServedAnswer.objects.filter(release=run.release_id, model_key=run.model_key, protocol=run.protocol)
    versions = list(rows.exclude(version="").order_by("version").values_list("version", flat=True).distinct())
    dates = rows.aggregate(first=Min("asked_at"), last=Max("asked_at"))
    served: Mapping[str, Any] = run.params.get("served", {})
    when = {name: at.date().isoformat() for name, at in dates.items() if at is not None}
    run.params = {**run.params, "served": {**served, "versions": versions, **when}}
    run.save(update_fields=["params"])
