"""Write an audit as Markdown, for the summary of a pipeline."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.audit.finding_text import lines_of
from evaluation.audit.without_video import note, sentence
from evaluation.number_text import count, share

HEAD = ("", "verdict", "value", "95 % interval", "chance", "n")


def markdown_of(result: Mapping[str, Any]) -> str:
    """Return the verdict, its sentence, a table of tiers and checks, and what to do about those that fail."""
    solved = (result["without_video"] or {"tiers": {}})["tiers"]
    findings = [finding for finding in result["findings"] if not finding["subtest"]]
    measured = [finding for finding in findings if finding["value"] is not None]
    rows = [(f"solver, tier {name}", row) for name, row in solved.items()]
    rows += [(finding["title"], finding) for finding in measured]
    fixes = [f"- **{row['title']}**: {' '.join([*lines_of(row), row['fix']])}" for row in findings if is_bad(row)]
    parts = [
        f"## Audit: {_words(result['verdict'])}",
        " ".join(filter(None, [sentence(result), note(result)])),
        ", ".join(file["name"] for file in result["files"]) + f": {count(result['items'])} items",
        _table(HEAD, ([name, _words(row["verdict"]), *_numbers(row)] for name, row in rows)),
        "\n".join(fixes),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def is_bad(finding: Mapping[str, Any]) -> bool:
    """Report whether a finding needs a person."""
    return finding["verdict"] in {"fail", "warn", "reversed"}


def _words(verdict: str) -> str:
    return verdict.replace("_", " ")


def _numbers(row: Mapping[str, Any]) -> list[str]:
    interval = " to ".join(map(share, row["interval"])) if row["interval"] else "–"
    chance = "–" if row["chance"] is None else share(row["chance"])
    return [share(row["value"]), interval, chance, count(row["n"])]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
