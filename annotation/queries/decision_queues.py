"""Decisions beside the work queues: disputed items, captions in doubt, and their pages."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Choice, Guideline, Involvement, Stage, Vote, VoteState
from annotation.rules.choosing import chosen_text
from annotation.rules.voting import caption_in_doubt
from foilworks.core.corpus.models import Caption, Foil, Item
from foilworks.core.corpus.rules.hard_foils import RANDOM, Candidates, stated_roles
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
from foilworks.core.projects.access import roles_in
from foilworks.core.projects.models import LeakageScope, Project, Role, User
from foilworks.core.projects.pseudonyms import pseudonym
from foilworks.core.text.diff import diff_segments

ADJUDICATORS = frozenset({Role.RESEARCHER, Role.REVIEWER})
_BARRING = (Involvement.Kind.MADE, Involvement.Kind.REVIEWED, Involvement.Kind.JUDGED)
LIVE = (ItemState.IN_VALIDATION, ItemState.VALID, ItemState.INVALID, ItemState.DISPUTED)


def disputed_items(project: Project) -> QuerySet[Item]:
    """Return the project's disputed items, the longest waiting first."""
    return Item.objects.filter(subtest__project=project, state=ItemState.DISPUTED).order_by("decided_at", "pk")


def adjudicable(person: User, project: Project) -> QuerySet[Item]:
    """Return disputed items in which the person is not involved: annotation.rules.adjudication as a query."""
    hands = Involvement.objects.filter(person=person, kind__in=_BARRING, video=OuterRef("video"))
    if project.leakage_scope == LeakageScope.VIDEO:
        return disputed_items(project).exclude(Exists(hands))
    same = Q(Exists(hands.filter(group=OuterRef("candidate_group__id"))))
    imported = Q(candidate_group=None) & Q(Exists(hands.filter(group=None)))
    return disputed_items(project).exclude(same | imported)


def captions_in_doubt(project: Project) -> QuerySet[Caption]:
    """Return undecided captions that most validators of an item did not see in the video, oldest first."""
    return Caption.objects.filter(video__project=project, flagged_false=True, doubt_settled="").order_by("pk")


@dataclass(frozen=True)
class AnswerCount:
    """One answer: how many gave it and who, under pseudonyms ("" for votes from a file)."""

    choice: str
    label: str
    who: list[str]


@dataclass(frozen=True)
class JudgedPair:
    """A caption-foil pair with its counted votes, in the order of the form. `foil` None: votes on the item.

    `is_choice`: the votes are about all foils at once; `chosen_by`: who chose this one. `role`: from
    `foilworks.core.corpus.rules.hard_foils`.
    """

    foil: Foil | None
    segments: list[tuple[str, str]]
    is_open: bool
    ballots: list[AnswerCount]
    role: str = ""
    is_choice: bool = False
    chosen_by: Sequence[str] = ()


def judged_pairs(project: Project, item: Item) -> list[JudgedPair]:
    """Return the item's pairs with their votes, those about the whole item last. Two queries."""
    votes: dict[int | None, dict[str, list[str]]] = {}
    chosen: dict[int, list[str]] = {}
    counted = Vote.objects.filter(item=item, stage=Stage.VALIDATION, state=VoteState.COUNTED).order_by("pk")
    columns = ("foil", "choice", "person", "order_shown", "chosen_place")
    for foil, choice, person, order, place in counted.values_list(*columns):
        who = pseudonym(project, person) if person else ""
        votes.setdefault(None if order else foil, {}).setdefault(choice, []).append(who)
        if order and (text := chosen_text(order, place)):
            chosen.setdefault(text, []).append(who)
    caption, foils = item.caption.text, list(Foil.objects.filter(item=item).order_by("position"))
    pairs = [
        JudgedPair(
            foil,
            segments_of(caption, foil.text, role),
            foil.verdict == FoilVerdict.DISPUTED,
            _ballots(votes.get(foil.pk, {})),
            role,
            None in votes and foil.pk not in votes,
            chosen.get(foil.pk, ()),
        )
        for foil, role in zip(foils, roles_of(item, foils), strict=True)
    ]
    if None in votes:
        pairs.append(JudgedPair(None, [], item.state == ItemState.DISPUTED, _ballots(votes[None])))
    return pairs


