"""Parse the name of a served model: `endpoint:NAME/MODEL?mode=p_yes&frames=8`. Loads no model library and no client."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from foilworks.core.hub.catalogue.options import Decimal, OptionType, split_options
from foilworks.core.hub.catalogue.thinking import OPTIONS, READ, Thinking
from foilworks.core.hub.errors import HubError
from generation.instruction_models.endpoints import endpoint_and_model

AUTO, LOGPROBS, SAMPLES = "auto", "logprobs", "samples"
# Answers per question of yes or no where a server gives no log-probabilities.
DEFAULT_SAMPLES = 10
IMAGES, VIDEO = "images", "video"
JPEG, PNG = "jpeg", "png"


class Mode(StrEnum):
    """What a question about a clip asks (evaluation/scoring/served/questions.py)."""

    P_YES = "p_yes"
    PAIRS = "pairs"
    CHOICE = "choice"


KNOWN: dict[str, OptionType] = {
    "mode": tuple(Mode),
    "by": (AUTO, LOGPROBS, SAMPLES),
    "as": (IMAGES, VIDEO),
    "form": (JPEG, PNG),
    "frames": int,
    "fps": Decimal(0.01, 120),
    "side": range(32, 4097),
    **OPTIONS,
}


@dataclass(frozen=True)
class ServedSpec:
    """`by`: from log-probabilities, from samples, or auto: what the server supports. `shown_as`: frames as images, or
    as one video.

    `form`: JPEG at quality 95, or lossless PNG. `side`: maximum side of the frames in pixels.

    With `fps`, so many frames per second are shown, at most `frames`.
    """

    endpoint: str
    model: str
    mode: Mode = Mode.P_YES
    by: str = AUTO
    shown_as: str = IMAGES
    form: str = JPEG
    frames: int = 8
    fps: float = 0.0
    side: int = 768
    thinking: Thinking = field(default_factory=Thinking)

    @property
    def as_video(self) -> bool:
        return self.shown_as == VIDEO

    def samples(self, by_probability: bool) -> int:
        """Return the number of answers per question; 0 if log-probabilities are read."""
        if by_probability:
            return 0
        by_default = DEFAULT_SAMPLES if self.mode == Mode.P_YES and self.thinking.thinking != READ else 1
        return self.thinking.samples or by_default


DEFAULTS = ServedSpec("", "")


def served_spec(spec: str) -> ServedSpec:
    """Parse the spec.

    HubError: an unknown option. GenerationError: no such endpoint or model.
    """
    argument = spec.partition(":")[2]
    name, options = split_options(argument, KNOWN)
    thinking = Thinking.of(options)
    reads_words = thinking.thinking == READ
    if options.get("by") == (LOGPROBS if reads_words else SAMPLES) and thinking.thinks:
        raise HubError(f"'{spec}': thinking={thinking.thinking} says how answers are read; leave out by=")
    if options.get("as") == VIDEO and options.get("form") == PNG:
        raise HubError(f"'{spec}': a video is sent as JPEG frames; leave out form={PNG}, or as={VIDEO}")
    endpoint, model = endpoint_and_model(name)
    fields: dict[str, Any] = {
        "shown_as" if option == "as" else option: value for option, value in options.items() if option not in OPTIONS
    }
    if thinking.thinks:
        fields["by"] = SAMPLES if reads_words else LOGPROBS
    if "mode" in fields:
        fields["mode"] = Mode(fields["mode"])
    return ServedSpec(endpoint.name, model, thinking=thinking, **fields)
