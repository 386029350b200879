"""Recipes: how each published subtest is made, as one name for a method, its parameters and its filters.

A recipe is versioned: what it stands for changes only with its version. Runs store what they were started with, not
the recipe's name alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from generation.errors import GenerationError

TEMPLATES: Mapping[str, Mapping[str, Any]] = {"identical": {}, "duplicate": {}, "template_linter": {}}
SWAPS: Mapping[str, Mapping[str, Any]] = {"identical": {}, "duplicate": {}, "template_linter": {"punctuation": "free"}}


@dataclass(frozen=True)
class Recipe:
    """`captioner`: the maker whose captions the method expects, with its parameters; "" where people's captions do."""

    label: str
    version: str
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    filters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    captioner: str = ""
    captioner_params: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""


def _state(subtest: str, label: str) -> Recipe:
    return Recipe(
        f"ViLMA change of state: {label}", "1", "state_change", {"subtest": subtest}, TEMPLATES,
        "cos_caption", {"template": subtest}, "ViLMA 3.4, C.4",
    )  # fmt: skip


RECIPES: dict[str, Recipe] = {
    "vilma-counting-easy": Recipe(
        "ViLMA counting, easy", "1", "number", {"split": "easy", "max": 10}, TEMPLATES,
        "count_template", {"max": 10}, "ViLMA 3.2, C.2",
    ),
    "vilma-counting-difficult": Recipe(
        "ViLMA counting, difficult", "1", "number", {"split": "difficult", "max": 10}, TEMPLATES,
        "count_template", {"max": 10}, "ViLMA 3.2, C.2",
    ),
    "vilma-spatial": Recipe(
        "ViLMA spatial relations (no model: unranked)", "1", "preposition", {"top": 10}, TEMPLATES,
        source="ViLMA 3.6, C.6",
    ),
    "vilma-actor-swap": Recipe(
        "ViLMA situation awareness: actor swapping", "1", "actor_swap", {}, SWAPS, source="ViLMA 3.3, C.3"
    ),
    "vilma-state-action": _state("action", "action"),
    "vilma-state-pre": _state("pre_state", "pre-state"),
    "vilma-state-post": _state("post_state", "post-state"),
    "vilma-state-reverse": _state("reverse", "reverse"),
    "vilma-rare-existence": Recipe(
        "ViLMA rare actions: proficiency", "1", "existence", {}, TEMPLATES, "existence_caption", {}, "ViLMA C.5"
    ),
    "contrast-gender": Recipe("Contrast sets: Gender MC", "1", "gender_swap", {}, SWAPS, source="contrast sets A.1"),
    "contrast-identity": Recipe("Contrast sets: ID MC", "1", "identity_swap", {}, SWAPS, source="contrast sets A.2"),
    "contrast-random": Recipe(
        "Contrast sets: Random MC", "1", "random_caption", {"foils": 4}, {"identical": {}, "duplicate": {}},
        source="contrast sets D.1, D.2",
    ),
    "contrast-verb-person": Recipe("Contrast sets: VerbH", "1", "person", {"foils": 0}, source="contrast sets 3.2"),
    "feint6k-person": Recipe(
        "Feint6K: written by people", "1", "person", {"foils": 5},
        {"identical": {}, "duplicate": {}, "minimal_edit": {}}, source="Feint6K 3",
    ),
}  # fmt: skip


def find_recipe(slug: str) -> Recipe:
    """The recipe of a name; GenerationError lists the names there are."""
    if slug not in RECIPES:
        raise GenerationError(f"there is no recipe '{slug}'; choose one of: {', '.join(sorted(RECIPES))}")
    return RECIPES[slug]
