"""Guess which column of a table is what, by the names of the columns and by the first rows. Pure.

A guess fills a form that a person checks, so a doubtful column is left out rather than mapped.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.import_formats.parsing.row_values import (
    KEY,
    PLACE,
    VALUE,
    Row,
    as_number,
    as_seconds,
    exploded,
    nested,
    value_at,
)
from foilworks.core.corpus.import_formats.parsing.splits import named_split

_NAMES: dict[str, tuple[str, ...]] = {
    "caption": (
        "caption", "sentence", "description", "text", "narration", "statement", "captions", "sentences",
        "descriptions", "en_cap", "desc", "title", "query", "annotation", "prompt", "transcript", "script",
        "label", "name",
    ),
    "video": (
        "video", "video_path", "videopath", "video_file", "video_filename", "file", "filename", "file_name", "path",
        "clip_path", "clip", "clip_name", "media", "media_path", "vid", "video_name", "image", "image_path",
        "file_path", "filepath", "videos", "clips",
    ),
    "source_id": (
        "video_id", "videoid", "vid_id", "vid", "youtube_id", "yt_id", "video_uid", "video_name", "video", "clip_id",
        "clip_name", "clip", "id",
    ),
    "id": (
        "id", "uid", "question_id", "item_id", "sample_id", "annotation_id", "narration_id", "sen_id", "entry_id",
        "sentence_id", "key", "index", "qid", "uuid",
    ),
    "start_time": (
        "start", "start_time", "time_start", "start_sec", "start_second", "start_seconds", "start_timestamp", "begin",
        "begin_time", "t_start", "onset", "segment_0", "timestamp_0", "timestamps_0", "start_frame", "starttime",
        "start_s", "begin_s", "begin_sec",
    ),
    "end_time": (
        "end", "end_time", "time_end", "end_sec", "end_second", "end_seconds", "end_timestamp", "stop_timestamp",
        "stop", "stop_time", "t_end", "offset", "segment_1", "timestamp_1", "timestamps_1", "end_frame", "stop_frame",
        "endtime", "end_s", "finish", "finish_s", "finish_time", "stop_s", "stop_sec",
    ),
    "split": ("split", "subset", "partition", "set", "fold", "phase", "usage"),
    "class_label": (
        "class_label", "class", "label", "action", "class_name", "activity", "recipe_type", "label_name", "classname",
        "labels", "class_text", "action_label", "action_class", "target",
    ),
    "category": ("category", "genre", "topic", "scene", "type"),
    "movie": ("movie", "movie_id", "film"),
    "answer": ("answer", "answer_idx", "answer_id", "correct", "correct_answer", "correct_idx", "gt_answer", "gt",
               "ground_truth", "target", "label"),
    "subtest": ("subtest", "subtask"),
    "url": ("url", "video_url", "content_url", "link"),
}  # fmt: skip
_FOILS = re.compile(
    r"(hard_)?(foil|negative|neg|distractor|counterfactual|wrong|incorrect)(_?caption|_?text|_?sentence)?s?_?\d*"
)
_CANDIDATES = re.compile(r"(a|s|o|ending|option|choice|candidate|answer)_?([0-9]+|[a-e])")
_CANDIDATE_LISTS = ("choices", "options", "candidates", "answers", "choices_choice", "multi_choice")
_EXPLODED = ("annotation", "annotations", "segments", "captions", "sentences", "events", "clips", "en_cap", "steps",
             "descriptions", "questions")  # fmt: skip
_VIDEO_FILE = re.compile(r"[^\s<>]+\.(mp4|webm|mov|mkv|avi|3gp|gif|m4v|jpg|jpeg|png)", re.IGNORECASE)
_TOKEN = re.compile(r"[^\s]{1,80}")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+")
# Names of captions that are more often those of a class, or of something else.
_WEAK = frozenset({"label", "name", "title", "query", "annotation", "prompt", "transcript"})
_FIELDS = (
    "video", "url", "start_time", "end_time", "caption", "id", "source_id", "split", "class_label", "category",
    "movie", "subtest",
)  # fmt: skip
# Candidates of so many words are sentences, not answers to a question.
_SENTENCE_WORDS = 6
# The longest templates of Something-Something v2 have 12.
_CLASS_WORDS = 12
# Share of the values that must look like the field.
_MOST = 0.8
_MAX_COLUMNS = 400


@dataclass(frozen=True)
class Profile:
    """What the values of a column look like: shares of those that are there; `words` is a mean."""

    name: str
    filled: float
    numbers: float
    times: float
    files: float
    tokens: float
    urls: float
    lists: float
    words: float
    # Cells of several sentences with semicolons between them.
    several: float
    distinct: float
    values: tuple[Any, ...]


def columns_in(rows: Sequence[Row], depth: int = 3) -> list[str]:
    """Names of all columns, and of values inside them: `segment.0`, `info.title`, `choices.*.choice`."""
    names: dict[str, None] = {}
    for row in rows:
        for name, value in row.items():
            _add_names(name, value, depth, names)
            if PLACE in row and _is_pairs(nested(value)):
                names |= {f"{name}.{PLACE}.0": None, f"{name}.{PLACE}.1": None}
    return list(names)[:_MAX_COLUMNS]


def text_columns(rows: Sequence[Row]) -> list[str]:
    """Names of the columns that hold texts or lists of texts."""
    return [name for name in columns_in(rows) if any(map(_is_text, (value_at(row, name) for row in rows)))]


def _is_text(value: Any) -> bool:
    value = nested(value)
    if isinstance(value, list):
        return bool(value) and all(isinstance(entry, str) for entry in value)
    return isinstance(value, str) and bool(value) and as_number(value) is None


def _is_pairs(value: Any) -> bool:
    """Whether a list may hold the times of the entries of another one."""
    return isinstance(value, list) and bool(value) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)


def _add_names(name: str, value: Any, depth: int, names: dict[str, None]) -> None:
    names.setdefault(name)
    value = nested(value)
    if depth == 0:
        return
    if isinstance(value, Mapping):
        for key, inner in list(value.items())[:20]:
            _add_names(f"{name}.{key}", inner, depth - 1, names)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for key in value[0]:
            names.setdefault(f"{name}.*.{key}")
    elif isinstance(value, list) and 0 < len(value) <= 4:
        for index, inner in enumerate(value):
            if not isinstance(inner, str | list | Mapping):
                names.setdefault(f"{name}.{index}")


def guess(rows: Iterable[Row], explode: str | None = None) -> dict[str, Any]:
    """A recipe's document: `columns`, `explode` if one column has a list of records, `first_answer`.

    `explode`: the column of lists that a person chose, "" for none.
    """
    rows = list(rows)
    explode = _list_column(rows) if explode is None else explode
    if explode:
        rows = [entry_row for row in rows for entry_row in exploded(row, explode)]
    profiles = {name: _profile(name, rows) for name in columns_in(rows) if name != PLACE}
    columns: dict[str, Any] = {}
    document = {"columns": columns, **({"explode": explode} if explode else {})}
    used_columns: set[str] = set()
    document |= _choice(profiles, columns, used_columns)
    for field in _FIELDS:
        if not ((field == "caption" and "candidates" in columns) or (field == "source_id" and "video" in columns)):
            _assign_best(field, profiles, columns, used_columns, explode)
    _name_the_clip(columns)
    if "caption" in columns:
        foils = [name for name, profile in profiles.items() if name not in used_columns and _is_foil(name, profile)]
        columns |= {"foils": foils} if foils else {}
    return document


def _assign_best(
    field: str, profiles: Mapping[str, Profile], columns: dict[str, Any], used_columns: set[str], explode: str
) -> None:
    """Of a list's entries, times and texts come from the entry, names of clips from around it, and no id is unique."""
    if explode and field == "id":
        return
    inside = {name for name in profiles if explode and (name == explode or name.startswith(f"{explode}."))}
    preferred = profiles.keys() - inside if field in {"source_id", "video", "url"} else inside
    name = _best(field, {name: profiles[name] for name in profiles if name in preferred}, used_columns)
    if not name and field != "source_id":
        name = _best(field, profiles, used_columns)
    if name:
        used_columns.add(name)
        columns[field] = f"{{{name}:name}}" if field == "video" and _is_absolute(profiles[name]) else name


