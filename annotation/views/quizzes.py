"""Practice and the qualification, as people take them."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import attempt_for
from annotation.actions.quality.answer_question import answer_question
from annotation.actions.quality.start_attempt import start_attempt
from annotation.errors import AnnotationError
from annotation.messages import MATCHES, of_finding
from annotation.models import Attempt, QualityPolicy, Question, Stage, Standing, Use
from annotation.queries.cards import two_texts
from annotation.queries.quality import PRACTICE_ROLE, baseline, experts, readiness, tries_of
from annotation.rules.quizzes import grade_edit
from annotation.views._edit_checks import live_checks
from annotation.views._work_pages import sent_with
from annotation.views.validation import ANSWERS
from corpus.video_files.clip_tokens import Piece
from corpus.video_files.player import blind_clip
from projects.access import get_project, or_404, roles_in
from projects.models import Role
from text.diff import diff_segments

TITLES = {Stage.EDIT: gettext_lazy("Writing foils"), Stage.VALIDATION: gettext_lazy("Judging")}


@require_http_methods(["GET", "HEAD", "POST"])
def practice(request: HttpRequest, slug: str) -> HttpResponse:
    """What there is to practise; POST begins or goes on."""
    project = request.project = get_project(request.user, slug)
    if request.method == "POST":
        return _start(request, Stage.PRACTICE, request.POST.get("of_stage", ""), "annotation:practice")
    policy = QualityPolicy.objects.filter(project=project).first()
    found, roles = readiness(project, Use.PRACTICE), roles_in(request.user, project)
    numbers = {Stage.EDIT: found.captions, Stage.VALIDATION: found.pairs}
    sets = [
        {"stage": stage, "title": TITLES[stage], "count": numbers[stage]}
        for stage, role in PRACTICE_ROLE.items()
        if role in roles and numbers[stage]
    ]
    return render(request, "annotation/practice.html", {"sets": sets if policy and policy.practice_open else []})


@require_http_methods(["GET", "HEAD", "POST"])
def qualification(request: HttpRequest, slug: str) -> HttpResponse:
    """What the test asks and how the person stands in it; POST begins or goes on."""
    project = request.project = get_project(request.user, slug, Role.VALIDATOR)
    if request.method == "POST":
        return _start(request, Stage.QUALIFICATION, Stage.VALIDATION, "annotation:qualification")
    policy = QualityPolicy.objects.filter(project=project, qualification_open=True).first()
    tries = tries_of(request.user, project)
    qualified = Standing.objects.filter(policy=policy, person=request.user, qualified_at__isnull=False).exists()
    context = {
        "policy": policy,
        "tries": tries,
        "qualified": bool(policy) and qualified,
        "running": next((found for found in tries if found.finished_at is None), None),
        "left": max(0, policy.tries - len(tries)) if policy else 0,
        "baseline": baseline(experts(project)),
    }
    return render(request, "annotation/qualification.html", context)


@require_safe
def attempt(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The next open question, or how it went."""
    found = _attempt(request, slug, pk)
    following = found.questions.filter(answered_at=None).order_by("place").first()
    if following is not None:
        return redirect("annotation:question", slug, pk, following.place)
    answers = list(found.questions.values_list("right", flat=True))
    return render(request, "annotation/attempt.html", {"attempt": found, "right": sum(answers), "asked": len(answers)})


@require_http_methods(["GET", "HEAD", "POST"])
def question(request: HttpRequest, slug: str, pk: int, place: int) -> HttpResponse:
    """One question; in practice its answer stands below once it is given, in the qualification never."""
    found, problem, form = _attempt(request, slug, pk), "", request.POST
    if request.method == "POST":
        given = form.get("answer") or form.get("text", "")
        try:
            answer_question(request.user, pk, place, given, **sent_with(form))
        except AnnotationError as error:
            problem = str(error)
        else:
            here = redirect("annotation:question", slug, pk, place)
            return here if found.stage == Stage.PRACTICE else redirect("annotation:attempt", slug, pk)
    rows = found.questions.select_related(
        "attempt", "pair__video__project", "practice__caption__video__project", "pair__subtest"
    )
    asked = or_404(rows.filter(place=place).first(), _("There is no such question."))
    if asked.answered_at and found.stage == Stage.QUALIFICATION:
        return redirect("annotation:attempt", slug, pk)
    context = {**_shown(asked), "attempt": found, "question": asked, "problem": problem, "typed": form.get("text", "")}
    context |= {"number": place + 1, "total": found.questions.count()}
    template = "annotation/question_edit.html" if asked.practice_id else "annotation/question_judge.html"
    return render(request, template, context, status=400 if problem else 200)


def _attempt(request: HttpRequest, slug: str, pk: int) -> Attempt:
    request.project = get_project(request.user, slug)
    found = attempt_for(request.user, pk)
    if found.project_id != request.project.pk:
        raise Http404(_("There is no such exercise of yours."))
    return found


def _start(request: HttpRequest, stage: str, of_stage: str, back: str) -> HttpResponse:
    try:
        found = start_attempt(request.user, request.project, stage, of_stage)
    except AnnotationError as error:
        messages.error(request, str(error))
        return redirect(back, request.project.slug)
    return redirect("annotation:attempt", request.project.slug, found.pk)


def _shown(asked: Question) -> dict[str, Any]:
    return _edit(asked) if asked.practice_id else _judgement(asked)


def _judgement(asked: Question) -> dict[str, Any]:
    pair, first = asked.pair, bool(asked.caption_first)
    work = two_texts(pair.caption_text, pair.foil_text, first)
    places = {"caption": "first" if first else "second", "foil": "second" if first else "first"}
    context: dict[str, Any] = {
        "clip": blind_clip(pair.video, asked.attempt.person_id, Piece.QUESTION, asked.pk),
        "texts": [(_("First"), work.first.segments), (_("Second"), work.second.segments)],
        "answers": ANSWERS,
    }
    if asked.answered_at:
        words = dict(ANSWERS)
        context["given"] = words[places.get(asked.choice, asked.choice)]
        context["expected"] = words[places.get(pair.answer, pair.answer)]
        context["explanation"] = pair.explanation
    return context


def _edit(asked: Question) -> dict[str, Any]:
    caption = asked.practice.caption
    context: dict[str, Any] = {
        "clip": blind_clip(caption.video, asked.attempt.person_id, Piece.QUESTION, asked.pk),
        "caption": caption.text,
        "facts": {"caption": caption.text, "others": [], "dropped": []},
        "checks": live_checks(),
    }
    if asked.answered_at:
        grade = grade_edit(caption.text, asked.text, asked.practice.examples)
        context["verdict"] = MATCHES[grade.match]
        context["findings"] = [of_finding(finding) for finding in grade.findings]
        context["given"] = diff_segments(caption.text, asked.text)
        context["examples"] = [diff_segments(caption.text, example) for example in asked.practice.examples]
        context["explanation"] = asked.practice.explanation
    return context
