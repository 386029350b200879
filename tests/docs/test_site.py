"""The site is built without a warning, and neither page nor script of it asks anybody else for anything."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from scripts.doc_pages import DOCS

pytestmark = pytest.mark.slow(seconds=12)
# What a browser fetches by itself; links that people may follow are theirs to follow.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc=["'](?:https?:)?//|<link[^>]*\shref=["'](?:https?:)?//"""
)
ASKED = re.compile(r"""@import|url\(["']?(?:https?:)?//""")


def build(folder: Path, *options: str, pages: Sequence[Path] = ()) -> Sequence[Path]:
    """Write these pages, or all of them; return all that are there."""
    site = folder / "site"
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        "-d",
        folder / "trees",
        *options,
    ]
    done = subprocess.run([*command, DOCS, site, *pages], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (site / "searchindex.js").stat().st_size > 10_000
    return list(site.rglob("*.html"))


def assert_self_contained(pages: Sequence[Path], site: Path) -> None:
    assert not [page.name for page in pages if FETCHED.search(page.read_text(encoding="utf-8"))]
    assert not [style.name for style in site.rglob("*.css") if ASKED.search(style.read_text(encoding="utf-8"))]


@pytest.mark.full
def test_the_site_is_complete_and_needs_no_network(tmp_path: Path) -> None:
    """All pages in Sphinx's basic theme, then two in ours, which draws the menu of all pages again on each page."""
    pages = build(tmp_path, "-D", "html_theme=basic")
    assert len(pages) > 50
    assert_self_contained(pages, tmp_path / "site")
    ours = [DOCS / "index.md", DOCS / "testing.md"]
    build(tmp_path, pages=ours)
    pages = [tmp_path / "site" / f"{page.stem}.html" for page in ours]
    assert all("furo" in page.read_text(encoding="utf-8") for page in pages)
    assert_self_contained(pages, tmp_path / "site")


@pytest.mark.full
def test_every_page_of_the_site_is_drawn_in_its_own_theme(tmp_path: Path) -> None:
    pages = build(tmp_path)
    assert len(pages) > 50
    assert_self_contained(pages, tmp_path / "site")
