"""Check whether the project has enough people, by role and per pair. A fixed number of queries."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from typing import Any, NamedTuple

from django.db.models import Count, F, Q
from django.utils import timezone

from annotation.actions.claims.claim import ROLE_OF_STAGE
from annotation.actions.workflow.make_tasks import items_without_tasks
from annotation.actions.workflow.task_slots import judged_at_once
from annotation.models import (
    DeclinedVideo,
    GoldPair,
    Involvement,
    Lease,
    QualityPolicy,
    Question,
    SlotState,
    Stage,
    Task,
    TaskState,
    Use,
)
from annotation.queries.assignments import quotas_left
from annotation.queries.eligibility import leakage_of, may_take_any, slots_in_scope
from annotation.queries.quality import barred_from_judging
from annotation.queries.work_rules import changeable, reviews_per_foil
from foilworks.core.corpus.models import WATCHABLE, Foil, Subtest
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
from foilworks.core.projects.models import (
    CrowdPlace,
    CrowdStudy,
    LeakageScope,
    Membership,
    PlaceState,
    Project,
    Role,
    User,
)

Roles = frozenset[str]


NOBODY: Roles = frozenset()


def missing_people(team: Iterable[Collection[str]], *, edits: bool, reviews: int, judges: int) -> dict[str, int]:
    """Return role -> the minimum number of people missing; roles that lack nobody are left out.

    `team`: the roles of each member; `reviews`, `judges`: people per foil. People who wrote or reviewed a foil never
    judge it, and nobody reviews their own foils. So of two people with all roles, who share the work as well as they
    can, none can judge.
    """
    members = Counter(frozenset(roles) for roles in team)
    writers = [roles for roles in members if Role.ANNOTATOR in roles] if edits else []
    reviewers = [roles for roles in members if Role.REVIEWER in roles]
    options: list[dict[str, int]] = []
    for writer, *picked in product([*writers, NOBODY], *[[*reviewers, NOBODY]] * reviews):
        busy = Counter(roles for roles in (writer, *picked) if roles)
        if any(members[roles] < n for roles, n in busy.items()):
            continue
        n_judges = sum(n - busy[roles] for roles, n in members.items() if Role.VALIDATOR in roles)
        lacking = {
            Role.ANNOTATOR.value: int(edits and not writer),
            Role.REVIEWER.value: picked.count(NOBODY),
            Role.VALIDATOR.value: max(0, judges - n_judges),
        }
        options.append({role: n for role, n in lacking.items() if n})
    return min(options, key=lambda lacking: sum(lacking.values()))


HANDS = (Involvement.Kind.MADE, Involvement.Kind.REVIEWED, Involvement.Kind.SETTLED)
USUAL_JUDGES = Subtest._meta.get_field("votes_wanted").default


def staffing(
    project: Project,
    funnel: Mapping[str, int],
    subtests: Sequence[Mapping[str, Any]],
    queues: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return as JSON: `missing` people by role; `short`: subtests with pairs that too few people may judge; `blocked`;
    `beyond`.

    `funnel`, `subtests`, `queues`: as counted. `blocked`: stages with open tasks of which no member may take one.
    `beyond`: stage -> open tasks that the quotas leave at least. Each free place of an open crowd study counts as a
    person.
    """
    team, n_barred = _team(project)
    free_places = _free_places(project)
    crowd = Counter(role for role, _stage, _n_tasks in free_places.elements())
    left = _tasks_of_places(project)
    left |= {(stage, person): n for (_pk, stage, person), n in quotas_left([project]).items()}
    done = {person for (stage, person), n in left.items() if stage == Stage.VALIDATION and not n}
    validators = {person for person, roles in team.items() if Role.VALIDATOR in roles} - done
    short_rows = short_subtests(project, validators, crowd[Role.VALIDATOR])
    idle = [row["stage"] for row in queues if row["open"] and not row["leased"] and row["stage"] in ROLE_OF_STAGE]
    blocked = blocked_stages(project, team, crowd, idle, left)
    beyond = _beyond_quotas(project, team, queues, left, free_places)
    n_open = sum(row["open"] + row["leased"] for row in queues)
    open_rules = changeable(Subtest.objects.filter(project=project, name__in=[row["name"] for row in short_rows]))
    may_change = set(open_rules.values_list("name", flat=True)) if short_rows else set()
    done_row = {"done": len(done)} if done else {}
    short = [row | {"kept": n_barred, "changeable": row["name"] in may_change} | done_row for row in short_rows]
    n_waiting = sum(row["n_waiting"] for row in subtests)
    if funnel["valid"] and not (n_waiting or n_open):
        return {"missing": {}, "short": short, "blocked": blocked, "beyond": beyond}
    makes = bool(funnel["captions_used"] or not funnel["items"])
    judges = max((row["votes_wanted"] for row in subtests), default=USUAL_JUDGES)
    lacking = missing_people(
        [*team.values(), *({role} for role in crowd.elements())],
        edits=makes and project.edit_stage,
        reviews=_reviews_per_foil(project, queues) if makes else 0,
        judges=judges if makes or n_waiting else 0,
    )
    worst = max((row["lack"] for row in short), default=0)
    if worst > lacking.get(Role.VALIDATOR, 0):
        lacking[Role.VALIDATOR.value] = worst
    for role in (ROLE_OF_STAGE[Stage(stage)] for stage in blocked if stage != Stage.VALIDATION):
        lacking[role.value] = max(1, lacking.get(role.value, 0))
    return {"missing": lacking, "short": short, "blocked": blocked, "beyond": beyond}


