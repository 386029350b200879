"""What the formats with one record an item share: the released items as records, and a short manifest."""

from collections.abc import Collection, Mapping
from typing import Any

from foilworks.core.corpus.export_formats.parts.facts import Facts, canary_notes, facts_of, manifest_of
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent, VoteCounts
from foilworks.core.corpus.release_records import foil_counts, holdback_facts, item_record, vote_counts


def released_items(
    release: ReleaseContent | RecordContent, counts: Mapping[str, VoteCounts] | None = None
) -> Collection[ItemRecord]:
    """The items of the release with their vote counts, by id; of a project, in the order in which they came.

    `counts`: those to go by, where they are known.
    """
    if isinstance(release, RecordContent):
        return release.records
    votes = vote_counts(release.votes, foil_counts(release.items)) if counts is None else counts
    released = (item for item in release.items if item.get("released"))
    return sorted((item_record(item, votes) for item in released), key=lambda item: item.id)


def manifest_facts(
    release: ReleaseContent | RecordContent, format_name: str, n_items: int, facts: Facts | None = None
) -> dict[str, Any]:
    """Return what a manifest says of the release; `facts`: its facts, if they are known."""
    counts = {"format": format_name, **_plugin(format_name), "counts": {"items": n_items}}
    if not isinstance(release, RecordContent):
        return {**counts, **manifest_of(facts or facts_of(release))}
    names = ("project", "release", "created_at", "content_hash", "simulated")
    return {**counts, **{name: getattr(release, name) for name in names}, **release.facts}


def canary_line(release: ReleaseContent | RecordContent) -> str:
    """Return the lines of a README about the canary and the private items; "" without them."""
    if isinstance(release, RecordContent):
        manifest: Mapping[str, Any] = release.facts
    else:
        manifest = holdback_facts(release.canary, release.holdback)
    return "".join(f"\n{note}\n" for note in canary_notes(manifest))


def _plugin(format_name: str) -> dict[str, str]:
    """Name and version of the package that adds the format; nothing for our own."""
    entry = EXPORTERS.get(format_name)
    return {"plugin": entry.origin} if entry and entry.origin else {}
