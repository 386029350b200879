"""Find the records of a file that are inside others: lists of questions, questions by name, pairs of two pictures."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from foilworks.core.corpus.import_formats.parsing.column_names import MAX_LABEL, SERIES, Columns, named, series_of
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.import_formats.parsing.row_values import nested, value_at

NestedRecord = tuple[dict[str, Any], dict[str, str]]
MAX_NESTED = 6
_CAPTION = re.compile(r"caption[ _]?([0-9ab])", re.IGNORECASE)
_PICTURE = re.compile(r"(?:image|img|picture|video|clip)[ _]?([0-9ab])(?:_?(?:path|file|url|id))?", re.IGNORECASE)
# Who speaks in a conversation, and where its clip is.
_ROLES = {"user": "question", "human": "question", "assistant": "answer", "gpt": "answer"}
_FENCED = re.compile(r"```(?:json)?\s*(\{.*?\})\s*```", re.DOTALL)
_MARK = re.compile(r"<(video|image)>")
_MEDIA = re.compile(r"https?://\S+|\S.*\.(?:jpe?g|png|gif|webp|bmp|mp4|webm|avi|mkv|mov)", re.IGNORECASE)


def flattened(value: Any, key: str | None, columns: Columns, depth: int = 0) -> Iterator[NestedRecord]:
    """Yield (fields, defaults) of the records of a member, also if they are in lists or objects inside it.

    `{"video7": {"direction": [{…}, {…}]}}` has the video and the subtest as keys. A pair of two pictures with their
    captions is two records, of which each has the caption of the other as its foil.
    """
    if depth > MAX_NESTED:
        raise ProblemError("record", f"is nested deeper than {MAX_NESTED} levels", "flatten it")
    if isinstance(value, list):
        yield from _records_of_list(value, key, columns, depth)
    elif not isinstance(value, Mapping):
        fix = "give an object with named fields; if these are the answers of another file, give that file"
        raise ProblemError("record", "is not an object", f"{fix}, and this one with --answers FILE")
    elif pair := _two_pictures(value, columns):
        yield from _halves(*pair, key)
    elif batch := _of_batch(value):
        yield from flattened(batch, key, columns, depth + 1)
    elif (chat := _of_chat(value) or _of_choice_task(value)) or _is_item(value, columns):
        yield chat or dict(value), {"id": key or ""}
    elif value and all(_is_records(inner) for inner in value.values()):
        for subtest, inner in value.items():
            for record in inner:
                for fields, own_fields in flattened(record, None, columns, depth + 1):
                    yield (
                        fields,
                        {"video": key or "", "subtest": str(subtest)[:MAX_LABEL], **_without_blanks(own_fields)},
                    )
    else:
        yield from _records_of_object(value, key, columns, depth)


def _of_chat(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a record in the form of a conversation (OpenAI's messages, ShareGPT) as a question and its answer."""
    turns: list[Any] = next((value[name] for name in ("messages", "conversations") if _is_records(value.get(name))), [])
    texts: dict[str, str] = {}
    clips: list[Any] = []
    for turn in turns:
        content = turn.get("content", turn.get("value"))
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        blocks = [block for block in blocks if isinstance(block, Mapping)]
        role = _ROLES.get(str(turn.get("role", turn.get("from"))), "")
        texts.setdefault(role, "\n".join(str(block["text"]) for block in blocks if block.get("text")))
        clips += [block[kind] for block in blocks for kind in ("video", "image") if isinstance(block.get(kind), str)]
    if not texts.get("question") or not texts.get("answer"):
        return None
    question = _MARK.sub("", texts["question"]).strip()
    return {**value, **({"video": clips[0]} if clips else {}), "question": question, "answer": texts["answer"]}


