"""Certify how far texts alone answer the items of a project: the folds are repeated, and the answers redrawn.

Only this report says "nothing found" (docs/explanation/solver.md). Of the pairs of the blind audit, it has those that
the gate judges: of the valid items, or of all if none is valid.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from evaluation.analyses.analysis_inputs import ItemFacts, hard_part, valid_part
from evaluation.analyses.blind import VERSION as BLIND_VERSION
from evaluation.analyses.blind import sample_pairs
from evaluation.analyses.questions import questions_of
from evaluation.errors import EvaluationError
from foilworks.core.solver.solve import Progress, certify

VERSION = f"1 {BLIND_VERSION}"
INPUT = "texts"


def compute(
    items: Sequence[ItemFacts], *, seed: int = 0, progress: Progress | None = None, state: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return what an audit with a certificate returns of the solver: `without_video`, and `item_scores` of each pair.

    `of_valid`: only valid items were judged. `items`: number of pairs; `sample.items`: of those that are solved.
    `progress`, `state`: as in `solver.solve.certify`. EvaluationError without pairs. ValueError: state of others.
    """
    items = hard_part(items)
    valid = [item for item in valid_part(items) if item.foils]
    judged = valid or items
    sample = sample_pairs(judged, seed)
    if not sample.n:
        raise EvaluationError("there are no items; give at least one caption with a foil")
    records = sample.overall()
    solution = certify(*questions_of(records), seed, progress=progress, state=state)
    document = solution.as_json()
    # After the solver, which must not learn from ids that an export draws anew.
    ids = [item.id for item in judged for _foil in item.foils]
    scores = [
        {**score, "id": ids[record.where], "foil": record.wrongs[0]}
        for score, record in zip(document.pop("items"), records, strict=True)
    ]
    return {
        "of_valid": bool(valid),
        "items": sample.n,
        "records": {"options": sample.n},
        "sample": {"items": len(records), "seed": seed},
        "without_video": {**asdict(solution.headline), "unit": "pairs", **document},
        "findings": [],
        "item_scores": scores,
    }
