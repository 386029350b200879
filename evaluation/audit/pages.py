"""Prepare an audit for its HTML page: rows with the places of their marks, no numbers to compute in a template."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string

from evaluation.audit.finding_text import and_more, lines_of, n_unlisted
from evaluation.audit.without_video import note, sentence

STYLES = ("foilworks/base.css", "foilworks/components.css", "evaluation/audit.css")
PLOTTED = ("words", "n-grams", "model", "length")
BLIND = frozenset({*PLOTTED, "position", "labels", "cues"})
BADGES = {"ok": "badge-good", "warn": "badge-warn", "fail": "badge-bad"}
MARKER = "<link data-styles>"
LETTERS = "ABCDEFGHIJ"
MAX_SIZE = 8
# A line does not begin with "%".
UNBROKEN = "\N{NO-BREAK SPACE}%"
# Names of small subtests below their check.
MAX_NAMES = 10
# An address would be loaded, and a file has none.
ADDRESS = re.compile(r"url\(|@import", re.IGNORECASE)


def page_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context of the templates `evaluation/_audit.html` and `evaluation/audit_file.html`."""
    findings = [_check_card(finding) for finding in result["findings"] if not finding["subtest"]]
    measured = [finding for finding in findings if finding["value"] is not None]
    worse = {"fail": 0, "warn": 1, "ok": 2}
    return {
        "audit": result,
        "meaning": sentence(result).replace(" %", UNBROKEN),
        "note": note(result),
        "badge": BADGES[result["verdict"]],
        "failed": (failed := _failed_checks(result)),
        "is_solved": any("" in row["subtests"] for row in failed if row["check"] in BLIND),
        "is_partly": any(row["check"] in BLIND for row in failed),
        "plots": list(_plots(result)),
        "findings": sorted(measured, key=lambda finding: worse[finding["verdict"]]),
        "not_run": [finding for finding in findings if finding["value"] is None],
        "positions": _positions(findings),
        "sizes": _sizes(findings),
        "one_sample": result["sample"]["items"] >= result["items"],
    }


def file_of(result: Mapping[str, Any]) -> str:
    """Return the audit as one HTML page without scripts and without anything to load."""
    styles = "\n".join(Path(str(finders.find(name))).read_text(encoding="utf-8") for name in STYLES)
    if ADDRESS.search(styles):
        raise ValueError("a style sheet names an address, which the file cannot load")
    page = render_to_string("evaluation/audit_file.html", page_of(result))
    # The marker cannot come from the audited file, whose texts are escaped.
    return page.replace(MARKER, f"<style>\n{styles}</style>", 1)


def _failed_checks(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the failed checks, each with its subtests; "" is the whole file."""
    rows: dict[str, dict[str, Any]] = {}
    of_subtests = [finding for subtest in result["subtests"] for finding in subtest["findings"]]
    for finding in [*result["findings"], *of_subtests]:
        if finding["verdict"] == "fail":
            row = rows.setdefault(finding["check"], {**finding, "subtests": []})
            row["subtests"].append(finding["subtest"])
    return list(rows.values())


def _check_card(finding: Mapping[str, Any]) -> dict[str, Any]:
    details = finding["details"] or {}
    more = {
        "problems": n_unlisted(details),
        "repeated": details.get("repeated", 0) - len(details.get("first", [])),
        "small": len(details.get("small", [])) - MAX_NAMES,
    }
    return {
        **finding,
        "badge": BADGES[finding["verdict"]],
        "details": details,
        "lines": lines_of(finding),
        "more": {name: and_more(n) for name, n in more.items()},
    }


def _plots(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one chart per probe: the whole file, then each subtest. Without subtests, one chart of all probes."""
    rows: dict[str, list[dict[str, Any]]] = {}
    of_subtests = [finding for subtest in result["subtests"] for finding in subtest["findings"]]
    for finding in [*result["findings"], *of_subtests]:
        if finding["check"] in PLOTTED and finding["value"] is not None:
            rows.setdefault(_probe_of(finding), []).append(_mark(finding))
    if not result["subtests"]:
        return [{"title": "", "rows": [mark for marks in rows.values() for mark in marks]}] if rows else []
    return [{"title": marks[0]["title"], "model": marks[0]["model"], "rows": marks} for marks in rows.values()]


def _probe_of(finding: Mapping[str, Any]) -> str:
    return f"{finding['check']} {finding['details']['probe'] if finding['check'] == 'model' else ''}"


def _mark(finding: Mapping[str, Any]) -> dict[str, Any]:
    low, high = finding["interval"] or (finding["value"], finding["value"])
    return {
        **finding,
        "model": finding["details"]["probe"] if finding["check"] == "model" else "",
        "at": _chart_position(finding["value"]),
        "low": _chart_position(low),
        "high": _chart_position(high),
        "guess": _chart_position(finding["chance"]),
    }


def _chart_position(share: float) -> str:
    """Return a place on a chart from 0 to 1, with a margin for its mark, as SVG reads it in every language."""
    return f"{2 + 96 * share:.2f}%"


def _positions(findings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    positions = next((f["details"].get("places", []) for f in findings if f["check"] == "position"), [])
    return _bars(
        (LETTERS[number] if number < len(LETTERS) else str(number + 1), count) for number, count in enumerate(positions)
    )


def _sizes(findings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    changed = next((f["details"].get("changed", {}) for f in findings if f["check"] == "edits"), {})
    counts = [changed.get(str(size), 0) for size in range(MAX_SIZE)]
    more = sum(count for size, count in changed.items() if int(size) >= MAX_SIZE)
    return _bars([*((str(size), count) for size, count in enumerate(counts)), (f"{MAX_SIZE}+", more)])


def _bars(rows: Iterable[tuple[str, int]]) -> list[dict[str, Any]]:
    rows = list(rows)
    total, most = sum(count for _, count in rows), max([count for _, count in rows], default=0)
    return [
        {"name": name, "count": count, "share": count / total, "width": f"{100 * count / most:.2f}%"}
        for name, count in rows
        if most
    ]
