"""Types that several resources share: text that every database accepts, and the shape of errors."""

from typing import Annotated, Any

from ninja import Field, Path, Schema
from pydantic import StringConstraints

NO_NUL = r"^[^\x00]*$"
Word = Annotated[str, StringConstraints(max_length=200, pattern=NO_NUL)]
Line = Annotated[str, StringConstraints(max_length=2_000, pattern=NO_NUL)]
# The max length of a caption in an import.
Text = Annotated[str, StringConstraints(max_length=1_000_000, pattern=NO_NUL)]
# The range of a row's id in the databases.
Id = Annotated[int, Field(ge=1, le=2**63 - 1)]
Anything = dict[str, Any]


class InvalidField(Schema):
    """One invalid field of the request."""

    where: str
    detail: str


class ProblemDetails(Schema):
    """What is wrong and what to do about it (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[InvalidField] = []


# The project's slug, from the prefix of the routers, which do not declare it.
Slug = Path[str]
