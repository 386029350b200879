"""What stands between an attack and what it wants. Each attack is tried twice: as things are, and with each of its
guards taken away, where it must succeed: an attack that fails either way would prove nothing (conftest.py runs both).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Guard:
    """`place`: the dotted path of what does the guarding; `keeps`: what it does, for docs/explanation/threat-model.md;
    `remove`: takes it away for the length of one test."""

    place: str
    keeps: str
    remove: Callable[[pytest.MonkeyPatch], None]


def guarded_by(*guards: Guard) -> pytest.MarkDecorator:
    """Marks an attack with the guards that hold it off, each of which is enough to be taken away."""
    return pytest.mark.guarded(*guards)


def replaced(place: str, keeps: str, instead: Any) -> Guard:
    """The thing at `place` becomes `instead`."""
    return Guard(place, keeps, lambda patch: patch.setattr(place, instead))


def without_setting(name: str, keeps: str, value: Any) -> Guard:
    """The setting has another value."""
    return replaced(f"django.conf.settings.{name}", keeps, value)
