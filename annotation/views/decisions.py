"""Decide about disputed items, captions in doubt, and takedowns."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import caption_for, item_for
from annotation.actions.decisions.captions import confirm_caption, correct_caption, drop_caption
from annotation.actions.decisions.items import ROLES, adjudicate, scope_of, take_down_video
from annotation.actions.decisions.undo_decisions import UNDO_SECONDS
from annotation.errors import AnnotationError
from annotation.messages import SETTLED
from annotation.models import Stage
from annotation.queries.comments import comments_of
from annotation.queries.decision_queues import (
    adjudicable,
    captions_in_doubt,
    disputed_items,
    doubt_about,
    guideline_of,
    judged_pairs,
)
from annotation.rules.adjudication import settled_because
from annotation.undo_offers import undo_all, undo_offer, undo_token
from annotation.views._work_pages import MAX_ID_DIGITS, guideline_html
from foilworks.core.corpus.access import get_video
from foilworks.core.corpus.models import Caption, Item
from foilworks.core.corpus.rules.states import IllegalMove, ItemState
from foilworks.core.corpus.video_files.player import Piece, blind_clip, player_clip
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Role

PER_PAGE = 50


@require_safe
def disputed(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, *ROLES)
    adjudicable_items = adjudicable(request.user, project).select_related("subtest", "caption", "video")
    context = {
        "page": Paginator(adjudicable_items, PER_PAGE).get_page(request.GET.get("page")),
        "barred": disputed_items(project).count() - adjudicable_items.count(),
        "undo": undo_offer(request.GET.get("undo", "")),
    }
    return render(request, "annotation/disputed_items.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def disputed_item(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show a disputed item that the person may decide; POST decides it and continues with the next."""
    project = request.project = get_project(request.user, slug, *ROLES)
    item, problem = item_for(request.user, pk, *ROLES), ""
    if item.subtest.project_id != project.pk:
        raise Http404(_("Item not found."))
    form = request.POST
    if request.method == "POST":
        try:
            reason = settled_because(form.getlist("reasons"), form.get("comment", ""))
            adjudicate(request.user, pk, form.get("decision", ""), reason)
            token = undo_token(request.user, Item, [pk], request.path)
        except (AnnotationError, IllegalMove) as error:
            problem = str(error)
        else:
            messages.success(request, _("Decision on %(key)s saved.") % {"key": item.key})
            return _next_item(request, slug, token)
    if item.state != ItemState.DISPUTED or not adjudicable(request.user, project).filter(pk=pk).exists():
        messages.warning(
            request,
            problem or _("You cannot decide this item, or someone has already decided it. Here is the next one."),
        )
        return _next_item(request, slug)
    return render(
        request, "annotation/disputed_item.html", _item_context(request, item, problem), status=400 if problem else 200
    )


def old_address(request: HttpRequest, slug: str, pk: int | None = None) -> HttpResponse:
    """Redirect an address of before 0.3.0; a form that was open then keeps what it sends (308)."""
    name, args = ("disputed_items", [slug]) if pk is None else ("disputed_item", [slug, pk])
    url, query = reverse(f"annotation:{name}", args=args), request.META["QUERY_STRING"]
    keeps = request.method not in ("GET", "HEAD")
    return redirect(f"{url}?{query}" if query else url, permanent=True, preserve_request=keeps)


def _next_item(request: HttpRequest, slug: str, undo: str = "") -> HttpResponse:
    item = adjudicable(request.user, request.project).first()
    name, args = ("disputed_item", [slug, item.pk]) if item else ("disputed_items", [slug])
    return _to(name, args, undo)


def _to(name: str, args: list[Any], token: str) -> HttpResponse:
    """Redirect to a page, which offers the undo of the token if there is one."""
    url = reverse(f"annotation:{name}", args=args)
    return redirect(f"{url}?{urlencode({'undo': token})}" if token else url)


@require_POST
def undo_decisions(request: HttpRequest, slug: str) -> HttpResponse:
    """Undo the person's decisions that the token names, and return to the page of the decision."""
    project = get_project(request.user, slug, *ROLES)
    offer = undo_offer(request.POST.get("token", ""))
    if offer is None:
        minutes = UNDO_SECONDS // 60
        messages.error(request, _("You can undo a decision only for %(minutes)s minutes.") % {"minutes": minutes})
        return redirect("annotation:work", project.slug)
    undone = undo_all(request.user, offer)
    for name, why in undone.refused:
        messages.error(request, f"{name}: {why}")
    if undone.done:
        n = undone.done
        messages.success(request, ngettext("%(n)s decision undone.", "%(n)s decisions undone.", n) % {"n": n})
    return redirect(offer.back)


