"""Show the items of a project with filters, and one item with all its details; handle a researcher's moves."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from corpus.models import Item
from corpus.video_files.player import player_clip
from evaluation.items.access import get_item
from evaluation.items.forms import ItemFilter
from evaluation.items.history import history_of
from evaluation.items.listing import narrowed, page_of
from evaluation.items.page import ABOUT, MOVES, WRITES, candidates_of, pairs_of, scores_of
from projects.access import get_project
from projects.errors import AccessDenied
from projects.models import Role
from text.errors import ActionableError


@require_safe
def items(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = ItemFilter(project, request.GET)
    chosen = form.chosen()
    rows = narrowed(project, chosen, form.runs.get(chosen.get("run", "")))
    context = {"form": form, "chosen": chosen, "page": page_of(rows, request.GET.get("page")), "query": form.query()}
    context["any"] = bool(context["page"].paginator.count) or Item.objects.filter(subtest__project=project).exists()
    return render(request, "evaluation/items.html", context)


@require_safe
def item(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_item(request.user, slug, pk)
    project = request.project = found.subtest.project
    candidates = candidates_of(found)
    context = {
        "item": found,
        "clip": player_clip(found.video),
        "pairs": pairs_of(project, found, candidates),
        "history": history_of(project, found, candidates),
        "scores": scores_of(found),
        "moves": MOVES.get(found.state, ()),
        "about_moves": ABOUT.get(found.state, ""),
    }
    return render(request, "evaluation/item.html", context)


@require_POST
def item_move(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_item(request.user, slug, pk)
    move = request.POST.get("move", "")
    if move not in WRITES:
        raise Http404(_("Unknown action. Reload the page."))
    try:
        WRITES[move](request.user, found.pk, request.POST.get("reason", ""))
    except AccessDenied:
        raise
    except ActionableError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Done. The item history shows the change with your reason."))
    return redirect("items:item", slug, pk)