def _name_the_clip(columns: dict[str, Any]) -> None:
    """Without any other name of the clip, the id of the row is the one."""
    if "id" in columns and not {"video", "url", "source_id"} & columns.keys():
        columns["source_id"] = columns.pop("id")


def _list_column(rows: Sequence[Row]) -> str:
    """A column of lists of objects or sentences, each of which becomes a record."""
    for name in {name: None for row in rows for name in row}:
        if name != VALUE and _plain(name) not in _EXPLODED:
            continue
        lists = [nested(row.get(name)) for row in rows]
        full = [entries for entries in lists if isinstance(entries, list) and entries]
        if full and all(isinstance(entry, Mapping | str) for entries in full for entry in entries[:5]):
            return name
    return ""


def _choice(profiles: Mapping[str, Profile], columns: dict[str, Any], used_columns: set[str]) -> dict[str, Any]:
    """Columns of a multiple-choice question: candidates and the right one."""
    numbered_columns = [
        name for name, profile in profiles.items() if _CANDIDATES.fullmatch(_plain(name)) and profile.numbers < 1
    ]
    lists = [name for name, profile in profiles.items() if _is_candidate_list(name, profile)]
    candidates = numbered_columns if len(numbered_columns) > 1 else lists[-1:]
    answer = _best("answer", profiles, set(candidates))
    if not candidates or not answer:
        return {}
    columns |= {"candidates": candidates, "answer": answer}
    used_columns |= {*candidates, answer}
    if "question" in profiles and max(_mean_words(profiles[name]) for name in candidates) < _SENTENCE_WORDS:
        columns["candidate"] = "{question} {candidate}"
        used_columns.add("question")
    numbers = [as_number(value) for value in profiles[answer].values]
    valid_numbers = [number for number in numbers if number is not None]
    is_from_1 = (
        len(valid_numbers) == len(numbers)
        and bool(valid_numbers)
        and min(valid_numbers) == 1
        and max(valid_numbers) == len(candidates)
    )
    return {"first_answer": 1} if is_from_1 and len(candidates) > 1 else {}


