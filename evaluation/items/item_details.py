"""Load what the page of one item shows: foils with origin and votes, scores of models, possible moves."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.actions.decisions.items import adjudicate, requeue, restore, retract
from annotation.models import Choice, Stage, Vote, VoteState
from annotation.queries.decision_queues import roles_of, segments_of
from annotation.rules.choosing import chosen_text
from evaluation.metrics.ties import hit, standing
from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.models import Run, Score
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.queries import StoredScores, item_texts_of, keyed_by, texts_of, values_of
from foilworks.core.corpus.models import Foil, Item, ReleaseItem
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.pseudonyms import pseudonym
from generation.models import Candidate


@dataclass(frozen=True)
class ShownVote:
    """A vote as researchers see it: under a pseudonym, "" for one from a file.

    `excluded_state`: why it does not count.
    """

    who: str
    at: datetime
    caption_first: bool | None
    excluded_state: str


@dataclass
class Pair:
    """A foil with its earlier texts, newest first, and its votes by choice in the order of the form.

    `role`: from `foilworks.core.corpus.rules.hard_foils`. `is_choice`: the votes are about all foils at once;
    `chosen_by`: who chose this one.
    """

    foil: Foil | None
    segments: list[tuple[str, str]]
    chain: list[Candidate]
    votes: list[tuple[str, list[ShownVote]]] = field(default_factory=list)
    role: str = ""
    is_choice: bool = False
    chosen_by: Sequence[str] = ()


def other_clips(items: Sequence[Item]) -> dict[int, Item]:
    """Return the item of the other clip, by item, of those that are half of a pair. No query without such items."""
    paired = {(item.subtest_id, item.pair): item for item in items if item.pair}
    if not paired:
        return {}
    subtests, names = {key[0] for key in paired}, {key[1] for key in paired}
    rows = Item.objects.filter(subtest__in=subtests, pair__gt="", pair__in=names)
    at: dict[tuple[int, str], list[Item]] = defaultdict(list)
    for row in rows.select_related("video"):
        at[row.subtest_id, row.pair].append(row)
    clip_by_item = {
        item.pk: next((row for row in at[item.subtest_id, item.pair] if row.pk != item.pk), None)
        for item in items
        if item.pair
    }
    return {pk: other_item for pk, other_item in clip_by_item.items() if other_item is not None}


def candidates_of(item: Item) -> list[Candidate]:
    """Return the candidates that became the item's foils, with all their earlier versions; one query."""
    groups = Candidate.objects.filter(foil__item=item).values("group")
    candidates_of_groups = Candidate.objects.filter(group__in=groups).select_related("author", "foil", "group__run")
    rows = {row.pk: row for row in candidates_of_groups}
    versions = {}
    for candidate in rows.values():
        if candidate.foil is None or candidate.foil.item_id != item.pk:
            continue
        link: Candidate | None = candidate
        while link is not None:
            versions[link.pk] = link
            link = rows.get(link.parent_id)
    return sorted(versions.values(), key=lambda candidate: candidate.pk)


def pairs_of(project: Project, item: Item, candidates: list[Candidate]) -> list[Pair]:
    """Return one pair per foil; votes of files that name no foil come last, without a foil. Two queries."""
    by_pk = {candidate.pk: candidate for candidate in candidates}
    by_foil = {candidate.foil_id: candidate for candidate in candidates if candidate.foil_id}
    votes, choosers = _votes(project, item)
    is_choice = None in votes
    foils = list(item.foils.all())
    pairs = [
        Pair(
            foil,
            segments_of(item.caption.text, foil.text, role),
            _chain(by_foil.get(foil.pk), by_pk),
            votes.pop(foil.pk, []),
            role,
            is_choice,
            choosers.get(foil.pk, ()),
        )
        for foil, role in zip(foils, roles_of(item, foils), strict=True)
    ]
    return [*pairs, *(Pair(None, [], [], votes_by_choice) for votes_by_choice in votes.values())]


JUDGED = {
    ItemState.VALID: _("Valid: %(n)s of %(total)s votes chose only the caption."),
    ItemState.INVALID: _("Invalid: %(n)s of %(total)s votes chose only the caption."),
    ItemState.DISPUTED: _("Disputed: %(n)s of %(total)s votes chose only the caption, so no answer has a majority."),
}


def verdict_of(item: Item, pairs: Sequence[Pair]) -> str:
    """Return why a judged item has its state, from the counted votes on a foil with its verdict; "" without any."""
    if item.state not in JUDGED:
        return ""
    for pair in [pair for pair in pairs if pair.foil and pair.foil.verdict == item.state] or pairs:
        counts = {label: sum(not vote.excluded_state for vote in votes) for label, votes in pair.votes}
        if total := sum(counts.values()):
            words = JUDGED[ItemState(item.state)] % {"n": counts.pop(Choice.CAPTION.label, 0), "total": total}
            others = ", ".join(f"{label} ({n})" for label, n in counts.items() if n)
            return f"{words} {gettext('Other answers: %s.') % others}" if others else str(words)
    return ""


def _chain(candidate: Candidate | None, by_pk: dict[int, Candidate]) -> list[Candidate]:
    versions = []
    while candidate is not None:
        versions.append(candidate)
        candidate = by_pk.get(candidate.parent_id)
    return versions


