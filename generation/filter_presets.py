"""Named choices of filters for the form of a run: the defaults, the recipes of papers, a strict one without models."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from generation.default_filters import default_filters
from generation.recipes import RECIPES

Filters = Mapping[str, Mapping[str, Any]]

MINIMAL = ("identical", "duplicate")
# Rules only. Word lists and counts of the project's captions are left to whoever wants them.
STRICT = ("asserted", "contradiction", "template_linter", "other_captions", "has_verb")


class Preset(NamedTuple):
    """A named choice of filters with their parameters, in the order they run."""

    slug: str
    label: str
    filters: Filters


def presets_of(method: str, mode: str) -> list[Preset]:
    """Return the choices for a method, each set of filters once, under the first of its names."""
    presets: dict[str, Preset] = {}
    for preset in _all(method, mode):
        presets.setdefault(_content(preset.filters), preset)
    return list(presets.values())


def _content(filters: Filters) -> str:
    return repr(sorted((slug, sorted(params.items())) for slug, params in filters.items()))


def _all(method: str, mode: str) -> Iterator[Preset]:
    defaults: Filters = {slug: {} for slug in default_filters(method, mode)}
    yield Preset("default", _("Default"), defaults)
    yield Preset("minimal", _("Minimal"), {slug: {} for slug in MINIMAL})
    linter: Mapping[str, Any] = {}
    papers: set[str] = set()
    for slug, recipe in RECIPES.items():
        if recipe.method != method or not recipe.filters:
            continue
        linter = recipe.filters.get("template_linter", linter)
        paper = paper_of(recipe.source)
        # A paper's second choice of filters has the name of its subtest.
        yield Preset(slug, recipe.label if paper in papers or not paper else paper, recipe.filters_in(mode))
        papers.add(paper)
    strict = {**defaults, **{slug: {} for slug in STRICT}, "template_linter": linter}
    yield Preset("strict", _("Strict, without models"), strict)


def paper_of(source: str) -> str:
    """Return the paper of a recipe's source: "ViLMA" of "ViLMA, Secs. 3.2 and C.2"."""
    name = source.partition(",")[0]
    return name[:1].upper() + name[1:]


def papers_of(method: str) -> str:
    """Return the papers whose recipes use a method, or "" if none does."""
    papers = (paper_of(recipe.source) for recipe in RECIPES.values() if recipe.method == method and recipe.source)
    return ", ".join(dict.fromkeys(papers))
