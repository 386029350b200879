"""`vilma`: the JSON files of ViLMA and VALSE, an object of records by id (or a list of them), one file a subtest.

Both spellings of foils, votes of the main pair (`mturk`) and of the proficiency pair (`human`), null fields, trims in
seconds or in what the files call pts: numbers of frames, by which ViLMA's loader cuts (`video[start:end]`). Fields that
nothing here names are kept and returned on export. Ids get the subtest before them, because files number their
records alike. A record without a foil is bad: the format is for finished items.

What the format has no field for is in a `foilworks` object that our exporter adds where it must.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    clip_key,
    default_subtest,
    read_records,
)
from foilworks.core.corpus.records import (
    MAX_DATASET,
    MAX_ID,
    MAX_LABEL,
    SPLITS,
    ItemRecord,
    PairRecord,
    ReadOutcome,
    RecordWarning,
    VideoRecord,
    VoteCounts,
)
from foilworks.core.text.quoting import quoted

OWN_FIELD = "foilworks"
VOTE_FIELDS = ("mturk", "human", "votes")
# Where the video comes from stays among the extra fields too, spelled as in the file, so that nothing is lost.
_TAKEN = frozenset({"caption", "foil", "foils", "start_time", "end_time", "time_unit", "subtest", "test", OWN_FIELD})
_PAIR_TAKEN = frozenset({"caption", "foil", "foils"})
_SPLITS = {"train": "train", "training": "train", "val": "val", "validation": "val", "dev": "val", "test": "test"}


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The records of a ViLMA or VALSE file. CorpusError, with the line, when it is not whole JSON."""
    subtest = default_subtest(path, params)
    raw = [RawRecord(*member) for member in members(path, read_text(path))]
    for outcome in read_records(path, raw, lambda record: parse(record, subtest)):
        if isinstance(outcome, ItemRecord) and "proficiency" in outcome.extra:
            location = f"{path}:{outcome.line}"
            yield RecordWarning(location, "proficiency", "has no caption with a foil: kept, not used as a check")
        yield outcome


def parse(raw: RawRecord, subtest: str) -> ItemRecord:
    """One record; ProblemError when it is bad."""
    fields = Fields(raw.value)
    subtest = fields.label("subtest", MAX_LABEL) or subtest
    foils = fields.foils()
    if not foils:
        is_sugarcrepe = fields.get("negative_caption") is not None
        fix = "choose the format sugarcrepe" if is_sugarcrepe else "give at least one foil"
        raise ProblemError("foils", "is missing", fix)
    proficiency = _proficiency(fields)
    votes, vote_field = _votes(fields)
    source = _from_file if fields.get(OWN_FIELD) is None else _from_own_fields
    used_fields = (
        _TAKEN | {vote_field} | ({"proficiency"} if proficiency or fields.get("proficiency") is None else set())
    )
    id_, test, video, extra, facts, pair_extra, pair = source(raw, fields, subtest, used_fields)
    if proficiency and pair_extra is not None:
        proficiency = replace(proficiency, extra=pair_extra)
    return ItemRecord(
        id=id_,
        subtest=subtest,
        test=test,
        video=video,
        caption=fields.sentence("caption"),
        foils=foils,
        proficiency=proficiency,
        votes=votes,
        extra=extra,
        facts=facts,
        pair=pair,
        line=raw.line,
    )


class _Rest(NamedTuple):
    """What the format spells in its own way; `pair_extra` None leaves the proficiency pair as it was read."""

    id: str
    test: str
    video: VideoRecord
    extra: Mapping[str, Any]
    facts: Mapping[str, Any]
    pair_extra: Mapping[str, Any] | None
    pair: str = ""


def _from_file(raw: RawRecord, fields: Fields, subtest: str, used_fields: frozenset[str]) -> _Rest:
    extra = fields.without(used_fields)
    return _Rest(
        id=checked_id("id", f"{subtest}:{_own_id(raw, fields)}"),
        test=fields.label("test", MAX_LABEL) or fields.label("linguistic_phenomena", MAX_LABEL),
        video=_video(fields),
        extra=extra,
        facts=_facts(extra),
        pair_extra=None,
    )


