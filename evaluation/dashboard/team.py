"""Who a project still lacks, so that one person writes, another reviews, and others judge. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import product

from projects.models import Role

Roles = frozenset[str]
NOBODY: Roles = frozenset()


def missing_people(team: Iterable[Collection[str]], *, edits: bool, reviews: bool, judges: int) -> dict[str, int]:
    """Role -> how many more are needed at the least; roles that lack nobody are left out.

    `team`: the roles of each member. Who writes or reviews a piece never judges it, and nobody reviews their own; so of
    two people with all roles, who share the work as well as they can, none is left to judge.
    """
    members = Counter(frozenset(roles) for roles in team)
    writers = [roles for roles in members if Role.ANNOTATOR in roles] if edits else []
    reviewers = [roles for roles in members if Role.REVIEWER in roles] if reviews else []
    found: list[dict[str, int]] = []
    for writer, reviewer in product([*writers, NOBODY], [*reviewers, NOBODY]):
        busy = Counter(roles for roles in (writer, reviewer) if roles)
        if any(members[roles] < n for roles, n in busy.items()):
            continue
        left = sum(n - busy[roles] for roles, n in members.items() if Role.VALIDATOR in roles)
        lack = {
            Role.ANNOTATOR.value: int(edits and not writer),
            Role.REVIEWER.value: int(reviews and not reviewer),
            Role.VALIDATOR.value: max(0, judges - left),
        }
        found.append({role: n for role, n in lack.items() if n})
    return min(found, key=lambda lack: sum(lack.values()))
