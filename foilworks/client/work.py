"""A piece of work in hand."""

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Work:
    """What docs/reference/api.md says of a claim; times are ISO 8601.

    Of texts, edit, review, objects what the stage has.
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
    """The JSON of a claim; what a later version of the server adds is left out."""
    return Work(**{name: value for name, value in body.items() if name in NAMES})
