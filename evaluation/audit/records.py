"""Define what an audit reads and writes: one question with its right and wrong texts, and findings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

Verdict = Literal["ok", "warn", "fail"]
T = TypeVar("T")
VERDICTS: tuple[Verdict, ...] = ("ok", "warn", "fail")
# Probes that choose a text without a model.
WORDS, NGRAMS, LONGEST, SHORTEST = "words", "n-grams", "longest", "shortest"
# Separates a question from a text; no file may have it, because importers refuse control characters in ids only.
SEPARATOR = "\x1f"
# Separates a labelled text from its label.
LABEL = "\x1e"


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


def has_choices(records: Sequence[AuditRecord]) -> bool:
    """Report whether an item has more than one wrong text."""
    return any(len(record.wrongs) > 1 for record in records)


def chance_of(records: Sequence[AuditRecord]) -> float:
    """Return the expected share of right answers if each option is equally likely.

    Of labels, the share of the more frequent one: always answering it takes no words.
    """
    labels = [label_is_true(record) for record in records if record.is_label]
    of_labels = max(sum(labels), len(labels) - sum(labels))
    return (of_labels + sum(1 / record.n_options for record in records if not record.is_label)) / len(records)


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
    """Return the worst verdict; ok without findings."""
    return max((finding.verdict for finding in findings), key=VERDICTS.index, default="ok")
