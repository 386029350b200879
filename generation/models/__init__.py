"""Tables of generation: runs, candidates with provenance and reasons of rejection, scores, answers, side work."""

from generation.models.runs import (
    PERSON_METHOD,
    Candidate,
    CandidateGroup,
    FilterScore,
    GenerationRun,
    Measure,
    ModelAnswer,
    PricedUsage,
    PromptTemplate,
    RunCost,
    Scorer,
    Selection,
    Usage,
)
from generation.models.side_work import CaptionRun, Tuning

__all__ = [
    "PERSON_METHOD",
    "Candidate",
    "CandidateGroup",
    "CaptionRun",
    "FilterScore",
    "GenerationRun",
    "Measure",
    "ModelAnswer",
    "PricedUsage",
    "PromptTemplate",
    "RunCost",
    "Scorer",
    "Selection",
    "Tuning",
    "Usage",
]
