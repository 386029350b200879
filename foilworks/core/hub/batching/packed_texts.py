"""Run texts that begin alike through a causal model once, up to where they differ.

The distinct beginnings of the texts form a tree, whose nodes are one row. Each node attends only to its ancestors (a
mask of four dimensions) and its position is its depth (explicit positions). A row costs one position per distinct
beginning; the last token of a text predicts nothing and is left out. The vocabulary head gets a few hundred positions
at a time. The result equals one forward pass per text within 1e-4 nats per token (a test).
"""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

# All nodes of a row attend to each other: with 256, that is a twentieth of the work of gpt2's layers.
NODES_PER_ROW = 256
ROWS_PER_FORWARD = 4
HEAD_POSITIONS = 256
# Tolerated difference of packed and plain sums of a few tokens, in float32 and in a shorter format.
AGREEMENT, COARSE_AGREEMENT = 1e-4, 3e-2


@dataclass
class Row:
    """A tree of beginnings. Node i holds `tokens[i]` at `depths[i]` below `parents[i]` (-1: a root). Guess j is what
    node `guessers[j]` predicts for `guessed[j]`. `texts` are the indices of the given texts with their guesses."""

    tokens: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    guessers: list[int] = field(default_factory=list)
    guessed: list[int] = field(default_factory=list)
    texts: list[tuple[int, list[int]]] = field(default_factory=list)

    def add(self, text_index: int, ids: Sequence[int], path: list[int], guesses: list[int]) -> None:
        """Add a text whose nodes in `path` and `guesses` exist already; both are extended."""
        for at in range(len(path), len(ids) - 1):
            self.parents.append(path[-1] if path else -1)
            path.append(len(self.tokens))
            self.tokens.append(ids[at])
            self.depths.append(at)
        for at in range(len(guesses), len(ids) - 1):
            guesses.append(len(self.guessers))
            self.guessers.append(path[at])
            self.guessed.append(ids[at + 1])
        self.texts.append((text_index, list(guesses)))


def packed(texts: Sequence[Sequence[int]], nodes: int = NODES_PER_ROW) -> Iterator[Row]:
    """Pack texts into rows of up to `nodes` nodes (a longer text gets its own row); texts of at most one token are left
    out."""
    row, path, guesses, before = Row(), list[int](), list[int](), list[int]()
    for text_index in sorted((at for at, ids in enumerate(texts) if len(ids) > 1), key=lambda at: list(texts[at])):
        ids = list(texts[text_index])
        n_shared = _shared(before, ids)
        del path[n_shared:], guesses[max(n_shared - 1, 0) :]
        if row.tokens and len(row.tokens) + len(ids) - 1 - len(path) > nodes:
            yield row
            row, path, guesses = Row(), [], []
        row.add(text_index, ids, path, guesses)
        before = ids
    if row.texts:
        yield row


def _shared(ids: Sequence[int], other_ids: Sequence[int]) -> int:
    """Tokens that both begin with."""
    return next(
        (at for at, (a, b) in enumerate(zip(ids, other_ids, strict=False)) if a != b), min(len(ids), len(other_ids))
    )


