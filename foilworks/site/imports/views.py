"""Import on the page: upload files, preview the changes, show the result and each problem with its line."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from foilworks.core.corpus.import_formats.parsing.examples import EXAMPLES
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.models import Video
from foilworks.core.corpus.video_files.ingest import SUFFIXES
from foilworks.core.projects.access import enter_project, get_project
from foilworks.core.projects.live_pages import render_live
from foilworks.core.projects.models import Role
from foilworks.site.imports.access import get_import
from foilworks.site.imports.actions.confirm_import import confirm_import, discard_import
from foilworks.site.imports.actions.receive_import import receive_import
from foilworks.site.imports.actions.undo_import import request_undo, started_of
from foilworks.site.imports.declarations import FILE_PARTS
from foilworks.site.imports.file_parts import ArrivingFile, arrived_files
from foilworks.site.imports.forms import BY_NAME, RECORD_ENDINGS, ImportForm, format_groups
from foilworks.site.imports.models import Import
from foilworks.site.imports.object_parts import takes_parts
from foilworks.site.imports.table_forms import CHOICE, CLIP, MAIN, MORE
from foilworks.site.imports.uploads import strip_path

# Limit of listed rows; the command line lists all.
MAX_LINES = 300


_PLACE = re.compile(r"(?P<path>.*?):(?P<line>\d+): (?P<field>.+?): (?P<text>.*)", re.DOTALL)


_WORDS: dict[str, str | Promise] = {
    "items": _("Items"),
    "captions": _("Captions for foil generation"),
    "proficiency_items": _("Proficiency items"),
    "videos": _("Clips"),
    "subtests": _("Subtests"),
    "foils": _("Foils"),
    "votes": _("Votes"),
}


class Line(NamedTuple):
    """`kind` is errors or warnings."""

    kind: str
    line: str
    field: str
    text: str


def counted(outcome: Mapping[str, Any]) -> list[tuple[str | Promise, int, int]]:
    """Return (label, new, already stored) for kinds that occur."""
    created, unchanged = outcome.get("created", {}), outcome.get("unchanged", {})
    rows = [(label, created.get(kind, 0), unchanged.get(kind, 0)) for kind, label in _WORDS.items()]
    return [row for row in rows if row[1] or row[2]]


def takes_none(outcome: Mapping[str, Any]) -> bool:
    """Report whether records were uploaded and all of them are bad."""
    return bool(outcome.get("errors")) and not any(outcome.get(kind) for kind in ("new", "same", "changed"))


def lines(outcome: Mapping[str, Any], kind: str) -> list[Line]:
    """Return the problems of a kind, split into line, field and text."""
    lines_of_kind = []
    for message in outcome.get(kind, [])[:MAX_LINES]:
        match = _PLACE.fullmatch(message)
        fields = (match["line"], match["field"], match["text"]) if match else ("", "", message)
        lines_of_kind.append(Line(kind, *fields))
    return lines_of_kind


class Change(NamedTuple):
    """A field of a record that differs from its stored value; `stored` and `file_value` are texts."""

    line: str
    id: str
    field: str
    stored: str
    file_value: str
    updated: bool


def changes(outcome: Mapping[str, Any]) -> list[Change]:
    """Return the differences between the file and the stored values, field by field."""
    rows = [
        Change(
            change["record"].rpartition(":")[2],
            change["id"],
            name,
            _text(values["stored"]),
            _text(values["file"]),
            change["updated"],
        )
        for change in outcome.get("changes", [])[:MAX_LINES]
        for name, values in change["fields"].items()
    ]
    return rows[:MAX_LINES]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "–" if value is None else json.dumps(value, ensure_ascii=False)


MAX_LISTED = 30


@require_http_methods(["GET", "HEAD", "POST"])
def new_import(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    is_posted = request.method == "POST"
    form = ImportForm()
    with arrived_files(request.user, project, request.POST.get("arrived", "")) as arrived:
        if is_posted:
            files = request.FILES.copy()
            files.setlist("videos", [*files.getlist("videos"), *arrived])
            form = ImportForm(request.POST, files, asks_for_columns=True)
        if is_posted and form.is_valid():
            upload = receive_import(request.user, project, **form.parameters())
            for file in arrived:
                # The worker removes objects when it has fetched them.
                if isinstance(file, ArrivingFile):
                    file.remove()
            return redirect("imports:import", slug, upload.pk)
    earlier = Import.objects.filter(project=project).select_related("job", "created_by")[:MAX_LISTED]
    # The note below the format is fetched again from this page: htmx sends the field by its name.
    format_slug = (request.POST if is_posted else request.GET).get("format")
    if form.fields["format"].valid_value(format_slug):
        form.initial["format"] = format_slug
    swap = {"hx-get": request.path, "hx-target": "#format-note", "hx-select": "#format-note", "hx-swap": "outerHTML"}
    form.fields["format"].widget.attrs.update(swap)
    context = {
        "form": form,
        "imports": earlier,
        "formats": IMPORTERS,
        "examples": EXAMPLES,
        "format_groups": format_groups(),
        "chosen": form.initial.get("format", BY_NAME),
        "record_endings": RECORD_ENDINGS,
        "parts": FILE_PARTS,
        "video_endings": SUFFIXES[1:],
        "to_store": takes_parts(),
    }
    return render(request, "evaluation/new_import.html", context, status=422 if is_posted else 200)


@require_safe
def import_page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    context = _context(request, slug, pk)
    if context["upload"].state == "mapping":
        return redirect("imports:import_columns", slug, pk)
    return render(request, "evaluation/import.html", context)


@require_safe
def import_progress(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Render the live part: it polls itself while the job is in progress, then requests the whole page."""
    context = _context(request, slug, pk)
    job = context["upload"].job
    return render_live(request, "evaluation/_import_progress.html", context, refresh=job is None or job.is_over)


