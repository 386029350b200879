"""List and create subtests: the phenomena that are tested, and the rules of their items."""

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema, Status

from foilworks.core.corpus.actions import create_subtest as creating
from foilworks.core.corpus.forms import MAX_PER_ITEM, SubtestForm
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Role
from foilworks.site.api.answers import cleaned, reads, writes
from foilworks.site.api.idempotency import once
from foilworks.site.api.paging import Listed, Page, page_of
from foilworks.site.api.shapes import Id, Slug, Word

router = Router(tags=["subtests"])


class SubtestIn(Schema):
    name: Word
    test: Word = ""
    kind: Literal["main", "proficiency"] = "main"
    proficiency_subtest: Id | None = None
    changes: Literal["", "action"] = ""
    foils_per_item: int | None = Field(None, ge=1, le=MAX_PER_ITEM)
    votes_wanted: int = Field(3, ge=0, le=MAX_PER_ITEM)
    votes_needed: int = Field(2, ge=0, le=MAX_PER_ITEM)
    stop_early: bool = False
    full_share: float = Field(0.0, ge=0, le=1)
    votes_max: int = Field(0, ge=0, le=MAX_PER_ITEM)
    skilled_first: bool = False
    valid_when: Literal["all", "enough"] = "all"
    foils_enough: int = Field(1, ge=1, le=MAX_PER_ITEM)


class SubtestOut(Schema):
    id: int
    name: str
    test: str
    kind: str
    proficiency_subtest: int | None
    changes: str
    foils_per_item: int
    votes_wanted: int
    votes_needed: int
    stop_early: bool
    full_share: float
    votes_max: int
    skilled_first: bool
    valid_when: str
    foils_enough: int


class SubtestsAsked(Listed):
    order: Literal["name", "-name", "id", "-id"] = "name"
    kind: Literal["main", "proficiency"] | None = None


def subtest_out(subtest: Subtest) -> SubtestOut:
    fields = {name: getattr(subtest, name) for name in SubtestOut.model_fields if name != "proficiency_subtest"}
    return SubtestOut(**fields, proficiency_subtest=subtest.proficiency_subtest_id)


@router.get("", response=reads(Page[SubtestOut]))
def list_subtests(request: HttpRequest, slug: Slug, query: Query[SubtestsAsked]) -> dict[str, Any]:
    """List the subtests with their rules."""
    rows = Subtest.objects.filter(project=get_project(request.user, slug, Role.RESEARCHER))
    return page_of(request, rows.filter(kind=query.kind) if query.kind else rows, query, subtest_out, order=query.order)


@router.post("", response=writes(SubtestOut, 201))
@once
def create_subtest(request: HttpRequest, slug: Slug, body: SubtestIn) -> Status:
    """Create a subtest; `votes_wanted` 0: its items are valid without a vote."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    fields = cleaned(SubtestForm(body.dict(), project=project))
    return Status(201, subtest_out(creating.create_subtest(request.user, project, **fields)))
