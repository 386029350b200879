"""Disputed items and who may decide them: the list, and one item with its votes under pseudonyms."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import item_for
from annotation.actions.decisions.adjudicate import ROLES, adjudicate
from annotation.errors import AnnotationError
from annotation.messages import SETTLED
from annotation.models import Stage
from annotation.queries.decision_queues import adjudicable, disputed_items, guideline_of, judged_pairs
from annotation.rules.adjudication import settled_because
from annotation.views._guidelines import guideline_html
from corpus.models import Item
from corpus.rules.states import IllegalMove, ItemState
from corpus.video_files.clip_tokens import Piece
from corpus.video_files.player import blind_clip
from projects.access import get_project

PER_PAGE = 50


@require_safe
def disputed(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, *ROLES)
    mine = adjudicable(request.user, project).select_related("subtest", "caption", "video")
    context = {
        "page": Paginator(mine, PER_PAGE).get_page(request.GET.get("page")),
        "barred": disputed_items(project).count() - mine.count(),
    }
    return render(request, "annotation/disputed_items.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def disputed_item(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show a disputed item that the person may decide; POST decides it and continues with the next."""
    project = request.project = get_project(request.user, slug, *ROLES)
    item, problem = item_for(request.user, pk, *ROLES), ""
    if item.subtest.project_id != project.pk:
        raise Http404(_("There is no such item."))
    form = request.POST
    if request.method == "POST":
        try:
            reason = settled_because(form.getlist("reasons"), form.get("comment", ""))
            adjudicate(request.user, pk, form.get("decision", ""), reason)
        except (AnnotationError, IllegalMove) as error:
            problem = str(error)
        else:
            messages.success(request, _("%(key)s is settled.") % {"key": item.key})
            return _next(request, slug)
    if item.state != ItemState.DISPUTED or not adjudicable(request.user, project).filter(pk=pk).exists():
        messages.warning(request, problem or _("This item is not, or no longer, yours to settle; here is the next."))
        return _next(request, slug)
    return render(
        request, "annotation/disputed_item.html", _context(request, item, problem), status=400 if problem else 200
    )


def old_address(request: HttpRequest, slug: str, pk: int | None = None) -> HttpResponse:
    """Redirect an address of before 0.2.0; a form that was open then keeps what it sends (308)."""
    name, args = ("disputed_items", [slug]) if pk is None else ("disputed_item", [slug, pk])
    url, query = reverse(f"annotation:{name}", args=args), request.META["QUERY_STRING"]
    keeps = request.method not in ("GET", "HEAD")
    return redirect(f"{url}?{query}" if query else url, permanent=True, preserve_request=keeps)


def _next(request: HttpRequest, slug: str) -> HttpResponse:
    item = adjudicable(request.user, request.project).first()
    return redirect("annotation:disputed_item", slug, item.pk) if item else redirect("annotation:disputed_items", slug)


def _context(request: HttpRequest, item: Item, problem: str) -> dict:
    form, told = request.POST, guideline_of(request.project, Stage.VALIDATION, item.subtest_id)
    return {
        "item": item,
        "pairs": judged_pairs(request.project, item),
        "clip": blind_clip(item.video, request.user.pk, Piece.ITEM, item.pk),
        "reasons": [(code, words, code in form.getlist("reasons")) for code, words in SETTLED.items()],
        "comment": form.get("comment", ""),
        "problem": problem,
        "guideline": {"version": told.version, "html": guideline_html(told.text)} if told else {},
    }
