"""Coordinate several processes that train one student together (torchrun), or the one that trains alone."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch import distributed, nn


class Ranks(Protocol):
    """`size` processes; each takes every size-th part of a step's clips, and all keep equal weights."""

    rank: int
    size: int

    def mean_gradients(self, module: nn.Module) -> None:
        """Replace every process's gradients by their mean."""
        ...

    def mean(self, values: Sequence[float]) -> list[float]:
        """Return the mean over the processes of each value."""
        ...

    def first(self, act: Callable[[], Any]) -> None:
        """Let the first process act, while the others wait for it."""
        ...


class Alone:
    rank, size = 0, 1

    def mean_gradients(self, module: nn.Module) -> None:
        return

    def mean(self, values: Sequence[float]) -> list[float]:
        return list(values)

    def first(self, act: Callable[[], Any]) -> None:
        act()


class Together:
    """The processes of an initialised torch.distributed group, with tensors on `device`."""

    def __init__(self, device: torch.device) -> None:
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()
        self.device = device

    def mean_gradients(self, module: nn.Module) -> None:
        gradients = [each.grad for each in module.parameters() if each.grad is not None]
        # One message for all tensors: one message per tensor takes longer than the sum.
        flat = torch.cat([each.reshape(-1) for each in gradients])
        distributed.all_reduce(flat)
        flat /= self.size
        at = 0
        for each in gradients:
            each.copy_(flat[at : at + each.numel()].view_as(each))
            at += each.numel()

    def mean(self, values: Sequence[float]) -> list[float]:
        found = torch.tensor(list(values), dtype=torch.float64, device=self.device)
        distributed.all_reduce(found)
        return (found / self.size).tolist()

    def first(self, act: Callable[[], Any]) -> None:
        if self.rank == 0:
            act()
        distributed.barrier()
