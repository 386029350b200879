"""Read a file of any form, record by record: its right and wrong texts, and the fields around them. Pure.

Audits and imports read with it. What the columns are: `column_names.py`, then `column_roles.py`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.answer_styles import AmbiguousAnswersError, AnswerStyles
from foilworks.core.corpus.import_formats.parsing.any_rows import header_of
from foilworks.core.corpus.import_formats.parsing.column_names import ROLES, columns_of
from foilworks.core.corpus.import_formats.parsing.column_roles import SURE, Guess, question_about, roles_of
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError, check_content
from foilworks.core.corpus.import_formats.parsing.joined_answers import answers_of
from foilworks.core.corpus.import_formats.parsing.long_tables import joined, long_table_of
from foilworks.core.corpus.import_formats.parsing.nested_records import flattened
from foilworks.core.corpus.import_formats.parsing.raw_records import TABLES, raw_records, stem_of_parts
from foilworks.core.corpus.import_formats.parsing.records import RawRecord
from foilworks.core.corpus.import_formats.parsing.text_drafts import Draft, OpenAnswerError, draft_of, record_of_draft
from foilworks.core.corpus.records import SPLITS, TextRecord
from foilworks.core.text.errors import ActionableError

# The format of a file whose columns decide.
BY_NAMES = "columns"
# Published formats that the header identifies: they need more than their columns' names.
KNOWN_HEADERS = {
    "feint6k": {"video_id", "sentence"},
    "contrast": {"clip", "ending0", "ending1", "label"},
    "vinoground": {"index", "pos_cap", "neg_cap"},
}
# Records that wait until the file's way of writing answers is known.
MAX_WAITING = 5_000
# Records whose values show what the columns are.
MAX_SAMPLE = 50
# Fields of imports -> roles of audits.
ROLE_OF_FIELD = {"caption": "right", "foils": "wrongs", "candidates": "options", "source_id": "video", "url": "video"}
# Fields that name a clip without a file, the one that counts least first.
_OTHER_CLIPS = ("source_id", "url")
FIELD_OF_ROLE = {role: name for name, role in ROLE_OF_FIELD.items() if name not in _OTHER_CLIPS}
_WHOLE = ({"right", "wrongs"}, {"options", "answer"}, {"right", "answer"}, {"question", "answer"})
# The record, and the fields that it was read from.
Texts = tuple[TextRecord, Mapping[str, Any]]
Outcome = TypeVar("Outcome")
# Line, fields, those of the enclosing records, and the place in the file.
_Fields = tuple[int, dict[str, Any], dict[str, str], tuple[int, int]]


@dataclass
class Source:
    """A file to read and how. `limits`: those of Parquet files (foilworks.core.corpus.limits); `params`: of the format.

    `columns`: role -> column, "" for a role without one. `answers`: a second file, with the answers by id. `subtest`:
    that of records without one, if not the file's name. `video_names`: names of the clips' files. `origin`: what a hub
    says of the file, such as its revision and licence.
    """

    path: Path
    form: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    limits: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    answers: Path | None = None
    subtest: str = ""
    video_names: Collection[str] = ()
    origin: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the name of the file, with that of its folder if the folder is a subtest."""
        return f"{self.subtest}/{self.path.name}" if self.subtest else self.path.name

    @property
    def split(self) -> str:
        """Return the split that the name of the file or of its folder says."""
        return next((name for name in (stem_of_parts(self.path), self.subtest) if name in SPLITS), "")


def form_of(source: Source) -> str:
    """Return the format: the given one, one that the file's columns identify, or `columns`."""
    if source.form:
        return source.form
    if source.columns or source.answers or source.path.suffix.lower() not in TABLES:
        return BY_NAMES
    names = set(header_of(source.path)[1].names)
    return next((form for form, columns in KNOWN_HEADERS.items() if names >= columns), BY_NAMES)


def read_in_turn(
    sources: Sequence[Source],
    read: Callable[[Source, AnswerStyles | None], Iterable[Outcome]],
    leave_out: Callable[[Source, str], None],
) -> Iterator[Outcome]:
    """Yield the outcomes of all files, one file after the other.

    Of several files, one that cannot be read to its end is left out whole, with its problem. One that leaves open what
    its answers mean is read last: the other files then decide. ActionableError: the only file cannot be read.
    """
    if len(sources) == 1:
        yield from read(sources[0], None)
        return
    styles, waiting = AnswerStyles(), list[Source]()
    for is_last, group in ((False, sources), (True, waiting)):
        for source in group:
            try:
                outcomes = list(read(source, styles))
            except ActionableError as error:
                if isinstance(error, AmbiguousAnswersError) and not is_last:
                    waiting.append(source)
                else:
                    leave_out(source, str(error))
                continue
            yield from outcomes


