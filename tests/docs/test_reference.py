"""The reference says what the code says; the formulas of the docs are those that the code computes."""

import importlib.util
import re
import sys

import pytest

from scripts.doc_pages import DOCS, ROOT

_spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
assert _spec is not None
assert _spec.loader is not None
reference = importlib.util.module_from_spec(_spec)
with pytest.MonkeyPatch.context() as patch:
    # As for the program, whose folder is the first place in which its parts are looked for.
    patch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    _spec.loader.exec_module(reference)


@pytest.mark.parametrize("name", sorted(reference.PAGES))
def test_the_reference_matches_the_code(name: str) -> None:
    written = (DOCS / "reference" / name).read_text(encoding="utf-8")
    assert written == reference.PAGES[name](), "run .venv/bin/python scripts/reference.py update"


def test_no_cell_breaks_its_table() -> None:
    assert reference.table(["a", "b"], [("x|y", "one\ntwo")]) == "| a | b |\n|---|---|\n| x\\|y | one two |\n"


def test_every_command_has_its_part() -> None:
    from foilworks.site.cli import own_commands

    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert [line[3:] for line in page.split("\n") if line.startswith("## ")] == own_commands()


def test_the_workflow_page_names_every_move() -> None:
    from foilworks.core.corpus.rules.states import CANDIDATE_MOVES, ITEM_MOVES

    page = (DOCS / "workflow.md").read_text(encoding="utf-8").partition("## States")[2]
    assert not [move for move in (*CANDIDATE_MOVES, *ITEM_MOVES) if move not in page]


def test_the_page_of_models_describes_every_adapter() -> None:
    """docs/reference/scoring.md lists every adapter; docs/reference/models.md has a row for those that need more."""
    from foilworks.core.hub.catalogue.registry import ADAPTERS, ENDPOINT

    page = (DOCS / "reference" / "models.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.MULTILINE)
    assert len(rows) >= 10
    assert set(rows) <= {*ADAPTERS, ENDPOINT}


def test_only_named_pages_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert reference.main(["check", "methods.md", "scoring.md"]) == 0
    assert reference.main(["check", "no.md"]) == reference.main(["update", "methods.md"]) == 2


def test_every_format_has_its_part() -> None:
    from foilworks.core.corpus.export_formats.registry import EXPORTERS
    from foilworks.core.corpus.import_formats.registry import IMPORTERS

    page = (DOCS / "reference" / "formats.md").read_text(encoding="utf-8")
    heads = " ".join(line for line in page.split("\n") if line.startswith("## "))
    for way, table in (("Import", IMPORTERS), ("Export", EXPORTERS)):
        parts = " ".join(part for part in heads.split("## ") if part.startswith(way))
        assert not [slug for slug in table if f"`{slug}`" not in parts], way
