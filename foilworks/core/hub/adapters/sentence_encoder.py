"""Measure the similarity of texts with sentence encoders (sentence-transformers: transformer, pooling, dense layers).

Encoders that follow an instruction (SFR-Embedding-Mistral, E5-Mistral) get texts from `instructed`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file
from transformers import AutoModel
from transformers.utils import cached_file

from foilworks.core.hub.batching.text_limits import reads_of_tokenizer
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import ModelInfo, ScoreKind, TextRead
from foilworks.core.hub.loading.pretrained import (
    Pretrained,
    distinct,
    load_pretrained,
    load_tokenizer,
    longest_input,
    model_source,
    token_batches,
)
from foilworks.core.hub.loading.processor_files import read_json, read_text
from foilworks.core.text.quoting import quoted

MODULES, LENGTH = "modules.json", "sentence_bert_config.json"
# The names of old configurations and of new ones.
POOLINGS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "first",
    "pooling_mode_lasttoken": "last",
    "pooling_mode_max_tokens": "max",
    "mean": "mean",
    "cls": "first",
    "lasttoken": "last",
    "max": "max",
}
ACTIVATIONS = {
    "Tanh": torch.nn.Tanh(),
    "Identity": torch.nn.Identity(),
    "GELU": torch.nn.GELU(),
    "ReLU": torch.nn.ReLU(),
}
PARTS = ("Transformer", "Pooling", "Dense", "Normalize")


@dataclass(frozen=True)
class DenseLayer:
    """A linear layer after the pooling: weight (out, in), bias (out,) or None."""

    weight: torch.Tensor
    bias: torch.Tensor | None
    activation: torch.nn.Module

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        return self.activation(torch.nn.functional.linear(rows, self.weight, self.bias))


class SentenceEncoder:
    """The TextEncoder of a loaded model: rows of length one, so that their product is the cosine."""

    def __init__(
        self, loaded: Pretrained, tokenizer: Any, pooling: str, dense: Sequence[DenseLayer] = (), longest: int = 0
    ) -> None:
        self.model, self.tokenizer, self.device, self.pooling = loaded.model, tokenizer, loaded.device, pooling
        self.dense = tuple(dense)
        self.info = ModelInfo(
            loaded.name, loaded.revision, ScoreKind.COSINE, needs_video=False, card={"category": "sentence encoder"}
        )
        most = longest_input(tokenizer, loaded.model.config)
        self._longest = min(most, longest) if longest else most

    @torch.inference_mode()
    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode m texts as m float32 rows."""
        once, place = distinct(texts)
        encoded = [self.tokenizer(text, truncation=True, max_length=self._longest) for text in once]
        width = len(self.dense[-1].weight) if self.dense else self.model.config.hidden_size
        rows = np.zeros((len(once), width), np.float32)
        for batch in token_batches([len(one["input_ids"]) for one in encoded], self.device):
            padded = self.tokenizer.pad([encoded[at] for at in batch], return_tensors="pt").to(self.device)
            hidden = self.model(**padded).last_hidden_state.float()
            pooled = _pooled(hidden, padded["attention_mask"], self.pooling)
            for layer in self.dense:
                pooled = layer(pooled)
            rows[batch] = torch.nn.functional.normalize(pooled, dim=1).cpu().numpy()
        return rows[place] if place else rows

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead]:
        return reads_of_tokenizer(self.tokenizer, texts, self._longest)


def instructed(instruction: str, texts: Sequence[str]) -> list[str]:
    """Add the instruction that such encoders expect (UTD, Sec. B.2); without one, return the texts unchanged."""
    return [f"Instruct: {instruction}\nQuery: {text}" if instruction else text for text in texts]


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> SentenceEncoder:
    """Load the encoder of a hub id or folder, with the pooling of its files (the mean if they name none)."""
    loaded = load_pretrained(AutoModel, argument, slug="sentence", device=device, dtype=dtype)
    found = _parts(argument)
    pooling = _pooling(argument, found.get("Pooling", ["1_Pooling"])[0])
    dense = [_dense(argument, path, loaded.device) for path in found.get("Dense", [])]
    longest = int((read_json(argument, LENGTH) or {}).get("max_seq_length") or 0)
    return SentenceEncoder(loaded, load_tokenizer(argument), pooling, dense, longest)


def _pooled(hidden: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """(n, length, d), (n, length) -> (n, d), padding left aside on whichever side it stands."""
    weights = mask.unsqueeze(2)
    if pooling == "mean":
        return (hidden * weights).sum(1) / weights.sum(1).clamp(min=1)
    if pooling == "max":
        return hidden.masked_fill(weights == 0, -torch.inf).amax(1)
    places = torch.arange(mask.shape[1], device=mask.device)
    at = (places * mask).argmax(1) if pooling == "last" else mask.argmax(1)
    return hidden[torch.arange(len(hidden), device=hidden.device), at]


def _parts(argument: str) -> dict[str, list[str]]:
    """{"Pooling": ["1_Pooling"], "Dense": [...]} of modules.json; HubError for a part that is not known here."""
    text = read_text(argument, MODULES)
    found: dict[str, list[str]] = {}
    for part in json.loads(text) if text else []:
        kind = str(part["type"]).rpartition(".")[2]
        if kind not in PARTS:
            raise HubError(f"{argument}: {MODULES}: its part {quoted(kind)} is not supported; choose another model")
        found.setdefault(kind, []).append(part["path"])
    return found


def _pooling(argument: str, path: str) -> str:
    raw = read_json(argument, f"{path}/config.json")
    if raw is None:
        return "mean"
    modes = [key for key, value in raw.items() if value is True and key.startswith("pooling_mode_")]
    modes = modes or [str(raw[key]) for key in ("pooling_mode",) if raw.get(key)]
    if len(modes) != 1 or modes[0] not in POOLINGS:
        named = ", ".join(modes) or "nothing"
        raise HubError(f"{argument}: pooling by {named} is not supported; choose another model")
    return POOLINGS[modes[0]]


def _dense(argument: str, path: str, device: torch.device) -> DenseLayer:
    raw = read_json(argument, f"{path}/config.json") or {}
    activation = str(raw.get("activation_function", "Tanh")).rpartition(".")[2]
    source, revision = model_source(argument)
    try:
        found = cached_file(source, f"{path}/model.safetensors", revision=revision or None)
        tensors = load_file(Path(found))
    except (OSError, SafetensorError) as error:
        raise HubError(f"{argument}: {path}/model.safetensors: missing or unreadable; copy it again") from error
    names = {"linear.weight", "linear.bias"} if raw.get("bias", True) else {"linear.weight"}
    if tensors.keys() != names or activation not in ACTIVATIONS:
        raise HubError(
            f"{argument}: {path}: holds {', '.join(sorted(tensors))} with {activation}, not {', '.join(sorted(names))} "
            f"with one of {', '.join(ACTIVATIONS)}; copy it again"
        )
    bias = tensors.get("linear.bias")
    return DenseLayer(
        tensors["linear.weight"].float().to(device),
        None if bias is None else bias.float().to(device),
        ACTIVATIONS[activation],
    )
