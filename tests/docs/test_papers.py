"""The walks through papers name recipes that are there, and none is left out of them."""

import re

from generation.recipes import RECIPES
from scripts.doc_pages import DOCS

TEXT = "".join(path.read_text(encoding="utf-8") for path in sorted((DOCS / "papers").glob("*.md")))
VILMA = (DOCS / "papers/vilma.md").read_text(encoding="utf-8")
# Formats, protocols and files begin like a recipe.
OTHERS = {"vilma-2024-paper", "vilma-2024-code"}


def test_every_recipe_of_a_walk_exists_and_every_recipe_has_a_walk() -> None:
    named = set(re.findall(r"`((?:vilma|contrast|feint6k)-[a-z0-9-]+)`", TEXT)) - OTHERS
    assert named == {slug for slug, recipe in RECIPES.items() if recipe.source}


def test_the_contrast_set_walk_says_how_items_get_five_candidates() -> None:
    walk = " ".join((DOCS / "papers/contrast-sets.md").read_text(encoding="utf-8").split())
    assert "two candidates, and chance is 50 %" in walk
    assert "foilworks compose --project mine --subtest gender --random random" in walk


def test_numbers_of_vilma_that_are_called_contradictory_cannot_all_be_right() -> None:
    section = VILMA.partition("## Contradictions in the paper")[2].partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.split("\n")
        if line.startswith("| Table")
    ]
    checked = set()
    for place, printed, against in rows:
        ours, theirs = numbers(printed), numbers(against)
        if place.endswith("action"):
            assert round(100 * 314 / 624, 2) == theirs[-1] != ours[0]
        elif "UniVL" in place or "VIOLET" in place:
            # The mean of two subtests lies between them.
            assert all(not low <= mean <= high for mean, (low, high) in zip(ours, pairs(theirs), strict=True))
        elif "cannot exceed" in against:
            assert ours[0] > theirs[0]
        elif "leave at least" in against:
            assert ours[0] < round(theirs[0] + theirs[1] - 100, 2) == theirs[2]
        elif "Merlot" in place:
            assert not min(theirs[:2]) <= ours[0] <= max(theirs[:2])
        elif "spatial" in place:
            of_tables_7_to_9, rare = [28.0, 31.9, 33.5], 14.1
            assert round(sum((*of_tables_7_to_9, rare, theirs[2])) / 5, 1) == theirs[3] != theirs[4]
        else:
            continue
        checked.add(place)
    assert len(checked) == 12
    assert sum((312, 154, 281, 21, 44)) == 812


def numbers(text: str) -> list[float]:
    """The numbers of a cell, but for those of tables."""
    return [float(found) for found in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", re.sub(r"Tables? \d+", "", text))]


def pairs(values: list[float]) -> list[tuple[float, float]]:
    return [(min(two), max(two)) for two in zip(values[::2], values[1::2], strict=True)]
