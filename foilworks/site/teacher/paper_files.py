"""Write (Feint6K, Tables 1 and 2) in the layout of the paper: Markdown, LaTeX (booktabs) or JSON. Pure."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from evaluation.text_tables import escaped
from foilworks.site.teacher.paper_rows import MEASURES, VATEX

NOT_HERE, EMPTY = "not here", "–"
UP, DOWN = "↑", "↓"
MEAN_RANK = MEASURES[-1]
# Below, a share is no longer 0.1 % when rounded.
SMALLEST = 0.0005
RULE = (
    "Percentages; MeanR counts from 1. Arrows: difference from the model's row without the objective, or from "
    "the default captions. “not here”: this project has no such model. “–”: not measured."
)


def number(measure: str, value: float) -> str:
    """Format a value as the paper does: one decimal, shares in percent."""
    if measure == MEAN_RANK:
        return f"{value:.1f}"
    return "<0.1" if 0 < value < SMALLEST else f"{100 * value:.1f}"


def _change(measure: str, value: float | None) -> str:
    if value is None:
        return ""
    text = number(measure, abs(value)) if measure == MEAN_RANK else f"{100 * abs(value):.1f}"
    return (UP if value > 0 else DOWN if value < 0 else "") + text


def cells(row: Mapping[str, Any], release: Mapping[str, Any], with_paper: bool, dataset: str = "") -> list[str]:
    """Return the texts of a row's four cells on a release."""
    cell = row["cells"].get(str(release["release"]))
    texts = []
    for measure, printed in zip(MEASURES, _printed(row, dataset or release["dataset"]), strict=True):
        value = cell["values"].get(measure) if cell else None
        text = EMPTY if cell else NOT_HERE
        if value is not None:
            change = _change(measure, value["change"]) if row["base"] else ""
            text = f"{number(measure, value['value'])} {change}".strip()
        texts.append(f"{text} ({printed:.1f})" if with_paper and printed is not None else text)
    return texts


def _printed(row: Mapping[str, Any], dataset: str) -> Sequence[float | None]:
    letters = _letters(dataset)
    return next((values for name, values in row["paper"].items() if _letters(name) == letters), (None,) * len(MEASURES))


def _letters(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())


def _heads(release: Mapping[str, Any]) -> tuple[str, str]:
    """Return the heads of standard retrieval and of RCAD."""
    return release["dataset"] or release["name"], f"Counterfactuals ({release['name']})"


def _sources(rows: Sequence[Mapping[str, Any]], releases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        for release in releases:
            cell = row["cells"].get(str(release["release"]))
            if cell and cell["sources"]:
                name = f"{row['base']} {row['name']}" if row["base"] and row["section"] else row["name"]
                yield f"{name}, {release['name']}: {'; '.join(cell['sources'])}"


def _tables(paper_tables: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[Any], Sequence[Any], str]]:
    """Yield (title, rows, releases, data set of the paper's numbers) of each table."""
    yield "Standard retrieval and RCAD (Feint6K, Table 1)", paper_tables["table_1"], paper_tables["releases"], ""
    by_id = {release["release"]: release for release in paper_tables["releases"]}
    for table in paper_tables["table_2"]:
        subject = ", ".join(filter(None, (table["student"], table["objective"]))) or "no training here"
        yield f"Captions of LLM-teacher (Feint6K, Table 2): {subject}", table["rows"], [by_id[table["release"]]], VATEX


def _notes(paper_tables: Mapping[str, Any]) -> list[str]:
    hashes = "; ".join(f"{release['name']} {release['hash'][:16]}" for release in paper_tables["releases"])
    return [RULE, *paper_tables["notes"], f"Releases: {hashes}."]


def markdown(paper_tables: Mapping[str, Any], *, with_paper: bool = False) -> str:
    """Write pipe tables, each followed by what its numbers were computed from."""
    lines = []
    for title, rows, releases, dataset in _tables(paper_tables):
        heads = ["Model"]
        for release in releases:
            standard, ranked = _heads(release)
            heads += [f"{standard} R@1", f"{ranked} R@1", "R@2", "MeanR"]
        lines += [f"## {title}", "", _piped(heads), "|---|" + "--:|" * (len(heads) - 1)]
        section = ""
        for row in rows:
            if row["section"] != section:
                section = row["section"]
                lines.append(_piped([f"*{section}*", *[""] * (len(heads) - 1)]))
            texts = [text for release in releases for text in cells(row, release, with_paper, dataset)]
            lines.append(_piped([row["name"], *texts]))
        lines += ["", *(f"- {source}" for source in _sources(rows, releases)), ""]
    return "\n".join([*lines, *(f"{note}\n" for note in _notes(paper_tables))])


def _piped(texts: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("\\", "\\\\").replace("|", "\\|") for text in texts) + " |"


def latex(paper_tables: Mapping[str, Any], *, with_paper: bool = False) -> str:
    """Write a `tabular` for the booktabs package per table; sources and notes are comments."""
    lines = []
    for title, rows, releases, dataset in _tables(paper_tables):
        width = 1 + len(MEASURES) * len(releases)
        lines += [f"% {title}", "\\begin{tabular}{l" + "r" * (width - 1) + "}", "\\toprule"]
        names, measures, rules = ["Model"], [""], []
        for at, release in enumerate(releases):
            standard, ranked = map(escaped, _heads(release))
            names += [standard, rf"\multicolumn{{3}}{{c}}{{{ranked}}}"]
            measures += ["R@1", "R@1", "R@2", "MeanR"]
            first = 3 + len(MEASURES) * at
            rules.append(rf"\cmidrule(lr){{{first}-{first + 2}}}")
        lines += [" & ".join(names) + r" \\", " ".join(rules), " & ".join(measures) + r" \\", "\\midrule"]
        section = ""
        for row in rows:
            if row["section"] != section:
                section = row["section"]
                lines.append(rf"\multicolumn{{{width}}}{{l}}{{\emph{{{escaped(section)}}}}} \\")
            texts = [_tex(text) for release in releases for text in cells(row, release, with_paper, dataset)]
            lines.append(" & ".join([escaped(row["name"]), *texts]) + r" \\")
        lines += ["\\bottomrule", "\\end{tabular}", *(f"% {source}" for source in _sources(rows, releases)), ""]
    return "\n".join([*lines, *(f"% {note}" for note in _notes(paper_tables)), ""])


def _tex(text: str) -> str:
    escaped_text = escaped(text).replace(EMPTY, "--").replace("<", "$<$")
    return escaped_text.replace(UP, r"$\uparrow$").replace(DOWN, r"$\downarrow$")


def as_json(paper_tables: Mapping[str, Any], *, with_paper: bool = True) -> str:
    """Write everything: intervals, numbers of items, sources, and the paper's numbers."""
    return json.dumps(paper_tables, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


WRITERS: dict[str, Callable[..., str]] = {"md": markdown, "tex": latex, "json": as_json}
