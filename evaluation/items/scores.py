"""What every model said of one item, on every release that holds it: two queries beside those of the releases."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from corpus.models import Item, ReleaseItem
from evaluation.metrics.ties import hit, standing
from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.models import Run, Score
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.queries import StoredScores, asked_of, keyed_by, texts_of, values_of


@dataclass(frozen=True)
class Answer:
    """A model's raw scores of the texts, caption first; None where it scored none. `credit` in 0..1."""

    values: list[float] | None
    credit: float | None


@dataclass(frozen=True)
class ItemScore:
    run: Run
    main: Answer
    proficiency: Answer


def scores_of(item: Item) -> list[ItemScore]:
    """One row for each run on each release that holds the item, latest release first."""
    members = {member.release_id: member for member in ReleaseItem.objects.filter(item=item)}
    rows = Run.objects.filter(release__in=members).exclude(model_key="").select_related("release")
    runs = list(rows.order_by("-release_id", "label", "-pk"))
    texts = {text for member in members.values() for text in texts_of(member.record)}
    stored, lower = _stored(runs, texts)
    found = []
    for run in runs:
        key = (run.model_key, run.protocol)
        asked = asked_of(members[run.release_id].record, keyed_by(run))
        scores, sign, ties = stored.get(key, {}), -1.0 if key in lower else 1.0, PROTOCOLS[run.protocol].ties
        main = _answer(values_of(scores, asked.main_key, asked.main), sign, ties)
        pair = values_of(scores, asked.proficiency_key, asked.proficiency)
        found.append(ItemScore(run, main, _answer(pair, sign, ties)))
    return found


def _stored(runs: Sequence[Run], texts: set[str]) -> tuple[dict[tuple[str, str], StoredScores], set[tuple[str, str]]]:
    """Scores of the texts by (model, protocol), and which of those give lower values to better texts. One query."""
    rows = Score.objects.filter(
        model_key__in={run.model_key for run in runs}, text_sha256__in={text_key(text) for text in texts}
    )
    found: dict[tuple[str, str], StoredScores] = {}
    lower: set[tuple[str, str]] = set()
    for score in rows:
        key = (score.model_key, score.protocol)
        found.setdefault(key, {})[score.clip_key, score.text_sha256] = score.value
        if not score.higher_is_better:
            lower.add(key)
    return found, lower


def _answer(values: list[float] | None, sign: float, ties: str) -> Answer:
    if not values:
        return Answer(None, None)
    credit = hit(standing(sign * np.array([values], dtype=np.float64)), ties)
    return Answer(values, float(credit[0]))
