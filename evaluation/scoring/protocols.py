"""Define protocols: how a model is queried and how its scores count (docs/reference/scoring.md#protocols).

Every result names its protocol.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Protocol:
    """`ties`: a policy of metrics/ties.py. `frames`: the positions of frames in a clip, `centres` of equal time bins or
    `consecutive` from a random position.

    `pooling` of models that score single frames: their own, the `mean` of the frames' logits, or the mean over frames
    of the `softmax` over an item's texts. `image_frames`: how many frames such a model sees, None = its own number.
    `perplexity`: language models give exp(-sum of log likelihood / tokens); with `own_tokens`, causal ones of a text as
    their own tokenizer splits it, whose first token counts but is not predicted. `version`: raise it when models are
    queried differently. `paired_only`: items without a valid proficiency item do not count. `lossless`: frames are
    never compressed, whatever the installation's cache does.
    """

    label: str
    ties: str
    summary: str
    frames: str = "centres"
    pooling: str = "own"
    image_frames: int | None = None
    perplexity: bool = False
    own_tokens: bool = False
    paired_only: bool = False
    lossless: bool = False
    version: int = 1

    @property
    def suffix(self) -> str:
        """Return the suffix of a model's key, so that scores of an older version of the protocol are computed again."""
        return "" if self.version == 1 else f" protocol={self.version}"

    @property
    def by_item(self) -> bool:
        """Report whether a frame model's score depends on the other texts of the item."""
        return self.pooling == "softmax"


PROTOCOLS: dict[str, Protocol] = {
    "foilworks": Protocol(
        label="Foilworks",
        ties="half",
        summary="Frames at the centres of equal time bins. A tie among n best texts counts 1/n.",
    ),
    "vilma-2024-paper": Protocol(
        label="ViLMA 2024, the paper",
        ties="strict",
        summary=(
            "Counts items that are valid and have a valid proficiency item. The caption must score above the foil. "
            "Image models: mean match score over 8 frames. Language models: perplexity. Other models: their own number "
            "of frames (ViLMA, Secs. 4.2 and A.4)."
        ),
        pooling="mean",
        image_frames=8,
        perplexity=True,
        paired_only=True,
        lossless=True,
    ),
    "vilma-2024-code": Protocol(
        label="ViLMA 2024, the released code",
        ties="first",
        summary=(
            "Reproduces the released code: 8 consecutive frames from a random position, drawn once per clip (the code "
            "draws once per item). Image models: a softmax over the texts of the item on each frame, then the mean. "
            "Language models: perplexity with the text as their own tokenizer splits it, exp(sum of negative log "
            "likelihood of all tokens except the first / number of all tokens). Ties count for the caption."
        ),
        frames="consecutive",
        pooling="softmax",
        image_frames=8,
        perplexity=True,
        own_tokens=True,
        paired_only=True,
        lossless=True,
        version=2,
    ),
}
