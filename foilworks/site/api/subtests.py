"""List and create subtests: the phenomena that are tested, and the rules of their items."""

from typing import Literal

from ninja import Field, Schema

from foilworks.core.corpus.actions import create_subtest as creating
from foilworks.core.corpus.forms import MAX_PER_ITEM, SubtestForm
from foilworks.core.corpus.models import Subtest
from foilworks.site.api.answers import cleaned
from foilworks.site.api.rows import Call, Rows
from foilworks.site.api.shapes import Id, Word


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


def subtest_out(subtest: Subtest) -> SubtestOut:
    fields = {name: getattr(subtest, name) for name in SubtestOut.model_fields if name != "proficiency_subtest"}
    return SubtestOut(**fields, proficiency_subtest=subtest.proficiency_subtest_id)


def _create(call: Call) -> SubtestOut:
    fields = cleaned(SubtestForm(call.body, project=call.project))
    return subtest_out(creating.create_subtest(call.person, call.project, **fields))


rows = Rows("subtests")
rows.listed(
    "",
    "list_subtests",
    "List the subtests with their rules.",
    lambda call: Subtest.objects.filter(project=call.project),
    SubtestOut,
    orders=("name", "-name", "id", "-id"),
    filters={"kind": Literal["main", "proficiency"]},
    out=subtest_out,
)
rows.write(
    "",
    "create_subtest",
    "Create a subtest; `votes_wanted` 0: its items are valid without a vote.",
    _create,
    body=SubtestIn,
    shape=SubtestOut,
    status=201,
)
