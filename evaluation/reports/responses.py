"""Load what the report on item response computes on: models' answers to released items, and people's votes."""

import numpy as np

from evaluation.analyses.analysis_inputs import Votes
from evaluation.analyses.item_response import ResponseFacts
from evaluation.analyses.scored_items import ScoredItems, credits


def responses_of(items: ScoredItems | None, votes: Votes) -> ResponseFacts:
    """Return the answers of the models with scores, and the votes with the subtest of each unit."""
    subtests = [unit.partition(":")[0] for unit in votes.unit_names]
    if items is None:
        return ResponseFacts(votes=votes, subtests=subtests)
    tables = [credits(scores) for scores in items.models.values()]
    return ResponseFacts(list(items.models), list(items.ids), np.stack(tables), votes, subtests)
