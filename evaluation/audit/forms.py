"""Find right and wrong texts in a record of any form: by the names of its columns, or as `--column` maps them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpus.importers.parsing.fields import ProblemError
from corpus.records import MAX_TEXT
from evaluation.audit.records import AuditRecord
from text.quoting import quoted

# Role -> the names that published benchmarks give it, the more specific first.
NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "qid", "question_id", "item_id", "item", "uid", "q_uid", "sample_id", "index"),
    "video": (
        "video_file",
        "video_id",
        "video_name",
        "video_path",
        "videopath",
        "vid_id",
        "video",
        "vid",
        "clip",
        "image_file",
        "filename",
        "image_id",
        "image_path",
        "image",
        "youtube_id",
        "dataset_idx",
    ),
    "subtest": ("subtest", "task_type", "question_type", "aspect", "task", "category", "type"),
    "split": ("split",),
    "question": ("question", "query"),
    "right": ("caption", "true_caption", "positive_caption", "pos_caption", "positive", "correct_caption", "sentence"),
    "wrongs": (
        "foils",
        "foil",
        "negative_caption",
        "negative_captions",
        "counterfactual",
        "false_caption",
        "neg_caption",
        "hard_negatives",
        "hard_negs",
        "negatives",
        "negative",
        "distractors",
        "wrong_caption",
        "wrong_sentence",
        "incorrect_caption",
        "foil_caption",
    ),
    "options": ("options", "candidates", "choices", "caption_options", "answer_options"),
    "answer": (
        "answer",
        "label",
        "correct_answer",
        "answer_id",
        "answer_idx",
        "correct_choice",
        "correct_option",
        "gt",
        "gt_answer",
        "correct",
        "correct_idx",
        "ground_truth",
    ),
    "licence": ("license", "licence"),
    "language": ("language", "lang"),
}
ROLES = tuple(NAMES)
TEXTS = frozenset({"right", "wrongs", "options", "question", "answer"})
# Columns with one option each: a0, ending0, option_0, choice_a, answer_a, A …
SERIES = tuple(
    re.compile(form)
    for form in (
        r"a[0-9]",
        r"s[0-9]",
        r"ending[0-9]",
        r"option[ _]?([0-9]|[a-j])",
        r"choice[ _]?([0-9]|[a-j])",
        r"answer[ _]?([0-9]|[a-j])",
        r"candidate[ _]?([0-9]|[a-j])",
        r"[A-J]",
    )
)
# Options inside a question: "A. kick", "Option 1: …", "(B) …".
LINE = re.compile(r"^\s*(?:(?:Option|Sentence|Caption|Choice|Description)\s+)?\(?([A-J1-9])[.:)]\s+(\S.*?)\s*$")
LETTER = re.compile(r"^\s*(?:(?:Option|Sentence|Caption|Choice|Description)\s+)?\(?([A-J])\)?(?:[.:)]|\s*$)")
MAX_LABEL = 200

Columns = Mapping[str, str]


def parse_record(values: Mapping[str, Any], where: int, columns: Columns, defaults: Mapping[str, str]) -> AuditRecord:
    """Return the record. `columns` maps roles to column names; `defaults` are the values of absent columns.

    ProblemError: no right text, no wrong text, or an answer that is none of the options.
    """
    said = {role: _named(values, role, columns) for role in ROLES}
    question = _text("question", said["question"]) if said["question"] not in (None, "") else ""
    about: dict[str, Any] = {
        name: _label(said[name]) or defaults.get(name, "") for name in ("id", "subtest", "split", "video")
    }
    about |= {name: _label(said[name]) for name in ("licence", "language")}
    about["clip"] = clip_of(about["video"], values)
    options, question = _options(values, said["options"], columns, question)
    if said["right"] is not None and said["wrongs"] is not None:
        right, wrongs, place = _text("caption", said["right"]), _texts("foils", said["wrongs"]), None
    elif options:
        place = answer_place(said["answer"], options)
        right, wrongs = options[place], options[:place] + options[place + 1 :]
    else:
        raise _without_texts(values)
    if not wrongs:
        raise ProblemError("foils", "is empty", "give at least one wrong text per item")
    return AuditRecord(right, tuple(wrongs), where, question=question, place=place, **about)


def clip_of(video: str, values: Mapping[str, Any]) -> str:
    """Return the name of the part of the video that an item shows."""
    times = [values.get(name) for name in ("start_time", "end_time")]
    return video if times == [None, None] else f"{video}@{times[0]}-{times[1]}"


def _named(values: Mapping[str, Any], role: str, columns: Columns) -> Any:
    if role in columns:
        names = [name.strip() for name in columns[role].split("+")]
        found = [values.get(name) for name in names]
        return found[0] if len(names) == 1 else [value for value in found if value is not None]
    if role in {"right", "wrongs"} and {"options", "answer"} & columns.keys():
        return None
    return next((values[name] for name in NAMES[role] if values.get(name) is not None), None)


def _options(values: Mapping[str, Any], named: Any, columns: Columns, question: str) -> tuple[list[str], str]:
    """Return the options and the question without them."""
    if isinstance(named, Mapping):
        named = list(named.values())
    if named is not None:
        return [strip_letter(text) for text in _texts("options", named)], question
    if "options" not in columns:
        for series in SERIES:
            names = sorted(name for name in values if series.fullmatch(name) and values[name] is not None)
            if len(names) > 1:
                return [_text(name, values[name]) for name in names], question
    lines = question.split("\n")
    found = [match.group(2) for line in lines if (match := LINE.match(line))]
    asked = [line for line in lines if not LINE.match(line)]
    return (found, " ".join(asked).strip()) if len(found) > 1 else ([], question)


def strip_letter(text: str) -> str:
    """Return "(A) kick" as "kick"."""
    match = LINE.match(text)
    return match.group(2) if match else text


def answer_place(answer: Any, options: Sequence[str]) -> int:
    """Return which option is the answer: its text, its number from 0, or its letter. ProblemError: none of them."""
    if isinstance(answer, str):
        same = [place for place, option in enumerate(options) if answer.strip() in (option, option.strip())]
        same = same or [place for place, option in enumerate(options) if strip_letter(answer) == option.strip()]
        if len(same) == 1:
            return same[0]
        match = LETTER.match(answer)
        if match and ord(match.group(1)) - ord("A") < len(options):
            return ord(match.group(1)) - ord("A")
    digits = str(answer).strip()
    if not isinstance(answer, bool) and re.fullmatch(r"[0-9]{1,3}(\.0)?", digits) and int(float(digits)) < len(options):
        return int(float(digits))
    last = chr(ord("A") + len(options) - 1)
    fix = f"give the text of an option, its letter (A to {last}) or its number (0 to {len(options) - 1})"
    raise ProblemError("answer", "is missing" if answer is None else f"is {quoted(str(answer))}", fix)


def flattened(value: Any, key: str | None) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Yield (fields, defaults) of the records of a member, also if they are in lists inside it.

    `{"video7": {"direction": [{…}, {…}]}}` has the video and the subtest as keys.
    """
    if isinstance(value, Mapping) and value and all(_is_records(inner) for inner in value.values()):
        for subtest, inner in value.items():
            for fields in inner:
                yield dict(fields), {"video": key or "", "subtest": str(subtest)[:MAX_LABEL]}
    elif _is_records(value):
        for fields in value:
            yield dict(fields), {"subtest": key or ""}
    elif isinstance(value, Mapping) and len(lists := [name for name in value if _is_records(value[name])]) == 1:
        beside = {name: inner for name, inner in value.items() if name != lists[0]}
        for fields in value[lists[0]]:
            yield {**beside, **fields}, {}
    elif isinstance(value, Mapping):
        yield dict(value), {"id": key or ""}
    else:
        raise ProblemError("record", "is not an object", "give an object with named fields")


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(inner, Mapping) for inner in value)


def _text(name: str, value: Any) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise ProblemError(name, "is missing or is not text", "give a non-empty text")
    if len(value) > MAX_TEXT:
        raise ProblemError(name, f"has {len(value)} characters, more than {MAX_TEXT}", "shorten it")
    return value


def _texts(name: str, value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [_text(f"{name}[{place}]", one) for place, one in enumerate(values)]


def _label(value: Any) -> str:
    """Return a short text; a list of ids is joined, anything else is its JSON-like form."""
    if value is None:
        return ""
    joined = "+".join(map(str, value)) if isinstance(value, list) else str(value)
    return joined.strip()[:MAX_LABEL]


def _without_texts(values: Mapping[str, Any]) -> ProblemError:
    shown = ", ".join(list(map(str, values))[:12]) or "none"
    return ProblemError(
        "record",
        f"has no caption with foils and no options with an answer (its fields: {shown[:MAX_LABEL]})",
        "rename the columns to caption and foil, or to question, options and answer; the command can also map them, "
        "such as --column right=true_caption,wrongs=false_caption",
    )