class PackedLM:
    """A causal language model whose log-likelihoods are computed over trees of beginnings."""

    def __init__(self, model: Any) -> None:
        self.model, self.body, self.head = model, model.base_model, model.get_output_embeddings()

    @torch.inference_mode()
    def sums(self, texts: Sequence[Sequence[int]]) -> list[float]:
        """Return the summed log-likelihood, in nats, of each text's tokens after its first."""
        sums = [0.0] * len(texts)
        packed_rows = packed(texts)
        while rows := list(islice(packed_rows, ROWS_PER_FORWARD)):
            values = self._guesses(rows)
            start = 0
            for row in rows:
                row_values = values[start : start + len(row.guessers)]
                for text_index, guesses in row.texts:
                    sums[text_index] = float(row_values[guesses].sum())
                start += len(row.guessers)
        return sums

    def _guesses(self, rows: Sequence[Row]) -> np.ndarray:
        """Return the log-probability of every guess of the rows, in order (float64)."""
        hidden = self._hidden(rows)
        starts = np.cumsum([0, *(len(row.tokens) for row in rows)])
        guessers = np.concatenate([np.asarray(row.guessers) + start for row, start in zip(rows, starts, strict=False)])
        guessed = np.concatenate([np.asarray(row.guessed) for row in rows])
        values = np.empty(len(guessers), np.float64)
        for begin in range(0, len(hidden), HEAD_POSITIONS):
            logits = self.head(hidden[begin : begin + HEAD_POSITIONS]).float()
            guess_indices = np.flatnonzero((guessers >= begin) & (guessers < begin + HEAD_POSITIONS))
            nodes = torch.from_numpy(guessers[guess_indices] - begin).to(logits.device)
            tokens = torch.from_numpy(guessed[guess_indices]).to(logits.device)
            values[guess_indices] = (logits[nodes, tokens] - logits.logsumexp(1)[nodes]).cpu().numpy()
        return values

    def _hidden(self, rows: Sequence[Row]) -> Tensor:
        """Return the body's last states: (nodes of all rows, width)."""
        longest = max(len(row.tokens) for row in rows)
        ids = torch.zeros((len(rows), longest), dtype=torch.int64)
        positions = torch.zeros_like(ids)
        real = torch.zeros(ids.shape, dtype=torch.bool)
        sees = torch.eye(longest, dtype=torch.bool).repeat(len(rows), 1, 1)
        for at, row in enumerate(rows):
            size = len(row.tokens)
            ids[at, :size] = torch.tensor(row.tokens)
            positions[at, :size] = torch.tensor(row.depths)
            real[at, :size] = True
            for node, parent in enumerate(row.parents):
                if parent >= 0:
                    # Parents precede their children, so their sum is complete.
                    sees[at, node] |= sees[at, parent]
        dtype = next(self.body.parameters()).dtype
        mask = torch.zeros(sees.shape, dtype=dtype).masked_fill_(~sees, torch.finfo(dtype).min).unsqueeze(1)
        device = self.model.device
        output = self.body(
            input_ids=ids.to(device), attention_mask=mask.to(device), position_ids=positions.to(device), use_cache=False
        )
        hidden: Tensor = output.last_hidden_state[real.to(device)]
        return hidden

    @classmethod
    def where_equal(cls, model: Any, tokens: Iterable[int]) -> "PackedLM | None":
        """Return the packed form of a model if it gives the same numbers on a few tokens. None for other models: those
        with their own positions, or with more than a matrix after the body."""
        forward_parameters = inspect.signature(model.base_model.forward).parameters
        if (
            model.base_model is model
            or "position_ids" not in forward_parameters
            or model.get_output_embeddings() is None
        ):
            return None
        first, *later_tokens = tokens
        texts = [
            [first, *later_tokens],
            [first, *reversed(later_tokens)],
            [first, later_tokens[0], *reversed(later_tokens[1:])],
        ]
        lm = cls(model)
        with torch.inference_mode():
            expected = [_plain(model, ids) for ids in texts]
            try:
                packed_sums = lm.sums(texts)
            except (TypeError, ValueError, RuntimeError, AttributeError):
                return None
        exact = next(lm.body.parameters()).dtype == torch.float32
        tolerance = AGREEMENT if exact else COARSE_AGREEMENT
        return lm if np.allclose(packed_sums, expected, rtol=tolerance, atol=tolerance) else None


def _plain(model: Any, ids: Sequence[int]) -> float:
    row = torch.tensor([list(ids)], device=model.device)
    logits = model(input_ids=row).logits[0, :-1].float()
    return float(torch.log_softmax(logits, 1).gather(1, row[0, 1:, None]).sum())
