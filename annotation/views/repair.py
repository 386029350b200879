"""Captions in doubt: the queue, and one caption to be corrected, confirmed or dropped with its video's items."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import caption_for
from annotation.actions.decisions.confirm_caption import confirm_caption
from annotation.actions.decisions.correct_caption import correct_caption
from annotation.actions.decisions.drop_caption import drop_caption
from annotation.errors import AnnotationError
from annotation.models import Stage
from annotation.queries.decision_queues import captions_in_doubt, doubt_about, guideline_of
from annotation.views._guidelines import guideline_html
from annotation.views._undo_bar import MAX_ID_DIGITS
from corpus.models import Caption
from corpus.video_files.player import player_clip
from projects.access import get_project
from projects.models import Role

PER_PAGE = 50


@require_safe
def repairs(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    rows = captions_in_doubt(project).select_related("video").annotate(n_items=Count("items"))
    return render(
        request, "annotation/repairs.html", {"page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))}
    )


@require_http_methods(["GET", "HEAD", "POST"])
def repair(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    caption, problem = caption_for(request.user, pk, Role.RESEARCHER), ""
    if caption.video.project_id != project.pk:
        raise Http404(_("There is no such caption."))
    if request.method == "POST":
        try:
            said = _settle(request, pk)
        except AnnotationError as error:
            problem = str(error)
        else:
            messages.success(request, said)
            return _next(request, slug)
    if not caption.flagged_false or caption.doubt_settled:
        messages.warning(request, problem or _("This caption is not, or no longer, in doubt; here is the next."))
        return _next(request, slug)
    return render(
        request, "annotation/repair.html", _context(request, caption, problem), status=400 if problem else 200
    )


def _settle(request: HttpRequest, pk: int) -> str:
    form, person = request.POST, request.user
    reason = form.get("comment", "")
    keep = _kept(form)
    ways: dict[str, tuple[Callable[[], Caption], str]] = {
        "correct": (
            lambda: correct_caption(person, pk, form.get("text", ""), keep=keep, reason=reason),
            _("The caption is corrected; its foils go on from there."),
        ),
        "confirm": (lambda: confirm_caption(person, pk, reason), _("The caption stands as it is.")),
        "drop": (lambda: drop_caption(person, pk, reason), _("The video's items are taken out.")),
    }
    if form.get("decision") not in ways:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(ways)})
    write, said = ways[form["decision"]]
    write()
    return said


def _kept(form: QueryDict) -> list[int]:
    return [int(foil) for foil in form.getlist("keep") if foil.isdecimal() and len(foil) <= MAX_ID_DIGITS]


def _next(request: HttpRequest, slug: str) -> HttpResponse:
    caption = captions_in_doubt(request.project).first()
    return redirect("annotation:repair", slug, caption.pk) if caption else redirect("annotation:repairs", slug)


def _context(request: HttpRequest, caption: Caption, problem: str) -> dict[str, Any]:
    form, doubt = request.POST, doubt_about(request.project, caption)
    told = guideline_of(request.project, Stage.VALIDATION, doubt.items[0].item.subtest_id if doubt.items else 0)
    return {
        "doubt": doubt,
        "clip": player_clip(caption.video),
        "text": form.get("text", caption.text),
        "comment": form.get("comment", ""),
        "kept": _kept(form),
        "facts": {"caption": caption.text, "others": [], "dropped": []},
        "problem": problem,
        "guideline": {"version": told.version, "html": guideline_html(told.text)} if told else {},
    }
