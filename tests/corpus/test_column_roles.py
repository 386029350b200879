"""Which column is what, in tables of many header styles: values, then names; a person decides what is not sure."""

import json
from pathlib import Path
from typing import Any

import pytest

from foilworks.core.corpus.import_formats.parsing.column_roles import SURE, roles_of, unsure

STYLES = json.loads((Path(__file__).parent / "tables" / "header_styles.json").read_text(encoding="utf-8"))


def nested_row(names: list[str], cells: list[Any]) -> dict[str, Any]:
    """Return a row; of names with dots, the cells are inside objects, and those with numbers inside lists."""
    row: dict[str, Any] = {}
    for name, cell in zip(names, cells, strict=True):
        *groups, last = name.split(".") if not name.endswith(".") and " " not in name else [name]
        if not last:
            groups, last = [], name
        inner: Any = row
        for index, group in enumerate(groups):
            is_last = index == len(groups) - 1
            inner = inner.setdefault(group, [] if is_last and last.isdigit() else {})
        if isinstance(inner, list):
            inner += [cell] if cell else []
        else:
            inner[last] = cell
    return row


def table_of(style: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    """Return the rows of a style, and its roles with their columns."""
    kind = STYLES["kinds"][style["kind"]]
    order = style.get("order") or range(len(style["names"]))
    names = [style["names"][index] for index in order]
    rows = [nested_row(names, [cells[index] for index in order]) for cells in kind["rows"]]
    roles: dict[str, list[str]] = {}
    for role, name in zip(kind["roles"], style["names"], strict=True):
        roles.setdefault(role, []).append(name)
    return rows, roles


@pytest.mark.parametrize("style", STYLES["styles"], ids=lambda style: f"{style['style']}-{'-'.join(style['names'])}")
def test_each_header_style_is_read_or_asks_for_one_role(style):
    rows, roles = table_of(style)
    guesses = roles_of(rows)
    assert sorted(unsure(guesses)) == style.get("asks", [])
    if "asks" not in style:
        sure = {role: sorted(guess.columns) for role, guess in guesses.items() if guess.confidence >= SURE}
        clip = "video" if "video" in roles else "source_id"
        sure_clip = sure.get("video") or sure.get("source_id")
        assert sure_clip == roles[clip]
        if "id" in roles and roles["id"] != ["#"]:
            assert sure.get("id") == roles["id"]
        texts = ("caption", "foils", "question", "candidates", "answer", "start_time", "end_time")
        for role in texts:
            expected = [] if role == "foils" and "annotation.foils.0" in roles.get(role, []) else roles.get(role, [])
            if expected or role != "foils":
                assert sure.get(role, []) == sorted(expected), role


@pytest.mark.parametrize("style", STYLES["styles"], ids=lambda style: f"{style['style']}-{'-'.join(style['names'])}")
def test_a_false_text_is_never_the_caption(style):
    rows, roles = table_of(style)
    caption = roles_of(rows).get("caption")
    if caption and caption.confidence >= SURE:
        assert not {*caption.columns} & {*roles["foils"]}