def _votes(
    project: Project, item: Item
) -> tuple[dict[int | None, list[tuple[str, list[ShownVote]]]], dict[int, list[str]]]:
    """Return the votes by foil, None for those about the whole item, and who chose each foil of several texts."""
    choosers: dict[int, list[str]] = defaultdict(list)
    by_foil: dict[int | None, dict[str, list[ShownVote]]] = defaultdict(lambda: defaultdict(list))
    for vote in Vote.objects.filter(item=item).exclude(state=VoteState.UNDONE).order_by("created_at", "pk"):
        pseudonym_of_vote = pseudonym(project, vote.person_id) if vote.person_id else ""
        excluded_state = "" if vote.state == VoteState.COUNTED else vote.state
        is_several = vote.stage == Stage.VALIDATION and bool(vote.order_shown)
        first = None if is_several else vote.caption_first
        foil_id = None if is_several else vote.foil_id
        by_foil[foil_id][vote.choice].append(ShownVote(pseudonym_of_vote, vote.created_at, first, excluded_state))
        if is_several and not excluded_state and (text := chosen_text(vote.order_shown, vote.chosen_place)):
            choosers[text].append(pseudonym_of_vote)
    votes_by_foil = {
        foil: [(label, votes_by_choice[choice]) for choice, label in Choice.choices if choice in votes_by_choice]
        for foil, votes_by_choice in by_foil.items()
    }
    return votes_by_foil, choosers


@dataclass(frozen=True)
class Open:
    """A move that a researcher may make now. `danger`: it retracts the item."""

    slug: str
    label: str | Promise
    danger: bool = False


_RETRACT = Open("retract", _("Retract item"), danger=True)
MOVES: dict[str, tuple[Open, ...]] = {
    ItemState.IN_VALIDATION: (_RETRACT,),
    ItemState.DISPUTED: (
        Open("valid", _("Decide as valid")),
        Open("invalid", _("Decide as invalid"), danger=True),
    ),
    ItemState.INVALID: (Open("requeue", _("Return foils to editing")),),
    ItemState.VALID: (_RETRACT,),
    ItemState.RETRACTED: (Open("restore", _("Restore item")),),
}
# The moves of a selection: of items in which state each may be made, as MOVES says.
BULK: tuple[tuple[Open, str], ...] = tuple((move, state) for state, moves in MOVES.items() for move in moves)
ABOUT: dict[str, str | Promise] = {
    ItemState.DISPUTED: _(
        "All votes are in, and no answer has a majority. Decide whether the item is valid. The votes stay as they are."
    ),
    ItemState.INVALID: _(
        "You can return the foils to editing. Annotators then edit those that failed; valid foils stay "
        "accepted. This item remains as a record of its votes."
    ),
    ItemState.IN_VALIDATION: _("You can retract the item: its open tasks end, its votes stay. You can restore it."),
    ItemState.RETRACTED: _("You can restore the item. It returns to the state in which it was retracted."),
    ItemState.VALID: _("You can retract the item. Future releases leave it out; existing releases do not change."),
}
WRITES: dict[str, Callable[[User, int, str], Item]] = {
    "valid": lambda person, pk, reason: adjudicate(person, pk, ItemState.VALID, reason),
    "invalid": lambda person, pk, reason: adjudicate(person, pk, ItemState.INVALID, reason),
    "requeue": lambda person, pk, reason: requeue(person, pk, reason),
    "retract": lambda person, pk, reason: retract(person, pk, reason),
    "restore": lambda person, pk, reason: restore(person, pk, reason),
}


@dataclass(frozen=True)
class Answer:
    """A model's raw scores of the texts, caption first; None if it scored none. `credit` in 0..1."""

    values: list[float] | None
    credit: float | None


@dataclass(frozen=True)
class ItemScore:
    run: Run
    main: Answer
    proficiency: Answer


def scores_of(item: Item) -> list[ItemScore]:
    """Return one row per run on each release that has the item, latest release first."""
    members = {member.release_id: member for member in ReleaseItem.objects.filter(item=item)}
    rows = Run.objects.filter(release__in=members).exclude(model_key="").select_related("release")
    runs = list(rows.order_by("-release_id", "label", "-pk"))
    texts = {text for member in members.values() for text in texts_of(member.record)}
    stored_by_model, lower = _stored_scores(runs, texts)
    scores_by_run = []
    for run in runs:
        key = (run.model_key, run.protocol)
        questions = item_texts_of(members[run.release_id].record, keyed_by(run))
        scores, sign, ties = stored_by_model.get(key, {}), -1.0 if key in lower else 1.0, PROTOCOLS[run.protocol].ties
        main = _answer(values_of(scores, questions.main_key, questions.main), sign, ties)
        pair = values_of(scores, questions.proficiency_key, questions.proficiency)
        scores_by_run.append(ItemScore(run, main, _answer(pair, sign, ties)))
    return scores_by_run


def _stored_scores(
    runs: Sequence[Run], texts: set[str]
) -> tuple[dict[tuple[str, str], StoredScores], set[tuple[str, str]]]:
    """Return scores of the texts by (model, protocol), and which of those are better if lower. One query."""
    rows = Score.objects.filter(
        model_key__in={run.model_key for run in runs}, text_sha256__in={text_key(text) for text in texts}
    )
    scores_by_model: dict[tuple[str, str], StoredScores] = {}
    lower: set[tuple[str, str]] = set()
    for score in rows:
        key = (score.model_key, score.protocol)
        scores_by_model.setdefault(key, {})[score.clip_key, score.text_sha256] = score.value
        if not score.higher_is_better:
            lower.add(key)
    return scores_by_model, lower


def _answer(values: list[float] | None, sign: float, ties: str) -> Answer:
    if not values:
        return Answer(None, None)
    credit = hit(standing(sign * np.array([values], dtype=np.float64)), ties)
    return Answer(values, float(credit[0]))
