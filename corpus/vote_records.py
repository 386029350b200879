"""Judgements of a past study as importers read them: whose, on what, which choice. Plain facts, no table."""

from dataclasses import dataclass, field

from corpus.records import BadRecord, RecordWarning

CHOICES = ("caption", "foil", "neither", "both", "cannot_tell", "other")
# What a judgement's number means as it was shown (workflow.md).
NUMBERED = ("first", "second", "neither", "both", "cannot_tell")
PLACES = {"1": True, "first": True, "2": False, "second": False, "true": True, "false": False}


@dataclass(frozen=True)
class VoteRecord:
    """One judgement. `item` is an id of the project (`key` or `subtest:key`), `foil` its position in the item, None
    where the item as a whole was judged; `choice` is truth-coded; `caption_first` None where no order is known.

    `is_identity`: the annotator is the id of an account elsewhere, which is stored under a pseudonym only.
    """

    item: str
    annotator: str
    choice: str
    foil: int | None = None
    caption_first: bool | None = None
    seconds: float | None = None
    is_identity: bool = False
    line: int | None = field(default=None, compare=False)


VoteOutcome = VoteRecord | BadRecord | RecordWarning
