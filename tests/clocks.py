"""Clocks that stand still, for what is counted by the minute of the clock."""

import time
from datetime import datetime
from types import SimpleNamespace

import pytest
from django.utils import timezone

from foilworks.site.api import limits


def within_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the API's limits it is the tenth second of this minute: it does not turn between two requests."""
    now = time.time() // limits.WINDOW_SECONDS * limits.WINDOW_SECONDS + 10
    monkeypatch.setattr(limits, "time", SimpleNamespace(time=lambda: now))


def stand_still(monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    """For everything that asks Django for the time it is this moment."""
    monkeypatch.setattr(timezone, "now", lambda: moment)
