"""Return the votes of a project under pseudonyms, in pages or all as JSON lines."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

from django.db.models import Q, QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Schema

from annotation.models import Vote
from foilworks.core.corpus.vote_records import name_of_imported
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Project, Role
from foilworks.core.projects.pseudonyms import pseudonym
from foilworks.site.api.answers import reads
from foilworks.site.api.cards import task_number
from foilworks.site.api.paging import Listed, Page, only_known, page_of
from foilworks.site.api.shapes import Anything, Id, Slug

router = Router(tags=["votes"])
# Rows per fetch from the database.
CHUNK = 2_000
LINES = {"responses": {200: {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}}}}
PLAIN = (
    "source",
    "import_index",
    "imported_as",
    "stage",
    "choice",
    "caption_first",
    "state",
    "late",
    "seconds_spent",
    "watch",
)
COLUMNS = (
    "id",
    "item",
    "item__key",
    "foil",
    "foil__position",
    "slot__task",
    "person",
    *PLAIN,
    "guideline__version",
    "created_at",
)


class VoteOut(Schema):
    """`choice` in truth coding; `caption_first`: the order shown; `annotator`: as in releases and exports.

    `task`: as its claim named it.
    """

    id: int
    task: int | None
    item: int
    item_key: str
    foil: int | None
    foil_position: int | None
    annotator: str
    source: str
    stage: str
    choice: str
    caption_first: bool | None
    state: str
    late: bool
    seconds: float | None
    watch: Anything
    guideline: int | None
    at: datetime


class VotesFilter(Schema):
    item: Id | None = None
    stage: Literal["validation", "baseline", "unseen"] | None = None
    state: Literal["counted", "surplus", "set_aside", "undone"] | None = None
    choice: Literal["caption", "foil", "neither", "both", "cannot_tell", "other"] | None = None


class VotesAsked(Listed, VotesFilter):
    order: Literal["id", "-id", "created_at", "-created_at"] = "id"


def _rows(project: Project, query: VotesFilter) -> QuerySet[Vote]:
    """Return the votes without gold, which counts in no verdict and must not be recognizable."""
    filters = {name: getattr(query, name) for name in VotesFilter.model_fields if getattr(query, name) is not None}
    return Vote.objects.filter(Q(**filters), item__subtest__project=project)


def _line(project: Project, names: dict[int, str], row: tuple[Any, ...]) -> dict[str, Any]:
    vote = dict(zip(COLUMNS, row, strict=True))
    person, of_file = vote["person"], name_of_imported(vote["imported_as"], vote["import_index"])
    if person is not None and person not in names:
        names[person] = pseudonym(project, person)
    return {
        "id": vote["id"],
        "task": task_number(vote["slot__task"]) if vote["slot__task"] else None,
        "item": vote["item"],
        "item_key": vote["item__key"],
        "foil": vote["foil"],
        "foil_position": vote["foil__position"],
        "annotator": names[person] if person is not None else of_file,
        "source": vote["source"],
        "stage": vote["stage"],
        "choice": vote["choice"],
        "caption_first": vote["caption_first"],
        "state": vote["state"],
        "late": vote["late"],
        "seconds": vote["seconds_spent"],
        "watch": vote["watch"],
        "guideline": vote["guideline__version"],
        "at": vote["created_at"],
    }


@router.get("", response=reads(Page[VoteOut]))
def list_votes(request: HttpRequest, slug: Slug, query: Query[VotesAsked]) -> dict[str, Any]:
    """List the votes of people and of files."""
    project, names = get_project(request.user, slug, Role.RESEARCHER), {}
    rows = _rows(project, query).select_related("item", "foil", "slot", "guideline")

    def shown(vote: Vote) -> dict[str, Any]:
        pair = (vote.item_id, vote.item.key, vote.foil_id, vote.foil and vote.foil.position)
        task, version = vote.slot and vote.slot.task_id, vote.guideline and vote.guideline.version
        values = (getattr(vote, name) for name in PLAIN)
        return _line(project, names, (vote.pk, *pair, task, vote.person_id, *values, version, vote.created_at))

    return page_of(request, rows, query, shown, order=query.order)


@router.get("/export", response=reads(None), openapi_extra=LINES)
def export_votes(request: HttpRequest, slug: Slug, query: Query[VotesFilter]) -> StreamingHttpResponse:
    """Get all votes as JSON lines, streamed: no pages and no cursor."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    only_known(request, query)
    rows = _rows(project, query).order_by("id").values_list(*COLUMNS)

    def lines() -> Iterator[bytes]:
        names: dict[int, str] = {}
        lines_of_chunk: list[str] = []
        for row in rows.iterator(CHUNK):
            line = _line(project, names, row)
            lines_of_chunk.append(json.dumps({**line, "at": line["at"].isoformat()}, ensure_ascii=False))
            if len(lines_of_chunk) == CHUNK:
                yield ("\n".join(lines_of_chunk) + "\n").encode()
                lines_of_chunk.clear()
        if lines_of_chunk:
            yield ("\n".join(lines_of_chunk) + "\n").encode()

    headers = {"Cache-Control": "private, no-store"}
    return StreamingHttpResponse(lines(), content_type="application/x-ndjson", headers=headers)