@require_POST
def confirm(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    confirm_import(request.user, get_import(request.user, slug, pk), update="update" in request.POST)
    return redirect("imports:import", slug, pk)


@require_POST
def discard(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    discard_import(request.user, get_import(request.user, slug, pk))
    messages.success(request, _("The files were discarded. Nothing was imported."))
    return redirect("imports:new_import", slug)


@require_POST
def undo(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    request_undo(request.user, get_import(request.user, slug, pk))
    return redirect("imports:import", slug, pk)


@require_safe
def strip(request: HttpRequest, slug: str, pk: int, number: int) -> FileResponse:
    """Send the film strip of a record of the preview, whose clip is not stored yet."""
    path = strip_path(get_import(request.user, slug, pk), number)
    if not path.is_file():
        raise Http404(_("This record has no film strip."))
    return FileResponse(path.open("rb"), headers={"Cache-Control": "private, max-age=3600"})


def _with_clips(upload: Import, sample: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Add to the records of a preview where their film strip is: among the uploads, or that of a stored clip."""
    stored_clips = {
        video.key: video
        for video in Video.objects.filter(project=upload.project_id, key__in=[row["clip"] for row in sample])
    }
    return [
        {**row, "has_strip": strip_path(upload, number).is_file(), "video": stored_clips.get(row["clip"])}
        for number, row in enumerate(sample)
    ]


def _has_only_classes(upload: Import) -> bool:
    """Report whether files were added to a project of videos with classes and no captions."""
    videos = Video.objects.filter(project=upload.project_id)
    only_files = not upload.format and upload.result is not None
    return only_files and not videos.exclude(captions=None).exists() and videos.exclude(class_label="").exists()


def _columns(upload: Import) -> list[tuple[str, str]]:
    """Return (label, columns) of what the preview reads in which field."""
    labels = {
        **dict(MAIN),
        **dict(CHOICE),
        **dict(CLIP),
        **dict(MORE),
        "foils": _("Foils"),
        "candidates": _("Candidates"),
    }
    columns = (upload.params.get("mapping") or {}).get("columns", {})
    texts = {name: source if isinstance(source, str) else ", ".join(source) for name, source in columns.items()}
    in_order = sorted(texts, key=[*labels, *texts].index)
    return [(str(labels.get(name, name)), texts[name]) for name in in_order]


def _context(request: HttpRequest, slug: str, pk: int) -> dict[str, Any]:
    upload = enter_project(request, get_import(request.user, slug, pk))
    outcome = upload.result if upload.result is not None else upload.preview or upload.first_records or {}
    return {
        "upload": upload,
        "outcome": outcome,
        "entry": IMPORTERS.get(upload.format),
        "columns": _columns(upload),
        "counts": counted(outcome),
        "may_undo": upload.state == "done" and started_of(upload) and (upload.job is None or upload.job.is_over),
        "removed": [
            (label, outcome["undone"][kind])
            # Also the captions of its items.
            for kind, label in {**_WORDS, "captions": _("Captions")}.items()
            if outcome.get("undone", {}).get(kind)
        ],
        "has_items": bool(outcome.get("created", {}).get("items")),
        "lists_videos": bool(outcome.get("n_classes")) or _has_only_classes(upload),
        "sample": (sample := _with_clips(upload, outcome.get("sample", []))),
        "has_strips": any(row["has_strip"] or row["video"] for row in sample),
        "has_captions": any(row["caption"] for row in outcome.get("sample", [])),
        "changes": changes(outcome),
        "makes_subtests": any(row["subtest"] for row in outcome.get("sample", [])),
        "takes_none": takes_none(outcome),
        "more_missing": outcome.get("media", {}).get("missing", 0) - len(outcome.get("missing", [])),
        "checked_errors": lines(outcome.get("checked", {}), "errors"),
        "complaints": [*lines(outcome, "errors"), *lines(outcome, "warnings")],
    }
