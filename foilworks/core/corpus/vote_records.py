"""Judgements of a past study as importers read them: person, item, choice. Plain facts, no table.

Counts in a file say how many chose what, not who: as votes, they name nobody. If each vote of an item needs a name,
they are `unnamed-1`, `unnamed-2` … with the source `import`; the importer rejects such a name for anybody else.
"""

import re
from dataclasses import dataclass, field

from foilworks.core.corpus.records import BadRecord, RecordWarning

CHOICES = ("caption", "foil", "neither", "both", "cannot_tell", "other")
# The answers by their number on the page (docs/workflow.md#stage-validation).
NUMBERED = ("first", "second", "neither", "both", "cannot_tell")
PLACES = {"1": True, "first": True, "2": False, "second": False, "true": True, "false": False}
SOURCE = "import"
# The form of such a name, for databases too.
ANONYMOUS_NAME = "unnamed-[1-9][0-9]*"


def name_of_imported(pseudonym: str, index: int | None) -> str:
    """The name in exports of a vote that came from a file: its pseudonym; of a count, its number within the item."""
    return pseudonym or f"unnamed-{(index or 0) + 1}"


def is_anonymous_name(name: str) -> bool:
    """Whether exports give the name to votes that name nobody."""
    return re.fullmatch(ANONYMOUS_NAME, name) is not None


def is_anonymous_vote(source: str, annotator: str) -> bool:
    """Whether a vote of an export is one of a count."""
    return source == SOURCE and is_anonymous_name(annotator)


@dataclass(frozen=True)
class VoteRecord:
    """One judgement. `item` is an id of the project (`key` or `subtest:key`), `foil` its position in the item, None
    where the item as a whole was judged; `choice` is truth-coded; `caption_first` None where no order is known.

    `is_identity`: the annotator is the id of an account elsewhere, which is stored under a pseudonym only.
    `is_nameless`: the annotator is a number within the item and names nobody: the vote is stored as one of a count.
    """

    item: str
    annotator: str
    choice: str
    foil: int | None = None
    caption_first: bool | None = None
    seconds: float | None = None
    is_identity: bool = False
    is_nameless: bool = False
    line: int | None = field(default=None, compare=False)


VoteOutcome = VoteRecord | BadRecord | RecordWarning
