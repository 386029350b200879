"""The walks through papers name recipes that are there, and none is left out of them."""

import re

from generation.recipes import RECIPES
from tests.docs.pages import DOCS

TEXT = "".join(path.read_text(encoding="utf-8") for path in sorted((DOCS / "papers").glob("*.md")))
# Formats, protocols and files begin like a recipe.
OTHERS = {"vilma-2024-paper", "vilma-2024-code"}


def test_every_recipe_of_a_walk_exists_and_every_recipe_has_a_walk() -> None:
    named = set(re.findall(r"`((?:vilma|contrast|feint6k)-[a-z0-9-]+)`", TEXT)) - OTHERS
    assert named == set(RECIPES)


def test_the_contrast_set_walk_says_how_items_get_five_candidates() -> None:
    walk = " ".join((DOCS / "papers/contrast-sets.md").read_text(encoding="utf-8").split())
    assert "two candidates, and chance is 50 %" in walk
    assert "foilworks compose --project mine --subtest gender --random random" in walk
