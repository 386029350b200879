"""Define what an audit reads and writes: one question with its right and wrong texts, and findings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

Verdict = Literal["nothing_found", "nothing_found_so_far", "cannot_tell", "warn", "reversed", "fail"]
T = TypeVar("T")
# From the best to the worst.
VERDICTS: tuple[Verdict, ...] = ("nothing_found", "nothing_found_so_far", "cannot_tell", "warn", "reversed", "fail")


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One item: the `right` text, its `wrongs`, and what the file says beside them ("" if nothing).

    `position`: that of the right text among the options, from 0; None if the file does not order them. `where`:
    the line, or the number of the record. `clip`: the video with the times of its part. `hard`: the index of the hard
    foil among the wrong texts (-1: it is none of them), None if all count alike; `hard_source`: how it is known.
    `is_label`: the question is a text with a label, and right and wrong are yes and no, or true and false. `group`: of
    records that a classifier must not learn one from the other.
    """

    right: str
    wrongs: tuple[str, ...]
    where: int
    id: str = ""
    subtest: str = ""
    split: str = ""
    video: str = ""
    clip: str = ""
    question: str = ""
    position: int | None = None
    licence: str = ""
    language: str = ""
    hard: int | None = None
    hard_source: str = ""
    is_label: bool = False
    group: str = ""

    @property
    def n_options(self) -> int:
        return 1 + len(self.wrongs)

    def counted(self, wrongs: Sequence[T]) -> Sequence[T]:
        """Return those of the wrong texts, or of what belongs to them, that probes of texts count (blind audit)."""
        if self.hard is None:
            return wrongs
        return wrongs[self.hard : self.hard + 1] if self.hard >= 0 else wrongs[:0]

    def probed(self) -> "AuditRecord":
        """Return the record with only the wrong texts that count; a pair has no order of options."""
        if self.hard is None:
            return self
        return replace(self, wrongs=tuple(self.counted(self.wrongs)), position=None)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return [(self.right, wrong) for wrong in self.wrongs]


def label_is_true(record: AuditRecord) -> bool:
    """Report whether the label of a labelled text is yes or true."""
    return record.right in {"yes", "true"}


def without_labels(records: Sequence[AuditRecord]) -> list[AuditRecord]:
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
