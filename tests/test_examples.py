"""Property tests try the same examples in every run: what was green stays green until something is changed."""

import sys
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import PROFILE


def drawn() -> list[str]:
    seen = []

    @settings(max_examples=300, database=None)
    @given(st.text())
    def look(text):
        seen.append(text)

    look()
    return seen


@pytest.mark.skipif(PROFILE != "repeated", reason="a search is meant to find other examples")
def test_examples_do_not_depend_on_what_was_loaded_before(monkeypatch, tmp_path):
    before = drawn()
    source = tmp_path / "loaded_since.py"
    source.write_text(f"WORDS = {[f'seen {number}' for number in range(500)]}\n")
    loaded = ModuleType("loaded_since")
    loaded.__file__ = str(source)
    monkeypatch.setitem(sys.modules, "loaded_since", loaded)
    assert drawn() == before
