"""List the changes from one release to the next, item by item, with the names of the fields; stored with the
release."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.cached_results.cache import digest
from evaluation.releases.changes import previous_of
from evaluation.releases.models import ItemReport, ReleaseChangelog, ReportState
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.corpus.release_records import content_of

# Outcomes of reported items.
CONFIRMED, CHANGED, REMOVED, DISMISSED = "confirmed", "changed", "removed", "dismissed"


def changelog_of(release: Release) -> dict[str, Any] | None:
    """Return the changelog as stored at the freeze, else computed; None for the project's first release."""
    changelog = ReleaseChangelog.objects.filter(release=release).first()
    if changelog is not None:
        return changelog.data or None
    before = previous_of(release)
    return None if before is None else compared(before, release)


def keep_changelog(release: Release) -> None:
    """Store the changelog of a newly frozen release; call it in the transaction of the freeze."""
    before = previous_of(release)
    ReleaseChangelog.objects.create(release=release, data={} if before is None else compared(before, release))


def compared(before: Release, after: Release) -> dict[str, Any]:
    """Return ids in the order of their release, of public items: exports contain it. Three queries.

    Only contents that differ are in memory together.
    """
    old, new = ({name: digest(content) for name, content in _contents(release)} for release in (before, after))
    differing = {name for name in new if name in old and old[name] != new[name]}
    old_contents = {name: content for name, content in _contents(before) if name in differing} if differing else {}
    changed = [
        {"id": name, "fields": fields}
        for name, content in (_contents(after) if differing else ())
        if name in differing and (fields := changed_fields(old_contents[name], content))
    ]
    difference = {
        "before": {"id": before.pk, "name": before.name, "content_hash": before.shown_hash},
        "added": [name for name in new if name not in old],
        "removed": [name for name in old if name not in new],
        "changed": changed,
        "n_same": sum(name in old for name in new) - len(changed),
    }
    reported = _report_outcomes(before, after, {*new}, {row["id"] for row in changed})
    return {**difference, "reported": reported} if reported else difference


def _report_outcomes(before: Release, after: Release, new: set[str], changed: set[str]) -> list[dict[str, Any]]:
    """Return what came of reports about public items that were decided between the two freezes."""
    rows = ItemReport.objects.filter(release__project=after.project, member__is_private=False)
    rows = rows.exclude(state=ReportState.WAITING).filter(decided_at__gt=before.created_at)
    counts: dict[str, Counter[str]] = {}
    for name, state in rows.filter(decided_at__lte=after.created_at).values_list("member__record__id", "state"):
        counts.setdefault(name, Counter())[state] += 1
    return [
        {"id": name, "reports": states.total(), "outcome": _outcome(name, states, new, changed)}
        for name, states in sorted(counts.items())
    ]


def _outcome(name: str, states: Counter[str], new: set[str], changed: set[str]) -> str:
    if not states[ReportState.ASKED]:
        return DISMISSED
    if name not in new:
        return REMOVED
    return CHANGED if name in changed else CONFIRMED


def _contents(release: Release) -> Iterator[tuple[str, dict[str, Any]]]:
    rows = ReleaseItem.objects.filter(release=release, is_private=False).order_by("position")
    rows = rows.values_list("record", flat=True)
    return ((record["id"], content_of(record)) for record in rows.iterator())


def changed_fields(old: Mapping[str, Any], new: Mapping[str, Any], above: str = "") -> list[str]:
    """Return the names of differing fields: "caption", "video.start_time", "facts.count"; a list counts as one
    field."""
    names: list[str] = []
    for name in sorted(old.keys() | new.keys()):
        old_value, new_value = old.get(name), new.get(name)
        if old_value == new_value and (name in old) == (name in new):
            continue
        if isinstance(old_value, Mapping) and isinstance(new_value, Mapping):
            names += changed_fields(old_value, new_value, f"{above}{name}.")
        else:
            names.append(f"{above}{name}")
    return names
