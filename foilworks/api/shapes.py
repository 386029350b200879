"""Types that several resources share: text that every database takes, the answer to what went wrong."""

from typing import Annotated, Any

from ninja import Field, Path, Schema
from pydantic import StringConstraints

NO_NUL = r"^[^\x00]*$"
Word = Annotated[str, StringConstraints(max_length=200, pattern=NO_NUL)]
Line = Annotated[str, StringConstraints(max_length=2_000, pattern=NO_NUL)]
# As long as the longest caption that an import takes.
Text = Annotated[str, StringConstraints(max_length=1_000_000, pattern=NO_NUL)]
# Of a row: what the databases can hold.
Id = Annotated[int, Field(ge=1, le=2**63 - 1)]
Anything = dict[str, Any]


class Wrong(Schema):
    """One field of the request that cannot be taken."""

    where: str
    problem: str


class Problem(Schema):
    """What is wrong and what to do about it."""

    problem: str
    fields: list[Wrong] = []


# Of the project; it stands in the prefix of the routers, which they do not know.
Slug = Path[str]
