"""Define named choices of describer, extractor and encoder, the paper's first."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluation.utd.concepts import FRAMES
from evaluation.utd.prompt_sets import ANSWER_TOKENS


@dataclass(frozen=True)
class Recipe:
    """`describer`, `extractor` and `encoder` as typed; `temperature` 0 takes the most likely word each time.

    `max_words`: of a description, which may have twice as many tokens; `answer_tokens`: of an extraction by concept, as
    in the authors' code; `max_tokens`: of another one.
    """

    label: str
    describer: str
    extractor: str
    encoder: str
    frames: int = FRAMES
    temperature: float = 0.0
    max_words: int = 500
    max_tokens: int = 400
    answer_tokens: Mapping[str, int] = field(default_factory=lambda: dict(ANSWER_TOKENS))


PAPER, DEMO = "utd-2025", "demo"
# What the demo describer is: shown with every result from its texts.
DEMO_ONLY = "the demo models read only the sample project's videos; on other videos their texts mean nothing"
RECIPES: dict[str, Recipe] = {
    # (UTD, Sec. 4.1)
    PAPER: Recipe(
        label="UTD, CVPR 2025",
        describer="vlm:llava-hf/llava-v1.6-mistral-7b-hf?frames=1",
        extractor="chat:mistralai/Mistral-7B-Instruct-v0.2",
        encoder="sentence:Salesforce/SFR-Embedding-Mistral",
    ),
    DEMO: Recipe(
        label="Demo models without weights",
        describer="fake-generator:",
        extractor="fake-reader:",
        encoder="fake-words:",
    ),
}
