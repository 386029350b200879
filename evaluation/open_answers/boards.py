"""Rank the open answers of a release by metric, with the judge's agreement with people and its cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef, Subquery

from evaluation.analyses.agreement_data import alpha, percent_agreement
from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.metrics.open_answers import JUDGE, VERSION, OpenAnswers, agreement_counts, compute
from evaluation.open_answers.models import AnswerJudgement, JudgeUsage, OpenAnswer, OpenAnswerSet
from foilworks.core.corpus.models import Release
from foilworks.core.projects.models import User

SAMPLE = 50
Verdict = OpenAnswer.Verdict
SAID = {Verdict.RIGHT: 1.0, Verdict.WRONG: 0.0}


@dataclass(frozen=True)
class OpenRow:
    """One model under one metric: a group of `metrics.open_answers`; `agreement` and `usage` of its judge."""

    answer_set: OpenAnswerSet
    group: dict[str, Any]
    agreement: dict[str, Any] | None = None
    usage: JudgeUsage | None = None


def open_board(release: Release) -> dict[str, list[OpenRow]]:
    """Return metric -> its rows, the best value first; {} without answers. One query, and one per model once cached."""
    has_answers = Exists(OpenAnswer.objects.filter(answer_set=OuterRef("pk")))
    judgements = AnswerJudgement.objects.filter(answer__answer_set=OuterRef("pk")).order_by()
    sets = OpenAnswerSet.objects.filter(has_answers, release=release).annotate(
        last_judgement=Subquery(judgements.order_by("-judged_at").values("judged_at")[:1])
    )
    board: dict[str, list[OpenRow]] = {}
    for answer_set in sets.select_related("job", "usage", "release__project"):
        found = _cached(answer_set)
        for group in found["groups"]:
            row = OpenRow(answer_set, group)
            if group["metric"] == JUDGE:
                row = OpenRow(answer_set, group, found["agreement"], getattr(answer_set, "usage", None))
            board.setdefault(group["metric"], []).append(row)
    for rows in board.values():
        rows.sort(key=lambda row: -(row.group["value"] if row.group["value"] is not None else -1.0))
    return board


def _cached(answer_set: OpenAnswerSet) -> dict[str, Any]:
    """Return the results of a set with the agreement of its judge; computed again after each verdict of a person."""

    def make() -> dict[str, Any]:
        agreement = agreement_of(answer_set) if answer_set.judge else None
        return {**results_of(answer_set), "agreement": agreement}

    if answer_set.judge and answer_set.judged_at is None:
        # Verdicts still arrive.
        return make()
    times = [at and at.timestamp() for at in (answer_set.judged_at, vars(answer_set)["last_judgement"])]
    fingerprint = digest([VERSION, answer_set.sha256, answer_set.judge, times])
    return cached_by_fingerprint(answer_set.release.project, "open", str(answer_set.pk), fingerprint, make)


def results_of(answer_set: OpenAnswerSet) -> dict[str, Any]:
    """Return `metrics.open_answers` of a set."""
    rows = list(OpenAnswer.objects.filter(answer_set=answer_set).order_by("pk"))
    judged = np.array([SAID.get(Verdict(row.verdict), np.nan) for row in rows])
    return compute(
        OpenAnswers(
            [row.key for row in rows],
            [row.text for row in rows],
            [row.reference for row in rows],
            [row.kind for row in rows],
            [row.cluster for row in rows],
            judged if answer_set.judge else np.empty(0),
        )
    )


def agreement_of(answer_set: OpenAnswerSet) -> dict[str, Any]:
    """Return how the judge agrees with the majority of people on the answers that both judged.

    `alpha` with its interval, or None with a `reason`; `agreement`: share of equal verdicts; `n` answers, `people`.
    """
    rows = AnswerJudgement.objects.filter(answer__answer_set=answer_set)
    people: dict[str, list[bool]] = {}
    persons = set()
    for answer, person, is_right in rows.values_list("answer_id", "person_id", "is_right"):
        people.setdefault(str(answer), []).append(is_right)
        persons.add(person)
    verdicts = OpenAnswer.objects.filter(answer_set=answer_set, verdict__in=list(SAID)).values_list("pk", "verdict")
    judge = {str(pk): verdict == Verdict.RIGHT for pk, verdict in verdicts}
    counts = agreement_counts(judge, people)
    found = alpha(counts)
    return {
        "n": len(counts),
        "people": len(persons),
        "alpha": found.value,
        "ci": found.interval,
        "reason": found.reason,
        "agreement": percent_agreement(counts),
    }


def sample_of(answer_set: OpenAnswerSet, person: User | None = None, n: int = SAMPLE) -> Sequence[OpenAnswer]:
    """Return the sampled answers that have a verdict of the judge, in one order for all people; without those that the
    person has judged."""
    rows = list(OpenAnswer.objects.filter(answer_set=answer_set, verdict__in=list(SAID)))
    rows.sort(key=lambda row: sha256(f"{answer_set.sha256} {row.key}".encode()).digest())
    if person is None:
        return rows[:n]
    judged = AnswerJudgement.objects.filter(answer__answer_set=answer_set, person=person)
    own = set(judged.values_list("answer_id", flat=True))
    return [row for row in rows[:n] if row.pk not in own]


def as_json(board: dict[str, list[OpenRow]]) -> list[dict[str, Any]]:
    """Return the rows for files, commands and the API; every row names its metric."""
    return [
        {
            "set": row.answer_set.pk,
            "model": row.answer_set.label,
            **row.group,
            **({"judge": row.answer_set.judge_key or row.answer_set.judge} if row.agreement is not None else {}),
            **({"agreement": row.agreement} if row.agreement is not None else {}),
            **({"judge_cost": _spent(row.usage)} if row.usage is not None else {}),
        }
        for rows in board.values()
        for row in rows
    ]


def _spent(usage: JudgeUsage) -> dict[str, Any]:
    names = ("requests", "prompt_tokens", "completion_tokens", "cost", "currency")
    return {name: getattr(usage, name) for name in names}
