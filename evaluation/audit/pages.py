"""Prepare an audit for its HTML page: rows with the places of their marks, no numbers to compute in a template."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from evaluation.audit.finding_text import and_more, lines_of, n_unlisted
from evaluation.audit.records import VERDICTS
from evaluation.audit.without_video import is_main, note, sentence, size_name
from evaluation.number_text import count
from foilworks.core.projects.templatetags.wording import in_words

STYLES = ("foilworks/base.css", "foilworks/components.css", "evaluation/audit.css")
BADGES = {
    "nothing_found": "badge-good",
    "nothing_found_so_far": "badge-good",
    "cannot_tell": "badge-warn",
    "warn": "badge-warn",
    "reversed": "badge-bad",
    "fail": "badge-bad",
}
# Items on the page, those that are answered most surely first; the file of item scores has all.
MAX_ITEMS = 10
# A family of features below this share of right answers above chance is not listed.
MIN_SHOWN = 0.02
SURE = 0.05
TIER_NAMES = {
    "item": gettext_lazy("Item: its question and options"),
    "set": gettext_lazy("Set: also the other items"),
    "file": gettext_lazy("File: also order, ids and times"),
}
MODEL_CHECKS = ("model", "knows", "learns", "transcripts")
OPEN_NAMES = {
    ("words", "exact match"): gettext_lazy("Words: exact match"),
    ("numbers", "exact match"): gettext_lazy("Numbers: exact match"),
    ("numbers", "mean relative accuracy"): gettext_lazy("Numbers: mean relative accuracy"),
}
MARKER = "<link data-styles>"
LETTERS = "ABCDEFGHIJ"
MAX_SIZE = 8
# A line does not begin with "%".
UNBROKEN = "\N{NO-BREAK SPACE}%"
# Names of small subtests below their check.
MAX_NAMES = 10
FONT = re.compile(r"@font-face\s*\{[^}]*\}")
# An address would be loaded, and a file has none.
ADDRESS = re.compile(r"url\(|@import", re.IGNORECASE)


def page_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context of the templates `evaluation/_audit.html` and `evaluation/audit_file.html`."""
    findings = [_check_card(finding) for finding in result["findings"] if not finding["subtest"]]
    measured = [finding for finding in findings if finding["value"] is not None]
    return {
        **solver_part(result),
        "audit": result,
        "failed": _failed_checks(result),
        "shortcuts": result.get("shortcuts", ()),
        "open_rows": [row for row in result.get("open_answers", ()) if is_main(row)],
        "findings": sorted(measured, key=lambda finding: -VERDICTS.index(finding["verdict"])),
        "not_run": [finding for finding in findings if finding["value"] is None],
        "positions": _positions(findings),
        "sizes": _sizes(findings),
        "one_sample": result["sample"]["items"] >= result["items"],
    }


def solver_part(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a page shows of the solver: the verdict with its sentence, charts, families and surest items."""
    solved = result["without_video"]
    verdicts = [row["verdict"] for row in ([solved] if solved else result.get("open_answers", ()))]
    main = max(verdicts, key=VERDICTS.index, default="")
    surest = sorted(result["item_scores"], key=lambda item: -item["s_minus_chance"])
    return {
        "solved": solved,
        "meaning": sentence(result).replace(" %", UNBROKEN),
        "note": note(result),
        "verdict": in_words(main) if main else "",
        "badge": BADGES[main or "cannot_tell"],
        "plots": list(_plots(result)),
        "items": [item for item in surest if item["tier"]][:MAX_ITEMS],
        "families": [family for family in (solved or {"families": []})["families"] if family["importance"] > MIN_SHOWN],
    }


def file_of(result: Mapping[str, Any]) -> str:
    """Return the audit as one HTML page without scripts and without anything to load."""
    styles = "\n".join(Path(str(finders.find(name))).read_text(encoding="utf-8") for name in STYLES)
    # The font is a file of the site; the page has the fonts of its reader.
    styles = FONT.sub("", styles)
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
        "verdict_name": in_words(finding["verdict"]),
        "details": details,
        "lines": lines_of(finding),
        "more": {name: and_more(n) for name, n in more.items()},
    }


def _plots(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a chart of the tiers and the language models, and one of the subtests if there are several."""
    solved = result["without_video"]
    if open_rows := result.get("open_answers", ()):
        rows = [_mark(row, str(OPEN_NAMES[row["kind"], row["metric"]])) for row in open_rows]
        yield {"title": _("Open answers without the video (dashed: best constant answers)"), "rows": rows}
    if solved is None:
        return
    tiers = [_mark(row, str(TIER_NAMES[name])) for name, row in solved["tiers"].items()]
    models = [
        _mark(finding, " ".join([f"{_(finding['title'])}:", _what_was_read(finding)]))
        for finding in result["findings"]
        if finding["check"] in MODEL_CHECKS and not finding["subtest"] and finding["value"] is not None
    ]
    yield {"title": _("Right answers without the video"), "rows": [*tiers, *models]}
    if solved["kinds"]:
        rows = [
            _mark({**row, "verdict": "fail" if row["p_holm"] < SURE else "nothing_found"}, row["kind"])
            for row in solved["kinds"]
        ]
        yield {"title": _("Right answers without the video, by subtest"), "rows": rows}


def _what_was_read(finding: Mapping[str, Any]) -> str:
    """Return the model that answers, or how many items have the transcript that is read."""
    n = finding["n"]
    if finding["check"] == "transcripts":
        return ngettext("%(n)s item", "%(n)s items", n) % {"n": count(n)}
    return size_name(finding["details"])


def _mark(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    low, high = row["interval"]
    return {
        **row,
        "name": name,
        "at": _chart_position(row["value"]),
        "low": _chart_position(low),
        "high": _chart_position(high),
        "guess": _chart_position(row["chance"]),
    }


def _chart_position(share: float) -> str:
    """Return a place on a chart from 0 to 1, with a margin for its mark, as SVG reads it in every language."""
    return f"{2 + 96 * share:.2f}%"


def _positions(findings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    positions: list[int] = next((f["details"].get("places", []) for f in findings if f["check"] == "position"), [])
    return _bars(
        (LETTERS[number] if number < len(LETTERS) else str(number + 1), count) for number, count in enumerate(positions)
    )


def _sizes(findings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    changed: dict[str, int] = next((f["details"].get("changed", {}) for f in findings if f["check"] == "edits"), {})
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
