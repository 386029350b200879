"""Preview a release: what it would contain now, and what it would leave out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import ngettext

from evaluation.errors import EvaluationError
from evaluation.facts.stored_facts import requeued_as_invalid
from evaluation.ladder.selection import Offer as LadderOffer
from evaluation.ladder.selection import offer as ladder_offer
from evaluation.releases.balanced_items import offer
from evaluation.releases.gate import GateFinding, inspect
from evaluation.releases.snapshot import FrozenItems, half_items, records_of, valid_items
from foilworks.core.corpus.models import Subtest, counts_as_valid, on_publishers_word
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import Project

LEFT_OUT = ("n_waiting", "n_disputed", "n_invalid", "n_halves")


def freezable(project: Project) -> list[Subtest]:
    """Return what a release frozen now would contain: main subtests with `n_valid` items and `n_paired` of them.

    `n_as_published` of them are valid because they were imported as published. A paired item has a valid proficiency
    item; P and P+T cover those. Left out: `n_waiting` in validation, `n_disputed`, `n_invalid`, `n_halves` of pairs
    whose other half is not valid.
    """
    halves = [item.pk for item in half_items(project)]
    is_complete = ~Q(items__in=halves) if halves else Q()
    valid, word = counts_as_valid("items__") & is_complete, on_publishers_word("items__") & is_complete
    waits = Q(items__state=ItemState.IN_VALIDATION) & ~on_publishers_word("items__")
    refused = list(requeued_as_invalid(project))
    rows = Subtest.objects.filter(project=project, kind=Subtest.Kind.MAIN).order_by("name")
    return list(
        rows.annotate(
            n_valid=Count("items", filter=valid),
            n_as_published=Count("items", filter=word),
            n_paired=Count("items", filter=valid & counts_as_valid("items__proficiency_item__")),
            n_halves=Count("items", filter=Q(items__in=halves)),
            n_waiting=Count("items", filter=waits),
            n_disputed=Count("items", filter=Q(items__state=ItemState.DISPUTED)),
            n_invalid=Count("items", filter=Q(items__state=ItemState.INVALID) | Q(items__in=refused)),
        )
    )


def left_out(content: Sequence[Subtest]) -> str:
    """Return why the other items of `freezable` are left out, in words; "" if none is. Retracted items are not
    listed."""
    waiting, disputed, invalid, halves = (sum(getattr(row, name) for row in content) for name in LEFT_OUT)
    counts = [
        waiting and ngettext("%(n)d in validation", "%(n)d in validation", waiting) % {"n": waiting},
        disputed and ngettext("%(n)d disputed", "%(n)d disputed", disputed) % {"n": disputed},
        invalid and ngettext("%(n)d invalid", "%(n)d invalid", invalid) % {"n": invalid},
        halves
        and ngettext("%(n)d whose other clip has no valid item", "%(n)d whose other clip has no valid item", halves)
        % {"n": halves},
    ]
    return ", ".join(filter(None, counts))


@dataclass(frozen=True)
class Preview:
    """`gate`: the gate's rows, what it stops, and what balancing would leave; None without valid items. `ladder`: how
    many of the items need what, None without a ladder.
    """

    gate: dict[str, Any] | None = None
    ladder: LadderOffer | None = None


def preview(project: Project, run_ids: Sequence[int] = (), needs: str = "") -> Preview:
    """Return the gate's result for the items that are valid now, or those of them that a need keeps by the ladders of
    the asked runs. The items are read once.
    """
    try:
        frozen = valid_items(project)
    except EvaluationError:
        return Preview()
    ladder = _ladder(project, frozen, run_ids)
    selection = ladder.possible.get(needs) if ladder else None
    return Preview(
        _gate(project, frozen.where(lambda member: selection is None or member.record["id"] in selection.kept)),
        ladder,
    )


def _ladder(project: Project, frozen: FrozenItems, run_ids: Sequence[int]) -> LadderOffer | None:
    try:
        return ladder_offer(project, records_of(frozen), run_ids)
    except EvaluationError:
        return None


def _gate(project: Project, frozen: FrozenItems) -> dict[str, Any] | None:
    if not frozen:
        return None
    finding: GateFinding = inspect(project, records_of(frozen))
    offers = [offer(project, frozen, row["name"]) for row in finding.rows if row["solved"]]
    return {"rows": finding.rows, "stopped": finding.stopped, "offers": offers}
