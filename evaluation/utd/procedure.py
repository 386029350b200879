"""Define the named choices of the procedure. Each default is what the authors of UTD do."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from evaluation.errors import EvaluationError
from foilworks.core.text.quoting import quoted

PUBLISHED, CLEANED = "published", "cleaned"
SKIP, SENTENCE = "skip", "sentence"
CODE, PAPER = "code", "paper"
MEAN, FIRST = "mean", "first"
PLAIN, STRATIFIED = "plain", "stratified"
WRONG, SHARE = "wrong", "share"
CHOICES: dict[str, tuple[str, ...]] = {
    "texts": (PUBLISHED, CLEANED),
    "empty_frames": (SKIP, SENTENCE),
    "numbering": (CODE, PAPER),
    "captions": (MEAN, FIRST),
    "ties": (WRONG, SHARE),
    "bootstrap": (PLAIN, STRATIFIED),
}
# The option, the unit of a measurement and the result of learning curves.
CURVE = "learning_curve"
# The regularisation (scikit-learn's C) has no useful value outside of these.
MIN_C, MAX_C = 1e-6, 1e6


@dataclass(frozen=True)
class Procedure:
    """How texts are built, and how the nine models are trained.

    `texts`: as the authors publish them, or without repeated objects and with full stops. `empty_frames`: frames
    without a text are skipped, or say that no activity is visible. `numbering`: "Frame #1:" as in the authors' code,
    or "Frame 1:" as in their paper. `captions`: the mean of a video's captions, or the first one. `ties`:
    videos that tie for the first rank earn nothing, or share it. `bootstrap`: of the
    whole train split, or of each class. `c`: scikit-learn's C of every regression.
    """

    texts: str = PUBLISHED
    empty_frames: str = SKIP
    numbering: str = CODE
    captions: str = MEAN
    ties: str = WRONG
    bootstrap: str = PLAIN
    c: float = 1.0


AS_PUBLISHED = Procedure()


def procedure_of(params: Mapping[str, Any]) -> Procedure:
    """Return the choices in the parameters of a run; what is not there is as published."""
    return Procedure(**{field.name: params[field.name] for field in fields(Procedure) if field.name in params})


def checked_choices(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all choices as parameters of a run. Empty values are as published.

    EvaluationError: an unknown choice, or a C that is not a number from MIN_C to MAX_C.
    """
    choices = {**asdict(AS_PUBLISHED), **{name: value for name, value in options.items() if value not in (None, "")}}
    if unknown := sorted(set(choices) - {field.name for field in fields(Procedure)}):
        raise EvaluationError(f"{quoted(unknown[0])} is not an option; choose one of: {', '.join(CHOICES)}, c")
    for name, values in CHOICES.items():
        if choices[name] not in values:
            raise EvaluationError(f"{name} {quoted(choices[name])} is unknown; choose one of: {', '.join(values)}")
    if not isinstance(choices["c"], (int, float)) or not (
        math.isfinite(choices["c"]) and MIN_C <= choices["c"] <= MAX_C
    ):
        raise EvaluationError(f"C {quoted(choices['c'])} is not allowed; give a number from {MIN_C:g} to {MAX_C:g}")
    return {**choices, "c": float(choices["c"])}
