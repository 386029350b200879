"""Leave items of a subtest out of a release so that its texts do not tell the answers (solver.pruning)."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from evaluation.analyses.questions import questions_of, released_texts
from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.errors import EvaluationError
from evaluation.releases.snapshot import FrozenItems, records_of
from foilworks.core.projects.models import Project
from foilworks.core.solver.solution import VERSION as SOLVER_VERSION
from foilworks.core.solver.solution import Selection

KIND, VERSION = "balance", f"3 {SOLVER_VERSION}"
# With fewer, the rest no longer represents the subtest.
MIN_ITEMS = 20


@dataclass(frozen=True)
class Offer:
    """What remains of a subtest after balancing. `verdict`: that of the selection, "" if there is nothing to select."""

    name: str
    n: int
    n_kept: int
    verdict: str = ""
    # Ids of the items that leave; a stored offer has only their number.
    removed_ids: frozenset[str] = frozenset()

    @property
    def share(self) -> float:
        return self.n_kept / self.n if self.n else 0.0

    @property
    def feasible(self) -> bool:
        return self.n_kept >= MIN_ITEMS and self.verdict != "no_fair_subset"


def offer(project: Project, frozen: FrozenItems, name: str) -> Offer:
    """Return what the selection leaves of a subtest; an item stays with all its foils or leaves, and an item of two
    clips with both of its items.

    If there is no fair subset, `n_kept` is the largest number of items that it could have.
    """
    members = records_of(frozen).where(lambda record: record["subtest"] == name)
    texts = list(released_texts(members))
    if not texts:
        return Offer(name, len(members), 0)
    questions, answers = questions_of(texts)

    def make() -> dict[str, Any]:
        # Imported here: its library takes seconds to load, and pages must not wait.
        from foilworks.core.solver.pruning import prune

        pruned = prune(questions, answers, n_seeds=1)
        removed = [question.id for question, kept in zip(questions, pruned.is_kept, strict=True) if not kept]
        return {"verdict": pruned.verdict, "bound": pruned.bound, "removed": removed}

    fingerprint = digest([VERSION, [repr(question) for question in questions], answers.tolist()])
    row = cached_by_fingerprint(project, KIND, name, fingerprint, make, in_memory=False)
    is_fair = row["verdict"] != "no_fair_subset"
    n_kept = len(members) - len(row["removed"])
    return Offer(
        name, len(members), n_kept if is_fair else min(n_kept, row["bound"]), row["verdict"], frozenset(row["removed"])
    )


def balanced(
    project: Project, frozen: FrozenItems, names: Collection[str]
) -> tuple[FrozenItems, list[Offer], Selection | None]:
    """Return the items without those that leave a named subtest, the changes per subtest, and the selection's record.

    EvaluationError: a subtest without valid items, or without a fair subset.
    """
    offers = [offer(project, frozen, name) for name in dict.fromkeys(names)]
    for row in offers:
        if not row.n:
            raise EvaluationError(_("The subtest %(name)s has no valid items to balance.") % {"name": row.name})
        if not row.feasible:
            raise EvaluationError(
                _("%(name)s cannot be balanced: at most %(kept)s of %(n)s items would remain. Repair its items.")
                % {"name": row.name, "kept": row.n_kept, "n": row.n}
            )
    removed = frozenset[str]().union(*(row.removed_ids for row in offers))
    if not removed:
        return frozen, offers, None
    from foilworks.core.solver.design import SELECTING

    selection = Selection(tuple(sorted(removed)), SELECTING)
    return frozen.where(lambda member: member.record["id"] not in removed), offers, selection
