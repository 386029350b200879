"""Leave items of a subtest out of a release so that no word distinguishes captions from foils."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.releases.snapshot import FrozenItem
from generation.balance.balanced_pairs import FEASIBLE_PAIRS, FEASIBLE_SHARE, Pair
from generation.balance.selection import select


@dataclass(frozen=True)
class Offer:
    """What remains of a subtest after balancing."""

    name: str
    n: int
    n_kept: int
    # Their ids; a stored offer has only their number.
    kept_ids: frozenset[str] = frozenset()

    @property
    def share(self) -> float:
        return self.n_kept / self.n if self.n else 0.0

    @property
    def feasible(self) -> bool:
        return self.n_kept >= FEASIBLE_PAIRS and self.share >= FEASIBLE_SHARE


def offer(frozen: Sequence[FrozenItem], name: str) -> Offer:
    """Return the largest set of the subtest's items whose words are balanced; an item stays with all its foils or
    leaves, and an item of two clips with both of its items.
    """
    records = [member.record for member in frozen if member.record["subtest"] == name]
    item_of = {
        f"{record['id']}/{position}": (record, foil)
        for record in records
        for position, foil in enumerate(record["foils"])
    }
    pairs = [Pair(id_, _group_key(record), record["caption"], foil) for id_, (record, foil) in item_of.items()]
    balanced_ids = frozenset(item_of[id_][0]["id"] for id_ in select(pairs, per_group=None).selected)
    return Offer(name, len(records), len(balanced_ids), balanced_ids)


def _group_key(record: Mapping[str, Any]) -> str:
    """Return a name that the items share which stay or leave together."""
    return f"pair {record['pair']}" if record.get("pair") else f"item {record['id']}"


def balanced(frozen: Sequence[FrozenItem], names: Collection[str]) -> tuple[list[FrozenItem], list[Offer]]:
    """Return the items without those that unbalance a named subtest, and the changes per subtest.

    EvaluationError: a subtest without valid items, or with too few remaining.
    """
    offers = [offer(frozen, name) for name in dict.fromkeys(names)]
    for row in offers:
        if not row.n:
            raise EvaluationError(_("The subtest %(name)s has no valid items to balance.") % {"name": row.name})
        if not row.feasible:
            raise EvaluationError(
                _("%(name)s cannot be balanced: only %(kept)s of %(n)s items would remain. Generate more foils for it.")
                % {"name": row.name, "kept": row.n_kept, "n": row.n}
            )
    ids_by_subtest = {row.name: row.kept_ids for row in offers}
    remaining = [
        member
        for member in frozen
        if member.record["id"] in ids_by_subtest.get(member.record["subtest"], {member.record["id"]})
    ]
    return remaining, offers