def _free_places(project: Project) -> Counter[tuple[str, str, int]]:
    """Return (role, stage, tasks) -> free places of the project's open crowd studies. One query."""
    n_taken = Count("taken", filter=Q(taken__state__in=(PlaceState.ACTIVE, PlaceState.COMPLETED)))
    studies = CrowdStudy.objects.filter(project=project, is_open=True).annotate(n_taken=n_taken)
    free = Counter[tuple[str, str, int]]()
    columns = ("role", "stage", "pieces", F("places") - F("n_taken"))
    for *kind, n_free in studies.filter(places__gt=F("n_taken")).values_list(*columns):
        free[tuple(kind)] += n_free
    return free


def _tasks_of_places(project: Project) -> dict[tuple[str, int], int]:
    """Return (stage, person) -> tasks of the place that the person has in a crowd study. One query."""
    places = CrowdPlace.objects.filter(study__project=project, state=PlaceState.ACTIVE)
    return {(stage, person): n for stage, person, n in places.values_list("study__stage", "person", "study__pieces")}


def _team(project: Project) -> tuple[dict[int, set[str]], int]:
    """Return member -> roles, without closed accounts, and the number of members who may not judge. Two queries."""
    team: dict[int, set[str]] = defaultdict(set)
    rows = Membership.objects.filter(project=project, person__is_active=True)
    for person, role in rows.values_list("person", "role"):
        team[person].add(role)
    barred = {person for person in barred_from_judging(project) & team.keys() if Role.VALIDATOR in team[person]}
    for person in barred:
        team[person].discard(Role.VALIDATOR)
    return team, len(barred)


def short_subtests(project: Project, validators: set[int], n_strangers: int = 0) -> list[dict[str, Any]]:
    """Return subtests with open pairs whose slots may not all be filled, in some order of claims.

    `n_strangers`: people who will join the validators, and know no clip yet.

    `name`, `wanted` and the lowest number who `can`, how many `pairs`, the largest `lack`, the people that `hands`
    exclude there, and `once` if other pairs share its people. Pairs whose slots are not created yet count as well. A
    few queries, and one per validator if that could change anything.
    """
    pairs = _open_pairs(project)
    barred, rivals = _barred(project, validators), _rivals(pairs, caption_once=project.judge_caption_once)
    per_item = project.leakage_scope == LeakageScope.ITEM
    excluded = {pk: barred.get((row.video, row.group if per_item else None), set()) for pk, row in pairs.items()}
    needed = {pk: sum(pairs[other].votes for other in rivals[pk]) for pk in pairs}
    begun = _begun(project, validators)
    touched = {
        pk: excluded[pk] | begun.get(row.video, set()) | begun.get((row.subtest, row.name), set())
        for pk, row in pairs.items()
    }
    doubtful = {pk for pk in pairs if needed[pk] > n_strangers + len(validators) - len(touched[pk])}
    is_later = any(not pairs[pk].is_task for pk in doubtful)
    barred_later = _barred_later(project, validators) if is_later else {}
    claimable = {}
    if any(pairs[pk].is_task for pk in doubtful):
        claimable = {person: _claimable(project, person) for person in validators}
    eligible = {}
    for pk in doubtful:
        row, texts = pairs[pk], (pairs[pk].texts if project.judge_caption_once else ())
        if row.is_task:
            eligible[pk] = {person for person in validators if pk in claimable[person]}
        else:
            barred = (barred_later.get((row.video, text), set()) for text in (None, *texts))
            eligible[pk] = validators - excluded[pk].union(*barred)
    rows: dict[str, dict[str, Any]] = {}
    for pk in sorted(doubtful):
        pair, lack = pairs[pk], needed[pk] - len(eligible[pk]) - n_strangers
        if lack > 0:
            first = {"name": pair.subtest, "wanted": pair.votes_wanted, "pairs": 0, "lack": 0}
            row = rows.setdefault(pair.subtest, first)
            row["pairs"] += 1
            if lack > row["lack"]:
                can, hands = max(0, pair.votes_wanted - lack), len(excluded[pk])
                row |= {"wanted": pair.votes_wanted, "can": can, "lack": lack, "hands": hands}
                row |= {"once": True} if len(rivals[pk]) > 1 else {}
    return list(rows.values())


