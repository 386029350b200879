"""Tell which subtests of drawn runs review and editing have unbalanced, and what would restore them."""

from collections import defaultdict
from typing import Any

from annotation.queries.replacements import pairs_of
from foilworks.core.corpus.models import Subtest
from foilworks.core.corpus.rules.states import CandidateState as C
from foilworks.core.projects.models import Project
from generation.balance.balanced_pairs import Pair
from generation.balance.opposites import replacement_of, unbalanced
from generation.filters.registry import DRAW
from generation.models import Candidate, GenerationRun

# Missing foils below this number, or this share of a subtest, are left to chance.
MIN_MISSING, MIN_SHARE = 5, 0.05
ON_THEIR_WAY = (C.QUEUED, C.EDITING, C.IN_REVIEW, C.RETURNED, C.ACCEPTED)


def unbalanced_subtests(project: Project) -> list[dict[str, Any]]:
    """Return JSON rows: `name`; `n` foils that are missing among `foils`; of the worst pair of opposites, `removed` and
    `inserted` words that foils replace too often; `held_back`: foils that its draws left out and that would help.

    At most four queries, whatever the size.
    """
    runs = GenerationRun.objects.filter(project=project).values_list("subtest", "filters")
    drawn = {subtest for subtest, filters in runs if any(row["slug"] == DRAW for row in filters)}
    pairs: dict[int, list[Pair]] = defaultdict(list)
    if drawn:
        for subtest, pair in pairs_of(drawn, ON_THEIR_WAY):
            pairs[subtest].append(pair)
    names = dict(Subtest.objects.filter(pk__in=drawn).values_list("pk", "name")) if drawn else {}
    return [
        row
        for subtest, name in sorted(names.items(), key=lambda item: item[1])
        if (row := _row(subtest, name, pairs[subtest]))
    ]


def _row(subtest: int, name: str, pairs: list[Pair]) -> dict[str, Any] | None:
    opposites = unbalanced(pairs)
    n_missing = sum(row.n_missing for row in opposites)
    if n_missing < MIN_MISSING or n_missing < MIN_SHARE * len(pairs):
        return None
    lost = Candidate.objects.filter(group__run__subtest=subtest, state=C.FILTERED_OUT, held_back_by=DRAW)
    missing = {(row.rare, row.frequent): row.n_missing for row in opposites}
    held_back = 0
    for caption, foil in lost.values_list("group__caption__text", "text").order_by().iterator():
        replacement = replacement_of(Pair("", "", caption, foil))
        key = replacement.removed, replacement.inserted
        if missing.get(key):
            missing[key] -= 1
            held_back += 1
    worst = opposites[0]
    return {
        "name": name,
        "n": n_missing,
        "foils": len(pairs),
        "removed": worst.frequent,
        "inserted": worst.rare,
        "held_back": held_back,
    }
