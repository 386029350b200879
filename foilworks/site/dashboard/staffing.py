"""Check whether the project has enough people, by role and per pair. A fixed number of queries."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from django.db.models import Max, QuerySet, Sum

from annotation.models import Involvement, Slot, SlotState, Stage, Task, TaskState
from annotation.queries.quality import barred_from_judging
from annotation.queries.vote_rules import changeable
from foilworks.core.corpus.models import Foil, Subtest
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
from foilworks.core.projects.models import CrowdStudy, LeakageScope, Membership, Project, Role

Roles = frozenset[str]


NOBODY: Roles = frozenset()


def missing_people(team: Iterable[Collection[str]], *, edits: bool, reviews: bool, judges: int) -> dict[str, int]:
    """Return role -> the minimum number of people missing; roles that lack nobody are left out.

    `team`: the roles of each member. People who wrote or reviewed a foil never judge it, and nobody reviews their own
    foils. So of two people with all roles, who share the work as well as they can, none can judge.
    """
    members = Counter(frozenset(roles) for roles in team)
    writers = [roles for roles in members if Role.ANNOTATOR in roles] if edits else []
    reviewers = [roles for roles in members if Role.REVIEWER in roles] if reviews else []
    options: list[dict[str, int]] = []
    for writer, reviewer in product([*writers, NOBODY], [*reviewers, NOBODY]):
        busy = Counter(roles for roles in (writer, reviewer) if roles)
        if any(members[roles] < n for roles, n in busy.items()):
            continue
        n_judges = sum(n - busy[roles] for roles, n in members.items() if Role.VALIDATOR in roles)
        lacking = {
            Role.ANNOTATOR.value: int(edits and not writer),
            Role.REVIEWER.value: int(reviews and not reviewer),
            Role.VALIDATOR.value: max(0, judges - n_judges),
        }
        options.append({role: n for role, n in lacking.items() if n})
    return min(options, key=lambda lacking: sum(lacking.values()))


HANDS = (Involvement.Kind.MADE, Involvement.Kind.REVIEWED, Involvement.Kind.SETTLED)
USUAL_JUDGES = Subtest._meta.get_field("votes_wanted").default


def staffing(
    project: Project, funnel: Mapping[str, int], subtests: Sequence[Mapping[str, Any]], n_open: int
) -> dict[str, Any]:
    """Return as JSON: `missing` people by role, and `short`: subtests with pairs that too few people may judge.

    `funnel`, `subtests`: as counted; `n_open`: slots that are not done. People that a crowd study recruits are never
    missing.
    """
    team, n_barred = _team(project)
    crowd = set(CrowdStudy.objects.filter(project=project, is_open=True).values_list("role", flat=True))
    validators = {person for person, roles in team.items() if Role.VALIDATOR in roles}
    votes_wanted = max((row["votes_wanted"] for row in subtests if row["n_waiting"]), default=0)
    short_rows = [] if Role.VALIDATOR in crowd else short_subtests(project, validators, votes_wanted)
    open_rules = changeable(Subtest.objects.filter(project=project, name__in=[row["name"] for row in short_rows]))
    may_change = set(open_rules.values_list("name", flat=True)) if short_rows else set()
    short = [row | {"kept": n_barred, "changeable": row["name"] in may_change} for row in short_rows]
    n_waiting = sum(row["n_waiting"] for row in subtests)
    if funnel["valid"] and not (n_waiting or n_open):
        return {"missing": {}, "short": short}
    makes = bool(funnel["captions_used"] or not funnel["items"])
    judges = max((row["votes_wanted"] for row in subtests), default=USUAL_JUDGES)
    lacking = missing_people(
        team.values(),
        edits=makes and project.edit_stage and Role.ANNOTATOR not in crowd,
        reviews=makes and Role.REVIEWER not in crowd,
        judges=judges if (makes or n_waiting) and Role.VALIDATOR not in crowd else 0,
    )
    worst = max((row["lack"] for row in short), default=0)
    if worst > lacking.get(Role.VALIDATOR, 0):
        lacking[Role.VALIDATOR.value] = worst
    return {"missing": lacking, "short": short}


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


def short_subtests(project: Project, validators: set[int], wanted_at_most: int) -> list[dict[str, Any]]:
    """Return subtests with open pairs whose slots can never all be filled.

    `name`, `wanted` and the lowest number who `can`, how many `pairs`, the largest `lack`, and there the people that
    `hands` exclude. Pairs whose slots are not created yet count as well. A few queries: two if enough people can judge
    every pair. `wanted_at_most`: the highest number of votes that a waiting pair needs.
    """
    barred = _barred(project, validators)
    free = len(validators) - max(map(len, barred.values()), default=0)
    row_by_subtest = {} if free >= wanted_at_most else _short_pairs(project, validators, barred)
    if project.judge_caption_once and free < _votes_of_one_caption(project):
        for name, row in _short_captions(project, validators, barred).items():
            if row["lack"] > row_by_subtest.get(name, row | {"lack": 0})["lack"]:
                row_by_subtest[name] = row
    return list(row_by_subtest.values())


def _open_pairs(project: Project) -> QuerySet[Foil]:
    waits = {"item__state": ItemState.IN_VALIDATION, "verdict": FoilVerdict.PENDING}
    return Foil.objects.filter(item__subtest__project=project, **waits).order_by("item__subtest__name")


def _votes_of_one_caption(project: Project) -> int:
    """Return the most votes that all pairs of one caption need together."""
    pairs = Foil.objects.filter(
        item__subtest__project=project, item__caption__in=_open_pairs(project).values("item__caption")
    )
    votes = pairs.order_by().values("item__caption").annotate(n=Sum("item__subtest__votes_wanted"))
    return votes.aggregate(most=Max("n"))["most"] or 0


def _short_captions(
    project: Project, validators: set[int], barred: Mapping[tuple[int, int | None], set[int]]
) -> dict[str, dict[str, Any]]:
    """Return subtests with captions whose pairs need more people than may still see the caption, which each sees once.

    A multiple-choice item shows all its foils in one task, so it counts as one pair.
    """
    slots = Slot.objects.filter(project=project, stage=Stage.VALIDATION, state=SlotState.DONE)
    n_done_by_pair, seen_by_caption = Counter[int](), defaultdict[int, set[int | None]](set)
    for foil, caption, person in slots.values_list("task__foil", "task__item__caption", "person").iterator():
        n_done_by_pair[foil] += 1
        seen_by_caption[caption].add(person)
    at_once = Task.objects.filter(project=project, stage=Stage.VALIDATION, foils_asked__isnull=False)
    in_one = dict(at_once.values_list("item", "foil"))
    columns = ("pk", "item", "item__caption", "item__subtest__name", "item__subtest__votes_wanted", *_HANDS_ON)
    per_item = project.leakage_scope == LeakageScope.ITEM
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    barred_people: dict[tuple[int, str], set[int]] = {}
    for pk, item, caption, name, votes_wanted, video, group in _open_pairs(project).values_list(*columns).iterator():
        if in_one.get(item, pk) != pk:
            continue
        key = caption, name
        barred_of_clip = barred.get((video, group if per_item else None), set())
        barred_people[key] = barred_people[key] & barred_of_clip if key in barred_people else set(barred_of_clip)
        row = rows.setdefault(key, {"name": name, "wanted": votes_wanted, "pairs": 0, "lack": 0})
        row["pairs"] += 1
        row["lack"] += max(0, votes_wanted - n_done_by_pair[pk])
    row_by_subtest: dict[str, dict[str, Any]] = {}
    for key, row in rows.items():
        n_lacking = row["lack"] - len(validators - barred_people[key] - seen_by_caption[key[0]])
        if n_lacking > 0:
            total = row_by_subtest.setdefault(key[1], {**row, "pairs": 0, "lack": 0, "once": True})
            total["pairs"] += row["pairs"]
            if n_lacking > total["lack"]:
                total |= {"lack": n_lacking, "can": max(0, row["wanted"] - n_lacking), "hands": len(barred_people[key])}
    return row_by_subtest


_HANDS_ON = ("item__video", "item__candidate_group")


def _short_pairs(
    project: Project, validators: set[int], barred: Mapping[tuple[int, int | None], set[int]]
) -> dict[str, dict[str, Any]]:
    """Return subtests with pairs for which too few people are left, pair by pair. Two queries."""
    people_by_pair: dict[int, set[int | None]] = defaultdict(set)
    slots = Slot.objects.filter(project=project, stage=Stage.VALIDATION, state=SlotState.DONE)
    for foil, person in slots.filter(task__state=TaskState.OPEN).values_list("task__foil", "person").iterator():
        people_by_pair[foil].add(person)
    columns = ("pk", "item__subtest__name", "item__subtest__votes_wanted", *_HANDS_ON)
    per_item = project.leakage_scope == LeakageScope.ITEM
    row_by_subtest: dict[str, dict[str, Any]] = {}
    for pk, name, votes_wanted, video, group in _open_pairs(project).values_list(*columns).iterator():
        barred_people = barred.get((video, group if per_item else None), set()) - people_by_pair.get(pk, set())
        judges = (validators - barred_people) | people_by_pair.get(pk, set())
        if len(judges) < votes_wanted:
            row = row_by_subtest.setdefault(
                name, {"name": name, "wanted": votes_wanted, "can": votes_wanted, "pairs": 0, "lack": 0, "hands": 0}
            )
            n_lacking = votes_wanted - len(judges)
            if n_lacking > row["lack"]:
                row |= {"wanted": votes_wanted, "can": len(judges), "lack": n_lacking, "hands": len(barred_people)}
            row["pairs"] += 1
    return row_by_subtest


def _barred(project: Project, validators: set[int]) -> dict[tuple[int, int | None], set[int]]:
    """Return (video, group if the item is the scope) -> validators who worked on it."""
    involvements = Involvement.objects.filter(project=project, person__in=validators, kind__in=HANDS)
    per_item = project.leakage_scope == LeakageScope.ITEM
    validators_by_clip: dict[tuple[int, int | None], set[int]] = defaultdict(set)
    for video, group, person in involvements.values_list("video", "group", "person").iterator():
        validators_by_clip[video, group if per_item else None].add(person)
    return validators_by_clip
