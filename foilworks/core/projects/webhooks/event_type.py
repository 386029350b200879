"""Describe webhook events, for the table EVENTS in the `declarations.py` of the room whose action fires one."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from django.utils.functional import Promise

from foilworks.core.rooms import declared


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


@cache
def event_types() -> Mapping[str, EventType]:
    """Return all events by name, in the order of their names."""
    return dict(sorted(declared("EVENTS").items()))


@cache
def events_by_action() -> Mapping[str, str]:
    """Return the name of each event that an action fires."""
    return {event_type.action: name for name, event_type in event_types().items() if event_type.action}


@cache
def events_by_state() -> Mapping[tuple[str, str], str]:
    """Return the name of each event that a change of state fires, by (table, new state)."""
    rows = event_types().items()
    return {(event_type.target_type, state): name for name, event_type in rows for state in event_type.to_states}