def read_texts(source: Source, styles_of_files: AnswerStyles | None = None) -> Iterator[Texts | RawRecord]:
    """Yield the records of a file, and those with a problem; of a question with an open answer, `value` is its record.

    `styles_of_files`: how the files read before write their answers; this file's answers are added to it. CorpusError:
    the file as a whole cannot be read, or a person must choose its columns.
    """
    styles, waiting, is_known = AnswerStyles(before=styles_of_files), list[tuple[Draft, Mapping[str, Any]]](), False
    for outcome in _drafts(with_roles(source)):
        if isinstance(outcome, RawRecord):
            yield outcome
            continue
        if not is_known:
            outcome[0].note(styles)
        waiting.append(outcome)
        if is_known or len(waiting) >= MAX_WAITING:
            is_known = True
            yield from _records_of_drafts(source, waiting, styles)
            waiting.clear()
    yield from _records_of_drafts(source, waiting, styles)
    if styles_of_files is not None:
        styles_of_files.add(styles)


def _records_of_drafts(
    source: Source, waiting: Sequence[tuple[Draft, Mapping[str, Any]]], styles: AnswerStyles
) -> Sequence[Texts | RawRecord]:
    """Return the records of all drafts, or none of them: a file that leaves its answers open is not half read."""
    records: list[Texts | RawRecord] = []
    for draft, fields in waiting:
        try:
            records.append((replace(record_of_draft(draft, styles), address=draft.address), fields))
        except ProblemError as error:
            records.append(_bad_record(draft.where, error))
        except AmbiguousAnswersError as error:
            raise AmbiguousAnswersError(f"{source.path}: {error}") from error
    return records


def with_roles(source: Source) -> Source:
    """Return the source with the columns of its roles, if no record has known names and its values show them.

    CorpusError: a person must choose one of the columns, or there is nothing to compare.
    """
    if source.columns or source.answers:
        return source if source.answers else _completed(source)
    is_readable, columns, roles, is_open = _survey(source)
    if columns or is_readable:
        return replace(source, columns=columns)
    if not is_open:
        _check_comparable(source, roles)
    return source


def _completed(source: Source) -> Source:
    """Return the source with the roles that its values show beside those that a person chose, if it needs them."""
    sample = sample_of_texts(source)
    if any(_is_readable(fields, source.columns) for fields in sample):
        return source
    by_field = {FIELD_OF_ROLE.get(role, role): column.split("+") for role, column in source.columns.items() if column}
    roles = roles_of(sample, video_names=source.video_names, known=by_field)
    sure = {name: guess.columns for name, guess in roles.items() if guess.confidence >= SURE}
    columns = {**columns_of_roles(sure), **source.columns}
    return replace(source, columns=columns) if are_whole(columns) else source


def holds_texts(source: Source) -> bool:
    """Report whether a file has records with right and wrong texts. CorpusError: as a whole, it cannot be read."""
    is_readable, columns, _roles, _is_open = _survey(source)
    return is_readable or bool(columns)


def sample_of_texts(source: Source) -> list[dict[str, Any]]:
    """Return the fields of the first records, under the names that `columns` takes. CorpusError: it cannot be read."""
    return [fields for _line, fields, _own_fields, _address in _sample(source)]


def columns_of_roles(columns: Mapping[str, str | Sequence[str]]) -> dict[str, str]:
    """Return role -> columns of the fields of an import; those that no audit reads are left out."""
    ordered = [*(name for name in _OTHER_CLIPS if name in columns), *(columns.keys() - {*_OTHER_CLIPS})]
    roles = {ROLE_OF_FIELD.get(name, name): name for name in ordered}
    return {
        role: chosen if isinstance(chosen := columns[name], str) else "+".join(chosen)
        for role, name in roles.items()
        if role in ROLES
    }


def are_whole(columns: Mapping[str, str]) -> bool:
    """Report whether the roles make records: right and wrong texts, options and an answer, or a text and its label."""
    return any(columns.keys() >= roles for roles in _WHOLE)


def _sample(source: Source) -> list[_Fields]:
    return [outcome for outcome in islice(_fields(source), MAX_SAMPLE) if not isinstance(outcome, RawRecord)]


