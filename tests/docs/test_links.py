"""Every link of the documentation leads somewhere: to a page, a file, a heading."""

import os
from functools import cache
from pathlib import Path

from scripts.doc_pages import ROOT, anchors, links, name_of, pages
from tests.rows import for_each

ELSEWHERE = ("http://", "https://", "mailto:")


@cache
def anchors_of(path: Path) -> set[str]:
    return anchors(path.read_text(encoding="utf-8"))


@for_each("path", pages())
def test_every_link_has_a_target(path: Path) -> None:
    broken = []
    for link in links(path.read_text(encoding="utf-8")):
        if link.startswith(ELSEWHERE):
            continue
        target, _, anchor = link.partition("#")
        led = Path(os.path.normpath(path.parent / target)) if target else path
        if not led.exists() or ROOT not in (led, *led.parents):
            broken.append(f"{link}: there is no {target}")
        elif anchor and (led.suffix != ".md" or anchor not in anchors_of(led)):
            broken.append(f"{link}: {name_of(led)} has no heading of that name")
    assert not broken, f"{name_of(path)}: " + "; ".join(broken)


def test_anchors_match_those_of_repository_hosts() -> None:
    page = "# A b\n## What `foilworks up` does: P+T, and more\n## A b\n```\n# no heading\n```\n### [x](y) é_1-2\n"
    assert anchors(page) == {"a-b", "a-b-1", "what-foilworks-up-does-pt-and-more", "x-é_1-2"}


def test_links_in_code_are_ignored() -> None:
    assert list(links("[a](b.md) `[c](d.md)`\n```\n[e](f.md)\n```\n![g](h.svg)")) == ["b.md", "h.svg"]
