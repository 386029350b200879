"""Describe a kind of notification, for the tables NOTIFICATIONS and RUNS in the `declarations.py` of a room."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.functional import Promise

from foilworks.core.projects.roles import Role

RESEARCHERS = (Role.RESEARCHER,)
ADJUDICATORS = (Role.RESEARCHER, Role.REVIEWER)


@dataclass(frozen=True)
class Kind:
    """`roles`: who can get it. `page`: a view that takes the project's slug and the values of `arguments` in the facts.

    `words`: the sentence, with the facts filled in. `words_by_stage`: the sentence per value of the fact `stage`.
    `reviewer_page`: what a reviewer opens instead of `page`. `anchor`: part of the page, such as "#comments".
    """

    label: str | Promise
    roles: tuple[str, ...]
    page: str
    words: str | Promise = ""
    arguments: tuple[str, ...] = ()
    words_by_stage: Mapping[str, str | Promise] = field(default_factory=dict)
    reviewer_page: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class RunKind:
    """A table of runs whose end is notified. `page`: a view that takes the project's slug and the run's number.

    `table`: the label of its model, which is a RequestedJob.
    """

    label: str | Promise
    table: str
    page: str
