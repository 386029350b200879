"""Foilworks in a notebook, a script or a pipeline: the functions behind the commands, without settings or tables.

`import foilworks` gives these names. What a function needs is imported when it runs.
"""

from foilworks.core.text.errors import ActionableError
from foilworks.library import metrics
from foilworks.library.audits import Audit, Benchmark, Pruning, audit, prune, read
from foilworks.library.captions import Foils, foils
from foilworks.library.inputs import Data, ReadOptions
from foilworks.library.metrics import Comparison, Scores
from foilworks.library.results import Bar, Result
from foilworks.library.rungs import Ladder, ladder
from foilworks.library.votes import Agreement, agreement

__all__ = [
    "ActionableError",
    "Agreement",
    "Audit",
    "Bar",
    "Benchmark",
    "Comparison",
    "Data",
    "Foils",
    "Ladder",
    "Pruning",
    "ReadOptions",
    "Result",
    "Scores",
    "agreement",
    "audit",
    "foils",
    "ladder",
    "metrics",
    "prune",
    "read",
]
