"""Shared by the formats of raw votes: a cell as a truth-coded choice, and no second vote on one thing."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import ProblemError, check_content
from foilworks.core.corpus.import_formats.parsing.records import RawRecord
from foilworks.core.corpus.records import BadRecord, RecordWarning
from foilworks.core.corpus.vote_records import CHOICES, NUMBERED, PLACES, VoteOutcome, VoteRecord
from foilworks.core.text.quoting import quoted
from foilworks.core.text.spill import Spill

MAX_ANNOTATOR = 100


class PassedOver(Exception):
    """Why a judgement is not a vote; caught here."""


def read_votes(path: Path, raw: Iterable[RawRecord], parse: Callable[[RawRecord], VoteRecord]) -> Iterator[VoteOutcome]:
    """The outcome of every line in order."""
    with Spill() as first_line:
        for record in raw:
            location = f"{path}:{record.line}"
            try:
                if record.problem:
                    raise ProblemError(record.field, record.problem, "correct the line")
                check_content(record.value)
                vote = parse(record)
                earlier_line = first_line.setdefault(f"{vote.item}\0{vote.foil}\0{vote.annotator}", str(record.line))
                if earlier_line is not None:
                    problem = f"{quoted(vote.annotator)} judged {quoted(vote.item)} already on line {earlier_line}"
                    raise ProblemError("annotator", problem, "keep one of the two")
            except PassedOver as why:
                yield RecordWarning(location, "state", f"{why}: skipped")
                continue
            except ProblemError as error:
                yield BadRecord(location, error.field, error.problem, error.fix)
                continue
            yield vote


def caption_is_first(value: Any) -> bool | None:
    """Whether the caption was first; None where nothing is said."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return value
    is_first = PLACES.get(str(value).strip().lower())
    if is_first is None:
        raise ProblemError("position", f"is {quoted(str(value))}", "give 1 if the caption was first, else 2")
    return is_first


def foil_of(value: Any) -> int | None:
    """A foil's place in its item; None where nothing is said."""
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not str(value).strip().isdecimal() or int(value) > 1_000:
        raise ProblemError("foil", f"is {quoted(str(value))}", "give its position in the item, from 0, or omit it")
    return int(value)


def choice_of(value: Any, caption_first: bool | None, field: str = "choice") -> str:
    """The truth-coded choice behind a word, or behind 1 to 5 as they were shown."""
    choice = str("" if value is None else value).strip().lower().replace(" ", "_").replace("-", "_")
    choice = NUMBERED[int(choice) - 1] if choice in {"1", "2", "3", "4", "5"} else choice
    if choice in {"first", "second"}:
        if caption_first is None:
            raise ProblemError("position", "is missing", "give the position of the caption (1 or 2)")
        return "caption" if (choice == "first") == caption_first else "foil"
    if choice not in CHOICES:
        problem = "is missing" if not choice else f"is {quoted(choice)}"
        raise ProblemError(field, problem, f"give one of {', '.join(CHOICES)}, or 1 to 5 with a position")
    return choice
