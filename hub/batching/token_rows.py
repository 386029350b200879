"""Rows of token ids of unequal length: side by side, through a model in batches, and what comes of it as scores."""

from collections.abc import Callable, Sequence

import torch

from hub.interfaces import Score, ScoreKind
from hub.loading.pretrained import token_batches


def padded(rows: Sequence[Sequence[int]], filler: int) -> torch.Tensor:
    """int64 (n, longest), each row from the left, `filler` behind it."""
    ids = torch.full((len(rows), max(map(len, rows))), filler, dtype=torch.int64)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = torch.tensor(row, dtype=torch.int64)
    return ids


def masked(rows: Sequence[Sequence[int]], filler: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows `padded`, and 1 where a token stands."""
    return padded(rows, filler), padded([[1] * len(row) for row in rows], 0)


def batched_sums(
    rows: Sequence[Sequence[int]], device: torch.device, sums_of: Callable[[Sequence[Sequence[int]]], list[float]]
) -> list[float]:
    """`sums_of` over batches of rows of like length, in the order of the rows."""
    sums = [0.0] * len(rows)
    for batch in token_batches([len(row) for row in rows], device):
        for at, value in zip(batch, sums_of([rows[at] for at in batch]), strict=True):
            sums[at] = value
    return sums


def mean_log_likelihood(total: float, tokens: int) -> Score:
    """The score of a text by the sum over its tokens, in nats; a text of no token scores 0."""
    mean = total / max(tokens, 1)
    return Score(mean, ScoreKind.LOG_LIKELIHOOD, {"sum": total, "mean": mean, "tokens": float(tokens)})
