"""`CHANGELOG.md` of a release: which items came, went and changed since the release before, and in which fields."""

from collections.abc import Sequence

from foilworks.core.corpus.export_formats.parts.markdown import cell, link_safe
from foilworks.core.corpus.records import ReleaseContent

SAID = {
    "confirmed": "judged again by other people and confirmed",
    "changed": "judged again and changed",
    "removed": "judged again and not in this release",
    "dismissed": "the report was dismissed",
}


def changelog(release: ReleaseContent) -> str:
    """The text; the same as numbers and ids is in `tables/changes.json`."""
    lines = [f"# Changes in {link_safe(release.release)}", ""]
    found = release.papers.changes
    if found is None:
        n = sum(bool(item.get("released")) for item in release.items)
        return "\n".join([*lines, f"The first release of the project: {n} items.", ""])
    before = found["before"]
    lines += [f"Against {link_safe(before['name'])} (`{before['content_hash']}`):", ""]
    lines += _listed("Added", [f"`{cell(name)}`" for name in found["added"]])
    lines += _listed("Removed", [f"`{cell(name)}`" for name in found["removed"]])
    rows = [f"`{cell(row['id'])}`: {cell(', '.join(row['fields']))}" for row in found["changed"]]
    lines += _listed("Changed", rows)
    if reported := found.get("reported"):
        rows = [f"`{cell(row['id'])}`: {SAID[row['outcome']]} (reports: {row['reports']})" for row in reported]
        lines += _listed("Reported", rows)
    return "\n".join([*lines, f"{found['n_same']} items are the same.", ""])


def _listed(title: str, rows: Sequence[str]) -> list[str]:
    return [f"## {title}: {len(rows)}", "", *(f"- {row}" for row in rows), *([""] if rows else [])]


def licences(release: ReleaseContent) -> str:
    """`LICENCES.md`: of what was made here, and of each data set that videos are from."""
    cited, sources = release.papers.citation, release.papers.sources
    own = f"{link_safe(cited.licence)} {link_safe(cited.licence_url)}".strip()
    lines = ["# Licences", "", f"What was made here (foils, judgements, tables): {own or '**not stated**'}.", ""]
    if sources:
        lines += ["The terms of their sources apply to videos and captions:", ""]
    for source in sources:
        lines.append(f"## {link_safe(source.dataset) or 'No data set named'}")
        lines += ["", f"- Licence: {link_safe(source.licence) or '**not stated**'}"]
        lines += [f"- Address: {link_safe(source.url)}"] if source.url else []
        lines += [f"- {source.n_items} items on {source.n_videos} videos"]
        lines += [f"- {link_safe(source.notes)}"] if source.notes else []
        lines.append("")
    return "\n".join(lines) + "\n"
