"""Sentence encoders (any sentence-transformers model of a transformer and a pooling) for the likeness of two texts."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from huggingface_hub import hf_hub_download
from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError
from numpy.typing import NDArray
from transformers import AutoModel

from hub._pretrained import Pretrained, distinct, load_pretrained, load_tokenizer, longest_input, token_batches
from hub.errors import HubError
from hub.interfaces import ModelInfo, ScoreKind

POOLING_FILE = "1_Pooling/config.json"
POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "first"}


class SentenceEncoder:
    """The TextEncoder of a loaded model: rows of length one, so that their product is the cosine."""

    def __init__(self, loaded: Pretrained, tokenizer: Any, pooling: str) -> None:
        self.model, self.tokenizer, self.device, self.pooling = loaded.model, tokenizer, loaded.device, pooling
        self.info = ModelInfo(
            loaded.name, loaded.revision, ScoreKind.COSINE, needs_video=False, card={"category": "sentence encoder"}
        )
        self._longest = longest_input(tokenizer, loaded.model.config)

    @torch.inference_mode()
    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """m texts -> m float32 rows."""
        once, place = distinct(texts)
        encoded = [self.tokenizer(text, truncation=True, max_length=self._longest) for text in once]
        rows = np.zeros((len(once), self.model.config.hidden_size), np.float32)
        for batch in token_batches([len(one["input_ids"]) for one in encoded]):
            padded = self.tokenizer.pad([encoded[at] for at in batch], return_tensors="pt").to(self.device)
            hidden = self.model(**padded).last_hidden_state.float()
            mask = padded["attention_mask"].unsqueeze(2)
            pooled = hidden[:, 0] if self.pooling == "first" else (hidden * mask).sum(1) / mask.sum(1).clamp(min=1)
            rows[batch] = torch.nn.functional.normalize(pooled, dim=1).cpu().numpy()
        return rows[place] if place else rows


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> SentenceEncoder:
    """The encoder of a hub id or folder; its pooling is read from its files, the mean where they name none."""
    loaded = load_pretrained(AutoModel, argument, slug="sentence", device=device, dtype=dtype)
    return SentenceEncoder(loaded, load_tokenizer(argument), _pooling(argument))


def _pooling(argument: str) -> str:
    path = Path(argument) / POOLING_FILE
    if not Path(argument).is_dir():
        name, _, revision = argument.partition("@")
        try:
            path = Path(hf_hub_download(name, POOLING_FILE, revision=revision or None))
        except (EntryNotFoundError, LocalEntryNotFoundError, HfHubHTTPError):
            return "mean"
    if not path.is_file():
        return "mean"
    chosen = [key for key, value in json.loads(path.read_text(encoding="utf-8")).items() if value is True]
    modes = [key for key in chosen if key.startswith("pooling_mode_")]
    if len(modes) != 1 or modes[0] not in POOLINGS:
        named = ", ".join(modes) or "nothing"
        raise HubError(f"{argument}: pooling by {named} is not understood; choose another model")
    return POOLINGS[modes[0]]
