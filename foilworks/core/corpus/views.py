"""Videos of a project and their player; subtests; content warnings."""

from typing import Any

from django.contrib import messages
from django.db.models import Count, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from foilworks.core.corpus.access import get_clip, get_video
from foilworks.core.corpus.actions.create_subtest import create_subtest
from foilworks.core.corpus.actions.set_characters import movies_of, set_characters
from foilworks.core.corpus.actions.set_content_warning import set_content_warning
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.forms import VIDEO_ORDERS, CharactersForm, SubtestForm, VideoFilter
from foilworks.core.corpus.models import Caption, Item, MediaState, Subtest, Takedown, Video
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.corpus.video_files.player import player_clip
from foilworks.core.corpus.video_files.streaming import stream_file, stream_video
from foilworks.core.projects.access import enter_project, get_project
from foilworks.core.projects.listing.listing import list_rows
from foilworks.core.projects.models import Project, Role

# Movies in a table of the page of characters.
MAX_MOVIES_SHOWN = 15


@require_safe
def video(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return render(request, "corpus/video.html", _video_context(request, slug, pk))


@require_safe
def video_panel(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return render(request, "corpus/video_panel.html", _video_context(request, slug, pk))


def _video_context(request: HttpRequest, slug: str, pk: int) -> dict[str, Any]:
    video = enter_project(request, get_video(request.user, slug, pk, Role.RESEARCHER))
    items = Item.objects.select_related("subtest").prefetch_related("foils").order_by("id")
    captions = video.captions.prefetch_related(Prefetch("items", items)).order_by("id")
    context = {"video": video, "captions": captions, "clip": player_clip(video), "facts": _facts(video)}
    if video.media_state == MediaState.TAKEN_DOWN:
        context["takedown"] = Takedown.objects.filter(video=video).select_related("taken_down_by").first()
    return context


@require_POST
def warning(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    video = get_video(request.user, slug, pk, Role.RESEARCHER)
    try:
        set_content_warning(request.user, video, request.POST.get("warning", ""))
    except CorpusError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Content warning saved. It is shown before the clip."))
    return redirect("corpus:video", slug, pk)


def _facts(video: Video) -> list[tuple[str, str]]:
    """Return label and value of every known fact."""
    trim = f"{video.start_time or 0:g}–{'…' if video.end_time is None else f'{video.end_time:g}'}"
    trim += f" {video.get_time_unit_display()}"
    rows = [
        (_("File"), video.get_media_state_display()),
        (_("Trim"), trim if video.start_time is not None or video.end_time is not None else ""),
        (_("File duration"), f"{video.duration:.3f} s" if video.duration is not None else ""),
        (_("Frames"), f"{video.n_frames}" if video.n_frames else ""),
        (_("Frames per second"), f"{video.fps:g}" if video.fps else ""),
        (_("Size"), f"{video.width} × {video.height}" if video.width else ""),
        (_("Conversion"), video.conversion),
        (_("Split"), video.split),
        (_("Class"), video.class_label),
        (_("Category"), video.category),
        (_("Movie"), video.movie),
        (_("Dataset"), video.source_dataset),
        (_("ID in the dataset"), video.source_id),
        (_("URL"), video.url),
        ("SHA-256", video.sha256),
    ]
    return [(label, value) for label, value in rows if value]


@require_safe
def media(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    return stream_video(request, get_video(request.user, slug, pk, Role.RESEARCHER))


@require_safe
def clip(request: HttpRequest, slug: str, token: str) -> HttpResponseBase:
    return stream_video(request, get_clip(request.user, slug, token), blind=True)


@require_safe
def film_strip(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    video = get_video(request.user, slug, pk, Role.RESEARCHER)
    if not video.film_strip:
        raise Http404(_("This video has no film strip yet."))
    return stream_file(request, video.film_strip)


@require_safe
def videos(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = VideoFilter(request.GET, is_open="open" in request.GET)
    if form.is_open:
        return render(request, "foilworks/_folded_filters.html", {"form": form})
    filters = form.chosen()
    listing = list_rows(
        form.narrow(Video.objects.filter(project=project)), VIDEO_ORDERS, request.GET, filters, _counted
    )
    context = {
        "form": form,
        "listing": listing,
        "any": bool(filters or listing.count.n),
        "row_template": "corpus/_video_row.html",
        "list_name": _("Videos"),
    }
    return render(request, "corpus/videos.html", context)


def _counted(videos: QuerySet[Video]) -> QuerySet[Video]:
    """Add the numbers of captions and items of each row."""
    return videos.annotate(n_captions=_number(Caption.objects), n_items=_number(Item.objects))


def _number(rows: QuerySet) -> Coalesce:
    of_video = rows.filter(video=OuterRef("pk")).order_by().values("video")
    return Coalesce(Subquery(of_video.values(n=Count("pk"))), 0)


@require_http_methods(["GET", "HEAD", "POST"])
def characters(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what a list of characters matches; `save` gives it to the captions."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    sent = request.method == "POST"
    form = CharactersForm(request.POST if sent else None, request.FILES if sent else None)
    preview = None
    if sent and form.is_valid():
        if "save" in request.POST:
            counts = set_characters(request.user, project, form.by_movie)
            messages.success(request, _("Characters saved for %(n)d captions.") % {"n": counts["captions"]})
            return redirect("corpus:characters", project.slug)
        preview = _preview(project, form)
    movies = movies_of(project)
    context = {
        "form": form,
        "preview": preview,
        "movies": movies[:MAX_MOVIES_SHOWN],
        "n_more": max(0, len(movies) - MAX_MOVIES_SHOWN),
    }
    return render(request, "corpus/characters.html", context, status=422 if form.errors else 200)


def _preview(project: Project, form: CharactersForm) -> dict[str, Any]:
    by_movie = form.by_movie
    rows = movies_of(project, list(by_movie))
    unknown = sorted(by_movie.keys() - {row.movie for row in rows})
    return {
        "rows": [(row, len(by_movie[row.movie])) for row in rows[:MAX_MOVIES_SHOWN]],
        "n_movies": len(rows),
        "n_more": max(0, len(rows) - MAX_MOVIES_SHOWN),
        "n_captions": sum(row.n_captions for row in rows),
        "n_replaced": sum(row.n_listed for row in rows),
        "unknown": unknown[:MAX_MOVIES_SHOWN],
        "n_unknown": len(unknown),
        "text": form.cleaned_data["text"],
    }


@require_http_methods(["GET", "HEAD", "POST"])
def subtests(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = SubtestForm(request.POST if request.method == "POST" else None, project=project)
    if request.method == "POST" and form.is_valid():
        subtest = create_subtest(request.user, project, **form.cleaned_data)
        messages.success(request, _("Subtest %(name)s created.") % {"name": subtest.name})
        return redirect("corpus:subtests", project.slug)
    valid = Count("items", filter=Q(items__state=ItemState.VALID))
    rows = Subtest.objects.filter(project=project).select_related("proficiency_subtest")
    context = {"form": form, "subtests": rows.annotate(n_items=Count("items"), n_valid=valid).order_by("name")}
    context["has_captions"] = Caption.objects.filter(video__project=project).exists()
    return render(request, "corpus/subtests.html", context, status=422 if request.method == "POST" else 200)
