"""The datasheet of a release (Gebru et al. 2021), filled from its own numbers; Markdown that any reader shows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from corpus.records import ReleaseContent

PROBES = {
    "classifier": "a bag-of-words classifier, held out by caption",
    "longer": "the rule \u201cthe longer text is true\u201d",
    "shorter": "the rule \u201cthe shorter text is true\u201d",
}

RULE = (
    "A subtest is stopped where a blind probe is right more often than its bar and above chance with 95 % confidence "
    "(the classifier and language models one-sided)."
)

WITHHELD = (
    "The videos of these items were taken down after the release was frozen. Their texts and files are in no export "
    "made since; results that were computed with them name the frozen content hash."
)


def datasheet(release: ReleaseContent) -> str:
    """The text of `datasheet.md`: composition, judgements, and what a model solves without the video."""
    parts = [
        [f"# Datasheet of {release.project}, {release.release}", ""],
        _facts(release),
        _withheld(release),
        _composition(release),
        _judgements(release),
        _blind(release.gate),
    ]
    return "\n".join(line for part in parts for line in part) + "\n"


def _facts(release: ReleaseContent) -> list[str]:
    lines = [f"- Content hash: `{release.content_hash}`", f"- Frozen: {release.created_at}"]
    if release.simulated:
        lines.append("- **Its people and judgements are simulated.**")
    return [*lines, ""]


def _withheld(release: ReleaseContent) -> list[str]:
    if not release.withheld:
        return []
    rows = [[one["id"], one["taken_down_at"][:10], one["reason"]] for one in release.withheld]
    return [
        "## Withheld",
        "",
        WITHHELD,
        "",
        *_table(["item", "taken down", "reason"], rows),
        "",
    ]


def _composition(release: ReleaseContent) -> list[str]:
    counts: dict[str, Counter[str]] = {}
    for item in (item for item in release.items if item.get("released")):
        found = counts.setdefault(item["subtest"], Counter())
        found.update(items=1, foils=len(item["foils"]), paired=item["proficiency"] is not None)
    rows: list[list[Any]] = [[name, n["items"], n["foils"], n["paired"]] for name, n in sorted(counts.items())]
    total = ["all", *(sum(row[at] for row in rows) for at in (1, 2, 3))]
    header = ["subtest", "items", "foils", "with a proficiency item"]
    return ["## Composition", "", *_table(header, [*rows, total]), ""]


def _judgements(release: ReleaseContent) -> list[str]:
    counted = [vote for vote in release.votes if vote.state == "counted"]
    people = {vote.annotator for vote in counted}
    return [
        "## Collection",
        "",
        f"{len(counted)} judgements by {len(people)} annotators count; they stand in `votes.jsonl` under pseudonyms.",
        "",
    ]


def _blind(gate: Mapping[str, Any] | None) -> list[str]:
    lines = ["## What can be solved without the video", ""]
    if gate is None:
        return [*lines, "No blind audit was made when this release was frozen.", ""]
    lines += [
        RULE,
        "",
        *_table(["subtest", "captions", "bar", "probes", "result"], [_blind_row(row) for row in gate["rows"]]),
        "",
    ]
    for row in gate["rows"]:
        if row["stopped"]:
            words = ", ".join(
                f"{word['word']} ({'captions' if word['weight'] > 0 else 'foils'})" for word in row["words"]
            )
            lines += [f"Words that give **{_cell(row['name'])}** away: {_cell(words)}.", ""]
    for name, found in sorted(gate.get("balanced", {}).items()):
        lines += [f"Balanced: {found['n_kept']} of {found['n']} valid items of **{_cell(name)}** are released.", ""]
    override = gate.get("override")
    if override:
        lines += [
            "### Released over the gate",
            "",
            f"> {_cell(override['reason'])}",
            "",
            f"By {override['by']}, {override['at']}. Subtests let through: {_cell(', '.join(gate['stopped']))}.",
            "",
        ]
    return lines


def _blind_row(row: Mapping[str, Any]) -> list[Any]:
    probes = "; ".join(_probe(probe) for probe in row["probes"] if probe["value"] is not None)
    result = "**solved without the video**" if row["stopped"] else "too few to tell" if row["too_few"] else "passed"
    return [row["name"], row["n_captions"], f"{row['bar']:.2f}", probes, result]


def _probe(probe: Mapping[str, Any]) -> str:
    interval = f" [{probe['ci'][0]:.3f}, {probe['ci'][1]:.3f}]" if probe["ci"] else ""
    return f"{PROBES.get(probe['probe'], probe['probe'])} {probe['value']:.3f}{interval}"


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines]


def _cell(value: Any) -> str:
    """Text that can neither end its cell nor start anything of its own in Markdown or HTML."""
    text = " ".join(str(value).split())
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")
