"""Rows of the API as a data frame."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


def to_pandas(rows: Iterable[Mapping[str, Any]]) -> "pandas.DataFrame":
    """Return the rows as a data frame, nested fields as columns such as `video.key`; needs the extra `pandas`."""
    import pandas

    return pandas.json_normalize([dict(row) for row in rows])
