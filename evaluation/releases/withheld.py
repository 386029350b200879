"""What a release holds back: records of items whose video was taken down after it was frozen (decision 27)."""

import hashlib
from typing import Any

from corpus.models import Release, ReleaseItem, Takedown
from corpus.release_records import content_of
from corpus.rules.canonical import canonical_line


def withheld_of(release: Release) -> dict[str, dict[str, Any]]:
    """Record id -> its tombstone: id, subtest, when and why, the SHA-256 of the record as it was frozen. One query.

    The hash lets whoever holds an older export tell which of their lines is meant, and says nothing about the text.
    """
    members = ReleaseItem.objects.filter(release=release, video__takedown__isnull=False).order_by("position")
    found = members.select_related("video__takedown")
    return {member.record["id"]: _tombstone(member.record, member.video.takedown) for member in found}


def shown_record(member: ReleaseItem) -> dict[str, Any]:
    """The record as it was frozen, or its tombstone. The member comes with its video and that one's takedown."""
    taken = getattr(member.video, "takedown", None)
    return member.record if taken is None else _tombstone(member.record, taken)


def _tombstone(record: dict[str, Any], taken: Takedown) -> dict[str, Any]:
    line = canonical_line(content_of(record))
    return {
        "id": record["id"],
        "subtest": record["subtest"],
        "record_sha256": hashlib.sha256(line.encode("utf-8")).hexdigest(),
        "taken_down_at": taken.taken_down_at.isoformat(),
        "reason": taken.reason,
    }
