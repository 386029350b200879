"""How models are named, and that naming them costs no torch."""

import subprocess
import sys

import pytest

from foilworks.core.hub.adapters.fake import FakeEmbedder, FakeScorer
from foilworks.core.hub.catalogue.registry import ADAPTERS
from foilworks.core.hub.catalogue.specs import parse_spec
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.opening import open_adapter


@pytest.mark.parametrize(
    ("spec", "parsed"),
    [
        ("fake:", ("fake", "")),
        ("tiny:/models/a", ("tiny", "/models/a")),
        ("tiny:C:/models/a", ("tiny", "C:/models/a")),
        ("file:scores.jsonl", ("file", "scores.jsonl")),
        ("endpoint:lab/Org/Model?mode=pairs", ("endpoint", "lab/Org/Model?mode=pairs")),
    ],
)
def test_a_spec_is_a_slug_and_an_argument(spec: str, parsed: tuple[str, str]) -> None:
    assert parse_spec(spec) == parsed


@pytest.mark.parametrize("spec", ["", "fake", "clop:x", ":x", "Tiny:/a"])
def test_an_invalid_spec_lists_the_valid_ones(spec: str) -> None:
    known = ", ".join(f"{slug}:…" for slug in (*sorted(ADAPTERS), "endpoint", "file"))
    with pytest.raises(HubError, match=rf"'{spec}' names no model; .* one of: {known}"):
        parse_spec(spec)


def test_a_score_file_is_parsed_but_not_opened_as_a_model() -> None:
    with pytest.raises(HubError, match="names no score file; write file:PATH"):
        parse_spec("file:")
    with pytest.raises(HubError, match="a score file, not a model"):
        open_adapter("file:scores.jsonl")


def test_fakes_by_argument() -> None:
    assert isinstance(open_adapter("fake:"), FakeEmbedder)
    assert open_adapter("fake:7").seed == 7
    assert isinstance(open_adapter("fake:text"), FakeScorer)
    with pytest.raises(HubError, match="write fake:, fake:SEED"):
        open_adapter("fake:seven")


def test_neither_the_table_nor_the_fake_imports_torch() -> None:
    code = (
        "import sys, foilworks.core.hub.opening as opening, foilworks.core.hub.adapters.fake;"
        "opening.open_adapter('fake:'); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
