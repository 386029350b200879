"""Map job names in rows of older versions to the functions that run them now.

A row stores the name with which it was queued. The names of 0.3.0 work until 0.5: tests/foilworks/upgrade/ runs each
of them.
"""

from collections.abc import Callable
from typing import Any

from django.utils.module_loading import import_string

# Name in a row -> name today.
RENAMED: dict[str, str] = {}


def find_job(dotted: str) -> Callable[..., Any]:
    """Find the function that a row names. ImportError: no version since 0.3.0 has a function of this name."""
    return import_string(RENAMED.get(dotted, dotted))
