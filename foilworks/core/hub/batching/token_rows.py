"""Run rows of token ids of unequal length through a model in batches, and turn the results into scores."""

from collections.abc import Callable, Sequence

import torch

from foilworks.core.hub.interfaces import Score, ScoreKind
from foilworks.core.hub.loading.pretrained import token_batches


def padded(rows: Sequence[Sequence[int]], filler: int) -> torch.Tensor:
    """Return int64 (n, longest): each row left-aligned, padded with `filler`."""
    ids = torch.full((len(rows), max(map(len, rows))), filler, dtype=torch.int64)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = torch.tensor(row, dtype=torch.int64)
    return ids


def masked(rows: Sequence[Sequence[int]], filler: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rows `padded`, and a mask that is 1 at tokens."""
    return padded(rows, filler), padded([[1] * len(row) for row in rows], 0)


def batched_sums(
    rows: Sequence[Sequence[int]], device: torch.device, sums_of: Callable[[Sequence[Sequence[int]]], list[float]]
) -> list[float]:
    """Apply `sums_of` to batches of rows of similar length; results are in the order of the rows."""
    sums = [0.0] * len(rows)
    for batch in token_batches([len(row) for row in rows], device):
        for at, value in zip(batch, sums_of([rows[at] for at in batch]), strict=True):
            sums[at] = value
    return sums


def mean_log_likelihood(total: float, tokens: int) -> Score:
    """Return the score of a text from the sum over its tokens, in nats; a text without tokens scores 0."""
    mean = total / max(tokens, 1)
    return Score(mean, ScoreKind.LOG_LIKELIHOOD, {"sum": total, "mean": mean, "tokens": float(tokens)})
