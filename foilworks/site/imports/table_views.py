"""Say on the page what each column of a table is, with the records that follow from it."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.import_formats.parsing.table_recipe import shipped
from foilworks.core.corpus.import_formats.parsing.table_sample import Previewed, fitting, preview_rows
from foilworks.core.projects.access import enter_project
from foilworks.site.imports.access import get_import
from foilworks.site.imports.actions.map_columns import map_columns
from foilworks.site.imports.models import Import
from foilworks.site.imports.recipes import saved_recipes
from foilworks.site.imports.table_forms import TableForm, is_expressible


@require_http_methods(["GET", "HEAD", "POST"])
def columns(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the columns and the first records; the button "use" stores the recipe."""
    upload = enter_project(request, get_import(request.user, slug, pk))
    if upload.confirmed_at or upload.discarded_at or "table" not in (upload.preview or {}):
        return redirect("imports:import", slug, pk)
    sample = upload.preview["table"]
    recipes = {**shipped(), **saved_recipes(upload.project)}
    query = request.POST if request.method == "POST" else request.GET
    recipe = recipes.get(query.get("recipe", ""))
    form = _form(request, upload, sample, recipe)
    document = _document(form, recipe, sample["records"])
    problem, previewed = _preview(document, sample["rows"], upload)
    problem = _unmapped(form, document) or problem
    if "use" in request.POST and not problem and document is not None:
        map_columns(request.user, upload, document)
        return redirect("imports:import", slug, pk)
    context = {
        "upload": upload,
        "form": form,
        "recipe": recipe,
        "recipe_name": query.get("recipe", "") if recipe else "",
        "recipes": [(name, document.get("title") or name) for name, document in recipes.items()],
        "fitting": [(name, recipes[name].get("title") or name) for name in fitting(recipes, sample["rows"])],
        "records_path": sample["records"],
        "previewed": previewed,
        "problem": problem,
        "n_rows": len(sample["rows"]),
    }
    return render(request, "evaluation/map_columns.html", context, status=422 if "use" in request.POST else 200)


def _form(
    request: HttpRequest, upload: Import, sample: Mapping[str, Any], recipe: Mapping[str, Any] | None
) -> TableForm | None:
    """None for a recipe that the menus cannot show: it is used as it is."""
    rows, video_names = sample["rows"], sample.get("video_names", ())  # A preview of an earlier version has no names.
    if recipe is not None and not is_expressible(recipe):
        return None
    if chosen := request.POST.get("caption_is", ""):
        explode = request.POST.get("explode", "")
        return TableForm(rows=rows, explode=explode, video_names=video_names, known={"caption": [chosen]})
    if request.method == "POST" and request.POST.get("exploded", "") == request.POST.get("explode", ""):
        return TableForm(request.POST, rows=rows)
    if request.method == "POST":
        return TableForm(rows=rows, explode=request.POST.get("explode", ""), video_names=video_names)
    stored_mapping = upload.params.get("mapping") or {}
    initial = recipe or (stored_mapping if is_expressible(stored_mapping) else None)
    return TableForm(rows=rows, initial=initial, video_names=video_names)


def _document(form: TableForm | None, recipe: Mapping[str, Any] | None, records: str) -> dict[str, Any] | None:
    if form is None:
        return dict(recipe or {})
    if not form.is_bound:
        return {"records": records, **form.guessed}
    return {**form.document(), "records": records} if form.is_valid() else None


def _unmapped(form: TableForm | None, document: Mapping[str, Any] | None) -> str:
    """Return which menu to fill in first, in the words of the page; empty if caption and clip are chosen."""
    columns = (document or {}).get("columns", {}).keys()
    if form is None or document is None:
        return ""
    if not columns & {"caption", "candidates", "class_label"}:
        return _("Choose the column with the caption. For videos without captions, choose the class.")
    return (
        "" if columns & {"video", "url", "source_id"} else _("Choose the column with the video file or the video id.")
    )


def _preview(document: Mapping[str, Any] | None, rows: Any, upload: Import) -> tuple[str, list[Previewed]]:
    if document is None:
        return "", []
    try:
        subtest = upload.params.get("subtest") or PurePath(upload.file_name).stem
        return "", preview_rows(document, rows, subtest)
    except (CorpusError, ProblemError) as error:
        return str(error), []
