"""Backport of itertools.batched (Python 3.12), with lists."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Thing = TypeVar("Thing")


def batched(things: Iterable[Thing], size: int) -> Iterator[list[Thing]]:
    source = iter(things)
    while batch := list(islice(source, size)):
        yield batch
