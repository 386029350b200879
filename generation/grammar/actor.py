"""The record of a participant of an action."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Actor:
    """A participant: tokens `first:last` (end exclusive), of which the first `determiner` tokens are determiners.

    `gender`: m, f, n (unknown), p (several) or a (an animal). `owns`: the end of what it owns ("the man's arm"), or 0.
    """

    first: int
    last: int
    head: int
    plural: bool
    determiner: int
    gender: str
    owns: int = 0
    animal: bool = False
