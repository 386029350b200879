"""Fill one blank with masked language models (BERT, RoBERTa, ALBERT, XLM-R … by AutoModelForMaskedLM).

Batches are cut by a budget of tokens, equal texts go through once, and only the blank's position reaches the
vocabulary head (models, "Speed"). Candidates are whole words of one token.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForMaskedLM

from foilworks.core.hub.batching.text_limits import reads_of_tokenizer
from foilworks.core.hub.batching.token_rows import masked
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Fill, ModelInfo, ScoreKind, TextRead
from foilworks.core.hub.loading.pretrained import Pretrained, distinct, load_text_model, longest_input, token_batches
from foilworks.core.text.quoting import quoted

# How tokenizers mark that a token begins or continues a word.
STARTS = ("\u0120", "\u2581")
CONTINUES = "##"


class MaskedLM:
    """The Filler of a loaded model."""

    def __init__(self, loaded: Pretrained, tokenizer: Any) -> None:
        if tokenizer.mask_token is None:
            raise HubError(f"{loaded.name}: its tokenizer has no mask token; choose a masked language model")
        self.model, self.tokenizer, self.device = loaded.model, tokenizer, loaded.device
        self.blank = str(tokenizer.mask_token)
        self.info = ModelInfo(
            loaded.name, loaded.revision, ScoreKind.LOG_LIKELIHOOD, needs_video=False, card={"category": "masked LM"}
        )
        self._ids, self._spaced = _whole_words(tokenizer, loaded.model.config.vocab_size)
        self._longest = longest_input(tokenizer, loaded.model.config)

    @property
    def words(self) -> Collection[str]:
        """Return the whole words that are one token."""
        return self._ids.keys()

    def fill(self, texts: Sequence[str], k: int, allowed: Collection[str] | None = None) -> list[list[Fill]]:
        """Implement foilworks.core.hub.interfaces.Filler. HubError: a text without exactly one blank, or too long
        for the model."""
        words, ids = self._candidates(allowed)
        if not words or k < 1:
            return [[] for _ in texts]
        unique_texts, indices = distinct(texts)
        encoded = [self._encoded(text) for text in unique_texts]
        columns = torch.tensor(ids, device=self.device)
        fills: list[list[Fill]] = [[] for _ in unique_texts]
        for batch in token_batches([len(row) for row in encoded], self.device):
            log_probabilities = self._at_blank([encoded[at] for at in batch])[:, columns]
            values, best = log_probabilities.topk(min(k, len(words)), dim=1)
            for at, row, columns_of_best in zip(batch, values.tolist(), best.tolist(), strict=True):
                fills[at] = [Fill(words[index], value) for index, value in zip(columns_of_best, row, strict=True)]
        return [fills[at] for at in indices]

    @torch.inference_mode()
    def self_losses(self, texts: Sequence[str]) -> list[float]:
        """Return the mean cross entropy of each text's own tokens with nothing masked, in nats: GRUEN's language model
        part."""
        unique_texts, indices = distinct(texts)
        encoded = [
            self.tokenizer(text, truncation=True, max_length=self._longest)["input_ids"] for text in unique_texts
        ]
        losses = [0.0] * len(unique_texts)
        for batch in token_batches([len(row) for row in encoded], self.device):
            ids, mask = self._padded([encoded[at] for at in batch])
            logits = self.model(input_ids=ids, attention_mask=mask).logits.float()
            costs = torch.nn.functional.cross_entropy(logits.transpose(1, 2), ids, reduction="none") * mask
            for at, value in zip(batch, (costs.sum(1) / mask.sum(1)).tolist(), strict=True):
                losses[at] = value
        return [losses[at] for at in indices]

    def at_limit(self, texts: Sequence[str]) -> dict[str, TextRead]:
        """Report texts at the limit of `self_losses`; `fill` reads a window around its blank."""
        return reads_of_tokenizer(self.tokenizer, texts, self._longest)

    def _candidates(self, allowed: Collection[str] | None) -> tuple[list[str], list[int]]:
        ids_by_word = self._ids if allowed is None else {word: self._ids[word] for word in allowed if word in self._ids}
        # Sorted, so that equal probabilities come out in the same order whatever the set's.
        words = sorted(ids_by_word)
        return words, [ids_by_word[word] for word in words]

    def _encoded(self, text: str) -> list[int]:
        spaced = f" {text}" if self._spaced and not text.startswith(" ") else text
        ids: list[int] = self.tokenizer(spaced)["input_ids"]
        blanks = ids.count(self.tokenizer.mask_token_id)
        if blanks != 1:
            raise HubError(
                f"{quoted(text)} contains {blanks} blanks; write {self.blank} exactly once, where the word is missing"
            )
        return ids if len(ids) <= self._longest else self._window(ids)

    def _window(self, ids: list[int]) -> list[int]:
        """As much of a long text round its blank as the model takes."""
        at, half = ids.index(self.tokenizer.mask_token_id), self._longest // 2
        start = min(max(0, at - half), len(ids) - self._longest)
        return ids[start : start + self._longest]

    def _padded(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        ids, mask = masked(rows, self.tokenizer.pad_token_id or 0)
        return ids.to(self.device), mask.to(self.device)

    @torch.inference_mode()
    def _at_blank(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """(n, vocabulary) log-probabilities at each row's blank."""
        ids, mask = self._padded(rows)
        at = (ids == self.tokenizer.mask_token_id).int().argmax(1)

        def gathered(module: Any, inputs: Any, output: Any) -> Any:
            # The head works on each position by itself, so it need not see the others.
            output.last_hidden_state = output.last_hidden_state[torch.arange(len(rows)), at].unsqueeze(1)
            return output

        hook = self.model.base_model.register_forward_hook(gathered)
        try:
            logits = self.model(input_ids=ids, attention_mask=mask).logits
        finally:
            hook.remove()
        return torch.log_softmax(logits[:, 0].float(), dim=1)


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> MaskedLM:
    """Load the masked language model of a hub id or folder."""
    loaded, tokenizer = load_text_model(AutoModelForMaskedLM, argument, slug="mask", device=device, dtype=dtype)
    if loaded.model.base_model is loaded.model:
        raise HubError(f"{argument}: its body and its vocabulary head cannot be separated; choose another masked LM")
    return MaskedLM(loaded, tokenizer)


def _whole_words(tokenizer: Any, size: int) -> tuple[dict[str, int], bool]:
    """Return lower-case whole words of one token with their ids, and whether tokens mark the space before a word."""
    tokens = tokenizer.convert_ids_to_tokens(np.arange(min(size, len(tokenizer))).tolist())
    special = set(tokenizer.all_special_ids)
    mark = next((mark for mark in STARTS if any((token or "").startswith(mark) for token in tokens)), "")
    words: dict[str, int] = {}
    for at, token in enumerate(tokens):
        if token is None or at in special or not token.startswith(mark):
            continue
        word = token.removeprefix(mark)
        if word.isascii() and word.isalpha() and word.islower() and not token.startswith(CONTINUES):
            words[word] = at
    return words, bool(mark)
