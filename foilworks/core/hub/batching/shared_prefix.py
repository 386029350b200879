"""Compute the likelihood of texts after a prefix that goes through the model once for all of them.

The cache of the prefix is repeated for the batch of texts, which are right-padded and have explicit positions. Log
probabilities are computed in float32. The result equals a forward pass over prefix and text within 1e-3 (a test).

`SharedBeginnings` does the same for prompts that get an answer: few-shot examples run once.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import DynamicLayer

from foilworks.core.hub.loading.pretrained import token_batches

# Tokens that run together. The prefix counts for every text, because each has a copy of its cache.
CACHED_TOKENS_PER_BATCH = {"cpu": 8192, "cuda": 32768}
# A shorter beginning costs more to repeat than it saves.
MIN_SHARED = 16
MAX_BEGINNINGS = 4
# Seconds per pair of frames, as Qwen-Omni's forward names them, and its positions.
SECONDS = "video_second_per_grid"
POSITIONED = {SECONDS: "second_per_grids"}
TYPES = "token_type_ids"


@dataclass(frozen=True)
class Prefix:
    """Token ids of a prefix, and the tensors of the video in it (empty without one).

    `aligned`: tensors (1, length, ...) of a processor with one entry per token.
    """

    ids: Tensor  # (1, length)
    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    aligned: Mapping[str, Tensor] = field(default_factory=dict)

    def extended(self, ids: Sequence[int]) -> "Prefix":
        """Return the prefix with more tokens at its end."""
        return replace(self, ids=torch.cat([self.ids, self.ids.new_tensor([list(ids)])], dim=1))

    def aligned_to(self, length: int, text_type: int = 0) -> dict[str, Tensor]:
        """Return `aligned` for `length` tokens: text sees what the last token sees, and has this type."""
        extended = {}
        for name, tensor in self.aligned.items():
            fill = text_type if name == TYPES else 0
            last = tensor[:, -1:] if name.endswith("mask") else torch.full_like(tensor[:, -1:], fill)
            missing = max(0, length - tensor.shape[1])
            extended[name] = torch.cat([tensor, *[last] * missing], dim=1)[:, :length]
        return extended


class PrefixModel:
    """A generative model that scores texts after prefixes.

    `video_token`: the id that marks a clip's places. `type_ids`: the forward's name for which tokens are those, if it
    asks for that. `whole`: every text has a whole forward pass of its own, without positions and caches of ours.
    """

    def __init__(self, model: Any, video_token: int | None, type_ids: str = "", *, whole: bool = False) -> None:
        self.model, self.video_token, self.type_ids, self.whole = model, video_token, type_ids, whole
        # PaliGemma attends in both directions within type 0, so its texts have type 1.
        self.text_type = 0
        # The prompt then goes into an encoder, and the texts into the decoder.
        self.has_decoder: bool = getattr(model.config, "is_encoder_decoder", False)
        # Qwen's positions count time, height and width: (3, batch, length).
        self.by_grid = not whole and hasattr(model.model, "get_rope_index")

    def forward_inputs(self, prefix: Prefix, ids: Tensor) -> dict[str, Any]:
        """Return the arguments of the forward pass for `ids`, which begin with the prefix; without positions."""
        inputs: dict[str, Any] = {"input_ids": ids, **prefix.tensors, **prefix.aligned_to(ids.shape[1], self.text_type)}
        if prefix.aligned:
            return inputs
        if SECONDS in prefix.tensors:
            # Without a mask, Qwen-Omni's forward gives a video the positions of text.
            inputs["attention_mask"] = torch.ones_like(ids)
        elif self.by_grid and prefix.tensors:
            inputs["mm_token_type_ids"] = (ids == self.video_token).int() * 2
        elif self.type_ids and prefix.tensors:
            inputs[self.type_ids] = (ids == self.video_token).int()
        return inputs

    @torch.inference_mode()
    def log_probabilities(self, prefix: Prefix, texts: Sequence[Sequence[int]]) -> list[Tensor]:
        """Return, per text, its tokens' log-probabilities in nats after the prefix, float32 on the CPU."""
        if self.whole:
            return full_log_probabilities(self, prefix, texts)
        log_rows: list[Tensor] = [torch.empty(0)] * len(texts)
        for batch, cache, first, start in self._batches(prefix, texts):
            rows = self._after(cache, first, start, [texts[at] for at in batch])
            for at, row in zip(batch, rows, strict=True):
                log_rows[at] = row
        return log_rows

    @torch.inference_mode()
    def next_logits(self, prefix: Prefix, texts: Sequence[Sequence[int]]) -> Tensor:
        """Return (len(texts), vocabulary) float32 logits on the CPU: what follows the prefix and each text (one token
        or more)."""
        if self.whole:
            rows = [self.whole_logits(prefix.extended(text), ())[-1] for text in texts]
            return torch.stack(rows).cpu() if rows else torch.empty(0, 0)
        logit_rows: list[Tensor] = [torch.empty(0)] * len(texts)
        for batch, cache, _, start in self._batches(prefix, texts):
            logits, _ = self._continued(cache, start, [texts[at] for at in batch])
            for row, at in enumerate(batch):
                logit_rows[at] = logits[row, len(texts[at]) - 1].float().cpu()
        return torch.stack(logit_rows) if logit_rows else torch.empty(0, 0)

    def whole_logits(self, prefix: Prefix, text: Sequence[int]) -> Tensor:
        """Return (1 + len(text), vocabulary) float32 logits of what follows the prefix and each token of the text.

        One forward pass with the model's own positions.
        """
        after = prefix.ids.new_tensor([list(text)]).view(1, -1)
        if self.has_decoder:
            configs = (self.model.config, self.model.config.get_text_config(decoder=True), self.model.generation_config)
            names = ("decoder_start_token_id", "bos_token_id")
            starts = (getattr(config, name, None) for name in names for config in configs)
            start = next((token for token in starts if token is not None), 0)
            decoder_ids = torch.cat([torch.full_like(prefix.ids[:, :1], start), after], dim=1)
            inputs = {**self.forward_inputs(prefix, prefix.ids), "decoder_input_ids": decoder_ids}
        else:
            inputs = self.forward_inputs(prefix, torch.cat([prefix.ids, after], dim=1))
        logits: Tensor = self.model(**inputs, use_cache=False).logits[0].float()
        return logits[-1 - len(text) :]

    def _batches(
        self, prefix: Prefix, texts: Sequence[Sequence[int]]
    ) -> Iterator[tuple[list[int], Any, Tensor, float]]:
        """Yield, per batch of texts of similar length: their indices, the prefix's cache, the logits at its end (1,
        vocabulary), and the next position, no whole number for Qwen3-Omni. The prefix runs once."""
        if not texts:
            return
        positions = self._positions(prefix)
        inputs = self.forward_inputs(prefix, prefix.ids)
        first = self.model(**inputs, position_ids=positions, use_cache=True, logits_to_keep=1)
        device, before = prefix.ids.device, prefix.ids.shape[1]
        budget = CACHED_TOKENS_PER_BATCH[device.type]
        batches = list(token_batches([before + len(text) for text in texts], device, budget=budget))
        for batch in batches:
            cache = first.cache if batch is batches[-1] else copy.deepcopy(first.cache)
            yield batch, cache, first.logits[:, -1], (positions.max() + 1).item()

    def _positions(self, prefix: Prefix) -> Tensor:
        """Return the positions of the prefix: (1, length), or (3, 1, length) if they are by grid."""
        if self.by_grid and prefix.tensors:
            inputs = self.forward_inputs(prefix, prefix.ids)
            position_ids, _ = self.model.model.get_rope_index(
                **{POSITIONED.get(name, name): value for name, value in inputs.items() if not name.startswith("pixel")}
            )
            return position_ids
        line = torch.arange(prefix.ids.shape[1], device=prefix.ids.device).unsqueeze(0)
        return line.expand(3, 1, -1) if self.by_grid else line

    def _continued(self, cache: Any, start: float, texts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Return logits (n, longest, vocabulary) of the padded texts after the cached prefix, and their ids."""
        device, before = self.model.device, cache.get_seq_length()
        _repeat(cache, len(texts))
        longest = max(map(len, texts))
        ids = torch.zeros((len(texts), longest), dtype=torch.int64)
        mask = torch.zeros((len(texts), before + longest), dtype=torch.int64)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = torch.tensor(text)
            mask[row, : before + len(text)] = 1
        positions = (torch.arange(longest) + start).expand(len(texts), -1)
        positions = positions.expand(3, -1, -1) if self.by_grid else positions
        logits = self.model(
            input_ids=ids.to(device),
            attention_mask=mask.to(device),
            position_ids=positions.to(device),
            cache=cache,
            use_cache=True,
        ).logits
        return logits, ids

    def _after(self, cache: Any, first: Tensor, start: float, texts: Sequence[Sequence[int]]) -> list[Tensor]:
        """Return the log-probabilities of the texts' tokens. `first` (1, vocabulary): the logits at the prefix's end,
        which predict each text's first token."""
        lengths = [len(text) for text in texts]
        if max(lengths) == 0:
            return [torch.empty(0) for _ in texts]
        # The last token of a text predicts none of it.
        heads = [text[:-1] for text in texts]
        guesses = first.float().expand(len(texts), 1, -1)
        if max(map(len, heads)) > 0:
            logits, _ = self._continued(cache, start, heads)
            guesses = torch.cat([guesses, logits.float()], dim=1)
        targets = torch.zeros(guesses.shape[:2], dtype=torch.int64)
        for row, text in enumerate(texts):
            targets[row, : len(text)] = torch.tensor(text)
        token_logs = (
            torch.log_softmax(guesses, dim=2).gather(2, targets.to(guesses.device).unsqueeze(2)).squeeze(2).cpu()
        )
        return [token_logs[row, : lengths[row]] for row in range(len(texts))]


def _repeat(cache: Any, rows: int) -> None:
    """Repeat a cache of one row. `reorder_cache` also knows the states of linear attention (Qwen3.5)."""
    cache.reorder_cache(torch.zeros(rows, dtype=torch.int64))


def shared_length(rows: Sequence[Sequence[int]]) -> int:
    """Count the tokens that all rows begin with."""
    first, last = min(rows), max(rows)
    first_differences = (
        at for at, (first_id, last_id) in enumerate(zip(first, last, strict=False)) if first_id != last_id
    )
    return next(first_differences, min(len(first), len(last)))


class SharedBeginnings:
    """Caches of the latest beginnings that prompts shared, such as an instruction with its few-shot examples."""

    def __init__(self, model: Any) -> None:
        self.model = model
        # Token ids -> the cache of one row; the latest used is last.
        self._caches: dict[tuple[int, ...], Any] = {}
        self._able = True

    def begin(self, rows: Sequence[Sequence[int]]) -> tuple[int, Any]:
        """Return (n, cache): the number of tokens that all rows begin with, and their cache for that many rows, to use
        once.

        (0, None) if they share too little, or if the model's cache does not hold keys and values of every token
        (padding behind the beginning would change it).
        """
        # Every row keeps a token, which predicts the next one.
        shared = tuple(rows[0][: min(shared_length(rows), min(map(len, rows)) - 1)])
        beginning = self._usable_beginning(shared) if self._able and len(shared) >= MIN_SHARED else ()
        if not beginning:
            return 0, None
        cache = copy.deepcopy(self._caches[beginning])
        _repeat(cache, len(rows))
        return len(beginning), cache

    def _usable_beginning(self, shared: tuple[int, ...]) -> tuple[int, ...]:
        """Return the stored beginning to use. A new one is computed if no stored one has half of its tokens."""
        best = max(self._caches, key=lambda ids: shared_length((ids, shared)), default=())
        overlap = shared_length((best, shared))
        if overlap < max(MIN_SHARED, len(shared) / 2):
            beginning = shared
        elif overlap == len(best):
            beginning = best
        else:
            # Both differ from here on, and so will the next prompts.
            beginning = best[:overlap]
            del self._caches[best]
        cache = self._caches.pop(beginning, None) or self._computed(beginning)
        self._able = all(type(layer) is DynamicLayer for layer in getattr(cache, "layers", [None]))
        if not self._able:
            return ()
        self._caches[beginning] = cache
        for oldest in list(self._caches)[:-MAX_BEGINNINGS]:
            del self._caches[oldest]
        return beginning

    @torch.inference_mode()
    def _computed(self, ids: tuple[int, ...]) -> Any:
        row = torch.tensor([ids], device=self.model.device)
        return self.model(input_ids=row, use_cache=True, logits_to_keep=1).cache


@torch.inference_mode()
def full_log_probabilities(model: PrefixModel, prefix: Prefix, texts: Sequence[Sequence[int]]) -> list[Tensor]:
    """Compute the same with a whole forward pass per text, the model's own positions and no cache: the reference."""
    log_rows = []
    for text in texts:
        guesses = torch.log_softmax(model.whole_logits(prefix, text)[:-1], dim=1)
        targets = torch.tensor(list(text), device=guesses.device, dtype=torch.int64).unsqueeze(1)
        log_rows.append(guesses.gather(1, targets).squeeze(1).cpu())
    return log_rows
