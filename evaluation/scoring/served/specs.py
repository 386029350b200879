"""Parse the name of a served model: `endpoint:NAME/MODEL?mode=p_yes&frames=8`. Loads no model library and no client."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from foilworks.core.hub.catalogue.options import split_options
from foilworks.core.hub.errors import HubError
from generation.instruction_models.endpoints import endpoint_and_model

AUTO, LOGPROBS, SAMPLES = "auto", "logprobs", "samples"
IMAGES, VIDEO = "images", "video"
JPEG, PNG = "jpeg", "png"


class Mode(StrEnum):
    """What a question about a clip asks (evaluation/scoring/served/questions.py)."""

    P_YES = "p_yes"
    PAIRS = "pairs"
    CHOICE = "choice"


CHOICES = {"mode": tuple(Mode), "by": (AUTO, LOGPROBS, SAMPLES), "as": (IMAGES, VIDEO), "form": (JPEG, PNG)}
KNOWN: dict[str, type | range] = {
    "mode": str,
    "by": str,
    "as": str,
    "form": str,
    "frames": int,
    "samples": range(2, 1001),
    "side": range(32, 4097),
    "max_tokens": range(1, 32_769),
}


@dataclass(frozen=True)
class ServedSpec:
    """`by`: from log-probabilities, from samples, or auto: what the server supports. `shown_as`: frames as images, or
    as one video.

    `form`: JPEG at quality 95, or lossless PNG. `side`: maximum side of the frames in pixels.
    """

    endpoint: str
    model: str
    mode: Mode = Mode.P_YES
    by: str = AUTO
    shown_as: str = IMAGES
    form: str = JPEG
    frames: int = 8
    samples: int = 10
    side: int = 768
    max_tokens: int = 16

    @property
    def as_video(self) -> bool:
        return self.shown_as == VIDEO


DEFAULTS = ServedSpec("", "")


def served_spec(spec: str) -> ServedSpec:
    """Parse the spec.

    HubError: an unknown option. GenerationError: no such endpoint or model.
    """
    argument = spec.partition(":")[2]
    name, options = split_options(argument, KNOWN)
    for option, choices in CHOICES.items():
        if option in options and options[option] not in choices:
            raise HubError(f"'{spec}': {option} is '{options[option]}'; choose one of: {', '.join(choices)}")
    if options.get("as") == VIDEO and options.get("form") == PNG:
        raise HubError(f"'{spec}': a video is sent as JPEG frames; leave out form={PNG}, or as={VIDEO}")
    endpoint, model = endpoint_and_model(name)
    fields: dict[str, Any] = {"shown_as" if option == "as" else option: value for option, value in options.items()}
    if "mode" in fields:
        fields["mode"] = Mode(fields["mode"])
    return ServedSpec(endpoint.name, model, **fields)
