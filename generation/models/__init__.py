"""Runs of foil methods and the candidates they made, with provenance and the reason of every rejection."""

from generation.models.runs import (
    PERSON_METHOD,
    Candidate,
    CandidateGroup,
    FilterScore,
    GenerationRun,
    Hint,
    HintModel,
    HintShown,
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
    "Hint",
    "HintModel",
    "HintShown",
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