class OpenPair(NamedTuple):
    """A pair with free slots; `votes`: how many, `is_task`: whether they exist yet."""

    item: int
    video: int
    group: int | None
    subtest: str
    votes_wanted: int
    texts: tuple[str, str]
    name: str
    votes: int
    is_task: bool


def _open_pairs(project: Project) -> dict[int, OpenPair]:
    """Return the pairs that need votes, with watchable clips. Three queries.

    Of an item whose foils one judgement covers, only one pair.
    """
    tasks = Task.objects.filter(project=project, stage=Stage.VALIDATION).exclude(state=TaskState.CANCELLED)
    n_free = Count("slots", filter=Q(slots__state=SlotState.FREE))
    free, several = dict[int, int](), dict[int, int]()
    for foil, item, at_once, n in tasks.annotate(n=n_free).values_list("foil", "item", "foils_asked", "n").iterator():
        free[foil] = n
        if at_once is not None:
            several[item] = foil
    at_once_later = judged_at_once(items_without_tasks(project))
    waits = {"item__state": ItemState.IN_VALIDATION, "verdict": FoilVerdict.PENDING}
    foils = Foil.objects.filter(item__subtest__project=project, item__video__media_state__in=WATCHABLE, **waits)
    columns = ("pk", "item", "item__video", "item__candidate_group", "item__subtest__name")
    columns += ("item__subtest__votes_wanted", "item__caption__text_sha256", "text_sha256", "item__pair")
    pairs = {}
    for pk, item, *facts, caption, text, name in foils.order_by("pk").values_list(*columns).iterator():
        if item in at_once_later:
            several.setdefault(item, pk)
        votes = free.get(pk, facts[-1])
        if votes and several.get(item, pk) == pk:
            pairs[pk] = OpenPair(item, *facts, (caption, text), name, votes, pk in free)
    return pairs


def _rivals(pairs: Mapping[int, OpenPair], *, caption_once: bool) -> dict[int, set[int]]:
    """Return, with each pair itself, the pairs of which a person may judge only one.

    Those of an item; if a sentence is seen once, those that share a sentence of a clip, or the two clips of an item.
    """
    alike: dict[tuple, set[int]] = defaultdict(set)
    keys = {}
    for pk, pair in pairs.items():
        keys[pk] = [("item", pair.item)]
        if caption_once:
            keys[pk] += [(pair.video, text) for text in pair.texts]
            keys[pk] += [(pair.subtest, pair.name)] if pair.name else []
        for key in keys[pk]:
            alike[key].add(pk)
    return {pk: set().union(*(alike[key] for key in keys[pk])) for pk in pairs}


def _claimable(project: Project, person: int) -> set[int]:
    """Return the pairs with a slot that the person may take, by the query of the queues. Reservations end, so none."""
    slots = slots_in_scope(
        leakage_of(project), Stage.VALIDATION, person=person, project=project.pk, now=datetime.max.replace(tzinfo=UTC)
    )
    return set(slots.order_by().values_list("task__foil", flat=True).distinct())


def _begun(project: Project, validators: set[int]) -> dict[int | tuple[str, str], set[int]]:
    """Return clip -> validators who were shown it, declined it, or know it from practice. Four queries.

    Also (subtest, pair) of items of two clips -> validators who were shown one of the clips.
    """
    begun: dict[int | tuple[str, str], set[int]] = defaultdict(set)
    mine = {"person__in": validators}
    leases = Lease.objects.filter(task__project=project, **mine)
    leased = leases.values_list("caption_video", "person")
    of_two_clips = leases.filter(task__item__pair__gt="").order_by().distinct()
    for subtest, pair, person in of_two_clips.values_list("task__item__subtest__name", "task__item__pair", "person"):
        begun[subtest, pair].add(person)
    declined = DeclinedVideo.objects.filter(video__project=project, **mine).values_list("video", "person")
    asked = Question.objects.filter(attempt__person__in=validators, pair__project=project)
    for rows in (leased, declined, asked.values_list("pair__item__video", "attempt__person")):
        for video, person in rows.order_by().distinct().iterator():
            begun[video].add(person)
    return begun


