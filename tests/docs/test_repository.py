"""What a repository says of itself: licence, version, how to cite it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from foilworks import __version__
from scripts.doc_pages import DOCS, ROOT

CITATION = ROOT / "CITATION.cff"


def test_the_citation_is_valid() -> None:
    program = Path(sys.executable).with_name("check-jsonschema")
    # The schema of CFF 1.2.0 comes with the program: nothing is downloaded.
    command = [program, "--builtin-schema", "vendor.citation-file-format", CITATION]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_citation_names_this_version_and_the_papers_of_the_walks() -> None:
    cited = pytest.importorskip("yaml").safe_load(CITATION.read_text(encoding="utf-8"))
    index = (DOCS / "papers" / "index.md").read_text(encoding="utf-8")
    walks = re.findall(r"^\| .+ \| (\w.+?) et al\., \*(.+?)\*, (\w+ \d{4}) \| \[list\]", index, re.MULTILINE)
    assert cited["version"] == __version__
    assert [
        (paper["authors"][0]["family-names"], paper["title"], paper["conference"]["name"])
        for paper in cited["references"]
    ] == walks
    assert len(walks) == 5


def test_the_licence_matches_the_declared_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert (project["license"], project["license-files"]) == ("Apache-2.0", ["LICENSE"])
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_the_supported_version_is_this_one() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| ([\d.]+) \(latest minor version\) \| yes \|$", text, re.MULTILINE) == [
        __version__.rpartition(".")[0]
    ]
