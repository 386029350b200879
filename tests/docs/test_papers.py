"""The walks through papers name recipes that are there, and none is left out of them."""

import re
from dataclasses import fields

from corpus.records import ItemRecord
from generation.recipes import RECIPES
from tests.docs.pages import DOCS

TEXT = "".join(path.read_text(encoding="utf-8") for path in sorted((DOCS / "papers").glob("*.md")))
# Formats, protocols and files begin like a recipe.
OTHERS = {"vilma-2024-paper", "vilma-2024-code"}


def test_every_recipe_of_a_walk_exists_and_every_recipe_has_a_walk() -> None:
    named = set(re.findall(r"`((?:vilma|contrast|feint6k)-[a-z0-9-]+)`", TEXT)) - OTHERS
    assert named == set(RECIPES)


def test_the_contrast_set_walk_states_the_candidates_of_its_items() -> None:
    walk = " ".join((DOCS / "papers/contrast-sets.md").read_text(encoding="utf-8").split())
    # The paper's other three candidates are those of the Random item, which no record names.
    assert "parent" not in {each.name for each in fields(ItemRecord)}
    assert "parent" not in walk
    assert "two candidates, chance 50 %" in walk