def _of_batch(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the object that a model wrote in a line of OpenAI's batch output, with the id of the request."""
    answers = value_at(value, "response.body.choices.*.message.content")
    if "custom_id" not in value or not isinstance(answers, list) or not isinstance(answers[0], str):
        return None
    fenced = _FENCED.search(answers[0])
    written = nested((fenced[1] if fenced else answers[0]).strip())
    return {"id": value["custom_id"], **written} if isinstance(written, dict) else None


def _of_choice_task(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an answered choice of Prodigy as a question: its options have ids, and `accept` has the chosen one."""
    options, accepted = value.get("options") or [], value.get("accept")
    if not _is_records(options) or not isinstance(accepted, list) or not all("id" in option for option in options):
        return None
    texts = {str(option["id"]): str(option.get("text", option.get("label", ""))) for option in options}
    answer = accepted[0] if value.get("answer") == "accept" and len(accepted) == 1 else None
    return {**value, "question": value.get("text", ""), "options": texts, "answer": answer}


def _without_blanks(own_fields: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in own_fields.items() if value}


def _records_of_list(value: list[Any], key: str | None, columns: Columns, depth: int) -> Iterator[NestedRecord]:
    if len(value) == 4 and all(isinstance(item, str) for item in value):
        pictures, captions = value[::2], value[1::2]
        if all(map(_MEDIA.fullmatch, pictures)) and not any(map(_MEDIA.fullmatch, captions)):
            yield from _halves({}, captions, pictures, key)
            return
    if not value or not all(isinstance(item, Mapping | list) for item in value):
        raise ProblemError("record", "is not an object", "give an object with named fields")
    for item in value:
        for fields, own_fields in flattened(item, None, columns, depth + 1):
            yield fields, {"subtest": key or "", **_without_blanks(own_fields)}


def _records_of_object(
    value: Mapping[str, Any], key: str | None, columns: Columns, depth: int
) -> Iterator[NestedRecord]:
    """Yield the questions inside an object, each with the fields beside it; without any, the object."""
    item_fields = {name: inner for name, inner in value.items() if _has_items(inner, columns)}
    if not item_fields:
        yield dict(value), {"id": key or ""}
        return
    shared_fields = {name: inner for name, inner in value.items() if name not in item_fields}
    rows = [
        (name if isinstance(inner, list) and len(item_fields) > 1 else "", record)
        for name, inner in item_fields.items()
        for record in (inner if isinstance(inner, list) else [inner])
    ]
    outer = named(shared_fields, "id", columns)
    outer = key if outer is None else outer
    for number, (subtest, record) in enumerate(rows):
        own_fields = {"subtest": subtest[:MAX_LABEL]}
        for fields, more in flattened(record, None, columns, depth + 1):
            # The id of the object is that of several questions.
            ids = {"id": f"{outer}-{number}"} if outer is not None and len(rows) > 1 else {}
            has_own = named(fields, "id", columns) is not None
            yield (
                {**shared_fields, **({} if has_own else ids), **fields},
                {"id": key or "", **_without_blanks(own_fields), **_without_blanks(more)},
            )


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(inner, Mapping) for inner in value)


def _has_items(value: Any, columns: Columns) -> bool:
    """Report whether a field has questions or captions of its own: a list of them, or one with its answer."""
    if isinstance(value, Mapping):
        return _is_item(value, columns)
    return _is_records(value) and all(_has_text(inner, columns) for inner in value)


def _has_text(value: Mapping[str, Any], columns: Columns) -> bool:
    return any(
        named(value, role, columns) is not None for role in ("question", "statement", "right", "wrongs", "options")
    )


def _is_item(value: Mapping[str, Any], columns: Columns) -> bool:
    if named(value, "right", columns) is not None and named(value, "wrongs", columns) is not None:
        return True
    if named(value, "answer", columns) is None:
        return False
    return _has_text(value, columns) or any(len(series_of(value, series)) > 1 for series in SERIES)


def _two_pictures(value: Mapping[str, Any], columns: Columns) -> tuple[dict[str, Any], list[Any], list[Any]] | None:
    """Return (other fields, captions, pictures) of two captions and their two pictures, numbered alike; None if the
    record is something else."""
    if (
        {"right", "options"} & columns.keys()
        or named(value, "wrongs", columns) is not None
        or named(value, "answer", columns) is not None
    ):
        return None
    captions = {match.group(1): name for name in value if (match := _CAPTION.fullmatch(name))}
    pictures = {match.group(1): name for name in value if (match := _PICTURE.fullmatch(name))}
    if len(captions) != 2 or captions.keys() != pictures.keys():
        return None
    shared_fields = {
        name: inner for name, inner in value.items() if name not in {*captions.values(), *pictures.values()}
    }
    order = sorted(captions)
    return (
        shared_fields,
        [value[captions[number]] for number in order],
        [_file_of(value[pictures[number]]) for number in order],
    )


def _file_of(value: Any) -> Any:
    return value.get("path") if isinstance(value, Mapping) else value


def _halves(
    shared_fields: Mapping[str, Any], captions: list[Any], pictures: list[Any], key: str | None
) -> Iterator[NestedRecord]:
    """Yield both halves of a pair in which each caption is right for one picture. They are one group of the probes:
    trained on one half, a classifier would be wrong about the other."""
    group = "\n".join(sorted(map(str, captions)))
    outer = named(shared_fields, "id", {})
    outer = key if outer is None else outer
    for k in (0, 1):
        texts = {"caption": captions[k], "foils": [captions[1 - k]], "video_file": pictures[k]}
        ids = {} if outer is None else {"id": f"{outer}_{k}"}
        yield {**shared_fields, **texts, **ids}, {"group": group}