def _mean_words(profile: Profile) -> float:
    values = map(nested, profile.values)
    texts = [str(text) for value in values for text in (value if isinstance(value, list) else [value])]
    return sum(len(text.split()) for text in texts) / max(1, len(texts))


def _is_candidate_list(name: str, profile: Profile) -> bool:
    return (
        _plain(name) in _CANDIDATE_LISTS
        and profile.lists >= _MOST
        and not any(isinstance(entry, Mapping | list) for value in profile.values for entry in nested(value))
    )


def _is_foil(name: str, profile: Profile) -> bool:
    return bool(_FOILS.fullmatch(_plain(name))) and (profile.words >= 2 or profile.lists >= _MOST)


def _best(field: str, profiles: Mapping[str, Profile], used_columns: set[str]) -> str:
    scores = {name: _score(field, profile) for name, profile in profiles.items() if name not in used_columns}
    best = max(scores, key=lambda name: scores[name], default="")
    return best if best and scores[best] > 0 else ""


def _score(field: str, profile: Profile) -> float:
    """0 for a column that cannot be the field; else more for a better name."""
    if profile.filled == 0 or not _fits(field, profile):
        return 0
    names, steps = _NAMES[field], [step for step in profile.name.split(".") if step != PLACE]
    if field == "source_id" and profile.name == KEY:
        return 2.5
    for plain_name, weight in (
        (_plain(profile.name), 1.0),
        (_plain(steps[-1]), 0.9),
        (_plain(".".join(steps[-2:])), 0.9),
    ):
        if plain_name in names and not (field == "caption" and plain_name in _WEAK and profile.words < 3):
            return weight * (2 - names.index(plain_name) / len(names))
    return _by_content(field, profile)


