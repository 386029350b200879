"""Make items of the records that `text_files.py` reads from a file of any form."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import Any

from foilworks.core.corpus.import_formats.parsing.answer_styles import AnswerStyles
from foilworks.core.corpus.import_formats.parsing.clip_fields import clip_of
from foilworks.core.corpus.import_formats.parsing.column_names import SERIES, columns_of, series_of
from foilworks.core.corpus.import_formats.parsing.column_profiles import VIDEO_FILE
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.questions import Question, item_of
from foilworks.core.corpus.import_formats.parsing.raw_records import files_in
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    given_dataset,
    made_id,
    read_records,
)
from foilworks.core.corpus.import_formats.parsing.row_values import as_seconds, column_of, plain_cell
from foilworks.core.corpus.import_formats.parsing.splits import named_split
from foilworks.core.corpus.import_formats.parsing.text_files import (
    FIELD_OF_ROLE,
    MAX_SAMPLE,
    Source,
    Texts,
    read_in_turn,
    read_texts,
    with_roles,
)
from foilworks.core.corpus.records import MAX_LABEL, BadRecord, ItemRecord, ReadOutcome, TakenColumns, TextRecord

_DIGEST = 16
_PAIR_ROLES, _QUESTION_ROLES = ("question", "right", "wrongs"), ("question", "statement", "options", "answer")
_TIMES = ("start_time", "end_time")
# Facts that a question has by itself.
_OF_QUESTION = frozenset({"question", "options", "answer", "type"})


@dataclass(frozen=True)
class _Form:
    """How the items of a file are named: by the ids of its records, which several files can share."""

    source: Source
    dataset: str
    has_ids: bool
    is_part: bool


def read_text_items(path: Path, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Yield the items of a file, or of the files of a folder. CorpusError: it has none, or cannot be read."""
    files = files_in(path) if path.is_dir() else [(path, str(params.get("subtest") or ""))]
    video_names = params.get("video_names") or ()
    sources = [
        Source(file, limits=params.get("limits"), subtest=subtest, video_names=video_names) for file, subtest in files
    ]
    left_out: list[BadRecord] = []

    def leave_out(source: Source, problem: str) -> None:
        left_out.append(BadRecord(str(source.path), "file", problem, "this file is left out"))

    yield from read_in_turn(sources, partial(_read_file, given_dataset(params), len(sources) > 1), leave_out)
    yield from left_out


def _read_file(dataset: str, is_part: bool, source: Source, styles: AnswerStyles | None) -> Iterator[ReadOutcome]:
    source = with_roles(source)
    texts = read_texts(source, styles)
    first = list(islice(texts, MAX_SAMPLE))
    records = [outcome for outcome in first if not isinstance(outcome, RawRecord)]
    ids = [record.id for record, _fields in records]
    form = _Form(source, dataset, all(ids) and len({*ids}) == len(ids), is_part)
    if records:
        yield _taken(*records[0], source)
    yield from read_records(source.path, _raw(chain(first, texts)), partial(_item, form), own_ids=form.has_ids)


def _raw(outcomes: Iterable[Texts | RawRecord]) -> Iterator[RawRecord]:
    for outcome in outcomes:
        yield outcome if isinstance(outcome, RawRecord) else RawRecord(None, outcome, outcome[0].where)


