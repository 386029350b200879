"""Measure the similarity of texts with sentence encoders of sentence-transformers.

Encoders that follow an instruction (SFR-Embedding-Mistral, E5-Mistral) get texts from `instructed`.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from transformers.utils import cached_file

from foilworks.core.hub.batching.text_limits import reads_of_tokenizer
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import ModelInfo, ScoreKind, TextRead
from foilworks.core.hub.loading.pretrained import (
    TRUST,
    WEIGHTS,
    Pretrained,
    distinct,
    load_pretrained,
    longest_input,
    require_tokenizer,
    token_batches,
)
from foilworks.core.hub.loading.processor_files import read_text

MODULES, POOLING = "modules.json", "1_Pooling"
SAFE_WEIGHTS, PICKLED_WEIGHTS = "model.safetensors", "pytorch_model.bin"


class ReportingTransformer(Transformer):
    """The library's first module. It also stores the report about weights: missing, unexpected, of another shape."""

    loading_info: dict[str, Any]

    def _load_model(self, *args: Any, **options: Any) -> Any:
        options |= {"output_loading_info": True, "ignore_mismatched_sizes": True}
        model, self.loading_info = super()._load_model(*args, **options)
        return model


class ReportingSentenceTransformer(SentenceTransformer):
    """A SentenceTransformer whose first module stores the report about its weights."""

    def _load_module_class_from_ref(self, *args: Any, **options: Any) -> type:
        module_class = super()._load_module_class_from_ref(*args, **options)
        return ReportingTransformer if module_class is Transformer else module_class


class EncoderFiles:
    """Open a folder or hub id as `load_pretrained` opens an auto class of transformers."""

    @staticmethod
    def from_pretrained(
        source: str, *, dtype: torch.dtype, use_safetensors: bool | None, trust_remote_code: bool, **options: Any
    ) -> tuple[SentenceTransformer, dict[str, Any]]:
        """Return the model and the report about its weights; ValueError in one line if a module does not fit."""
        revision = options.get("revision")
        argument = f"{source}@{revision}" if revision else source
        require_tokenizer(source)
        shared = {"revision": revision, "trust_remote_code": trust_remote_code}
        body_options = {"dtype": dtype, "use_safetensors": use_safetensors}
        try:
            modules = _read_modules(argument)
            if use_safetensors:
                _refuse_pickled_weights(source, revision, modules)
            if modules:
                model = ReportingSentenceTransformer(source, device="cpu", model_kwargs=body_options, **shared)
            else:
                body = ReportingTransformer(
                    source, model_kwargs=body_options | shared, processor_kwargs=shared, config_kwargs=shared
                )
                model = SentenceTransformer(modules=[body, Pooling(body.get_embedding_dimension())], device="cpu")
        except (RuntimeError, TypeError, AttributeError) as error:
            raise ValueError(" ".join(str(error).split())) from error
        if not isinstance(model[0], ReportingTransformer):
            raise HubError(
                f"{argument}: {MODULES}: its first part {type(model[0]).__name__} is not supported; choose another "
                "model"
            )
        return model, model[0].loading_info


class SentenceEncoder:
    """The TextEncoder of a loaded model: rows of length one, so that their product is the cosine."""

    def __init__(self, loaded: Pretrained) -> None:
        self.model, self.device = loaded.model, loaded.device
        self.tokenizer = loaded.model.tokenizer
        self.info = ModelInfo(
            loaded.name, loaded.revision, ScoreKind.COSINE, needs_video=False, card={"category": "sentence encoder"}
        )
        # The library does not subtract the positions that RoBERTa reserves.
        self._longest = longest_input(self.tokenizer, loaded.model.config)
        self.model.max_seq_length = self._longest

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode m texts as m float32 rows."""
        unique_texts, indices = distinct(texts)
        lengths = [
            len(self.tokenizer(text, truncation=True, max_length=self._longest)["input_ids"]) for text in unique_texts
        ]
        rows = np.zeros((len(unique_texts), self.model.get_embedding_dimension()), np.float32)
        for batch in token_batches(lengths, self.device):
            # Instructions are parts of the texts, so a default prompt of the model's files is not added.
            rows[batch] = self.model.encode(
                [unique_texts[at] for at in batch],
                prompt="",
                batch_size=len(batch),
                show_progress_bar=False,
                normalize_embeddings=True,
            )
        return rows[indices] if indices else rows

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead]:
        return reads_of_tokenizer(self.tokenizer, texts, self._longest)


def instructed(instruction: str, texts: Sequence[str]) -> list[str]:
    """Add the instruction that such encoders expect (UTD, Sec. B.2); without one, return the texts unchanged."""
    return [f"Instruct: {instruction}\nQuery: {text}" if instruction else text for text in texts]


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> SentenceEncoder:
    """Load the encoder of a hub id or folder, with the modules of its files (mean pooling if they name none)."""
    return SentenceEncoder(load_pretrained(EncoderFiles, argument, slug="sentence", device=device, dtype=dtype))


def _read_modules(argument: str) -> list[dict[str, Any]]:
    """Return the rows of modules.json, [] if the model has no such file."""
    text = read_text(argument, MODULES)
    if text is None and Path(argument, POOLING).is_dir():
        raise HubError(f"{argument}: {MODULES}: missing, but there is {POOLING}; copy the whole folder again")
    modules: list[dict[str, Any]] = json.loads(text) if text else []
    return modules


def _refuse_pickled_weights(source: str, revision: str | None, modules: Sequence[dict[str, Any]]) -> None:
    """Raise HubError for a module whose only weights are pickled: the library would load them."""
    for module in modules:
        path = module["path"]
        pickled, safe = (f"{path}/{name}" for name in (PICKLED_WEIGHTS, SAFE_WEIGHTS))
        if path and _has_file(source, revision, pickled) and not _has_file(source, revision, safe):
            trust_hint = TRUST.format(model="SPEC", option=WEIGHTS)
            raise HubError(f"{source}: {pickled} is not a safetensors file and is not loaded; {trust_hint}")


def _has_file(source: str, revision: str | None, name: str) -> bool:
    return bool(
        cached_file(
            source,
            name,
            revision=revision,
            _raise_exceptions_for_missing_entries=False,
            _raise_exceptions_for_connection_errors=False,
        )
    )
