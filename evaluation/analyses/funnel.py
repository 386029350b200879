"""Count the candidates after each stage, and which filters rejected the others (docs/workflow.md#provenance)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

VERSION = "2"
INPUT = "stages"


@dataclass(frozen=True)
class FunnelCounts:
    """Counts of one project or subtest.

    `made` leaves out rewordings of other candidates; `passed` are those that the filters passed; `rejected_by` counts a
    candidate once for every filter that rejected it.
    """

    captions: int = 0
    made: int = 0
    passed: int = 0
    accepted: int = 0
    items: int = 0
    valid: int = 0
    unanimous: int = 0
    released: int = 0
    rejected_by: Mapping[str, int] = field(default_factory=dict)
    candidate_states: Mapping[str, int] = field(default_factory=dict)
    item_states: Mapping[str, int] = field(default_factory=dict)


STAGES = (
    ("candidates made", "made"),
    ("passed the filters", "passed"),
    ("accepted in review", "accepted"),
    ("items", "items"),
    ("valid", "valid"),
    ("unanimous", "unanimous"),
    ("released", "released"),
)


def compute(counts: FunnelCounts) -> dict[str, Any]:
    """Return the stages in order with their counts.

    Imported items enter at "items", so a stage can have more than the one above.
    """
    return {
        "captions": counts.captions,
        "stages": [{"name": name, "count": getattr(counts, attribute)} for name, attribute in STAGES],
        "rejected_by": [
            {"filter": name, "count": count}
            for name, count in sorted(counts.rejected_by.items(), key=lambda pair: (-pair[1], pair[0]))
        ],
        "candidate_states": dict(counts.candidate_states),
        "item_states": dict(counts.item_states),
    }
