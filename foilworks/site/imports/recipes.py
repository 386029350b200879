"""Recipes of tables: those that come with Foilworks, and those that a project saved.

A saved recipe is the mapping of an import that somebody gave a name; of several with one name the newest counts.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.utils import timezone

from foilworks.core.corpus.import_formats.parsing.table_recipe import RecipeError, load_recipe, nearest, shipped
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted
from foilworks.site.imports.batch import ImportResult
from foilworks.site.imports.models import Import

TABLE = "table"
MAX_NAME = 60
# Imports that are searched for names, the newest first.
_SEARCHED = 500


def saved_recipes(project: Project) -> dict[str, Mapping[str, Any]]:
    """Name -> document of the project's saved recipes."""
    if project.pk is None:
        return {}
    uploads = Import.objects.filter(project=project, format=TABLE, params__mapping__has_key="name")
    newest = uploads.order_by("-pk").values_list("params", flat=True)[:_SEARCHED]
    recipe_by_name: dict[str, Mapping[str, Any]] = {}
    for params in newest:
        recipe_by_name.setdefault(params["mapping"]["name"], params["mapping"])
    return dict(sorted(recipe_by_name.items()))


def find_recipe(project: Project, name: str) -> dict[str, Any]:
    """The recipe of the project, of Foilworks, or of a file. RecipeError: there is none."""
    recipes = {**shipped(), **saved_recipes(project)}
    if name in recipes:
        return dict(recipes[name])
    if Path(name).suffix in {".toml", ".json"}:
        return load_recipe(Path(name))
    raise RecipeError(f"recipe: there is no recipe {quoted(name)}; {nearest(name, recipes)}")


def save_recipe(project: Project, document: Mapping[str, Any], path: Path, result: ImportResult) -> None:
    """List an import of the command line with its named recipe, so that the project has it."""
    Import.objects.create(
        project=project,
        format=TABLE,
        params={"mapping": dict(document)},
        file_name=path.name[:200],
        confirmed_at=timezone.now(),
        result=result.as_json(),
    )
