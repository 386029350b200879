"""Show the items and captions of a project with filters, and one of them; handle a researcher's moves of items."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.actions.decisions.captions import correct_captions
from annotation.errors import AnnotationError
from annotation.queries.comments import comments_of
from annotation.undo_offers import undo_offer, undo_token
from evaluation.items.access import get_caption, get_item
from evaluation.items.bulk import move_items
from evaluation.items.captions import (
    CAPTION_ORDERS,
    CaptionFilter,
    candidates_by_state,
    changed_texts,
    maker_of,
    narrowed_captions,
    shown_captions,
    source_of,
)
from evaluation.items.forms import ItemFilter
from evaluation.items.history import history_of
from evaluation.items.item_details import (
    ABOUT,
    BULK,
    MOVES,
    WRITES,
    ItemScore,
    candidates_of,
    other_clips,
    pairs_of,
    scores_of,
    verdict_of,
)
from evaluation.items.listing import (
    COLUMNS,
    DISAGREEMENT,
    USUAL_COLUMNS,
    add_details,
    narrowed,
    neighbours_of,
    orders_of,
    with_row_fields,
)
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.video_files.player import player_clip
from foilworks.core.projects.access import get_project
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.listing.columns import columns_of
from foilworks.core.projects.listing.listing import list_rows, order_of
from foilworks.core.projects.models import Role
from foilworks.core.text.errors import ActionableError

# Characters of the filters that a bulk action returns to.
MAX_QUERY = 2000


@require_safe
def items(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = ItemFilter(project, request.GET, is_open="open" in request.GET)
    filters = form.chosen()
    if form.is_open:
        return render(request, "foilworks/_folded_filters.html", {"form": form})
    ladder = form.ladders.get(filters.get("ladder", ""))
    run = form.runs.get(filters.get("run", ""))
    columns = columns_of(COLUMNS, USUAL_COLUMNS, request.GET)
    rows = narrowed(project, filters, run, ladder)
    orders = orders_of(project, run)
    show = partial(
        with_row_fields, with_disagreement=DISAGREEMENT in (*columns.shown, order_of(orders, request.GET).slug)
    )
    listing = list_rows(rows, orders, request.GET, filters, show, columns)
    add_details(listing.page.rows)
    context = {
        "form": form,
        "listing": listing,
        "columns": columns,
        "any": bool(filters or listing.count.n),
        "row_template": "evaluation/_item_row.html",
        "bulk_template": "evaluation/_item_bulk.html",
        "list_name": _("Items"),
        "bulk": BULK,
        "undo": undo_offer(request.GET.get("undo", "")),
    }
    response = render(request, "evaluation/items.html", context)
    if request.headers.get("HX-Target") == "list":
        # The form sends each checked column; the address names only what differs from the usual list.
        response.headers["HX-Push-Url"] = f"{request.path}?{listing.query}".rstrip("?&")
    return response


@require_POST
def items_bulk(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project(request.user, slug, Role.RESEARCHER)
    move = request.POST.get("move", "")
    if move not in WRITES:
        raise Http404(_("Unknown action. Reload the page."))
    moves = move_items(request.user, project, move, request.POST.getlist("item"), request.POST.get("reason", ""))
    for key, why in moves.refused:
        messages.error(request, f"{key}: {why}")
    back = QueryDict(request.POST.get("back", "")[:MAX_QUERY], mutable=True)
    back.pop("undo", None)
    if moves.done:
        n = len(moves.done)
        messages.success(request, ngettext("%(n)s item changed.", "%(n)s items changed.", n) % {"n": n})
    url = reverse("items:items", args=[slug])
    if token := undo_token(request.user, Item, moves.done, f"{url}?{back.urlencode()}"):
        back["undo"] = token
    return redirect(f"{url}?{back.urlencode()}")


@require_safe
def item(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    context = _item_context(request, slug, pk)
    shown_item = context["item"]
    project = shown_item.subtest.project
    form = ItemFilter(project, request.GET)
    filters = form.chosen()
    run = form.runs.get(filters.get("run", ""))
    rows = narrowed(project, filters, run, form.ladders.get(filters.get("ladder", "")))
    order = order_of(orders_of(project, run), request.GET)
    scores = scores_of(shown_item)
    context |= {
        "scores": scores,
        "comparison": _comparison(slug, shown_item, scores),
        "neighbours": neighbours_of(shown_item, rows, order, filters),
        "verdict": verdict_of(shown_item, context["pairs"]),
        "undo": undo_offer(request.GET.get("undo", "")),
    }
    return render(request, "evaluation/item.html", context)


def _comparison(slug: str, shown_item: Item, scores: Sequence[ItemScore]) -> str:
    """Return the address of two models side by side on the newest release with two that scored the item, else ""."""
    models = Counter(score.run.release_id for score in scores if score.main.values)
    release = max((pk for pk, n in models.items() if n > 1), default=None)
    return f"{reverse('board:compare_item', args=[slug, release])}?item={shown_item.pk}" if release else ""


@require_safe
def item_panel(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return render(request, "evaluation/item_panel.html", _item_context(request, slug, pk))


def _item_context(request: HttpRequest, slug: str, pk: int) -> dict[str, Any]:
    shown_item = get_item(request.user, slug, pk)
    project = request.project = shown_item.subtest.project
    candidates = candidates_of(shown_item)
    return {
        "item": shown_item,
        "clip": player_clip(shown_item.video),
        "other_clip": other_clips([shown_item]).get(shown_item.pk),
        "pairs": pairs_of(project, shown_item, candidates),
        "history": history_of(project, shown_item, candidates),
        "comments": comments_of(request.user, project, shown_item),
        "moves": MOVES.get(shown_item.state, ()),
        "about_moves": ABOUT.get(shown_item.state, ""),
    }


@require_POST
def item_move(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    item_row = get_item(request.user, slug, pk)
    move = request.POST.get("move", "")
    if move not in WRITES:
        raise Http404(_("Unknown action. Reload the page."))
    try:
        WRITES[move](request.user, item_row.pk, request.POST.get("reason", ""))
    except AccessDenied:
        raise
    except ActionableError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Done. The item history shows the change with your reason."))
        url = reverse("items:item", args=[slug, pk])
        if token := undo_token(request.user, Item, [pk], url):
            return redirect(f"{url}?{urlencode({'undo': token})}")
    return redirect("items:item", slug, pk)


@require_http_methods(["GET", "HEAD", "POST"])
def captions(request: HttpRequest, slug: str) -> HttpResponse:
    """List captions; a POST corrects those whose text was changed in place, all of them or none."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = CaptionFilter(request.GET, is_open="open" in request.GET)
    if form.is_open:
        return render(request, "foilworks/_folded_filters.html", {"form": form})
    filters, typed, problem = form.chosen(), changed_texts(project, request.POST), ""
    if typed:
        keep, reason = "keep" in request.POST, request.POST.get("reason", "")
        try:
            n = len(correct_captions(request.user, typed, keep_foils=keep, reason=reason))
        except AnnotationError as error:
            problem = str(error)
        else:
            words = ngettext("%(n)s caption corrected.", "%(n)s captions corrected.", n) % {"n": n}
            messages.success(request, f"{words} {_('The foils continue with the new texts.')}")
    if request.method == "POST" and not problem:
        if not typed:
            messages.warning(request, _("No caption was changed. Edit a text, then save."))
        return redirect(request.get_full_path())
    listing = list_rows(narrowed_captions(project, filters), CAPTION_ORDERS, request.GET, filters, shown_captions)
    for row in listing.page.rows:
        row.source, row.maker = source_of(row), maker_of(row)
        row.is_editable = bool(filters.get("doubt")) and not row.doubt_settled
        row.typed = typed.get(row.pk, row.text)
    context = {
        "problem": problem,
        "foot_template": "evaluation/_caption_edits.html" if any(row.is_editable for row in listing.page.rows) else "",
        "form": form,
        "listing": listing,
        "any": bool(filters or listing.count.n),
        "row_template": "evaluation/_caption_row.html",
        "list_name": _("Captions"),
    }
    return render(request, "evaluation/captions.html", context, status=400 if problem else 200)


@require_safe
def caption_panel(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    shown_caption = get_caption(request.user, slug, pk)
    request.project = shown_caption.video.project
    items = (
        Item.objects.filter(caption=shown_caption).select_related("subtest").prefetch_related("foils").order_by("id")
    )
    context = {
        "caption": shown_caption,
        "video": shown_caption.video,
        "clip": player_clip(shown_caption.video),
        "takedown": getattr(shown_caption.video, "takedown", None),
        "items": items,
        "candidates": candidates_by_state(shown_caption),
        "source": source_of(shown_caption),
        "maker": maker_of(shown_caption),
    }
    return render(request, "evaluation/caption_panel.html", context)
