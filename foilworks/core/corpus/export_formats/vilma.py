"""`vilma`: the released items as ViLMA files, one JSON object a subtest.

A record that was imported from such a file comes out with all its fields. What the format cannot say (the id of an
item made here, a URL, a class) is in a `foilworks` object, added only where reading the plain record back would
give something else.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from foilworks.core.corpus.export_formats.jsonl import counts
from foilworks.core.corpus.export_formats.parts.folder import (
    MANIFEST,
    keys_in_file,
    unused_name,
    write_folder,
    write_json,
)
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts, released_items
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.import_formats.parsing.records import RawRecord
from foilworks.core.corpus.import_formats.vilma import OWN_FIELD, parse
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError when it cannot be written there."""
    items = [item for item in released_items(release) if item.foils]

    def fill(folder: Path) -> None:
        for stem, records in files(items).items():
            write_json(folder / f"{stem}.json", records)

    return write_folder(out, manifest_facts(release, "vilma", len(items)), fill)


@dataclass(frozen=True)
class Form:
    """How one of the two formats spells a record.

    `parse` reads it. `format_fields` are the fields of the format, without the votes; `extra_fields` the unknown ones.
    """

    parse: Callable[[RawRecord, str], ItemRecord]
    format_fields: Callable[[ItemRecord], dict[str, Any]]
    extra_fields: Callable[[ItemRecord], Mapping[str, Any]]


def files(items: Iterable[ItemRecord], form: Form | None = None) -> dict[str, dict[str, Any]]:
    """Stem of the file -> its records by key, one file a subtest."""
    form = form or VILMA
    subtests: dict[str, list[ItemRecord]] = {}
    for item in items:
        subtests.setdefault(item.subtest, []).append(item)
    records_by_stem: dict[str, dict[str, Any]] = {}
    # The manifest of the folder has its name.
    taken = {PurePath(MANIFEST).stem}
    for subtest, subtest_items in subtests.items():
        stem = unused_name(subtest, taken)
        records_by_stem[stem] = _records(subtest_items, stem, form)
    return records_by_stem


def _records(items: list[ItemRecord], stem: str, form: Form) -> dict[str, Any]:
    """Records by key."""
    keys = keys_in_file(sorted(items, key=lambda item: item.id))
    return {key: _record(item, key, stem, form) for key, item in keys.items()}


def _record(item: ItemRecord, key: str, stem: str, form: Form) -> dict[str, Any]:
    """The plainest form that reads back as `item`."""
    fields = _named_fields(item, stem, form)
    plain = {**form.extra_fields(item), **fields, **_pair_field(item, with_extra=True)}
    bare = {**fields, **_pair_field(item, with_extra=False), OWN_FIELD: _own(item)}
    candidates = (plain, {**plain, OWN_FIELD: _own(item)}, bare)
    return next((record for record in candidates if _reads_back(item, key, record, stem, form.parse)), bare)


def _vilma_fields(item: ItemRecord) -> dict[str, Any]:
    video = item.video
    return {
        "start_time": video.start_time,
        "end_time": video.end_time,
        "time_unit": "pts" if video.time_unit == "frames" else video.time_unit,
        "caption": item.caption,
        "foils": list(item.foils),
    }


VILMA = Form(parse, _vilma_fields, lambda item: item.extra)


def _named_fields(item: ItemRecord, stem: str, form: Form) -> dict[str, Any]:
    record = form.format_fields(item)
    if item.votes is not None:
        record["mturk"] = counts(item.votes)
    if item.subtest != stem:
        record["subtest"] = item.subtest
    return record


def _pair_field(item: ItemRecord, with_extra: bool) -> dict[str, Any]:
    pair = item.proficiency
    if pair is None:
        return {}
    record = {**(pair.extra if with_extra else {}), "caption": pair.caption, "foils": list(pair.foils)}
    if pair.votes is not None:
        record["human"] = counts(pair.votes)
    return {"proficiency": record}


def _reads_back(
    item: ItemRecord, key: str, record: dict[str, Any], stem: str, parse: Callable[[RawRecord, str], ItemRecord]
) -> bool:
    """Whether the importer makes the same item of the record.

    Where the media file lies here is left out of it: a record that names its source is found by that elsewhere too.
    """
    try:
        read = parse(RawRecord(key, record, 0), stem)
    except ProblemError:
        return False
    return _voted(read) == _voted(replace(item, video=replace(item.video, file=read.video.file)))


def _voted(item: ItemRecord) -> ItemRecord:
    """Counts that are all zero are votes of nobody: the same as none."""
    votes, pair = item.votes, item.proficiency
    if pair is not None and pair.votes is not None and not pair.votes.total:
        pair = replace(pair, votes=None)
    return replace(item, votes=votes if votes is not None and votes.total else None, proficiency=pair)


def _own(item: ItemRecord) -> dict[str, Any]:
    return {
        "id": item.id,
        "test": item.test,
        "video": asdict(item.video),
        "facts": dict(item.facts),
        "extra": dict(item.extra),
        **({"pair": item.pair} if item.pair else {}),
        "proficiency_extra": dict(item.proficiency.extra) if item.proficiency else {},
    }
