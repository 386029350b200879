"""Move several items alike, each in a transaction of its own, and undo it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.core import signing

from corpus.models import Item
from evaluation.items.page import WRITES
from projects.errors import AccessDenied
from projects.listing.keyset import ROWS_PER_PAGE
from projects.models import Project, User
from text.errors import ActionableError

# A selection is of one page.
MAX_ITEMS = ROWS_PER_PAGE
# Move -> the move that undoes it.
UNDONE_BY = {"retract": "restore", "restore": "retract"}
SALT = "foilworks.items.undo"
UNDO_SECONDS = 600


@dataclass
class Moved:
    """Ids of items that moved, and (key, why) of each that did not."""

    done: list[int] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


def move_items(person: User, project: Project, move: str, ids: Iterable[str], reason: str) -> Moved:
    """Move those of the ids that are items of the project; one that may not move stops no other."""
    wanted = [int(pk) for pk in ids if pk.isdecimal()][:MAX_ITEMS]
    moved = Moved()
    for pk, key in Item.objects.filter(project=project, pk__in=wanted).order_by("pk").values_list("pk", "key"):
        try:
            WRITES[move](person, pk, reason)
        except AccessDenied:
            raise
        except ActionableError as error:
            moved.refused.append((key, str(error)))
        else:
            moved.done.append(pk)
    return moved


@dataclass(frozen=True)
class Undo:
    """The move that undoes the last one, and the ids of its items."""

    move: str
    ids: list[int]


def undo_token(move: str, moved: Moved) -> str:
    """Return the token with which the list offers an undo; empty if nothing can be undone."""
    if move not in UNDONE_BY or not moved.done:
        return ""
    return signing.dumps([UNDONE_BY[move], moved.done], salt=SALT, compress=True)


def undo_of(token: str) -> Undo | None:
    """Return the undo of a token that is whole and at most UNDO_SECONDS old."""
    try:
        move, ids = signing.loads(token, salt=SALT, max_age=UNDO_SECONDS)
    except signing.BadSignature:
        return None
    return Undo(move, ids)
