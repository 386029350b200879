"""Compute what pages, files and commands show of a run through an endpoint: outcomes, cost, and the raw answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from evaluation.metrics.intervals import exact_binomial, wilson
from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.models import Run, RunUsage, ServedAnswer
from evaluation.scoring.queries import texts_of
from evaluation.scoring.served.specs import Mode
from evaluation.scoring.unread_answers import ANSWER_UNPARSABLE, MODEL_REFUSED
from foilworks.core.corpus.models import ReleaseItem
from foilworks.core.text.batches import batched
from generation.models import ModelAnswer

ROWS_PER_QUERY = 500
FIRST_LETTER = "A"
Outcome = ServedAnswer.Outcome


@dataclass(frozen=True)
class OutcomeCount:
    """Number of questions with this outcome, among those with any answer; `share` and its interval (Wilson)."""

    outcome: str
    label: str
    n: int
    share: float | None
    interval: list[float] | None


@dataclass(frozen=True)
class ServedResults:
    """`first_letter`: how often a choice named its first letter, and how often it would without a position
    preference."""

    facts: Mapping[str, Any]
    outcomes: Sequence[OutcomeCount]
    n: int
    usage: RunUsage
    budget: Mapping[str, float]
    first_letter: tuple[float, float] | None

    @property
    def seconds_per_answer(self) -> float | None:
        return self.usage.answer_seconds / self.usage.requests if self.usage.requests else None


def answers_of(run: Run) -> QuerySet[ServedAnswer]:
    """Return the outcomes of the run's model on its release, in the order of the items."""
    rows = ServedAnswer.objects.filter(release=run.release_id, model_key=run.model_key, protocol=run.protocol)
    return rows.order_by("position", "pk")


def figures_of(run: Run) -> ServedResults | None:
    """Return the figures of a run; None for a run of another kind, or one that has not started. Three queries."""
    facts = run.params.get("served")
    if not facts:
        return None
    rows = answers_of(run)
    counts = dict(rows.order_by().values_list("outcome").annotate(n=Count("pk")))
    n = sum(counts.values())
    answered = n - counts.get(Outcome.FAILED, 0)
    outcomes = [
        OutcomeCount(
            outcome.value,
            str(outcome.label),
            counts.get(outcome, 0),
            counts.get(outcome, 0) / answered if answered and outcome != Outcome.FAILED else None,
            wilson(counts.get(outcome, 0), answered) if outcome != Outcome.FAILED else None,
        )
        for outcome in Outcome
    ]
    usage = RunUsage.objects.filter(run=run).first() or RunUsage(run=run)
    return ServedResults(facts, outcomes, n, usage, run.params.get("budget", {}), _first_letter(rows, facts))


@dataclass(frozen=True)
class ItemCounts:
    """How many items of the release have a score, and how many have none because of the model's answers."""

    items: int
    scored: int
    refused: int
    unparsable: int


def item_counts(run: Run, missing: int) -> ItemCounts:
    """Count the items of a run through an endpoint, of which `missing` have no score."""
    items = ReleaseItem.objects.filter(release=run.release_id, is_private=False).count()
    without = [
        sum("rung" not in problem for problem in run.problems.get(name, ()))
        for name in (MODEL_REFUSED, ANSWER_UNPARSABLE)
    ]
    return ItemCounts(items, items - missing, *without)


def _first_letter(rows: QuerySet[ServedAnswer], facts: Mapping[str, Any]) -> tuple[float, float] | None:
    if facts["mode"] == "p_yes":
        return None
    answered_rows = rows.filter(outcome=Outcome.ANSWERED).order_by().values_list("options", "answer")
    counts = list(answered_rows.annotate(n=Count("pk")))
    total = sum(n for _, _, n in counts)
    hits = sum(n for _, answer, n in counts if answer == FIRST_LETTER)
    return (hits / total, sum(n / options for options, _, n in counts) / total) if total else None


