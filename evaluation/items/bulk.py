"""Move several items alike, each in a transaction of its own."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from evaluation.items.item_details import WRITES
from foilworks.core.corpus.models import Item
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.listing.keyset import ROWS_PER_PAGE
from foilworks.core.projects.models import Project, User
from foilworks.core.text.errors import ActionableError

# A selection is of one page.
MAX_ITEMS = ROWS_PER_PAGE


@dataclass
class MoveResult:
    """Ids of items that moved, and (key, why) of each that did not."""

    done: list[int] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


def move_items(person: User, project: Project, move: str, ids: Iterable[str], reason: str) -> MoveResult:
    """Move those of the ids that are items of the project; one that may not move stops no other."""
    item_ids = [int(pk) for pk in ids if pk.isdecimal()][:MAX_ITEMS]
    moves = MoveResult()
    for pk, key in Item.objects.filter(project=project, pk__in=item_ids).order_by("pk").values_list("pk", "key"):
        try:
            WRITES[move](person, pk, reason)
        except AccessDenied:
            raise
        except ActionableError as error:
            moves.refused.append((key, str(error)))
        else:
            moves.done.append(pk)
    return moves