def _reviews_per_foil(project: Project, queues: Sequence[Mapping[str, Any]]) -> int:
    """Return how many reviewers a foil needs by the shares of reviews, at least one while a review is open."""
    is_open = any(row["open"] for row in queues if row["stage"] == Stage.REVIEW)
    return max(int(is_open), reviews_per_foil(project))


def _barred_later(project: Project, validators: set[int]) -> dict[tuple[int, str | None], set[int]]:
    """Return (clip, sentence) -> validators who were shown it, and (clip, None) -> those who declined the clip.

    For pairs without slots, which the query of the queues does not find. Two queries.
    """
    people: dict[tuple[int, str | None], set[int]] = defaultdict(set)
    mine = {"person__in": validators}
    for video, person in DeclinedVideo.objects.filter(video__project=project, **mine).values_list("video", "person"):
        people[video, None].add(person)
    leases = Lease.objects.filter(task__project=project, task__item__isnull=False, **mine).order_by().distinct()
    texts = ("task__item__caption__text_sha256", "task__foil__text_sha256")
    for video, person, *shown in leases.values_list("caption_video", "person", *texts).iterator():
        for text in shown:
            people[video, text].add(person)
    return people


def _beyond_quotas(
    project: Project,
    team: Mapping[int, set[str]],
    queues: Sequence[Mapping[str, Any]],
    left: Mapping[tuple[str, int], int],
    free_places: Counter[tuple[str, str, int]],
) -> dict[str, int]:
    """Return stage -> unfinished tasks that the quotas of its people, and places of crowd studies, leave at least."""
    beyond: dict[str, int] = {}
    for row in queues:
        stage, role = row["stage"], ROLE_OF_STAGE.get(row["stage"])
        people = [person for person, roles in team.items() if role in roles]
        quotas = [left[stage, person] for person in people if (stage, person) in left]
        n_others = len(people) - len(quotas)
        quotas += [n_tasks for _role, of_stage, n_tasks in free_places.elements() if of_stage == stage]
        if not quotas:
            continue
        tasks = Counter({1: row["open"] + row["leased"]})
        if stage == Stage.VALIDATION:
            # Gold is part of a quota, and no vote.
            rate = QualityPolicy.objects.filter(project=project).values_list("gold_rate", flat=True).first() or 0.0
            n_gold = GoldPair.objects.filter(project=project, use=Use.MIXED).count()
            quotas = [quota - min(math.ceil(quota * rate), n_gold) for quota in quotas]
            votes = Counter[int]()
            for pair in _open_pairs(project).values():
                votes[pair.item] += pair.votes
            tasks = Counter(votes.values()) + Counter({1: row["leased"]})
        n_beyond = tasks_within([], n_others + len(quotas), tasks) - tasks_within(quotas, n_others, tasks)
        if n_beyond:
            beyond[stage] = n_beyond
    return beyond


def tasks_within(quotas: Sequence[int], n_others: int, tasks: Mapping[int, int]) -> int:
    """Return how many answers people can give at most, each at most one per item (a maximum flow). Pure.

    `quotas`: of those who have one; `tasks`: answers that an item needs -> number of such items.
    """
    ordered, within = sorted(quotas), []
    for n_limited in range(len(ordered) + 1):
        n_free = len(ordered) - n_limited + n_others
        within.append(sum(ordered[:n_limited]) + sum(min(n, n_free) * items for n, items in tasks.items()))
    return min(within)


def blocked_stages(
    project: Project,
    team: Mapping[int, set[str]],
    crowd: Collection[str],
    stages: Collection[str],
    left: Mapping[tuple[str, int], int],
) -> list[str]:
    """Return the stages with open tasks that no member may take. A query per member with the role, until one may.

    `left`: tasks of the quota at (stage, person).
    """
    people, now = User.objects.in_bulk(list(team)), timezone.now()
    return [
        stage
        for stage in stages
        if (role := ROLE_OF_STAGE[Stage(stage)]) not in crowd
        and not any(
            may_take_any(people[person], project, stage, now)
            for person, roles in team.items()
            if role in roles and left.get((stage, person)) != 0
        )
    ]


def _barred(project: Project, validators: set[int]) -> dict[tuple[int, int | None], set[int]]:
    """Return (video, group if the item is the scope) -> validators who worked on it."""
    involvements = Involvement.objects.filter(project=project, person__in=validators, kind__in=HANDS)
    per_item = project.leakage_scope == LeakageScope.ITEM
    validators_by_clip: dict[tuple[int, int | None], set[int]] = defaultdict(set)
    for video, group, person in involvements.values_list("video", "group", "person").iterator():
        validators_by_clip[video, group if per_item else None].add(person)
    return validators_by_clip
