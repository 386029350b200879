"""The queues of a person in a project, and the next piece of one."""

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Router, Schema, Status

from annotation.actions.claims.claim import ROLE_OF_STAGE
from annotation.actions.claims.claim import claim as claiming
from annotation.work_queues import queues_of
from foilworks.api.answers import reads, writes
from foilworks.api.bearer import WORK
from foilworks.api.cards import WorkOut, place_after, work_out
from foilworks.api.shapes import Slug, Word
from projects.access import get_project

router = Router(tags=["queues"])
StageName = Literal["edit", "review", "validation", "baseline", "objects"]


class QueueOut(Schema):
    """`held`: a piece is in the person's hands; `barred`: why nothing is given out; `reasons`: why it is empty."""

    stage: str
    title: str
    available: int
    held: bool
    done_today: int
    done: int
    barred: str
    reasons: list[str]


@router.get("", response=reads(list[QueueOut]))
def list_queues(request: HttpRequest, slug: Slug) -> list[dict[str, Any]]:
    """What waits for the person in each stage that is theirs."""
    return [
        {
            "stage": queue.stage,
            "title": str(queue.title),
            "available": queue.available,
            "held": queue.held,
            "done_today": queue.done_today,
            "done": queue.done,
            "barred": str(queue.barred_words),
            "reasons": [str(words) for _count, words in queue.reasons],
        }
        for queue in queues_of(request.user, get_project(request.user, slug))
    ]


@router.post("/{stage}/claim", response=writes(WorkOut, s204=None), auth=WORK)
def claim(request: HttpRequest, slug: Slug, stage: StageName, after: Word = "") -> Status:
    """The person's next piece of the stage, leased to them, or the one that they hold; 204 where nothing waits.

    `after`: `upcoming` of the piece before, taken if it is still free. Asking twice gives the same piece.
    """
    project = get_project(request.user, slug, ROLE_OF_STAGE[stage])
    found = claiming(request.user, project, stage, preferred=place_after(request.user, after))
    return Status(200, work_out(request.user, found, project)) if found else Status(204, None)
