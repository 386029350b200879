"""Share code of the dual encoders: checks of clips, texts in equal batches, rows of length one."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from foilworks.core.hub.batching.text_limits import reads_of_tokenizer
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Frames, ModelInfo, TextRead, VideoMeta
from foilworks.core.hub.loading.pretrained import distinct, longest_input, token_batches


def check_clips(clips: Sequence[Frames], meta: Sequence[VideoMeta], info: ModelInfo) -> None:
    """Raise HubError, with the clip's key, unless each clip is uint8 (frames, height, width, 3) with the right number
    of frames."""
    for clip, clip_meta in zip(clips, meta, strict=True):
        has_frames = clip.ndim == 4 and clip.shape[0] == info.frames and clip.shape[3] == 3
        if not has_frames or clip.dtype != np.uint8:
            raise HubError(
                f"clip '{clip_meta.key}': {info.model_id} takes uint8 ({info.frames}, height, width, 3), "
                f"not {clip.dtype} {clip.shape}; sample it to its frames"
            )


class Tokens:
    """A tokenizer for a text tower of `config`. `full_length`: texts are padded to the end, as in the training of some
    towers.

    `lowers`: its files require lower case, which its class does not apply, as with SigLIP 2 under the name of Gemma;
    `mark` says so in a revision.
    """

    def __init__(self, tokenizer: Any, config: Any, *, full_length: bool, device: torch.device) -> None:
        self.tokenizer, self.full_length, self.device = tokenizer, full_length, device
        text = getattr(config, "text_config", config)
        self.longest = min(longest_input(tokenizer, config), text.max_position_embeddings)
        keeps_case = tokenizer("A")["input_ids"] != tokenizer("a")["input_ids"]
        self.lowers = keeps_case and bool(tokenizer.init_kwargs.get("do_lower_case"))
        self.mark = " texts=lower" if self.lowers else ""

    def __call__(self, texts: Sequence[str]) -> Any:
        """Return ids and mask of the texts, cut to the tower's limit."""
        padding = "max_length" if self.full_length else True
        spelled_texts = [self._spelt(text) for text in texts]
        return self.tokenizer(
            spelled_texts, padding=padding, truncation=True, max_length=self.longest, return_tensors="pt"
        ).to(self.device)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text as the tower gets them."""
        if self.full_length or not texts:
            return [self.longest] * len(texts)
        rows = self.tokenizer([self._spelt(text) for text in texts], truncation=True, max_length=self.longest)
        return [len(row) for row in rows["input_ids"]]

    def at_limit(self, texts: Sequence[str], spell: Callable[[str], str] = str) -> dict[str, TextRead]:
        """Implement `LimitsTexts.at_limit`. `spell`: how an adapter changes a text before it is tokenized."""
        return reads_of_tokenizer(self.tokenizer, texts, self.longest, lambda text: self._spelt(spell(text)))

    def _spelt(self, text: str) -> str:
        return text.lower() if self.lowers else text


def encoded(
    texts: Sequence[str], tokens: Tokens, encode: Callable[[Sequence[str]], NDArray[np.float32]]
) -> NDArray[np.float32]:
    """Apply `encode` to batches of the distinct texts, and return rows in the given order; no texts give no rows."""
    unique_texts, indices = distinct(texts)
    batches = list(token_batches(tokens.lengths(unique_texts), tokens.device))
    if not batches:
        return np.zeros((0, 1), np.float32)
    rows = np.concatenate([encode([unique_texts[at] for at in batch]) for batch in batches])
    # From the order of the batches to the order of the distinct texts.
    return rows[np.argsort(np.concatenate(batches))][indices]


def unit(rows: torch.Tensor) -> NDArray[np.float32]:
    """Normalise rows along the last axis; float32 on the CPU."""
    return torch.nn.functional.normalize(rows.float(), dim=-1).cpu().numpy()


def plain(rows: torch.Tensor) -> NDArray[np.float32]:
    """Return the tensor as float32 on the CPU."""
    return rows.float().cpu().numpy()
