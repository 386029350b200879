"""What a release frozen now would contain, and what it would leave out."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import ngettext

from corpus.models import Subtest, counts_as_valid, on_publishers_word
from corpus.rules.states import ItemState
from evaluation.blind.forms import named_probes
from evaluation.errors import EvaluationError
from evaluation.facts.records import requeued_as_invalid
from evaluation.releases.balanced_items import offer
from evaluation.releases.gate import GateFinding, inspect
from evaluation.releases.snapshot import valid_items
from projects.models import Project

LEFT_OUT = ("n_waiting", "n_disputed", "n_invalid")


def freezable(project: Project) -> list[Subtest]:
    """What a release made now would hold: main subtests with `n_valid` items and `n_paired` of them.

    `n_as_published` of them count as valid on their publisher's word. A paired item is one whose proficiency item is
    valid too: P and P+T stand over those. What it would not hold: `n_waiting` in validation, `n_disputed`, `n_invalid`.
    """
    valid, word = counts_as_valid("items__"), on_publishers_word("items__")
    waits = Q(items__state=ItemState.IN_VALIDATION) & ~word
    refused = list(requeued_as_invalid(project))
    rows = Subtest.objects.filter(project=project, kind=Subtest.Kind.MAIN).order_by("name")
    return list(
        rows.annotate(
            n_valid=Count("items", filter=valid),
            n_as_published=Count("items", filter=word),
            n_paired=Count("items", filter=valid & counts_as_valid("items__proficiency_item__")),
            n_waiting=Count("items", filter=waits),
            n_disputed=Count("items", filter=Q(items__state=ItemState.DISPUTED)),
            n_invalid=Count("items", filter=Q(items__state=ItemState.INVALID) | Q(items__in=refused)),
        )
    )


def left_out(content: Sequence[Subtest]) -> str:
    """Why the other items of `freezable` are not in it, in words; "" where none is left out. What is retracted was
    taken out by hand and is not told."""
    waiting, disputed, invalid = (sum(getattr(row, name) for row in content) for name in LEFT_OUT)
    parts = [
        waiting and ngettext("%(n)d in validation", "%(n)d in validation", waiting) % {"n": waiting},
        disputed and ngettext("%(n)d disputed", "%(n)d disputed", disputed) % {"n": disputed},
        invalid and ngettext("%(n)d invalid", "%(n)d invalid", invalid) % {"n": invalid},
    ]
    return ", ".join(filter(None, parts))


def gate_preview(project: Project) -> dict[str, Any] | None:
    """What the gate says of the items that are valid now; None while there is none."""
    try:
        frozen = valid_items(project)
    except EvaluationError:
        return None
    finding: GateFinding = inspect(project, [one.record for one in frozen])
    offers = [offer(frozen, row["name"]) for row in finding.rows if row["solved"]]
    return {"rows": [named_probes(row) for row in finding.rows], "stopped": finding.stopped, "offers": offers}
