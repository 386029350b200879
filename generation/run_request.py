"""The request of a generation run: a method on the captions of a subtest's project, and the filters after it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foilworks.core.corpus.models import Subtest


@dataclass(frozen=True)
class FoilRequest:
    """`filters`: slug -> its parameters, in the order they run; None: the defaults. `selection`: see RunCaptions.

    `recipe`: the published recipe that the other values come from, for the audit trail.
    """

    subtest: Subtest
    method: str
    mode: str = "corrected"
    params: Mapping[str, Any] | None = None
    filters: Mapping[str, Mapping[str, Any]] | None = None
    seed: int = 0
    selection: Mapping[str, Any] | None = None
    recipe: str = ""