def _survey(source: Source) -> tuple[bool, dict[str, str], Mapping[str, Guess], bool]:
    """Report whether a record is readable by its names; if none is, return columns of the roles, and the roles.

    The last value: a record has a question and an answer, whatever the answer is.
    """
    outcomes = _sample(source)
    sample = [fields for _line, fields, _own_fields, _address in outcomes]
    is_readable, roles = any(map(_is_readable, sample)), roles_of(sample, video_names=source.video_names)
    is_open = any(columns_of(fields, "question") and columns_of(fields, "answer") for fields in sample)
    if is_readable:
        has_clips = any(columns_of(fields, "video") or own.get("video") for _line, fields, own, _address in outcomes)
        clips = {} if has_clips and not source.video_names else _clip_column(roles, sample)
        return True, clips, roles, is_open
    columns = columns_of_roles({name: guess.columns for name, guess in roles.items() if guess.confidence >= SURE})
    return False, columns if are_whole(columns) else {}, roles, is_open


def _check_comparable(source: Source, roles: Mapping[str, Guess]) -> None:
    if question := question_about(roles):
        raise CorpusError(f"{source.path}: columns: {question}; choose one, such as --column caption=NAME")
    if "caption" in roles:
        problem = f"column {roles['caption'].columns[0]} has captions, but no column has false texts, options or labels"
        fix = "so there is nothing to compare; import the file to make foils, or map --column foils=NAME"
        raise CorpusError(f"{source.path}: columns: {problem}, {fix}")


def _clip_column(roles: Mapping[str, Guess], sample: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the column of the clips, unless it is that of the ids."""
    guess = roles.get("video") or roles.get("source_id")
    ids = {name for fields in sample for name in columns_of(fields, "id")}
    return {"video": guess.columns[0]} if guess and guess.confidence >= SURE and guess.columns[0] not in ids else {}


def _is_readable(fields: Mapping[str, Any], columns: Mapping[str, str] | None = None) -> bool:
    try:
        draft = draft_of(fields, 0, columns or {}, {})
    except ProblemError:
        return False
    is_label = any(label is not None for label in draft.labels.values())
    return draft.record is not None or draft.choices is not None or is_label


def _drafts(source: Source) -> Iterator[tuple[Draft, Mapping[str, Any]] | RawRecord]:
    defaults = {"subtest": source.subtest or stem_of_parts(source.path), "split": source.split}
    answers = None
    if source.answers:
        answers = answers_of(source.answers, raw_records(source.answers, source.limits), source.columns)
    for outcome in _fields(source):
        if isinstance(outcome, RawRecord):
            yield outcome
            continue
        line, fields, own_fields, address = outcome
        try:
            all_fields = fields if answers is None else answers.joined(fields, own_fields, source.columns)
            own_fields = {**defaults, **{name: value for name, value in own_fields.items() if value}}
            draft = draft_of(all_fields, line, source.columns, own_fields)
            yield replace(draft, address=(str(source.path), *address)), all_fields
        except ProblemError as error:
            yield _bad_record(line, error)
        except CorpusError as error:
            raise CorpusError(f"{source.path}:{line}: {error}") from error


def _fields(source: Source) -> Iterator[_Fields | RawRecord]:
    """Yield the fields of each record; of a table with one row per option, those of its joined rows."""
    outcomes = _flat_fields(source)
    sample = list(islice(outcomes, MAX_SAMPLE))
    rows = [outcome[1] for outcome in sample if not isinstance(outcome, RawRecord)]
    table = None if source.columns.keys() - {"video"} else long_table_of(rows)
    yield from joined(chain(sample, outcomes), table) if table else chain(sample, outcomes)


def _flat_fields(source: Source) -> Iterator[_Fields | RawRecord]:
    for number, raw in enumerate(raw_records(source.path, source.limits)):
        try:
            if raw.problem:
                raise ProblemError(raw.field, raw.problem, raw.fix)
            check_content(raw.value)
            for inner, (fields, own_fields) in enumerate(flattened(raw.value, raw.key, source.columns)):
                yield raw.line, fields, own_fields, (number, inner)
        except ProblemError as error:
            yield _bad_record(raw.line, error)


def _bad_record(line: int, error: ProblemError) -> RawRecord:
    record = error.record if isinstance(error, OpenAnswerError) else None
    return RawRecord(None, record, line, error.problem, error.field, error.fix)
