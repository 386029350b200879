"""Apostrophes in cells of our tables: written before what a spreadsheet would run, and taken off by the reader."""

import json
from pathlib import Path

import pytest

from foilworks.core.corpus.rules.escaped_cells import ESCAPED, CellReader, escaped


def test_a_row_names_the_cells_that_got_an_apostrophe():
    row = escaped({"a": "=1+1", "b": "plain", "c": " outer", "n": 3, "d": None})
    assert row == {"a": "'=1+1", "b": "plain", "c": "' outer", "n": 3, "d": None, ESCAPED: "a c"}
    assert escaped({"b": "plain"}) == {"b": "plain", ESCAPED: ""}


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@a", " both ", "plain", "'=1", "''", "end "])
def test_a_row_is_read_as_it_was_before(tmp_path, text):
    reader = CellReader(tmp_path / "items.csv", ["id"])
    assert reader.read(escaped({"a": text})) == {"a": text}
    assert reader.kept_apostrophes == set()


def test_cells_of_others_keep_their_apostrophes_which_are_noted(tmp_path):
    reader = CellReader(tmp_path / "items.csv", ["id"])
    cells = {"id": " one ", "a": " two ", "b": "'=1", "c": "", "d": None, ESCAPED: None}
    assert reader.read(cells) == {"id": "one", "a": " two ", "b": "'=1"}
    assert reader.kept_apostrophes == {"b"}
    assert reader.read({"a": "x", "id": "  "}) == {"a": "x"}
    assert reader.kept_apostrophes == set()


@pytest.mark.parametrize(
    ("manifest", "read"),
    [
        ({"made_by": "foilworks", "files": {"items.csv": ""}}, "=1"),
        ({"made_by": "foilworks", "files": {"other.csv": ""}}, "'=1"),
        ({"made_by": "another", "files": {"items.csv": ""}}, "'=1"),
        (["foilworks"], "'=1"),
        ("no JSON", "'=1"),
    ],
)
def test_tables_of_0_1_are_known_by_the_manifest_beside_them(tmp_path: Path, manifest, read):
    text = manifest if manifest == "no JSON" else json.dumps(manifest)
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    reader = CellReader(tmp_path / "items.csv", ["id"])
    assert reader.is_of_0_1 is (read == "=1")
    assert reader.read({"a": "'=1", "b": "'plain"}) == {"a": read, "b": "'plain"}
