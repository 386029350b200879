"""What the tests of a method ask of it without saying so: every foil is another text, and chance is the seed's."""

import random
from types import SimpleNamespace
from typing import Any

import pytest

from foilworks.core.text.diff import Edit
from foilworks.core.text.registry import Entry
from generation.errors import GenerationError
from generation.methods.registry import METHODS
from generation.records import draft_from_edits
from tests.generation import making


def method(monkeypatch: pytest.MonkeyPatch, target: Any, named: str = "written") -> None:
    """A method `written` that replaces the first letter by what `target` gives."""

    def make(captions: Any, *, params: dict[str, Any], mode: str, seed: int) -> Any:
        for caption in captions:
            yield draft_from_edits(caption, [Edit(0, 1, target())], method=named, mode=mode)

    monkeypatch.setitem(METHODS, "written", Entry("Written", "written"))
    monkeypatch.setattr(making, "load", lambda entry: SimpleNamespace(make=make))


@pytest.mark.parametrize("ask", [making.drafts, making.over_seeds])
def test_a_method_that_breaks_its_contract_fails_in_its_own_test(monkeypatch: pytest.MonkeyPatch, ask: Any) -> None:
    method(monkeypatch, lambda: "b")
    assert ask("written", "a text")
    method(monkeypatch, lambda: "a")
    with pytest.raises(AssertionError, match="written: the foil is the caption; yield Skip instead"):
        ask("written", "a text")
    method(monkeypatch, lambda: str(random.random()))
    with pytest.raises(AssertionError, match="written: the same seed made something else"):
        ask("written", "a text")
    method(monkeypatch, lambda: "b", named="writen")
    with pytest.raises(GenerationError, match="returned a draft of 'writen'; write method='written'"):
        ask("written", "a text")
