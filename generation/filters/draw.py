"""Draw foils so that texts do not say which of two opposites is true (docs/explanation/balance.md#draw).

It judges the foils of all captions together, after all other filters: `pipeline.draw` in memory, the job in its tables.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foilworks.core.text.tokens import normal_form
from generation.balance.balanced_pairs import Pair, PairSelection
from generation.balance.opposites import opposed, replacement_of
from generation.records import Verdict

VERSION = "1"
COSTLY = True
DRAWS = True

DRAWN = "drawn by a fair coin"
MIRROR = "another clip has this foil as its caption; propose the two clips as a pair"
NO_OPPOSITE = "no other caption of the run has the opposite words"
USED_UP = "the captions with the opposite words are used up"
OTHER_FOIL = "another foil of this caption is drawn"


def select(
    pairs: Sequence[Pair],
    *,
    params: Mapping[str, Any],
    fixed: Iterable[Pair] = (),
    per_group: int = 1,
    seed: int = 0,
) -> dict[str, Verdict]:
    """Return the verdict on each pair by its id. `fixed`: foils of the subtest that stay and count."""
    # Imported here: pages read the version, and the draw needs the solver's libraries.
    from generation.balance.draw import draw

    stored = list(fixed)
    selection: PairSelection = draw(
        pairs, seed=seed, per_group=per_group, fixed=stored, by_context=params["context"] == "solver"
    )
    rows, others = ([replacement_of(pair) for pair in side] for side in (pairs, stored))
    opposed_ids, drawn = {row.pair.id for row in opposed(rows, others)}, set(selection.selected)
    drawn_groups = {pair.group for pair in [*stored, *(pair for pair in pairs if pair.id in drawn)]}
    mirrored = _mirrored(pairs)
    return {pair.id: _verdict(pair, drawn, drawn_groups, opposed_ids, mirrored) for pair in pairs}


def _mirrored(pairs: Sequence[Pair]) -> set[str]:
    """Return the ids of pairs whose foil is the caption of another video: both texts are then true once."""
    videos = defaultdict(set)
    for pair in pairs:
        videos[normal_form(pair.caption)].add(pair.video or pair.group)
    return {pair.id for pair in pairs if videos.get(normal_form(pair.foil), set()) - {pair.video or pair.group}}


def _verdict(pair: Pair, drawn: set[str], drawn_groups: set[str], opposed_ids: set[str], mirrored: set[str]) -> Verdict:
    if pair.id in drawn:
        return Verdict(True, detail=DRAWN)
    if pair.group in drawn_groups:
        return Verdict(False, detail=OTHER_FOIL)
    if pair.id in mirrored:
        return Verdict(False, detail=MIRROR)
    return Verdict(False, detail=USED_UP if pair.id in opposed_ids else NO_OPPOSITE)