def roles_of(item: Item, foils: Sequence[Foil]) -> list[str]:
    """Return the role of each foil of the item, as far as the item states it."""
    texts = tuple(foil.text for foil in foils)
    return stated_roles(Candidates("", item.caption.text, texts, item.extra or {}, item.known_facts))


def segments_of(caption: str, foil: str, role: str) -> list[tuple[str, str]]:
    """Return the foil with its changes marked; the caption of another video is not a change."""
    return [("same", foil)] if role == RANDOM else diff_segments(caption, foil)


def _ballots(given: dict[str, list[str]]) -> list[AnswerCount]:
    return [AnswerCount(choice, label, given[choice]) for choice, label in Choice.choices if choice in given]


@dataclass(frozen=True)
class DoubtedItem:
    """An item of the caption with its votes; `speaks`: its validators doubt the caption."""

    item: Item
    pairs: list[JudgedPair]
    speaks: bool


@dataclass(frozen=True)
class Doubt:
    """Everything that depends on a doubted caption.

    `foils`: those of its live items; `n_other_items`: the video's other live items.
    """

    caption: Caption
    items: list[DoubtedItem]
    foils: list[Foil]
    n_under_way: int
    n_other_items: int
    seen_at: datetime | None = None
    previous: list[Caption] = field(default_factory=list)


def doubt_about(project: Project, caption: Caption) -> Doubt:
    """Return the data of the repair page; a few queries for each item of the caption."""
    live = Item.objects.filter(caption=caption, state__in=LIVE)
    items = list(live.select_related("subtest", "caption").order_by("pk"))
    doubted = []
    for item in items:
        pairs = judged_pairs(project, item)
        counts = Counter({b.choice: 0 for pair in pairs for b in pair.ballots})
        for pair in pairs:
            counts.update({ballots.choice: len(ballots.who) for ballots in pair.ballots})
        decided = item.state != ItemState.IN_VALIDATION
        doubted.append(DoubtedItem(item, pairs, decided and caption_in_doubt(counts)))
    under_way = caption.candidate_groups.filter(item=None).exclude(candidates=None)
    others = Item.objects.filter(video=caption.video_id, state__in=LIVE).exclude(caption=caption)
    return Doubt(
        caption=caption,
        items=doubted,
        foils=[pair.foil for one in doubted for pair in one.pairs if pair.foil],
        n_under_way=under_way.distinct().count(),
        n_other_items=others.count(),
        seen_at=max((item.decided_at for item in items if item.decided_at), default=None),
        previous=_revisions_before(caption),
    )


def _revisions_before(caption: Caption) -> list[Caption]:
    found: list[Caption] = []
    link = caption
    while link.revises_id is not None and len(found) < 50:
        link = Caption.objects.get(pk=link.revises_id)
        found.append(link)
    return found


@dataclass(frozen=True)
class DecisionQueue:
    """Decisions that wait: `waiting` for this person, `barred` because the person is involved."""

    slug: str
    waiting: int
    barred: int = 0


def desks_of(person: User, project: Project) -> list[DecisionQueue]:
    """Return the decision queues of the person's roles that are not empty. At most three queries."""
    roles, desks = roles_in(person, project), []
    if roles & ADJUDICATORS:
        waiting, everything = adjudicable(person, project).count(), disputed_items(project).count()
        desks.append(DecisionQueue("adjudication", waiting, everything - waiting))
    if Role.RESEARCHER in roles:
        desks.append(DecisionQueue("repair", captions_in_doubt(project).count()))
    return [desk for desk in desks if desk.waiting or desk.barred]


def guideline_of(project: Project, stage: str, subtest_id: int) -> Guideline | None:
    """Return the stage's current guidelines: the subtest's own, else the general one. One query."""
    rows = Guideline.objects.filter(Q(subtest=subtest_id) | Q(subtest=None), project=project, stage=stage)
    found = sorted(rows, key=lambda row: (row.subtest_id is not None, row.version))
    return found[-1] if found else None
