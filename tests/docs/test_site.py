"""The site is built without a warning, and neither page nor script of it asks anybody else for anything."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS

pytestmark = pytest.mark.slow(seconds=12)
# What a browser fetches by itself; links that people may follow are theirs to follow.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc=["'](?:https?:)?//|<link[^>]*\shref=["'](?:https?:)?//"""
)
ASKED = re.compile(r"""@import|url\(["']?(?:https?:)?//""")


def test_the_site_is_complete_and_needs_no_network(tmp_path: Path) -> None:
    folders = [str(DOCS), str(tmp_path / "site"), "-d", str(tmp_path / "trees")]
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", *folders]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 50
    assert not [page.name for page in pages if FETCHED.search(page.read_text(encoding="utf-8"))]
    styles = (tmp_path / "site").rglob("*.css")
    assert not [style.name for style in styles if ASKED.search(style.read_text(encoding="utf-8"))]
    assert (tmp_path / "site" / "searchindex.js").stat().st_size > 10_000
