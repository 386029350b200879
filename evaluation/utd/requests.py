"""What a person asks of UTD: descriptions of videos, a measurement of their biases, predictions of a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.utd.instructions import CLASSIFICATION
from evaluation.utd.recipes import PAPER
from evaluation.utd.vector_formats import FLOAT32


@dataclass(frozen=True)
class DescriptionRequest:
    """Empty values come from the recipe.

    `budget`: the maximum `requests`, `tokens` and `cost` at endpoints. `split`, `videos`: describe only that split, or
    the videos with these keys. `prompts`: a project's own (`read_prompts`); `placement`: where the start of an answer
    is.
    """

    recipe: str = PAPER
    describer: str = ""
    extractor: str = ""
    frames: int = 0
    name: str = ""
    device: str = "auto"
    budget: Mapping[str, float] | None = None
    split: str = ""
    videos: Sequence[str] = ()
    prompts: Mapping[str, Any] | None = None
    placement: str = ""


@dataclass(frozen=True)
class BiasRequest:
    """`options`: choices of the procedure that differ from the published ones.

    `class_texts`: what is embedded instead of the name of a class. `labels`: the source of classes (class_label,
    category, facts:NAME), or the prefix of the keys of captions. `encoder`: the encoder of the descriptions' recipe if
    empty. `vectors`: float32, or float16 for half the disk space.
    """

    task: str = CLASSIFICATION
    labels: str = ""
    encoder: str = ""
    max_reading: str = "score"
    name: str = ""
    device: str = "auto"
    seed: int = 0
    options: Mapping[str, Any] | None = None
    class_texts: Mapping[str, str] | None = None
    learning_curve: bool = False
    vectors: str = FLOAT32


@dataclass(frozen=True)
class PredictionRequest:
    """`model`: a backbone that a classifier is trained on, or with `zero_shot` an adapter such as clip:ID.

    `rerank`: a second model for retrieval, which ranks the highest videos of each caption again (UTD, Sec. B.4).
    """

    model: str
    zero_shot: bool = False
    label: str = ""
    epochs: int = 50
    augment: bool = True
    device: str = "auto"
    rerank: str = ""
