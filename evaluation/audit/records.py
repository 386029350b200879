"""Define what an audit writes: findings about records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from foilworks.core.corpus.records import TextRecord

Verdict = Literal["nothing_found", "nothing_found_so_far", "cannot_tell", "warn", "reversed", "fail"]
# From the best to the worst.
VERDICTS: tuple[Verdict, ...] = ("nothing_found", "nothing_found_so_far", "cannot_tell", "warn", "reversed", "fail")

# A model with fewer parameters knows too little to find nothing.
SMALL_MODEL = 10**9
# Items of which a language model learns, one sequence each: of more, a small one takes hours without a GPU.
MAX_TRAINED = 400


def label_is_true(record: TextRecord) -> bool:
    """Report whether the label of a labelled text is yes or true."""
    return record.right in {"yes", "true"}


def without_labels(records: Sequence[TextRecord]) -> list[TextRecord]:
    """Return the records whose right and wrong texts can be compared."""
    return [record for record in records if not record.is_label]


@dataclass(frozen=True)
class Finding:
    """The result of one check. `subtest` is "" for the whole file; `n` counts the unit that `details` names."""

    check: str
    verdict: Verdict
    value: float | None = None
    interval: list[float] | None = None
    chance: float | None = None
    n: int = 0
    subtest: str = ""
    details: dict[str, Any] | None = None


def worst(findings: Sequence[Finding]) -> Verdict:
    """Return the worst verdict."""
    return max((finding.verdict for finding in findings), key=VERDICTS.index, default="nothing_found")
