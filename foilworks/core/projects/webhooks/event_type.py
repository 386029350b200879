"""Describe a webhook event, for the table EVENTS in the `declarations.py` of the room whose action fires it."""

from dataclasses import dataclass

from django.utils.functional import Promise


@dataclass(frozen=True)
class EventType:
    """`action`: audit rows with this action fire the event.

    `target_type` and `to_states`: instead of an action, rows of this table that change to one of these states.
    `payload`: details that the message contains. They go to another server, so they contain nothing about people.
    """

    words: str | Promise
    action: str = ""
    target_type: str = ""
    to_states: frozenset[str] = frozenset()
    payload: tuple[str, ...] = ()
