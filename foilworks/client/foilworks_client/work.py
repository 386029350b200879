"""A claimed task."""

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Work:
    """A claimed task, as docs/reference/api.md describes it; times are ISO 8601.

    It has texts, edit, review or objects, as its stage requires.
    """

    token: str
    stage: str
    project: str
    task: int
    expires_at: str
    resumed: bool
    upcoming: str | None
    subtest: str | None
    guideline_version: int | None
    video: dict[str, Any]
    texts: list[str]
    edit: dict[str, Any] | None
    review: dict[str, Any] | None
    objects: list[str]
    frame_url: str | None


NAMES = frozenset(field.name for field in fields(Work))


def work_of(body: dict[str, Any]) -> Work:
    """Parse the JSON of a claim; ignore fields that a later version of the server adds."""
    return Work(**{name: value for name, value in body.items() if name in NAMES})
