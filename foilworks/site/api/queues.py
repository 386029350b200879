"""List a person's queues in a project, and claim the next task of one."""

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Router, Schema, Status

from annotation.actions.claims.claim import ROLE_OF_STAGE
from annotation.actions.claims.claim import claim as claiming
from annotation.work_queues import queues_of
from foilworks.core.projects.access import get_project
from foilworks.site.api.answers import reads, writes
from foilworks.site.api.bearer import WORK
from foilworks.site.api.cards import WorkOut, place_after, work_out
from foilworks.site.api.shapes import Slug, Word

router = Router(tags=["queues"])
StageName = Literal["edit", "review", "validation", "baseline", "unseen", "objects"]


class QueueOut(Schema):
    """`held`: you hold a task; `barred`: why you get no task; `reasons`: why the queue is empty."""

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
    """List your stages with the number of tasks that wait in each."""
    return [
        {
            "stage": queue.stage,
            "title": str(queue.title),
            "available": queue.available,
            "held": bool(queue.n_held),
            "done_today": queue.done_today,
            "done": queue.done,
            "barred": str(queue.barred_words),
            "reasons": [str(words) for _count, words in queue.reasons],
        }
        for queue in queues_of(request.user, get_project(request.user, slug))
    ]


@router.post("/{stage}/claim", response=writes(WorkOut, s204=None), auth=WORK)
def claim(request: HttpRequest, slug: Slug, stage: StageName, after: Word = "") -> Status:
    """Claim your next task of the stage, or get the one that you hold; 204 if none is available.

    `after`: `upcoming` of the previous task, used if it is still free. A repeated claim returns the same task.
    """
    project = get_project(request.user, slug, ROLE_OF_STAGE[stage])
    claimed = claiming(request.user, project, stage, preferred=place_after(request.user, after))
    return Status(200, work_out(request.user, claimed, project)) if claimed else Status(204, None)
