"""What the gate finds in the items that are valid now."""

from typing import Any

from evaluation.blind.probes import named_probes
from evaluation.errors import EvaluationError
from evaluation.releases.balanced_items import offer
from evaluation.releases.gate import GateFinding, inspect
from evaluation.releases.snapshot import valid_items
from projects.models import Project


def gate_preview(project: Project) -> dict[str, Any] | None:
    """What the gate says of the items that are valid now; None while there is none."""
    try:
        frozen = valid_items(project)
    except EvaluationError:
        return None
    finding: GateFinding = inspect(project, [one.record for one in frozen])
    offers = [offer(frozen, name) for name in finding.stopped]
    return {"rows": [named_probes(row) for row in finding.rows], "stopped": finding.stopped, "offers": offers}
