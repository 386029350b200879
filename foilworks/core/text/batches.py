"""Backport of itertools.batched (Python 3.12), with lists."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Element = TypeVar("Element")


def batched(elements: Iterable[Element], size: int) -> Iterator[list[Element]]:
    source = iter(elements)
    while batch := list(islice(source, size)):
        yield batch
