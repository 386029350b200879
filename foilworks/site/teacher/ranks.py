"""Coordinate several processes that train one student together (torchrun), or the one that trains alone."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, distributed, nn


class Ranks(Protocol):
    """`size` processes; each encodes its share of a step's clips and texts, and all keep equal weights."""

    rank: int
    size: int

    def mean_gradients(self, module: nn.Module) -> None:
        """Replace every process's gradients by their mean."""
        ...

    def gather(self, rows: Tensor, sizes: Sequence[int]) -> Tensor:
        """Return the rows of all processes in their order, `sizes` how many each has. Without gradients."""
        ...

    def first(self, act: Callable[[], Any]) -> None:
        """Let the first process act, while the others wait for it."""
        ...

    def agree(self, answer: bool) -> bool:
        """Return the first process's answer in all processes."""
        ...


class Alone:
    rank, size = 0, 1

    def mean_gradients(self, module: nn.Module) -> None:
        return

    def gather(self, rows: Tensor, sizes: Sequence[int]) -> Tensor:
        return rows

    def first(self, act: Callable[[], Any]) -> None:
        act()

    def agree(self, answer: bool) -> bool:
        return answer


class Together:
    """The processes of an initialised torch.distributed group."""

    def __init__(self) -> None:
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()

    def mean_gradients(self, module: nn.Module) -> None:
        gradients = [weight.grad for weight in module.parameters() if weight.grad is not None]
        # One message for all tensors: one message per tensor takes longer than the sum.
        flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
        distributed.all_reduce(flat)
        flat /= self.size
        at = 0
        for gradient in gradients:
            gradient.copy_(flat[at : at + gradient.numel()].view_as(gradient))
            at += gradient.numel()

    def gather(self, rows: Tensor, sizes: Sequence[int]) -> Tensor:
        # Processes exchange tensors of one shape.
        sent = rows.new_zeros(max(sizes), *rows.shape[1:])
        sent[: len(rows)] = rows
        received = [torch.empty_like(sent) for _ in sizes]
        distributed.all_gather(received, sent)
        return torch.cat([padded[:size] for padded, size in zip(received, sizes, strict=True)])

    def first(self, act: Callable[[], Any]) -> None:
        if self.rank == 0:
            act()
        distributed.barrier()

    def agree(self, answer: bool) -> bool:
        answers = [answer]
        distributed.broadcast_object_list(answers, src=0)
        return answers[0]