def guess_videos(rows: Sequence[Row], *, has_texts: bool = False) -> dict[str, str]:
    """Columns of a list of videos without captions, by field; {} if no column names the clip and its class, or if a
    column holds captions or candidates, unless the list may have them (`has_texts`).

    The name of a column decides on its class, because a class may be as long as a caption.
    """
    profiles = {name: _profile(name, rows) for name in columns_in(rows) if name != PLACE}
    columns: dict[str, str] = {}
    used_columns: set[str] = set()
    if not has_texts and (any(map(_is_sentence, profiles.values())) or _choice(profiles, {}, set())):
        return {}
    if video := _best("video", profiles, used_columns):
        used_columns.add(video)
        columns["video"] = video
    for field in ("class_label", "url", "start_time", "end_time", "split"):
        matching_profiles = {name: profile for name, profile in profiles.items() if _is_named(field, profile)}
        _assign_best(field, matching_profiles, columns, used_columns, "")
    if not {"video", "url"} & columns.keys():
        matching_profiles = {name: profile for name, profile in profiles.items() if _is_named("video", profile)}
        name = next((name for name in matching_profiles if name not in used_columns), "") or _best(
            "source_id", profiles, used_columns
        )
        columns |= {"source_id": name} if name else {}
    if "class_label" not in columns and (name := _best("category", profiles, used_columns)):
        columns["class_label"] = name
    return columns if "class_label" in columns and {"video", "url", "source_id"} & columns.keys() else {}


def _is_sentence(profile: Profile) -> bool:
    is_class = _plain(profile.name) in _NAMES["class_label"]
    return (not is_class and _score("caption", profile) > 0) or _is_foil(profile.name, profile)


def _is_named(field: str, profile: Profile) -> bool:
    steps = [step for step in profile.name.split(".") if step != PLACE]
    is_split = field != "split" or all(named_split(str(value)) for value in profile.values)
    return is_split and _plain(steps[-1]) in _NAMES[field]


def _by_content(field: str, profile: Profile) -> float:
    if field == "video" and profile.files >= _MOST:
        return 0.5
    if field == "caption" and profile.words >= 4 and profile.distinct > 0.3:
        return 0.2 + min(profile.words, 20) / 100
    return 0


def _fits(field: str, profile: Profile) -> bool:
    match field:
        case "caption":
            is_text = profile.words >= 1.5 and profile.several < 0.2
            return is_text and profile.numbers < 0.2 and profile.files < 0.2 and profile.lists < 0.2
        case "video":
            return profile.files >= _MOST and profile.urls < 0.2
        case "url":
            return profile.files >= _MOST and profile.urls >= _MOST
        case "start_time" | "end_time":
            return profile.times >= _MOST
        case "source_id":
            return profile.tokens >= _MOST and profile.urls < 0.2 and profile.lists < 0.2
        case "id":
            return profile.tokens >= _MOST and profile.distinct == 1 and profile.lists < 0.2
        case "split":
            return profile.tokens >= _MOST and profile.numbers < 0.2
        case "class_label":
            return profile.lists < 0.2 and profile.words <= _CLASS_WORDS
        case "category" | "movie" | "subtest":
            return profile.lists < 0.2 and profile.words <= 6
    return profile.lists < 0.2


def _profile(name: str, rows: Sequence[Row]) -> Profile:
    cells = [value_at(row, name) for row in rows]
    values = [value for value in cells if value is not None and value != ""]
    texts = [value for value in values if isinstance(value, str)]
    n = max(1, len(values))
    return Profile(
        name=name,
        filled=len(values) / max(1, len(cells)),
        numbers=sum(as_number(value) is not None for value in values) / n,
        times=sum(map(_is_time, values)) / n,
        files=sum(bool(_VIDEO_FILE.fullmatch(text)) for text in texts) / n,
        tokens=sum(bool(_TOKEN.fullmatch(str(value))) for value in values) / n,
        urls=sum(text.startswith(("http://", "https://")) for text in texts) / n,
        lists=sum(isinstance(nested(value), list | dict) for value in values) / n,
        words=sum(len(text.split()) for text in texts) / n,
        several=sum(bool(re.search(r"\w\.?;\w", text)) for text in texts) / n,
        distinct=len(set(map(str, values))) / n,
        values=tuple(values),
    )


def _is_time(value: Any) -> bool:
    try:
        return as_number(as_seconds("time", value)) is not None
    except ProblemError:
        return False


def _is_absolute(profile: Profile) -> bool:
    return any(str(value).startswith("/") or ".." in str(value) or "\\" in str(value) for value in profile.values)


def _plain(name: str) -> str:
    """A name in lower case with underscores: `VideoID` and `video id` are `video_id`."""
    if name == KEY:
        return "key"
    return "_".join(_WORDS.findall(name)).lower()