def figures_as_json(figures: ServedResults) -> dict[str, Any]:
    """Return the same for files and commands."""
    usage = figures.usage
    names = ("requests", "reused", "prompt_tokens", "cached_tokens", "completion_tokens", "cost", "currency", "seconds")
    return {
        **figures.facts,
        "questions": figures.n,
        "outcomes": {
            row.outcome: {"n": row.n, "share": row.share, "share_ci": row.interval} for row in figures.outcomes
        },
        "first_letter": figures.first_letter,
        "budget": dict(figures.budget),
        "usage": {name: getattr(usage, name) for name in names},
    }


@dataclass(frozen=True)
class RawAnswer:
    """A question and its unedited answer. `texts`: None if the item's video was taken down since."""

    row: ServedAnswer
    item: str
    texts: Sequence[str] | None
    answer: ModelAnswer | None
    samples: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        row, answer = self.row, self.answer if self.texts is not None else None
        return {
            "item": self.item,
            "texts": self.texts,
            "number": row.number,
            "outcome": row.outcome,
            "answer": row.answer,
            "share": row.share,
            "why": row.why,
            "version": row.version,
            "asked_at": row.asked_at.isoformat(),
            "raw": answer and answer.text,
            "refusal": answer and answer.refusal,
            "finish_reason": answer and answer.finish_reason,
            "logprobs": answer and answer.logprobs,
            "prompt_tokens": answer and answer.prompt_tokens,
            "completion_tokens": answer and answer.completion_tokens,
            "request_sha256": row.request_sha256,
        }


def raw_answers(run: Run, rows: Sequence[ServedAnswer], *, with_samples: bool = False) -> list[RawAnswer]:
    """Return the rows with their items' texts and the unedited answers. Two queries, three with samples."""
    positions = {row.position for row in rows}
    members = ReleaseItem.objects.filter(release=run.release_id, position__in=positions)
    members = members.select_related("video__takedown")
    items = {member.position: member for member in members}
    stored_answers = ModelAnswer.objects.filter(sha256__in={row.request_sha256 for row in rows})
    answers = {answer.sha256: answer for answer in stored_answers}
    samples = _samples(run, rows) if with_samples else {}
    raw_rows = []
    for row in rows:
        member = items.get(row.position)
        taken = member is not None and getattr(member.video, "takedown", None) is not None
        text_by_key = {text_key(text): text for text in texts_of(member.record)} if member is not None else {}
        texts = None if taken else [text_by_key.get(key, f"{key[:12]}…") for key in row.texts]
        name = str(member.record["id"]) if member is not None else ""
        raw_rows.append(
            RawAnswer(row, name, texts, answers.get(row.request_sha256), samples.get((row.clip_key, row.texts[0])))
        )
    return raw_rows


def _samples(run: Run, rows: Sequence[ServedAnswer]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return (clip, text) -> number of samples with yes, number of samples, and the interval of P(yes)."""
    served = run.params.get("served", {})
    if not served.get("samples") or served.get("mode") != Mode.P_YES:
        return {}
    counts: dict[tuple[str, str], list[int]] = {}
    same = answers_of(run).filter(clip_key__in={row.clip_key for row in rows}, outcome=Outcome.ANSWERED)
    for clip, texts, answer in same.order_by().values_list("clip_key", "texts", "answer"):
        count = counts.setdefault((clip, texts[0]), [0, 0])
        count[0] += answer == "yes"
        count[1] += 1
    return {key: {"yes": yes, "n": n, "interval": exact_binomial(yes, n)} for key, (yes, n) in counts.items()}


def all_raw_answers(run: Run) -> Iterator[dict[str, Any]]:
    """Yield every answer about a public item as a line of a file."""
    public = answers_of(run).filter(position__lt=run.release.n_public)
    for rows in batched(public.iterator(chunk_size=ROWS_PER_QUERY), ROWS_PER_QUERY):
        for raw_answer in raw_answers(run, rows):
            yield raw_answer.as_json()
