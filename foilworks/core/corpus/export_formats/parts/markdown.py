"""Escape people's text for Markdown: it cannot end its element or start another one."""

from collections.abc import Iterable, Sequence
from typing import Any


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


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(cell(each) for each in line) + " |" for line in lines]


def prose(text: str) -> list[str]:
    """What a person answered, as a quotation, line by line."""
    lines = [line.strip() for line in text.strip().splitlines()]
    return [f"> {link_safe(line)}" if line else ">" for line in lines]
