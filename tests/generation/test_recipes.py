"""Recipes: every one names what there is, with parameters that it takes, and makes foils."""

import pytest

from generation import pipeline
from generation.captioning.records import MadeCaption
from generation.captioning.table import CAPTIONERS
from generation.errors import GenerationError
from generation.filters.table import FILTERS
from generation.methods.table import METHODS
from generation.recipes import RECIPES, find_recipe
from generation.records import CaptionInput
from text.registry import load, parse_params

CAST = [{"name": "Ann", "gender": "f"}, {"name": "Eve", "gender": "f"}]
# What a source looks like, and the foil that its recipe makes of it.
SOURCES = {
    "vilma-counting-easy": [("he does exactly <number> jumps.", {"count": n}) for n in (2, 7)],
    "vilma-counting-difficult": [("he does exactly <number> jumps.", {"count": n}) for n in (2, 7)],
    "vilma-spatial": [("a cup on a table", {})],
    "vilma-actor-swap": [("a dog chases a cat.", {})],
    "vilma-state-action": [("a man folds a shirt", {})],
    "vilma-state-pre": [("a man folds a shirt", {})],
    "vilma-state-post": [("a man folds a shirt", {})],
    "vilma-state-reverse": [("a man folds a shirt", {})],
    "vilma-rare-existence": [("washing some fridges", {}), ("cutting a book", {})],
    "contrast-gender": [("a woman pushes her stroller", {})],
    "contrast-identity": [("Ann smiles", {"characters": CAST})],
    "contrast-random": [(f"caption {n}", {}) for n in range(9)],
    "contrast-verb-person": [("a man runs", {})],
    "feint6k-person": [("a man runs", {})],
}


def test_every_recipe_is_tried_here():
    assert set(SOURCES) == set(RECIPES)


@pytest.mark.parametrize("slug", sorted(RECIPES))
def test_a_recipe_runs_from_its_sources_to_foils_that_pass(slug):
    recipe = find_recipe(slug)
    captions = [CaptionInput(f"c{n}", text, f"v{n}", facts=facts) for n, (text, facts) in enumerate(SOURCES[slug])]
    if recipe.captioner:
        entry = CAPTIONERS[recipe.captioner]
        params = parse_params(entry, recipe.captioner_params)
        made = list(load(entry).make(captions, params=params, mode="corrected", seed=0))
        assert all(isinstance(one, MadeCaption) for one in made)
        captions = [CaptionInput(f"m{n}", one.text, f"v{n}", facts=one.facts) for n, one in enumerate(made)]
    entry = METHODS[recipe.method]
    method = pipeline.Step(recipe.method, load(entry), parse_params(entry, recipe.params))
    filters = [
        pipeline.Step(name, load(FILTERS[name]), parse_params(FILTERS[name], params))
        for name, params in recipe.filters.items()
    ]
    state = pipeline.prepare(method, captions, mode="corrected", seed=0)
    outcomes = list(pipeline.run(method, captions, filters=filters, mode="corrected", seed=0, state=state))
    passed = [judged for one in outcomes for judged in one.foils if not judged.rejected_by]
    assert passed or any(one.blanks for one in outcomes)
    assert recipe.version
    assert recipe.label


def test_an_unknown_recipe_is_named_with_those_there_are():
    with pytest.raises(GenerationError, match="choose one of: contrast-gender"):
        find_recipe("nothing")
