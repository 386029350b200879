"""Classify one text or a pair of texts by AutoModelForSequenceClassification: NLI (a pair), CoLA (one text)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForSequenceClassification

from foilworks.core.hub.batching.text_limits import reads_at_limit
from foilworks.core.hub.interfaces import ModelInfo, ScoreKind, TextRead
from foilworks.core.hub.loading.onednn import use_onednn
from foilworks.core.hub.loading.pretrained import Pretrained, distinct, load_text_model, longest_input, token_batches

# oneDNN is fastest while the states of the widest layer stay in the shared cache.
TOKENS_PER_CPU_BATCH = 1024


class TextPairClassifier:
    """The PairClassifier of a loaded model."""

    def __init__(self, loaded: Pretrained, tokenizer: Any) -> None:
        self.model, self.tokenizer, self.device = loaded.model, tokenizer, loaded.device
        names = loaded.model.config.id2label
        self.labels = tuple(str(names[at]).lower() for at in range(loaded.model.config.num_labels))
        self.info = ModelInfo(
            loaded.name, loaded.revision, ScoreKind.LOGIT, needs_video=False, card={"category": "text classifier"}
        )
        self._longest = longest_input(tokenizer, loaded.model.config)
        self._budget = TOKENS_PER_CPU_BATCH if self.device.type == "cpu" else 0

    @torch.inference_mode()
    def logits(self, pairs: Sequence[tuple[str, str | None]]) -> NDArray[np.float32]:
        """Return (n, len(labels)) logits of n pairs; the second of a pair is None if the model judges one text."""
        unique_pairs, indices = distinct(pairs)
        encoded = [
            self.tokenizer(*self._tokenizer_inputs(pair), truncation=True, max_length=self._longest)
            for pair in unique_pairs
        ]
        rows = np.zeros((len(unique_pairs), len(self.labels)), np.float32)
        for batch in token_batches(
            [len(encoding["input_ids"]) for encoding in encoded], self.device, budget=self._budget
        ):
            padded = self.tokenizer.pad([encoded[at] for at in batch], return_tensors="pt").to(self.device)
            rows[batch] = self.model(**padded).logits.float().cpu().numpy()
        return rows[indices] if indices else rows

    def probs(self, pairs: Sequence[tuple[str, str | None]]) -> NDArray[np.float32]:
        logits = self.logits(pairs)
        if not len(logits):
            return logits
        powers = np.exp(logits - logits.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)

    def at_limit(self, pairs: Sequence[tuple[str, str | None]]) -> dict[tuple[str, str | None], TextRead]:
        """Report the pairs that reach the limit, both texts together."""
        return reads_at_limit(
            pairs,
            self._longest,
            lambda batch: [self.tokenizer(*self._tokenizer_inputs(pair))["input_ids"] for pair in batch],
            lambda pair, _ids: self.tokenizer(*self._tokenizer_inputs(pair), truncation=True, max_length=self._longest)[
                "input_ids"
            ],
        )

    def _tokenizer_inputs(self, pair: tuple[str, str | None]) -> list[str]:
        return [text for text in pair if text is not None]


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> TextPairClassifier:
    """Load the classifier of a hub id or folder."""
    auto_class = AutoModelForSequenceClassification
    loaded, tokenizer = load_text_model(auto_class, argument, slug="classifier", device=device, dtype=dtype)
    use_onednn(loaded.model.base_model)
    return TextPairClassifier(loaded, tokenizer)
