"""Describe the rows that audit rows are about, for two tables in the `declarations.py` of a room.

ROW_KINDS: label of a model -> RowKind, declared by the room of the model. ROW_PAGES: label of a model -> RowPage,
declared by the room of the page.
"""

from dataclasses import dataclass
from enum import Enum, auto

from django.utils.functional import Promise


class ActorName(Enum):
    """How the trail names who acted."""

    USERNAME = auto()
    # Researchers read judgements under pseudonyms (docs/explanation/votes.md), so no row names a judge.
    PSEUDONYM = auto()
    # Beside the named row of an edit, a pseudonym would reveal whose it is.
    NONE = auto()


@dataclass(frozen=True)
class RowKind:
    words: str | Promise
    actor_name: ActorName = ActorName.USERNAME


@dataclass(frozen=True)
class RowPage:
    """`page`: a view that takes the project's slug and a number. `detail`: the detail of the audit row with the number.

    Without `detail`, the number is that of the row.
    """

    page: str
    detail: str = ""
