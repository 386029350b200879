"""Write a table of a page, header first, as LaTeX (booktabs) or Markdown: rounded numbers, escaped names."""

import re
from collections.abc import Callable, Sequence
from typing import Any

Rows = Sequence[Sequence[Any]]
DASH = "--"
DIGITS = 3
NUMBER = re.compile(r"[-+]?\d")


def markdown(rows: Rows) -> str:
    """Write a pipe table; pipes in names are escaped."""
    header, *body = rows
    right = _numeric(header, body)
    lines = [_piped(header), "|" + "|".join("--:" if number else "---" for number in right) + "|"]
    return "\n".join([*lines, *map(_piped, body), ""])


def _piped(row: Sequence[Any]) -> str:
    cells = (_cell(value).replace("\\", "\\\\").replace("|", "\\|") for value in row)
    return "| " + " | ".join(cells) + " |"


def latex(rows: Rows) -> str:
    """Write a `tabular` for the booktabs package."""
    header, *body = rows
    columns = "".join("r" if number else "l" for number in _numeric(header, body))
    lines = [f"\\begin{{tabular}}{{{columns}}}", "\\toprule", _tex(header), "\\midrule", *map(_tex, body)]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def _tex(row: Sequence[Any]) -> str:
    return " & ".join(escaped(_cell(value)) for value in row) + r" \\"


def _numeric(header: Sequence[Any], body: Rows) -> list[bool]:
    """Return the columns with only numbers, with or without unit; they are right-aligned."""
    return [
        any(row[k] is not None for row in body) and all(_is_number(row[k]) or row[k] is None for row in body)
        for k in range(len(header))
    ]


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return NUMBER.match(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if value is None or value == "":
        return DASH
    return f"{value:.{DIGITS}f}" if isinstance(value, float) else " ".join(str(value).split())


# extension -> (content type, writer)
WRITERS: dict[str, tuple[str, Callable[[Rows], str]]] = {
    "md": ("text/markdown", markdown),
    "tex": ("application/x-tex", latex),
}


LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def escaped(text: str) -> str:
    """Escape plain text for LaTeX."""
    return "".join(LATEX.get(char, char) for char in text)
