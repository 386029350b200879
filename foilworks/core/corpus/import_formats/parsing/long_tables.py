"""Join the rows of a table that has one row per option, or one per sentence with its role, to one record each. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from foilworks.core.corpus.import_formats.parsing.choice_columns import label_in
from foilworks.core.corpus.import_formats.parsing.column_names import (
    columns_of,
    has_word,
    is_changed,
    is_negative,
    is_positive,
    name_words,
)
from foilworks.core.corpus.import_formats.parsing.column_profiles import Profile, profiles_of
from foilworks.core.corpus.import_formats.parsing.records import RawRecord
from foilworks.core.corpus.import_formats.parsing.row_values import Row, value_at
from foilworks.core.text.comparable import comparable

# Share of the groups that must have one true text and others.
_MOST = 0.8
_MAX_ROLE_WORDS = 3
# Line, fields, those of the enclosing records, and the place in the file; or a record with a problem.
Outcome = tuple[int, dict[str, Any], dict[str, str], tuple[int, int]] | RawRecord


@dataclass(frozen=True)
class LongTable:
    """`text`: the column with the options; `role`: that which says which is true; `shared`: equal within a record."""

    text: str
    role: str
    shared: tuple[str, ...]
    question: str = ""


def long_table_of(rows: Sequence[Row]) -> LongTable | None:
    """Return the columns of a table with one row per option; None for any other table."""
    profiles = profiles_of(rows)
    names = [name for name, profile in profiles.items() if profile.filled == 1 and profile.lists == 0]
    question = next((name for name in names if _is_question(name, profiles[name])), "")
    clips = [name for name in names if has_word(name, "video") or profiles[name].files >= _MOST]
    shared = (question,) if question else tuple(clips[:1])
    for role in names if shared else ():
        truths = [truth_of(role, row[role], has_question=bool(question)) for row in rows if role in row]
        if role in shared or None in truths or len(truths) < len(rows) or len({*truths}) < 2:
            continue
        texts = [name for name in names if name not in {*shared, role, *clips} and profiles[name].numbers < _MOST]
        texts = [name for name in texts if _has_one_true_text(rows, truths, shared, name)]
        if len(texts) == 1:
            return LongTable(texts[0], role, shared, question)
    return None


def _is_question(name: str, profile: Profile) -> bool:
    return profile.questions >= _MOST and profile.distinct < 1


def truth_of(role: str, cell: Any, *, has_question: bool) -> bool | None:
    """Return whether a cell says that the row's text is true: a label, or without a question the text's role."""
    if has_question:
        return label_in(role, cell)
    if (
        not isinstance(cell, str)
        or not 0 < len(name_words(cell)) <= _MAX_ROLE_WORDS
        or label_in(role, cell) is not None
    ):
        return None
    if is_negative(cell) or is_changed(cell):
        return False
    return True if is_positive(cell) else None


def _has_one_true_text(rows: Sequence[Row], truths: Sequence[bool | None], shared: Sequence[str], text: str) -> bool:
    """Report whether most groups of rows have one true text, others, and no text twice."""
    groups = [
        [index for index, _row in group]
        for _key, group in groupby(enumerate(rows), key=lambda pair: _key_of(pair[1], shared))
    ]
    # The last one may go on behind the sample.
    groups = groups[:-1] if len(groups) > 2 else groups
    whole = [
        len(group) > 1
        and sum(truths[index] is True for index in group) == 1
        and len({comparable(str(rows[index].get(text))) for index in group}) == len(group)
        for group in groups
    ]
    return len(whole) > 1 and sum(whole) >= _MOST * len(whole)


def _key_of(row: Row, shared: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(value_at(row, name)) for name in shared)


def joined(outcomes: Iterable[Outcome], table: LongTable) -> Iterator[Outcome]:
    """Yield one record per group of rows that follow each other: its question with options, or caption with foils.

    A row with a problem passes; the place of a record is that of its first row.
    """

    def key(outcome: Outcome) -> tuple[str, ...]:
        return ("", str(outcome.line)) if isinstance(outcome, RawRecord) else _key_of(outcome[1], table.shared)

    for _key, group in groupby(outcomes, key=key):
        first, *others = group
        if isinstance(first, RawRecord):
            yield first
            continue
        rows = [first[1], *(outcome[1] for outcome in others if not isinstance(outcome, RawRecord))]
        yield first[0], _record_of(rows, table), *first[2:]


def _record_of(rows: Sequence[Row], table: LongTable) -> dict[str, Any]:
    texts = {
        str(row.get(table.text, "")): truth_of(table.role, row.get(table.role), has_question=bool(table.question))
        for row in rows
    }
    true_texts = [text for text, is_true in texts.items() if is_true]
    true_text = true_texts[0] if len(true_texts) == 1 else None
    used = {table.text, table.role, *columns_of(rows[0], "answer"), *columns_of(rows[0], "options")}
    record = {name: value for name, value in rows[0].items() if name not in used}
    if table.question:
        return {**record, "question": rows[0][table.question], "options": [*texts], "answer": true_text}
    return {**record, "caption": true_text, "foils": [text for text in texts if text not in true_texts]}