def _item_context(request: HttpRequest, item: Item, problem: str) -> dict:
    form, guideline = request.POST, guideline_of(request.project, Stage.VALIDATION, item.subtest_id)
    return {
        "item": item,
        "pairs": judged_pairs(request.project, item),
        "clip": blind_clip(item.video, request.user.pk, Piece.ITEM, item.pk),
        "reasons": [(code, words, code in form.getlist("reasons")) for code, words in SETTLED.items()],
        "comment": form.get("comment", ""),
        "problem": problem,
        "undo": undo_offer(request.GET.get("undo", "")),
        "comments": comments_of(request.user, request.project, item),
        "guideline": {"version": guideline.version, "html": guideline_html(guideline.text)} if guideline else {},
    }


@require_safe
def repairs(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    rows = captions_in_doubt(project).select_related("video").annotate(n_items=Count("items"))
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "undo": undo_offer(request.GET.get("undo", ""))}
    return render(request, "annotation/repairs.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def repair(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    caption, problem = caption_for(request.user, pk, Role.RESEARCHER), ""
    if caption.video.project_id != project.pk:
        raise Http404(_("Caption not found."))
    if request.method == "POST":
        try:
            message = _decide(request, pk)
            token = undo_token(request.user, Caption, [pk], request.path)
        except AnnotationError as error:
            problem = str(error)
        else:
            messages.success(request, message)
            return _next_caption(request, slug, token)
    if not caption.flagged_false or caption.doubt_settled:
        messages.warning(
            request, problem or _("This caption is not in doubt, or no longer in doubt. Here is the next one.")
        )
        return _next_caption(request, slug)
    return render(
        request, "annotation/repair.html", _caption_context(request, caption, problem), status=400 if problem else 200
    )


def _decide(request: HttpRequest, pk: int) -> str:
    form, person = request.POST, request.user
    reason = form.get("comment", "")
    keep = _kept_foils(form)
    ways: dict[str, tuple[Callable[[], Caption], str]] = {
        "correct": (
            lambda: correct_caption(person, pk, form.get("text", ""), keep=keep, reason=reason),
            _("Caption corrected. Its foils continue with the new text."),
        ),
        "confirm": (lambda: confirm_caption(person, pk, reason), _("Caption confirmed.")),
        "drop": (lambda: drop_caption(person, pk, reason), _("The video's items were dropped.")),
    }
    if form.get("decision") not in ways:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(ways)})
    write, message = ways[form["decision"]]
    write()
    return message


def _kept_foils(form: QueryDict) -> list[int]:
    return [int(foil) for foil in form.getlist("keep") if foil.isdecimal() and len(foil) <= MAX_ID_DIGITS]


def _next_caption(request: HttpRequest, slug: str, undo: str = "") -> HttpResponse:
    caption = captions_in_doubt(request.project).first()
    name, args = ("repair", [slug, caption.pk]) if caption else ("repairs", [slug])
    return _to(name, args, undo)


def _caption_context(request: HttpRequest, caption: Caption, problem: str) -> dict[str, Any]:
    form, doubt = request.POST, doubt_about(request.project, caption)
    guideline = guideline_of(request.project, Stage.VALIDATION, doubt.items[0].item.subtest_id if doubt.items else 0)
    return {
        "doubt": doubt,
        "clip": player_clip(caption.video),
        "text": form.get("text", caption.text),
        "comment": form.get("comment", ""),
        "kept": _kept_foils(form),
        "facts": {"caption": caption.text, "others": [], "dropped": []},
        "problem": problem,
        "undo": undo_offer(request.GET.get("undo", "")),
        "guideline": {"version": guideline.version, "html": guideline_html(guideline.text)} if guideline else {},
    }


@require_http_methods(["GET", "HEAD", "POST"])
def takedown(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    video = get_video(request.user, slug, pk, Role.RESEARCHER)
    request.project, problem = video.project, ""
    reason = request.POST.get("reason", "")
    if request.method == "POST":
        try:
            takedown = take_down_video(request.user, slug, pk, reason)
        except AnnotationError as error:
            problem = str(error)
        else:
            n = len(takedown.clips)
            message = ngettext("%(n)d clip was taken down.", "%(n)d clips were taken down.", n) % {"n": n}
            messages.success(request, f"{message} {_('New exports leave out its items.')}")
            return redirect("corpus:video", slug, pk)
    context = {"video": video, "scope": scope_of(video), "reason": reason, "problem": problem}
    return render(request, "annotation/takedown.html", context, status=422 if problem else 200)
