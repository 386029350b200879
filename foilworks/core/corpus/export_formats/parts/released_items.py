"""What the formats with one record an item share: the released items as records, and a short manifest."""

from collections.abc import Collection, Mapping
from typing import Any

from foilworks.core.corpus.export_formats.parts.ladder import selection_line
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent, VoteCounts
from foilworks.core.corpus.release_records import (
    CANARY,
    PUBLISHERS_WORD,
    SCREENED_BY,
    SCREENED_WORDS,
    as_published_facts,
    foil_counts,
    hash_of,
    holdback_facts,
    item_record,
    n_as_published,
    screening_facts,
    vote_counts,
)


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


def manifest_facts(release: ReleaseContent | RecordContent, format_name: str, n_items: int) -> dict[str, Any]:
    return {
        "format": format_name,
        **_plugin(format_name),
        "project": release.project,
        "release": release.release,
        "created_at": release.created_at,
        "content_hash": release.content_hash,
        "simulated": release.simulated,
        "counts": {"items": n_items},
        **(release.facts if isinstance(release, RecordContent) else _frozen_facts(release)),
    }


def as_published_line(release: ReleaseContent) -> str:
    """Return the line of a card or datasheet about items of published sets; "" if there are none."""
    released = [item for item in release.items if item.get("released")]
    n = n_as_published(released)
    return f"**As published:** {n} of {len(released)} items. {PUBLISHERS_WORD}" if n else ""


def screened_line(release: ReleaseContent) -> str:
    """Return the line of a card or datasheet about models that screened foils; "" if there are none."""
    released = [item for item in release.items if item.get("released")]
    found = screening_facts(released).get(SCREENED_BY)
    if not found:
        return ""
    named = ", ".join(f"`{model}`" for model in found["models"])
    return f"**Screened by models:** {found['items']} of {len(released)} items, by {named}. {SCREENED_WORDS}"


def canary_line(release: ReleaseContent | RecordContent) -> str:
    """Return what a card says of the canary and of the private part, as lines that end a paragraph; "" without them."""
    known = release.facts if isinstance(release, RecordContent) else holdback_facts(release.canary, release.holdback)
    held = known.get("holdback")
    private = (
        f"{held['items']} further items are private: only installations with the project score them. " if held else ""
    )
    # An anonymised copy does not say which release it is from.
    if held and "whole_hash" in held:
        private += f"The release with them has the hash `{held['whole_hash']}`. "
    said = private + str(known.get(CANARY, ""))
    return f"\n{said}\n" if said else ""


def card_notes(release: ReleaseContent) -> str:
    """Return the lines of a card about items of published sets, screening and selected items; "" if there are none."""
    chosen = (release.gate or {}).get("needs")
    lines = [
        as_published_line(release),
        screened_line(release),
        f"**Selected items:** {selection_line(chosen)}" if chosen else "",
    ]
    return "\n\n".join(filter(None, lines))


def _frozen_facts(release: ReleaseContent) -> dict[str, Any]:
    n = n_as_published(item for item in release.items if item.get("released"))
    return {
        **as_published_facts(n),
        **screening_facts(item for item in release.items if item.get("released")),
        **selection_facts(release),
        **withheld_facts(release),
        **holdback_facts(release.canary, release.holdback),
    }


def selection_facts(release: ReleaseContent) -> dict[str, Any]:
    """Return how the items were selected by the evidence ladder; nothing if every valid one was released."""
    chosen = (release.gate or {}).get("needs")
    return {"selected": {"needs": chosen["needs"], "note": selection_line(chosen)}} if chosen else {}


def _plugin(format_name: str) -> dict[str, str]:
    """Name and version of the package that adds the format; nothing for our own."""
    entry = EXPORTERS.get(format_name)
    return {"plugin": entry.origin} if entry and entry.origin else {}


def withheld_facts(release: ReleaseContent) -> dict[str, Any]:
    """What a manifest says of items whose video was taken down; nothing where there are none.

    `held_hash` is of what is still there: the content hash of the release itself can be computed from no file any more.
    """
    if not release.withheld:
        return {}
    held = hash_of(item for item in release.items if item.get("released"))
    return {"withheld": [dict(tombstone) for tombstone in release.withheld], "held_hash": held}
