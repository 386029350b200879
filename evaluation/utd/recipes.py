"""Define named choices of describer, extractor and encoder, the paper's first."""

from dataclasses import dataclass

from evaluation.utd.concepts import FRAMES


@dataclass(frozen=True)
class Recipe:
    """`describer`, `extractor` and `encoder` as typed; `temperature` 0 takes the most likely word each time.

    `max_words`: of a description; `max_tokens`: of an extraction.
    """

    label: str
    describer: str
    extractor: str
    encoder: str
    frames: int = FRAMES
    temperature: float = 0.0
    max_words: int = 300
    max_tokens: int = 400


PAPER, DEMO = "utd-2025", "demo"
RECIPES: dict[str, Recipe] = {
    # (UTD, Sec. 4.1); the paper does not state the maximum length of an answer.
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
