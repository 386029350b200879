"""Tune a language model on the texts of an audit, fold by fold: what it knows and what it learns, kept apart (TsT).

Zero-shot answers are knowledge of the world. What tuning on the other folds adds is an artefact of the benchmark.
"""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.audit.model_probe import ModelResult, model_result
from evaluation.audit.records import MAX_TRAINED
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import mean_intervals
from foilworks.core.solver.design import Design
from foilworks.core.solver.folds import folds_of, strata_of, structure_of
from foilworks.core.solver.learner import N_FOLDS
from foilworks.core.solver.letter_choices import Choice, Learner, LetterTuning
from foilworks.core.solver.passes import answer_tiers
from foilworks.core.solver.questions import Answers, Question
from foilworks.core.solver.solution import HEADLINE

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
ASKED = "Which sentence describes the video?"
SIGNED = (-1.0, 1.0)


@dataclass(frozen=True)
class Tuning:
    """A model, the folder of the state (None: not resumable), and what is reported.

    `settings`: of `LetterTuning`, its defaults if empty; `progress` gets (updates done, updates).
    """

    model: Learner
    state: Path | None = None
    items: int = MAX_TRAINED
    settings: dict[str, Any] = field(default_factory=dict)
    progress: Callable[[int, int], None] | None = None


@dataclass(frozen=True)
class Difference:
    """A mean difference of shares of right answers on the same items, with its 95 % bootstrap interval over videos."""

    value: float
    interval: list[float] | None


@dataclass(frozen=True)
class TunedResult:
    """`knows`: zero-shot; `learns`: tuned on the other folds; `delta_tst`: the second minus the first; `solver`: the
    share that the solver answers from the same items and folds; `gain`: `learns` minus `solver`. `seconds`: of model
    time, those of earlier runs included."""

    knows: ModelResult
    learns: ModelResult
    delta_tst: Difference
    solver: float
    gain: Difference
    seconds: float
    settings: dict[str, Any]


def tune_folds(questions: Sequence[Question], answers: Answers, tuning: Tuning, seed: int) -> TunedResult:
    """Return what a language model answers before and after tuning on the other folds.

    EvaluationError: fewer than five groups of videos, or the state belongs to another call.
    """
    structure = structure_of(questions, answers)
    if len(np.unique(structure.groups)) < N_FOLDS:
        raise EvaluationError("--set train needs items of at least five videos to learn from; leave it out")
    folds = folds_of(structure.groups, strata_of(questions, answers), N_FOLDS, seed)
    with nullcontext(tuning.state) if tuning.state else TemporaryDirectory() as folder:
        state = _run(questions, answers, folds, tuning, seed, Path(folder))
    zero_shot, tuned = _credits(state["zero_shot"], answers), np.empty(len(answers))
    for fold in range(N_FOLDS):
        tuned[folds == fold] = _credits(state["folds"][str(fold)], answers[folds == fold])
    design = Design.of(questions)
    solved = design.layout.credits(answer_tiers(design, answers, folds, (HEADLINE,), seed).scores[HEADLINE], answers)
    chance = float((1 / design.layout.sizes).mean())
    model = tuning.model
    knows, learns = (
        model_result(model.name, credits, structure.blocks, chance, model.n_parameters)
        for credits in (zero_shot, tuned)
    )
    delta, gain = (_difference(tuned, other, structure.blocks) for other in (zero_shot, solved))
    return TunedResult(knows, learns, delta, float(solved.mean()), gain, state["seconds"], state["settings"])


def _run(
    questions: Sequence[Question], answers: Answers, folds: Codes, tuning: Tuning, seed: int, folder: Path
) -> dict[str, Any]:
    """Return the finished state."""
    settings = LetterTuning(**{"seed": seed, **tuning.settings})
    choices = [
        Choice(question.text or ASKED, question.options, int(answer))
        for question, answer in zip(questions, answers, strict=True)
    ]
    model = tuning.model
    store = _Store(folder, _fingerprint(choices, folds, asdict(settings), f"{model.name}@{model.revision}"))
    state, total = store.state, N_FOLDS * settings.steps(round(len(choices) * (1 - 1 / N_FOLDS)))
    state["settings"] = asdict(settings)
    if "zero_shot" not in state:
        with store.timed():
            state["zero_shot"] = model.probabilities(choices)
    for fold in range(N_FOLDS):
        if str(fold) in state["folds"]:
            continue
        done = len(state["folds"]) * total // N_FOLDS
        training = [choice for choice, own in zip(choices, folds, strict=True) if own != fold]
        held_out = [choice for choice, own in zip(choices, folds, strict=True) if own == fold]
        with store.timed():
            state["folds"][str(fold)] = model.tuned(
                training, held_out, settings, store.checkpoint(fold), _reporter(tuning.progress, done, total)
            )
    return state


def _reporter(progress: Callable[[int, int], None] | None, done: int, total: int) -> Callable[[int], None]:
    return lambda step: progress(min(total, done + step), total) if progress else None


class _Store:
    """The state of a tuning in a folder: zero-shot answers, finished folds, and a checkpoint of the current fold."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self._folder, self._path = folder, folder / "tuning.json"
        self.state: dict[str, Any] = {"fingerprint": fingerprint, "folds": {}, "seconds": 0.0}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if self._path.is_file():
                self.state = json.loads(self._path.read_text(encoding="utf-8"))
                fingerprint_of_state = self.state["fingerprint"]
            else:
                fingerprint_of_state = fingerprint
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise EvaluationError(f"{self._folder}: is no folder of a tuning; choose another train_state") from error
        if fingerprint_of_state != fingerprint:
            raise EvaluationError(
                f"{self._folder}: belongs to other items, settings or another model; choose another train_state"
            )

    def checkpoint(self, fold: int) -> Path:
        return self._folder / f"fold-{fold}.safetensors"

    def timed(self) -> "_Store":
        self._started = time.monotonic()
        return self

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            return
        self.state["seconds"] += time.monotonic() - self._started
        # Whole or not at all: an interrupted write must not lose the folds before it.
        partial = self._path.with_suffix(".part")
        partial.write_text(json.dumps(self.state), encoding="utf-8")
        partial.replace(self._path)


def _fingerprint(choices: Sequence[Choice], folds: Codes, settings: dict[str, Any], model: str) -> str:
    parts = [model, sorted(settings.items()), folds.tolist(), [(row.prompt, row.answer) for row in choices]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _credits(probabilities: Sequence[Sequence[float]], answers: Answers) -> Floats:
    """Return (n,) 1 / (number of likeliest options) if the right one is among them, else 0."""
    rows = [np.array(row) for row in probabilities]
    return np.array(
        [
            float(row[answer] == row.max()) / int((row == row.max()).sum())
            for row, answer in zip(rows, answers, strict=True)
        ]
    )


def _difference(first: Floats, second: Floats, blocks: Codes) -> Difference:
    (interval,) = mean_intervals((first - second)[:, None], blocks, bounds=SIGNED)
    return Difference(float((first - second).mean()), interval)
