"""Show which valid items their texts answer, what a fair set would keep, and how the others become fair.

The selection is that of `foilworks prune` and of `release --balance` (docs/explanation/balance.md#pruning).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from evaluation.analyses.analysis_inputs import ItemFacts, hard_part, valid_part
from evaluation.analyses.questions import questions_of
from evaluation.analyses.repairs import review
from evaluation.errors import EvaluationError
from foilworks.core.corpus.records import TextRecord
from foilworks.core.solver.pruning import prune
from foilworks.core.solver.solution import HEADLINE
from foilworks.core.solver.solution import VERSION as SOLVER_VERSION

VERSION = f"2 {SOLVER_VERSION}"
INPUT = "texts"


def compute(items: Sequence[ItemFacts], *, seed: int = 0) -> dict[str, Any]:
    """Return the audit of the valid items, the effect of a selection, and a row per item, surely answered ones first.

    `before`, `after`: the headline of all and of the kept items (`after` by probes that chose nothing; None without a
    fair subset). `verdict`, `bound`: as in `solver.pruning`. A row: `item`, its texts, `s`, `s_minus_chance`, `tier`,
    `reason`, `action` (keep or remove), `repair` and its `detail`. EvaluationError without valid items.
    """
    records = [
        TextRecord(item.caption, tuple(item.foils), number, id=item.id, subtest=item.subtest, video=item.video)
        for number, item in enumerate(hard_part(valid_part(items)), 1)
        if item.foils
    ]
    if not records:
        raise EvaluationError("there are no valid items; validate items first")
    pruned = prune(*questions_of(records), seed, n_seeds=1)
    rows = [
        {"item": record.id, "caption": record.right, "foils": list(record.wrongs), **row}
        for record, row in zip(records, review(records, pruned, seed), strict=True)
    ]
    certificate = pruned.certificate
    return {
        "verdict": pruned.verdict,
        "n": len(records),
        "n_kept": int(pruned.is_kept.sum()),
        "bound": pruned.bound,
        "before": asdict(pruned.before.tiers[HEADLINE]),
        "after": None if certificate is None else asdict(certificate.headline),
        "repairs": dict(Counter(row["repair"] for row in rows if row["repair"])),
        "items": sorted(rows, key=lambda row: (-row["s_minus_chance"], row["item"])),
    }
