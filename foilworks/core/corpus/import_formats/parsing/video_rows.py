"""Read lists of videos with a class and a split, without captions.

A table (CSV, TSV, JSON lines, JSON, Parquet) has columns of the usual names: `path, label, split`. A list has no
header: `PATH CLASS`, `PATH FRAMES CLASS` or `PATH,CLASS,SPLIT` per line. A class that is only a number gets its name
from the parameter `classes`, or from the folder of its videos.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.any_rows import kind_of, lists_of, rows_of
from foilworks.core.corpus.import_formats.parsing.class_names import class_names, is_number
from foilworks.core.corpus.import_formats.parsing.clip_fields import clip_of
from foilworks.core.corpus.import_formats.parsing.column_names import NAMES, is_negative, plain_name
from foilworks.core.corpus.import_formats.parsing.column_profiles import Profile, profiles_of
from foilworks.core.corpus.import_formats.parsing.column_roles import roles_of
from foilworks.core.corpus.import_formats.parsing.column_scores import MOST, best_column, score_of
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_content
from foilworks.core.corpus.import_formats.parsing.parquet_rows import TableLimits
from foilworks.core.corpus.import_formats.parsing.records import RawRecord, given_dataset, read_records, video_alone
from foilworks.core.corpus.import_formats.parsing.row_values import as_seconds, as_text, column_of, value_at
from foilworks.core.corpus.import_formats.parsing.splits import named_split, split_of
from foilworks.core.corpus.import_formats.parsing.templates import columns_of, fill, parse_source
from foilworks.core.corpus.import_formats.parsing.text_lines import lines
from foilworks.core.corpus.records import ItemRecord, ReadOutcome, RecordWarning, TakenColumns
from foilworks.core.text.quoting import quoted

# A list of HMDB51 is one of a class and a division: 1 is for training, 2 for testing, and 0 is in neither.
_HMDB51 = re.compile(r"(?P<label>.+)_test_split[1-3]")
_HMDB51_SPLITS = {"1": "train", "2": "test"}
# Rows that say what the columns are.
FIRST = 50
KINETICS_COLUMNS = frozenset({"youtube_id", "time_start", "time_end"})
_FILE = re.compile(
    r"(?P<video>.*?[^\s,;]\.(?:mp4|webm|mov|mkv|avi|3gp|m4v|mpg|mpeg|wmv|flv|gif))\"?(?:\s*[\s,;]\s*(?P<rest>.*))?",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?P<video>[^\s,;]+)\s*[\s,;]\s*(?P<rest>.*)")
_CELLS = re.compile(r"[,;\t]")
NUMBERS = (
    "is only a number, and texts are compared with the names of classes; write the names in the list, or give --set "
    "classes=FILE"
)
_LINE_COLUMNS = {"video": "video", "class_label": "class", "split": "split"}
# What a person reads of a list without a header.
_IN_LINES = {"video": "start of the line", "class_label": "end of the line", "split": "a cell of the line"}


@dataclass(frozen=True)
class _Facts:
    """What the whole list tells: the folder that all files share, whether their names without folders are unique, and
    the names of numbered classes.
    """

    root: str = ""
    unique: bool = False
    numbers: int = 0
    classes: Mapping[str, str] | None = None
    by_folder: bool = False
    splits: bool = False


def lists_videos(path: Path, limits: TableLimits | None = None) -> bool:
    """Whether the file is a list of videos with classes. CorpusError: it is a list of Kinetics, which has a format of
    its own.
    """
    try:
        if is_line_list(path):
            return True
        rows = _first_rows(path, limits)
    except CorpusError:
        # The reader of the format has the better message.
        return False
    return bool(_columns_of_videos([raw.value for raw in rows if not raw.problem]))


def is_line_list(path: Path, *, allows_ids: bool = False) -> bool:
    """Whether the first line is the name of a video file, with or without a class.

    `allows_ids`: also a folder of frames or an id, if a cell of the line is a number: no column has such a name.
    """
    if kind_of(path) != "csv":
        return False
    text = next(lines(path), (0, ""))[1] or ""
    return looks_like_line(text) or (allows_ids and any(map(is_number, re.split(r"[\s,;]+", text))))


def looks_like_line(text: str) -> bool:
    """Whether a line starts with the name of a video file, as the lines of a list without a header do."""
    if text.lstrip()[:1] in {"{", "["}:
        return False
    match = _FILE.fullmatch(text.strip().lstrip('"'))
    return match is not None and not _CELLS.search(match["video"])


def read_videos(path: Path, params: Mapping[str, Any], limits: TableLimits | None = None) -> Iterator[ReadOutcome]:
    """Read the videos, after the columns that were taken. CorpusError: no list, or nothing in it names a clip."""
    columns, unused, rows = _open_list(path, limits or TableLimits())
    # Read twice: the folders of all videos may name the classes.
    facts = _survey_rows(columns, rows(), class_names(params.get("classes") or ""))
    dataset, split = given_dataset(params), split_of(path, params)
    described_columns = (
        {name: _IN_LINES[name] for name in columns} if columns.items() <= _LINE_COLUMNS.items() else columns
    )
    yield TakenColumns(
        {**described_columns, **({"class_label": "name of the folder"} if facts.by_folder else {})}, unused
    )
    for name, remark in _remarks(columns, facts, split):
        yield RecordWarning(f"{path}:1", name, remark)
    yield from read_records(path, rows(), lambda raw: _record(columns, raw, facts, dataset, split))


def _open_list(path: Path, limits: TableLimits) -> tuple[dict[str, str], tuple[str, ...], Any]:
    """Return the columns, those that are not used, and a function that reads the rows."""
    if _HMDB51.fullmatch(path.stem) and is_line_list(path):
        return dict(_LINE_COLUMNS), (), partial(_hmdb51_lines, path)
    if is_line_list(path, allows_ids=True):
        first = next(_lines(path))
        cells = first.value or dict.fromkeys(_LINE_COLUMNS.values(), True)
        return {name: column for name, column in _LINE_COLUMNS.items() if cells.get(column)}, (), partial(_lines, path)
    rows = [raw.value for raw in _first_rows(path, limits) if not raw.problem]
    names = {name: None for row in rows for name in row}
    columns = _columns_of_videos(rows, has_texts=True)
    if names.keys() >= KINETICS_COLUMNS:
        raise CorpusError(f"{path}:1: header: these are the columns of Kinetics; choose the format kinetics")
    if not columns:
        column_list = ", ".join(list(names)[:12]) or "none"
        fix = "name them path, class and split in the first line, or choose Any table (table)"
        raise CorpusError(
            f"{path}:1: header: no column names a video and its class (its columns: {column_list}); {fix}"
        )
    used = {column_of(name, names) for source in columns.values() for name in columns_of(parse_source(source))}
    records = next(iter(lists_of(path)), "")
    unused = tuple(name for name in names if name not in used and not name.startswith("@"))
    return columns, unused, partial(rows_of, path, limits, records=records)


def _first_rows(path: Path, limits: TableLimits | None) -> list[RawRecord]:
    records = next(iter(lists_of(path)), "")
    return list(islice(rows_of(path, limits or TableLimits(), records=records), FIRST))


def _lines(path: Path) -> Iterator[RawRecord]:
    for number, text in lines(path):
        match = _FILE.fullmatch((text or "").strip().lstrip('"')) or _NAME.fullmatch((text or "").strip())
        if match is None:
            yield RawRecord(
                None, None, number, f"{quoted(text)} is not a video with its class; write PATH CLASS", "line"
            )
            continue
        cells = [cell.strip('" ') for cell in _CELLS.split(match["rest"] or "") if cell.strip('" ')]
        # A class may have the name of a split, so the last cell is taken first.
        split = next((cell for cell in reversed(cells) if len(cells) > 1 and named_split(cell)), "")
        cells = [cell for cell in cells if cell != split]
        cells_or_words = cells[0].split() if len(cells) == 1 else cells
        if len(cells_or_words) > 1 and all(map(is_number, cells_or_words)):
            # The number of frames comes first.
            cells = cells_or_words[-1:] if len(cells_or_words) == 2 else cells_or_words
        if len(cells) > 1:
            problem = f"has {len(cells)} cells behind the video, of which none is the split; write PATH,CLASS,SPLIT"
            yield RawRecord(None, None, number, problem, "line")
            continue
        yield RawRecord(None, {"video": match["video"], "class": cells[0] if cells else None, "split": split}, number)


def _hmdb51_lines(path: Path) -> Iterator[RawRecord]:
    """Yield the lines of HMDB51: the class is in the name of the file, and the number is the split."""
    label = path.stem.rpartition("_test_split")[0].replace("_", " ")
    for raw in _lines(path):
        number = "" if raw.problem else raw.value["class"]
        if number in _HMDB51_SPLITS:
            yield raw._replace(value={**raw.value, "class": label, "split": _HMDB51_SPLITS[number]})
        elif raw.problem or number != "0":
            yield raw._replace(value=None, problem="has no 0, 1 or 2 at its end, the split; correct it", field="line")


def _survey_rows(
    columns: Mapping[str, str], rows: Iterator[RawRecord], class_names_by_number: Mapping[str, str] | None
) -> _Facts:
    names: set[int] = set()
    folders: dict[str, set[str]] = {}
    n, numbers, unique, splits = 0, 0, True, False
    root: list[str] | None = None
    for raw in rows:
        if raw.problem:
            continue
        file, label, split = (_text(columns, name, raw.value) for name in ("video", "class_label", "split"))
        n += 1
        splits = splits or bool(split)
        parents = _plain_path(file).split("/")[:-1]
        root = parents if root is None else _shared_folders(root, parents)
        base = hash(_plain_path(file).rpartition("/")[2])
        unique = unique and bool(file) and base not in names
        names.add(base)
        if is_number(label):
            numbers += 1
            folders.setdefault(label, set()).add(parents[-1] if parents else "")
    shared = "".join(f"{folder}/" for folder in root or ())
    if class_names_by_number is not None:
        return _Facts(shared, unique, numbers, class_names_by_number, splits=splits)
    by_folder = {label: next(iter(parent_names)) for label, parent_names in folders.items() if len(parent_names) == 1}
    is_named = numbers == n and len(set(by_folder.values()) - {""}) == len(folders) > 1
    return _Facts(shared, unique, numbers, by_folder if is_named else None, is_named, splits)


def _shared_folders(path: list[str], other_path: list[str]) -> list[str]:
    return [folder for folder, _ in takewhile(lambda pair: pair[0] == pair[1], zip(path, other_path, strict=False))]


def _remarks(columns: Mapping[str, str], facts: _Facts, split: str) -> Iterator[tuple[str, str]]:
    if facts.numbers and facts.classes is None:
        yield "class_label", NUMBERS
    if "class_label" not in columns:
        yield "class_label", "no column names it; bias in classification needs a class per video"
    if not facts.splits and not split:
        yield "split", "no column names it, so no video is for training; add a column, or give --set split=train"


def _record(columns: Mapping[str, str], raw: RawRecord, facts: _Facts, dataset: str, split: str) -> ItemRecord:
    values: dict[str, Any] = {name: _text(columns, name, raw.value) or None for name in columns}
    for name in ("start_time", "end_time"):
        values[name] = as_seconds(name, values.get(name))
    if (split_name := values.get("split")) is not None:
        values["split"] = named_split(split_name)
        if not values["split"]:
            raise ProblemError("split", f"is {quoted(split_name)}", "give train, val or test")
    values["split"] = values.get("split") or split
    label = values.get("class_label")
    if label is not None and facts.classes is not None and is_number(label):
        values["class_label"] = facts.classes.get(label if facts.by_folder else str(int(label)))
        if values["class_label"] is None:
            raise ProblemError("class_label", f"is {label}, which has no name", "add it to the file of class names")
    check_content(values)
    if file := values.get("video"):
        file = _plain_path(file)
        # An address on the author's own machine: what all files share is not part of their names.
        is_absolute = file.startswith("/")
        values["video"] = file.removeprefix(facts.root) if is_absolute else file
        if "/" in file:
            # Files that lie in one folder, or in the folders below the shared one, are found, too.
            source_id = file.rpartition("/")[2] if facts.unique else file.removeprefix(facts.root)
            values["source_id"] = source_id if source_id != values["video"] else None
    clip = clip_of(Fields({**values, "source_dataset": dataset}))
    return video_alone(clip, split=clip.split, class_label=clip.class_label, line=raw.line)


def _plain_path(file: str) -> str:
    """Return a path with slashes, without a drive and without `./` at its start."""
    return re.sub(r"^([A-Za-z]:)?(\./)*", "", file.replace("\\", "/"))


def _text(columns: Mapping[str, str], name: str, row: Mapping[str, Any]) -> str:
    if name not in columns:
        return ""
    value = fill(parse_source(columns[name]), partial(value_at, row))
    return "" if value is None else as_text(name, value).strip()


def _columns_of_videos(rows: Sequence[Mapping[str, Any]], *, has_texts: bool = False) -> dict[str, str]:
    """Columns of a list of videos without captions, by field; {} if no column names the clip and its class, or if a
    column holds captions or candidates, unless the list may have them (`has_texts`).

    The name of a column decides on its class, because a class may be as long as a caption.
    """
    free = profiles_of(rows)
    if not has_texts and (any(map(_is_sentence, free.values())) or "candidates" in roles_of(rows)):
        return {}
    columns: dict[str, str] = {}
    for role in ("video", "class_label", "url", "start_time", "end_time", "split"):
        suitable = {name: profile for name, profile in free.items() if role == "video" or _is_named(role, profile)}
        if name := best_column(role, suitable):
            columns[role] = name
            del free[name]
    if not {"video", "url"} & columns.keys():
        named_columns = [name for name, profile in free.items() if _is_named("video", profile)]
        name = next(iter(named_columns), "") or best_column("source_id", free)
        columns |= {"source_id": name} if name else {}
    if "class_label" not in columns and (name := best_column("category", free)):
        columns["class_label"] = name
    return columns if "class_label" in columns and {"video", "url", "source_id"} & columns.keys() else {}


def _is_sentence(profile: Profile) -> bool:
    is_class = plain_name(profile.name) in NAMES["class_label"]
    is_false_text = is_negative(profile.name) and (profile.words >= 2 or profile.lists >= MOST)
    return (not is_class and score_of("caption", profile) > 0) or is_false_text


def _is_named(role: str, profile: Profile) -> bool:
    is_split = role != "split" or profile.splits == 1
    return is_split and plain_name(profile.name.rpartition(".")[2]) in NAMES[role]
