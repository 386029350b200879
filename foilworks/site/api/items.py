"""List and read the items of a project with their foils and verdicts; move them."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Field, Query, Router, Schema

from evaluation.items.access import get_item
from evaluation.items.forms import ItemFilter
from evaluation.items.item_details import WRITES
from evaluation.items.listing import narrowed
from foilworks.core.corpus.models import Item
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Role
from foilworks.site.api.answers import RefusedFields, reads, writes
from foilworks.site.api.idempotency import once
from foilworks.site.api.paging import Listed, Page, page_of
from foilworks.site.api.shapes import Anything, Id, Line, Slug, Word

router = Router(tags=["items"])
State = Literal["in_validation", "valid", "invalid", "disputed", "requeued", "retracted"]


class FoilOut(Schema):
    id: int
    position: int
    text: str
    verdict: str


class ItemOut(Schema):
    """`unanimous`: null until all votes are in.

    `as_published`: imported as part of a published set; valid on the publisher's word while `decided_at` is null.
    `pair`: the name that the two items of an item of two clips share; empty for others.
    """

    id: int
    key: str
    subtest: str
    state: str
    unanimous: bool | None
    as_published: bool
    pair: str
    video: int
    caption: str
    foils: list[FoilOut]
    proficiency_item: int | None
    extra: Anything
    created_at: datetime
    decided_at: datetime | None


class ItemsAsked(Listed):
    order: Literal["id", "-id", "key", "-key", "created_at", "-created_at"] = "id"
    q: Word = Field("", description="words in the key, the caption or a foil")
    subtest: Id | None = None
    state: State | None = None
    method: Word = Field("", description="method that made its foils; `import`: imported with them")
    agreed: Literal["yes", "no"] | None = None
    doubt: bool = Field(False, description="only items whose caption may be wrong")
    comments: bool = Field(False, description="only items with unresolved comments")
    shortcut: Literal["objects", "frame"] | None = Field(None, description="answered from objects or one frame alone")
    run: Id | None = Field(None, description="scored by this run")
    answer: Literal["right", "wrong"] | None = Field(None, description="what the model of `run` answers")
    ladder: Word = Field("", description="by this run's ladder, or `release-ID` for that of all models")
    need: Literal["clip", "frames", "order"] | None = Field(None, description="by `ladder`, the item needs it")
    rung: Word = Field("", description="solved at this rung of `ladder`; `not RUNG`: not solved")


class Move(Schema):
    move: Literal["valid", "invalid", "requeue", "retract"]
    reason: Line = ""


def item_out(item: Item) -> ItemOut:
    foils = [
        FoilOut(id=foil.pk, position=foil.position, text=foil.text, verdict=foil.verdict) for foil in item.foils.all()
    ]
    names = ("key", "state", "unanimous", "as_published", "pair", "extra", "created_at", "decided_at")
    fields = {name: getattr(item, name) for name in names}
    return ItemOut(
        id=item.pk,
        **fields,
        subtest=item.subtest.name,
        video=item.video_id,
        caption=item.caption.text,
        foils=foils,
        proficiency_item=item.proficiency_item_id,
    )


@router.get("", response=reads(Page[ItemOut]))
def list_items(request: HttpRequest, slug: Slug, query: Query[ItemsAsked]) -> dict[str, Any]:
    """List the items, filtered as on their page. Values that the page does not offer are rejected."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    sent = {name: value for name in ItemFilter.base_fields if (value := str(getattr(query, name) or "").strip())}
    form = ItemFilter(project, sent)
    filters = form.chosen()
    if refused := sent.keys() - filters.keys():
        raise RefusedFields(dict.fromkeys(refused, _("The page of the items does not offer this value.")))
    chosen_run, ladder = form.runs.get(filters.get("run", "")), form.ladders.get(filters.get("ladder", ""))
    rows = narrowed(project, filters, chosen_run, ladder).select_related("subtest", "caption").prefetch_related("foils")
    return page_of(request, rows, query, item_out, order=query.order)


@router.get("/{int:pk}", response=reads(ItemOut))
def read_item(request: HttpRequest, slug: Slug, pk: int) -> ItemOut:
    """Get one item."""
    return item_out(get_item(request.user, slug, pk))


@router.post("/{int:pk}/moves", response=writes(ItemOut))
@once
def move_item(request: HttpRequest, slug: Slug, pk: int, body: Move) -> ItemOut:
    """Decide a disputed item, send an invalid one back to editing, or retract a valid or waiting one."""
    WRITES[body.move](request.user, get_item(request.user, slug, pk).pk, body.reason)
    return item_out(get_item(request.user, slug, pk))
