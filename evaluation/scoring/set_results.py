"""Score the items of a release that count in sets: pair and instance accuracy, Video-MME-v2's groups, on any run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.metrics import sets
from evaluation.score_files.set_answers import SetAnswer, incomplete_sets, set_answers
from evaluation.score_files.set_places import CLIPS_OF_PAIR, SetPlace, place_of
from foilworks.core.corpus.release_records import cluster
from foilworks.core.corpus.rules.two_clips import connected

Record = Mapping[str, Any]
# A column `set` with larger sets is another kind of set, such as a split.
MAX_SIZE = 16


def set_results(
    records: Sequence[Record], credit: Mapping[str, float], unread: set[str], draws: int
) -> dict[str, Any] | None:
    """Return metrics.sets of the items whose fields name a set (`score_files.set_places`); None without any.

    `credit`: of the scored items by id; 1 is right. `unread`: items whose answer cannot be read, which count as wrong
    with a bound. `incomplete`: sets without all of their items or scores; they are left out.
    """
    members: dict[tuple[str, str], list[tuple[Record, SetPlace]]] = {}
    for record in records:
        if place := _place(record):
            members.setdefault((record["subtest"], place.set), []).append((record, place))
    answers: list[SetAnswer] = []
    incomplete = 0
    for (subtest, _name), rows in members.items():
        if len(rows) > MAX_SIZE or not _is_set(rows):
            continue
        own = [_answer(record, place, subtest, credit) for record, place in rows]
        if incomplete_sets(own) or any(row.id not in credit and row.id not in unread for row in own):
            incomplete += 1
        else:
            answers += own
    if not answers:
        return None
    firsts = {answer.place.set: answer.cluster for answer in reversed(answers)}
    roots = connected((firsts[answer.place.set], answer.cluster) for answer in answers)
    answers = [replace(answer, cluster=root) for answer, root in zip(answers, roots, strict=True)]
    return {**sets.compute(set_answers(answers, ""), draws=draws), "incomplete": incomplete}


def _place(record: Record) -> SetPlace | None:
    names = {"video_id": record["video"]["source_id"], "question_id": record["id"].rpartition(":")[2]}
    try:
        place = place_of({**names, **record["extra"], **record.get("facts", {})})
    except EvaluationError:
        # Fields of another meaning.
        return None
    return place


def _is_set(rows: Sequence[tuple[Record, SetPlace]]) -> bool:
    """Report whether items belong together. Two clips of MVP have one question, with the other answer on each."""
    if rows[0][1].size != CLIPS_OF_PAIR:
        return len(rows) > 1
    texts = [(record["caption"], *record["foils"]) for record, _place in rows]
    return len({frozenset(own) for own in texts}) == 1 and len({own[0] for own in texts}) == len(rows)


def _answer(record: Record, place: SetPlace, subtest: str, credit: Mapping[str, float]) -> SetAnswer:
    right = credit[record["id"]] == 1 if record["id"] in credit else None
    place = replace(place, set=f"{subtest}:{place.set}")
    return SetAnswer(record["id"], place, right, 1 + len(record["foils"]), subtest, cluster(record["video"]))