def _from_own_fields(raw: RawRecord, fields: Fields, subtest: str, used_fields: frozenset[str]) -> _Rest:
    """As our exporter wrote it, where the format alone could not say it."""
    own_fields = Fields(fields.get(OWN_FIELD), OWN_FIELD)
    return _Rest(
        id=checked_id(own_fields.name("id"), own_fields.label("id", MAX_ID)),
        test=own_fields.label("test", MAX_LABEL),
        video=_own_video(Fields(own_fields.mapping("video"), f"{OWN_FIELD}.video")),
        extra=own_fields.mapping("extra"),
        facts=own_fields.mapping("facts"),
        pair_extra=own_fields.mapping("proficiency_extra"),
        pair=own_fields.label("pair", MAX_ID),
    )


def _own_id(raw: RawRecord, fields: Fields) -> str:
    """The record's name in its file: its key in the object; in a list the field `id`, else its line."""
    if raw.key is not None:
        return checked_id("id", raw.key)
    return fields.label("id", MAX_ID) or f"line-{raw.line}"


def _votes(fields: Fields) -> tuple[VoteCounts | None, str]:
    """The counts and the field that they are taken from; other vote fields stay among the extra ones.

    Counts that are all zero are votes of nobody, which no table holds: their field stays too, to be given back.
    """
    for name in VOTE_FIELDS:
        if fields.get(name) is not None:
            votes = fields.votes(name)
            return votes, name if votes is not None and votes.total else ""
    return None, ""


def _proficiency(fields: Fields) -> PairRecord | None:
    value = fields.get("proficiency")
    if not isinstance(value, dict):
        return None
    inner = Fields(value, "proficiency")
    if inner.get("caption") is None or not inner.foils():
        return None
    votes, vote_field = _votes(inner)
    return PairRecord(inner.sentence("caption"), inner.foils(), votes, inner.without(_PAIR_TAKEN | {vote_field}))


def _video(fields: Fields) -> VideoRecord:
    start, end, unit = fields.trim()
    unit = "frames" if unit == "pts" else unit
    dataset = fields.label("dataset", MAX_DATASET)
    file = fields.media_name("video_file") or fields.media_name("youtube_id")
    source = fields.label("youtube_id", MAX_ID) or fields.label("video_file", MAX_ID)
    source = source or fields.label("dataset_idx", MAX_ID) or fields.label("image_file", MAX_ID)
    if not source:
        raise ProblemError("video_file", "is missing", "give video_file, youtube_id or dataset_idx")
    split = fields.get("original_split") or fields.get("split")
    return VideoRecord(
        key=clip_key(dataset, source, start, end, unit),
        file=file,
        source_dataset=dataset,
        source_id=source,
        start_time=start,
        end_time=end,
        time_unit=unit,
        split=_SPLITS.get(split.lower(), "") if isinstance(split, str) else "",
    )


def _facts(extra: Mapping[str, Any]) -> dict[str, Any]:
    """What methods read: the annotated count of a counting record, its template, the word at stake."""
    facts = {name: extra[name] for name in ("class", "template") if extra.get(name) is not None}
    count = extra.get("class")
    if isinstance(count, int) and not isinstance(count, bool) and "<number>" in str(extra.get("template", "")):
        facts["count"] = count
    return facts


def _own_video(video: Fields) -> VideoRecord:
    start, end, unit = video.trim()
    split = video.label("split", 10)
    if split not in SPLITS:
        raise ProblemError(video.name("split"), f"is {quoted(split)}", "give train, val or test")
    return VideoRecord(
        key=checked_id(video.name("key"), video.label("key", MAX_ID)),
        file=video.media_name("file"),
        url=video.url("url"),
        source_dataset=video.label("source_dataset", MAX_DATASET),
        source_id=video.label("source_id", MAX_ID),
        start_time=start,
        end_time=end,
        time_unit=unit,
        split=split,
        class_label=video.label("class_label", MAX_ID),
        category=video.label("category", MAX_ID),
        movie=video.label("movie", MAX_ID),
    )
