"""The researcher's pages of quality: its rules, the pairs with a known answer, the experts' labels."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.actions.quality.add_gold_pairs import add_gold_pairs
from annotation.actions.quality.add_practice_caption import add_practice_caption
from annotation.actions.quality.label_pair import label_order, label_pair
from annotation.actions.quality.save_quality_policy import save_quality_policy
from annotation.actions.quality.withdraw_pair import withdraw_pair, withdraw_practice
from annotation.errors import AnnotationError
from annotation.forms import PairsForm, PolicyForm, PracticeForm
from annotation.models import PracticeCaption, QualityPolicy, Use
from annotation.queries.cards import two_texts
from annotation.queries.quality import LABELS_PER_EXPERT, baseline, experts, next_to_label, pairs_of, readiness
from annotation.views.validation import ANSWERS
from corpus.video_files.clip_tokens import Piece
from corpus.video_files.player import blind_clip
from projects.access import get_project
from projects.models import Project, Role

PER_PAGE = 25


@require_http_methods(["GET", "HEAD", "POST"])
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    """The rules, and how far practice, qualification and gold are."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    policy = QualityPolicy.objects.filter(project=project).first() or QualityPolicy(project=project)
    sent, project_option = request.POST if request.method == "POST" else None, project.judge_caption_once
    form = PolicyForm(sent, instance=policy, initial={"judge_caption_once": project_option})
    if form.is_bound and form.is_valid():
        try:
            save_quality_policy(request.user, project, **form.cleaned_data)
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The rules of quality are stored."))
            return redirect("annotation:quality", slug)
    found = experts(project)
    context = {
        "form": form,
        "uses": [(use, label, readiness(project, use)) for use, label in Use.choices],
        "experts": found,
        "baseline": baseline(found),
        "wanted": LABELS_PER_EXPERT,
    }
    return render(request, "annotation/quality.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def gold(request: HttpRequest, slug: str, use: str) -> HttpResponse:
    """The pairs of one use; POST draws more."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    if use not in Use.values:
        raise Http404(_("There is no such use."))
    form = PairsForm(request.POST if request.method == "POST" else None, project=project, use=use)
    if form.is_bound and form.is_valid():
        try:
            made = add_gold_pairs(request.user, project, use, **form.cleaned_data)
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            words = ngettext("%(n)s pair is added.", "%(n)s pairs are added.", made)
            messages.success(request, words % {"n": made})
            return redirect("annotation:gold", slug, use)
    return _gold_page(request, project, use, {"form": form}, 422 if form.errors else 200)


@require_POST
def add_practice(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = PracticeForm(request.POST, project=project)
    if form.is_valid():
        try:
            add_practice_caption(request.user, project, **form.cleaned_data)
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The caption is added to practice."))
            return redirect("annotation:gold", slug, Use.PRACTICE)
    return _gold_page(request, project, Use.PRACTICE, {"practice_form": form}, 422)


@require_POST
def withdraw(request: HttpRequest, slug: str, kind: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    moves: dict[str, Callable[..., None]] = {"pair": withdraw_pair, "practice": withdraw_practice}
    if kind not in moves:
        raise Http404(_("There is no such move."))
    try:
        moves[kind](request.user, project, pk)
    except AnnotationError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Withdrawn: it is asked no more."))
    use = request.POST.get("use", "")
    return redirect("annotation:gold", slug, use if use in Use.values else Use.MIXED)


@require_http_methods(["GET", "HEAD", "POST"])
def label(request: HttpRequest, slug: str) -> HttpResponse:
    """An expert's next pair to label, blind; POST stores the answer and goes on."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    pk, problem = request.POST.get("pair", ""), ""
    if request.method == "POST" and pk.isdecimal() and len(pk) < 19:
        try:
            label_pair(request.user, project, int(pk), request.POST.get("answer", ""))
            return redirect("annotation:label", slug)
        except AnnotationError as error:
            problem = str(error)
    policy, _made = QualityPolicy.objects.get_or_create(project=project)
    pair, done = next_to_label(request.user, policy)
    context: dict[str, Any] = {"pair": pair, "done": done, "wanted": LABELS_PER_EXPERT, "problem": problem}
    if pair is not None:
        work = two_texts(pair.caption_text, pair.foil_text, label_order(policy, request.user, pair.pk))
        texts = [(_("First"), work.first.segments), (_("Second"), work.second.segments)]
        clip = blind_clip(pair.video, request.user.pk, Piece.PAIR, pair.pk)
        context |= {"clip": clip, "answers": ANSWERS, "texts": texts}
    return render(request, "annotation/label.html", context, status=400 if problem else 200)


def _gold_page(request: HttpRequest, project: Project, use: str, forms: dict[str, Any], status: int) -> HttpResponse:
    practice = PracticeCaption.objects.filter(project=project, withdrawn_at=None).select_related("caption", "said_by")
    context = {
        "use": use,
        "uses": Use.choices,
        "label": Use(use).label,
        "page": Paginator(pairs_of(project, use), PER_PAGE).get_page(request.GET.get("page")),
        "captions": practice.order_by("-pk") if use == Use.PRACTICE else [],
        "form": PairsForm(project=project, use=use),
        "practice_form": PracticeForm(project=project) if use == Use.PRACTICE else None,
        **forms,
    }
    return render(request, "annotation/gold.html", context, status=status)
