"""Store what a served model answered: the answers, the outcome of each question, and their cost."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Max, Min
from django.utils import timezone

from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.models import Run, ServedAnswer
from evaluation.scoring.served.served_model import Answered
from evaluation.scoring.shards.pending_pairs import ROWS_PER_QUERY, ClipWork
from foilworks.core.text.storable import storable

ROWS_AT_ONCE = 64
UPDATED = ("outcome", "answer", "share", "why", "version", "asked_at")
KEY = ("release", "model_key", "protocol", "clip_key", "request_sha256")


class OutcomeRows:
    """Writes a row for each question that got a reply, in batches; `close` writes those that wait."""

    def __init__(self, run: Run, work: Iterable[ClipWork]) -> None:
        self._run = run
        self._positions = positions_of(work)
        self._waiting: dict[tuple[str, str], ServedAnswer] = {}

    def note(self, answered: Answered) -> None:
        reading = answered.reading
        row = ServedAnswer(
            release_id=self._run.release_id,
            model_key=self._run.model_key,
            protocol=self._run.protocol,
            clip_key=answered.clip_key,
            position=self._positions[answered.clip_key, text_key(answered.question.texts[0])],
            texts=[text_key(text) for text in answered.question.texts],
            options=len(answered.question.options),
            number=answered.question.number,
            outcome=reading.outcome.value,
            answer=reading.answer,
            share=max(reading.shares) if reading.shares else None,
            why=storable(reading.why)[:300],
            version=answered.reply.revision,
            request_sha256=answered.key,
            asked_at=timezone.now(),
        )
        self._waiting[answered.clip_key, answered.key] = row
        if len(self._waiting) >= ROWS_AT_ONCE:
            self.close()

    def close(self) -> None:
        ServedAnswer.objects.bulk_create(
            self._waiting.values(), update_conflicts=True, update_fields=UPDATED, unique_fields=KEY
        )
        self._waiting.clear()


def positions_of(work: Iterable[ClipWork]) -> dict[tuple[str, str], int]:
    """Return the position of the first item that shows a text with a clip, by the keys of both."""
    positions: dict[tuple[str, str], int] = {}
    for clip_work in work:
        position = min(clip_work.items.values())
        for text in clip_work.texts:
            at = (clip_work.clip.key, text_key(text))
            positions[at] = min(position, positions.get(at, position))
    return positions


def adopt_answers(run: Run, work: Iterable[ClipWork]) -> None:
    """Copy what the same model answered about the same clips for other releases of the project.

    Their scores count here too, so their outcomes do.
    """
    positions = positions_of(work)
    keys = list(dict.fromkeys(clip for clip, _ in positions))
    for first in range(0, len(keys), ROWS_PER_QUERY):
        some = keys[first : first + ROWS_PER_QUERY]
        stored_answers = ServedAnswer.objects.filter(
            release__project=run.release.project_id, model_key=run.model_key, protocol=run.protocol, clip_key__in=some
        ).exclude(release=run.release_id)
        rows = []
        for row in stored_answers.order_by("pk"):
            if all((row.clip_key, text) in positions for text in row.texts):
                position = positions[row.clip_key, row.texts[0]]
                row.pk, row.release_id, row.position = None, run.release_id, position
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
