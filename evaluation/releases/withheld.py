"""Return what a release withholds: records of items whose video was taken down after the freeze (decision 27)."""

import hashlib
from typing import Any

from foilworks.core.corpus.models import Release, ReleaseItem, Takedown
from foilworks.core.corpus.release_records import content_of
from foilworks.core.corpus.rules.canonical import canonical_line


def withheld_of(release: Release, *, private: bool = False) -> dict[str, dict[str, Any]]:
    """Return record id -> its tombstone: id, subtest, time and reason, the SHA-256 of the frozen record. One query.

    `private`: of the private items; exports and public pages name only public ones. The hash lets owners of an older
    export identify the line, and reveals nothing about the text.
    """
    members = ReleaseItem.objects.filter(release=release, video__takedown__isnull=False).order_by("position")
    taken_down = members.filter(is_private=private).select_related("video__takedown")
    return {member.record["id"]: _tombstone(member.record, member.video.takedown) for member in taken_down}


def shown_record(member: ReleaseItem) -> dict[str, Any]:
    """Return the record as it was frozen, or its tombstone. Load the member with its video and that one's takedown."""
    takedown = getattr(member.video, "takedown", None)
    return member.record if takedown is None else _tombstone(member.record, takedown)


def _tombstone(record: dict[str, Any], takedown: Takedown) -> dict[str, Any]:
    line = canonical_line(content_of(record))
    return {
        "id": record["id"],
        "subtest": record["subtest"],
        "record_sha256": hashlib.sha256(line.encode("utf-8")).hexdigest(),
        "taken_down_at": takedown.taken_down_at.isoformat(),
        "reason": takedown.reason,
    }
