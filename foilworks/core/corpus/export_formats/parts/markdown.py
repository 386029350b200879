"""Escape people's text for Markdown and citations: it cannot end its element or start another one."""

import re
from typing import Any

# What BibTeX would read as more than a letter.
LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def cell(value: Any) -> str:
    """One line that can neither end its table cell nor start anything of its own in Markdown or HTML."""
    text = " ".join(str(value).split())
    for char, safe in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("`", "\\`")):
        text = text.replace(char, safe)
    return text


def link_safe(value: Any) -> str:
    """One line without links, pictures or emphasis as well: what a stranger wrote is shown as it was typed."""
    text = cell(value)
    for char in "[]*_!":
        text = text.replace(char, f"\\{char}")
    return text


def prose(text: str) -> list[str]:
    """What a person answered, as a quotation, line by line."""
    lines = [line.strip() for line in text.strip().splitlines()]
    return [f"> {link_safe(line)}" if line else ">" for line in lines]


def line(text: str) -> str:
    """One line, without the marks that turn the direction of what follows them."""
    return " ".join(_TURNS.sub("", text).split())


def latex(text: str) -> str:
    """One line for BibTeX."""
    return "".join(LATEX.get(char, char) for char in line(text))


def web(address: str) -> str:
    """The address, or "" if programs that read citations could misread it."""
    return address if re.fullmatch(r"https?://[^\s\"{}\\<>]+", address) else ""