def _item(form: _Form, raw: RawRecord) -> ItemRecord:
    record, fields = raw.value
    columns = _columns_of_roles(record, fields, form.source.columns)
    used = {name for names in columns.values() for name in names}
    subtest = record.subtest[:MAX_LABEL]
    # Of several true texts, the others leave as they came.
    used -= {name for name in columns.get("right", ()) if isinstance(fields[name], list)}
    times = _times(fields)
    used |= {*times.values()}
    clip = {"source_dataset": form.dataset, "split": named_split(record.split), **_clip(record, subtest)}
    clip |= {name: as_seconds(column, fields[column]) for name, column in times.items()}
    used -= set() if clip["split"] else {*columns_of(fields, "split")}
    facts = {name: plain_cell(value) for name, value in fields.items() if name not in used and _is_plain(value)}
    extra = {name: value for name, value in fields.items() if name not in used and name not in facts and value}
    if record.question or record.position is not None:
        extra |= {name: facts.pop(name) for name in _OF_QUESTION & facts.keys()}
    own_id = f"{form.source.path.stem}:{record.id}" if form.is_part else record.id
    texts = {"caption": record.right, "foils": list(record.wrongs), "subtest": subtest, "question": record.question}
    item_id = own_id if form.has_ids else made_id({**clip, **{name: text for name, text in texts.items() if text}})
    video = clip_of(Fields(clip))
    if record.question or record.position is not None:
        question = _question(record)
        return item_of(
            question, item_id=checked_id("id", item_id), subtest=subtest, video=video, facts=facts, extra=extra,
            line=raw.line,
        )  # fmt: skip
    pair = hashlib.sha256(record.group.encode("utf-8", "replace")).hexdigest()[:_DIGEST] if record.group else ""
    return ItemRecord(
        id=checked_id("id", item_id),
        subtest=subtest,
        video=video,
        caption=record.right,
        foils=record.wrongs,
        facts=facts,
        extra=extra,
        pair=pair,
        line=raw.line,
    )


def _question(record: TextRecord) -> Question:
    """Return the question with its options in the order of the file; yes and true come first."""
    position = record.position if record.position is not None else int(record.right in {"no", "false"})
    options = [*record.wrongs[:position], record.right, *record.wrongs[position:]]
    return Question(record.question, options, position, is_caption=not record.question)


def _clip(record: TextRecord, subtest: str) -> dict[str, str]:
    """Return the clip's file, address or id; without any, the clip is named after the record."""
    name = record.video
    if name.startswith(("http://", "https://")):
        return {"url": name}
    if not VIDEO_FILE.fullmatch(name):
        return {"source_id": name or record.id or f"{subtest}:{record.where}"}
    path = PurePosixPath(name.replace("\\", "/"))
    return {"video": path.name if path.is_absolute() or ".." in path.parts else str(path)}


def _times(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of the start and the end; none if they are not times in this order."""
    columns = {name: next(iter(columns_of(fields, name)), "") for name in _TIMES}
    columns = {name: column for name, column in columns.items() if column}
    try:
        times = [as_seconds(column, fields[column]) for column in columns.values()]
    except ProblemError:
        return {}
    are_numbers = all(isinstance(time, int | float) and not isinstance(time, bool) for time in times)
    return columns if are_numbers and all(time >= 0 for time in times) and times == sorted({*times}) else {}


def _columns_of_roles(
    record: TextRecord, fields: Mapping[str, Any], columns: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the columns that the texts of a record are from, by role."""
    has_options = record.position is not None or record.is_label
    roles = _QUESTION_ROLES if has_options else _PAIR_ROLES
    names: dict[str, list[str]] = {}
    for role in ("id", "video", "subtest", "split", *roles):
        mapped = [name.strip() for name in columns.get(role, "").split("+") if name.strip()]
        usual = columns_of(fields, role)
        names[role] = [name for name in map(partial(column_of, columns=fields), mapped) if name] or usual[:1]
        if role in {"answer", "wrongs"} and not mapped:
            names[role] = usual
    if has_options and not names["options"]:
        series = (series_of(fields, series) for series in SERIES)
        names["options"] = next((columns for columns in series if len(columns) > 1), [])
    return {role: role_names for role, role_names in names.items() if role_names}


def _taken(record: TextRecord, fields: Mapping[str, Any], source: Source) -> TakenColumns:
    columns = _columns_of_roles(record, fields, source.columns)
    return TakenColumns({FIELD_OF_ROLE.get(role, role): " + ".join(names) for role, names in columns.items()})


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)
