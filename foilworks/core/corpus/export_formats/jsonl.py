"""`jsonl`: the released items in the columns that the importer of the same name reads."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.parts.folder import write_folder, write_lines
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts, released_items
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent, VoteCounts
from foilworks.core.corpus.release_records import CANARY

FILE = "records.jsonl"


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the folder `out`; the paths of its files. CorpusError when it cannot be written there."""
    items = released_items(release)
    facts = manifest_facts(release, "jsonl", len(items))
    mark = {CANARY: facts[CANARY]} if CANARY in facts else {}
    lines = ({**line(item), **mark} for item in items)
    return write_folder(out, facts, lambda folder: write_lines(folder / FILE, lines))


def line(item: ItemRecord) -> dict[str, Any]:
    """The columns of one record; what is empty is left out."""
    video = asdict(item.video)
    columns: dict[str, Any] = {
        "id": item.id,
        "subtest": item.subtest,
        "test": item.test,
        "video": video.pop("file"),
        "video_key": video.pop("key"),
        **video,
        "caption": item.caption,
        "foils": list(item.foils),
        "pair": item.pair,
        "votes": counts(item.votes),
        "facts": dict(item.facts),
        "extra": dict(item.extra),
    }
    if item.proficiency is not None:
        pair = item.proficiency
        columns["proficiency"] = {
            "caption": pair.caption,
            "foils": list(pair.foils),
            "votes": counts(pair.votes),
            "extra": dict(pair.extra),
        }
    return {name: value for name, value in columns.items() if value not in (None, "", [], {})}


def counts(votes: VoteCounts | None) -> dict[str, int] | None:
    return None if votes is None else {"caption": votes.caption, "foil": votes.foil, "other": votes.other}


def json_text(value: Any) -> str | None:
    """Return a value without a fixed shape as text; None if it is empty."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True) if value else None
