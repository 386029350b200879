"""The part of `foilworks.plugins` for metrics and reports, which a script with its own `evaluation.py` cannot have."""

from foilworks.clashes import require_own_packages

require_own_packages("evaluation")

from evaluation.analyses.analysis_inputs import EditFacts, ItemFacts, Votes  # noqa: E402
from evaluation.analyses.scored_items import ScoredItems  # noqa: E402
from evaluation.errors import EvaluationError  # noqa: E402
from evaluation.metrics.choices import ChoiceScores  # noqa: E402
from evaluation.metrics.intervals import mean_intervals  # noqa: E402
from evaluation.metrics.pairwise import PairScores  # noqa: E402

__all__ = [
    "ChoiceScores",
    "EditFacts",
    "EvaluationError",
    "ItemFacts",
    "PairScores",
    "ScoredItems",
    "Votes",
    "mean_intervals",
]
