"""Define what an audit reads and writes: one question with its right and wrong texts, and findings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from generation.balance.records import caption_groups

Verdict = Literal["ok", "warn", "fail"]
VERDICTS: tuple[Verdict, ...] = ("ok", "warn", "fail")
# Separates a question from a text; no file may have it, because importers refuse control characters in ids only.
SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One item: the `right` text, its `wrongs`, and what the file says beside them ("" if nothing).

    `place`: the position of the right text among the options, from 0; None if the file does not order them. `where`:
    the line, or the number of the record. `clip`: the video with the times of its part.
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
    place: int | None = None
    licence: str = ""
    language: str = ""

    @property
    def n_options(self) -> int:
        return 1 + len(self.wrongs)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return [(self.right, wrong) for wrong in self.wrongs]


def groups_of(records: Sequence[AuditRecord]) -> list[str]:
    """Return (n,) the clusters of records: of questions by video or question, of pairs by caption."""
    captions = caption_groups([(record.right, "") for record in records])
    return [
        (record.video or record.question) if record.question else caption
        for record, caption in zip(records, captions, strict=True)
    ]


def has_choices(records: Sequence[AuditRecord]) -> bool:
    """Report whether an item has more than one wrong text."""
    return any(len(record.wrongs) > 1 for record in records)


def chance_of(records: Sequence[AuditRecord]) -> float:
    """Return the expected share of right answers if each option is equally likely."""
    return sum(1 / record.n_options for record in records) / len(records)


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
    """Return the worst verdict; ok without findings."""
    return max((finding.verdict for finding in findings), key=VERDICTS.index, default="ok")
