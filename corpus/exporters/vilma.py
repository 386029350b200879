"""`vilma`: the released items as ViLMA files, one JSON object a subtest.

A record that was imported from such a file comes out with all its fields. What the format cannot say (the id of an
item made here, a URL, a class) stands in a `foilworks` object, added only where reading the plain record back would
give something else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from corpus.exporters._folder import write_folder, write_json
from corpus.exporters._released import manifest_facts, released_items
from corpus.exporters.foilworks import safe_name
from corpus.exporters.jsonl import counts
from corpus.importers._fields import ProblemError
from corpus.importers._records import RawRecord
from corpus.importers.vilma import OWN_FIELD, parse
from corpus.records import ItemRecord, ReleaseContent

# Whether the reports of the project are wanted; they take the longest to collect.
USES_TABLES = False


def write(release: ReleaseContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError when it cannot be written there."""
    items = released_items(release)

    def fill(folder: Path) -> None:
        for stem, records in files(items).items():
            write_json(folder / f"{stem}.json", records)

    return write_folder(out, manifest_facts(release, "vilma", len(items)), fill)


def files(items: Iterable[ItemRecord]) -> dict[str, dict[str, Any]]:
    """Stem of the file -> its records by key, one file a subtest."""
    subtests: dict[str, list[ItemRecord]] = {}
    for item in items:
        subtests.setdefault(item.subtest, []).append(item)
    named: dict[str, dict[str, Any]] = {}
    for subtest, found in subtests.items():
        stem = safe_name(subtest)
        # The manifest of the folder has its name; two subtests may look alike once made safe.
        while stem in named or stem == "manifest":
            stem += "-again"
        named[stem] = _records(found, stem)
    return named


def _records(items: list[ItemRecord], stem: str) -> dict[str, Any]:
    """Records by key. Ids that begin with the subtest lose it again; they choose their keys first."""
    prefix = f"{items[0].subtest}:"
    records: dict[str, Any] = {}
    for item in sorted(items, key=lambda item: (not item.id.startswith(prefix), item.id)):
        key = item.id.removeprefix(prefix)
        while key in records:
            key += "~"
        records[key] = _record(item, key, stem)
    return records


def _record(item: ItemRecord, key: str, stem: str) -> dict[str, Any]:
    """The plainest form that reads back as `item`."""
    named = _named_fields(item, stem)
    plain = {**item.extra, **named, **_pair_field(item, with_extra=True)}
    bare = {**named, **_pair_field(item, with_extra=False), OWN_FIELD: _own(item)}
    forms = (plain, {**plain, OWN_FIELD: _own(item)}, bare)
    return next((form for form in forms if _reads_back(item, key, form, stem)), bare)


def _named_fields(item: ItemRecord, stem: str) -> dict[str, Any]:
    video = item.video
    record: dict[str, Any] = {
        "start_time": video.start_time,
        "end_time": video.end_time,
        "time_unit": video.time_unit,
        "caption": item.caption,
        "foils": list(item.foils),
    }
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


def _reads_back(item: ItemRecord, key: str, record: dict[str, Any], stem: str) -> bool:
    """Whether the importer makes the same item of the record.

    Where the media file lies here is left out of it: a record that names its source is found by that elsewhere too.
    """
    try:
        read = parse(RawRecord(key, record, 0), stem)
    except ProblemError:
        return False
    return read == replace(item, video=replace(item.video, file=read.video.file))


def _own(item: ItemRecord) -> dict[str, Any]:
    return {
        "id": item.id,
        "test": item.test,
        "video": asdict(item.video),
        "facts": dict(item.facts),
        "extra": dict(item.extra),
        "proficiency_extra": dict(item.proficiency.extra) if item.proficiency else {},
    }
