"""Quality: rules, pairs with a known answer, experts' labels, validators, practice and the qualification."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import attempt_for, validator_for
from annotation.actions.quality.gold_pairs import (
    add_gold_pairs,
    label_order,
    label_pair,
    withdraw_pair,
    withdraw_practice,
)
from annotation.actions.quality.qualification import add_practice_caption, answer_question, start_attempt
from annotation.actions.quality.recounts import save_quality_policy
from annotation.actions.quality.validators import exclude_votes, pause_validator, reinstate_votes, resume_validator
from annotation.errors import AnnotationError
from annotation.forms import PRESETS, SHARES, PairsForm, PolicyForm, PracticeForm
from annotation.messages import MATCHES, PAUSED_WHY, of_finding
from annotation.models import Attempt, PracticeCaption, QualityPolicy, Question, Stage, Standing, Use
from annotation.queries.cards import two_texts
from annotation.queries.quality import (
    LABELS_PER_EXPERT,
    PRACTICE_ROLE,
    bars_of,
    baseline,
    experts,
    next_to_label,
    pairs_of,
    readiness,
    sorted_validators,
    tries_of,
)
from annotation.queries.quality import validators as rows_of
from annotation.rules.pausing import break_even_accuracy, gold_until_pause
from annotation.rules.quizzes import LINE, grade_edits
from annotation.views._work_pages import sent_with
from annotation.views.work import ANSWER_ROWS, ANSWERS, live_checks, marked_words
from foilworks.core.corpus.video_files.player import Piece, blind_clip
from foilworks.core.projects.access import get_project, or_404, roles_in
from foilworks.core.projects.listing.headings import sorting_of
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.diff import diff_segments

PER_PAGE = 25
# The columns of the table of validators that sort it; the first one has paused people first.
VALIDATOR_COLUMNS = {
    "name": gettext_lazy("Validator"),
    "gold": gettext_lazy("Gold accuracy"),
    "position": gettext_lazy("Chose first"),
    "seconds": gettext_lazy("Seconds"),
    "covered": gettext_lazy("Watched"),
    "fast": gettext_lazy("Too fast"),
    "counted": gettext_lazy("Votes"),
}
TITLES = {Stage.EDIT: gettext_lazy("Writing foils"), Stage.VALIDATION: gettext_lazy("Validation")}


@require_http_methods(["GET", "HEAD", "POST"])
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the rules, and the state of practice, qualification and gold."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    policy = QualityPolicy.objects.filter(project=project).first() or QualityPolicy(project=project)
    sent, project_option = request.POST if request.method == "POST" else None, project.judge_caption_once
    _label, preset = PRESETS.get(request.GET.get("preset", ""), ("", {}))
    form = PolicyForm(sent, instance=policy, initial={"judge_caption_once": project_option, **preset})
    if form.is_bound and form.is_valid():
        try:
            save_quality_policy(request.user, project, **form.cleaned_data)
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Quality rules saved."))
            return redirect("annotation:quality", slug)
    expert_rows = experts(project)
    bars = bars_of(policy)
    context = {
        "form": form,
        "presets": [(slug, label) for slug, (label, _values) in PRESETS.items()],
        "preset": preset,
        "percents": {name: f"{100 * getattr(policy, name):g}" for name in SHARES},
        "policy": policy,
        "gold_tasks": gold_until_pause(bars, bars.guess) if policy.gold_rate else None,
        "uses": [(use, label, readiness(project, use)) for use, label in Use.choices],
        "experts": expert_rows,
        "baseline": baseline(expert_rows),
        "wanted": LABELS_PER_EXPERT,
    }
    return render(request, "annotation/quality.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def gold(request: HttpRequest, slug: str, use: str) -> HttpResponse:
    """Show the pairs of one use; POST draws more."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    if use not in Use.values:
        raise Http404(_("Unknown use. Reload the page."))
    form = PairsForm(request.POST if request.method == "POST" else None, project=project, use=use)
    if form.is_bound and form.is_valid():
        try:
            n_added = add_gold_pairs(request.user, project, use, **form.cleaned_data)
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            words = ngettext("%(n)s pair was added.", "%(n)s pairs were added.", n_added)
            messages.success(request, words % {"n": n_added})
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
            messages.success(request, _("Caption added to practice."))
            return redirect("annotation:gold", slug, Use.PRACTICE)
    return _gold_page(request, project, Use.PRACTICE, {"practice_form": form}, 422)


@require_POST
def withdraw(request: HttpRequest, slug: str, kind: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    moves: dict[str, Callable[..., None]] = {"pair": withdraw_pair, "practice": withdraw_practice}
    if kind not in moves:
        raise Http404(_("Unknown action. Reload the page."))
    try:
        moves[kind](request.user, project, pk)
    except AnnotationError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Withdrawn. It will not be shown again."))
    use = request.POST.get("use", "")
    return redirect("annotation:gold", slug, use if use in Use.values else Use.MIXED)


@require_http_methods(["GET", "HEAD", "POST"])
def label(request: HttpRequest, slug: str) -> HttpResponse:
    """Show an expert's next pair to label, blind; POST stores the answer and shows the next one."""
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
        context |= {"clip": clip, "answers": ANSWER_ROWS, "texts": texts}
    return render(request, "annotation/label.html", context, status=400 if problem else 200)


def _gold_page(request: HttpRequest, project: Project, use: str, forms: dict[str, Any], status: int) -> HttpResponse:
    practice = PracticeCaption.objects.filter(project=project, withdrawn_at=None).select_related(
        "caption", "said_by", "subtest"
    )
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


@require_safe
def validators(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    rows = rows_of(project)
    policy = QualityPolicy.objects.filter(project=project).first()
    sorting = sorting_of(VALIDATOR_COLUMNS, request.GET.get("sort", ""), rising={"name", "gold", "seconds", "covered"})
    context = {
        "rows": [
            (row, PAUSED_WHY.get(row.standing.paused_why, "") if row.standing else "")
            for row in sorted_validators(rows, sorting)
        ],
        "headings": sorting.headings,
        "line": break_even_accuracy(bars_of(policy)) if policy else None,
    }
    return render(request, "annotation/validators.html", context)


@require_POST
def validator_move(request: HttpRequest, slug: str, pk: int, move: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    if move not in MOVES:
        raise Http404(_("Unknown action. Reload the page."))
    person = validator_for(request.user, project, pk)
    try:
        message = MOVES[move](request.user, project, person, request.POST.get("note", ""))
    except AnnotationError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, message)
    return redirect("annotation:validators", slug)


def _pause(actor: User, project: Project, person: User, note: str) -> str:
    pause_validator(actor, project, person.pk, note)
    return _("%(name)s was paused.") % {"name": person.username}


def _resume(actor: User, project: Project, person: User, note: str) -> str:
    resume_validator(actor, project, person.pk, note)
    return _("%(name)s can continue. Their quality results are counted again from zero.") % {"name": person.username}


def _exclude(actor: User, project: Project, person: User, note: str) -> str:
    n = exclude_votes(actor, project, person.pk, note)
    words = ngettext("%(n)s vote of %(name)s was excluded.", "%(n)s votes of %(name)s were excluded.", n)
    return words % {"n": n, "name": person.username}


def _reinstate(actor: User, project: Project, person: User, note: str) -> str:
    counted, surplus = reinstate_votes(actor, project, person.pk, note)
    words = _(
        "%(counted)s votes of %(name)s count again. %(surplus)s are surplus because their pairs "
        "already have enough votes."
    )
    return words % {"counted": counted, "surplus": surplus, "name": person.username}


MOVES: dict[str, Callable[[User, Project, User, str], str]] = {
    "pause": _pause,
    "resume": _resume,
    "set-aside": _exclude,
    "bring-back": _reinstate,
}


@require_http_methods(["GET", "HEAD", "POST"])
def practice(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the available practice; POST starts or continues it."""
    project = request.project = get_project(request.user, slug)
    if request.method == "POST":
        return _start(request, Stage.PRACTICE, request.POST.get("of_stage", ""), "annotation:practice")
    policy = QualityPolicy.objects.filter(project=project).first()
    practice_readiness, roles = readiness(project, Use.PRACTICE), roles_in(request.user, project)
    numbers = {Stage.EDIT: practice_readiness.captions, Stage.VALIDATION: practice_readiness.pairs}
    sets = [
        {"stage": stage, "title": TITLES[stage], "count": numbers[stage]}
        for stage, role in PRACTICE_ROLE.items()
        if role in roles and numbers[stage]
    ]
    return render(request, "annotation/practice.html", {"sets": sets if policy and policy.practice_open else []})


@require_http_methods(["GET", "HEAD", "POST"])
def qualification(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what the test requires and the person's result; POST starts or continues it."""
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
        "running": next((attempt_row for attempt_row in tries if attempt_row.finished_at is None), None),
        "left": max(0, policy.tries - len(tries)) if policy else 0,
        "baseline": baseline(experts(project)),
    }
    return render(request, "annotation/qualification.html", context)


@require_safe
def attempt(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the next open question, or the result."""
    stored_attempt = _attempt(request, slug, pk)
    following = stored_attempt.questions.filter(answered_at=None).order_by("place").first()
    if following is not None:
        return redirect("annotation:question", slug, pk, following.place)
    answers = list(stored_attempt.questions.values_list("right", flat=True))
    return render(
        request, "annotation/attempt.html", {"attempt": stored_attempt, "right": sum(answers), "asked": len(answers)}
    )


@require_http_methods(["GET", "HEAD", "POST"])
def question(request: HttpRequest, slug: str, pk: int, place: int) -> HttpResponse:
    """Show one question; practice shows the right answer afterwards, the qualification never does."""
    stored_attempt, problem, form = _attempt(request, slug, pk), "", request.POST
    if request.method == "POST":
        submitted_answer = form.get("answer") or form.getlist("text")
        try:
            answer_question(request.user, pk, place, submitted_answer, **sent_with(form))
        except AnnotationError as error:
            problem = str(error)
        else:
            same_page = redirect("annotation:question", slug, pk, place)
            return same_page if stored_attempt.stage == Stage.PRACTICE else redirect("annotation:attempt", slug, pk)
    rows = stored_attempt.questions.select_related(
        "attempt", "pair__video__project", "practice__caption__video__project", "practice__subtest", "pair__subtest"
    )
    asked_question = or_404(rows.filter(place=place).first(), _("Question not found."))
    if asked_question.answered_at and stored_attempt.stage == Stage.QUALIFICATION:
        return redirect("annotation:attempt", slug, pk)
    context = {
        **_question_context(asked_question),
        "attempt": stored_attempt,
        "question": asked_question,
        "problem": problem,
    }
    if asked_question.practice_id:
        typed = form.getlist("text")
        context["boxes"] = (typed + [asked_question.practice.caption.text] * asked_question.practice.wanted)[
            : asked_question.practice.wanted
        ]
    context |= {"number": place + 1, "total": stored_attempt.questions.count()}
    template = "annotation/question_edit.html" if asked_question.practice_id else "annotation/question_judge.html"
    return render(request, template, context, status=400 if problem else 200)


def _attempt(request: HttpRequest, slug: str, pk: int) -> Attempt:
    request.project = get_project(request.user, slug)
    stored_attempt = attempt_for(request.user, pk)
    if stored_attempt.project_id != request.project.pk:
        raise Http404(_("Exercise not found."))
    return stored_attempt


def _start(request: HttpRequest, stage: str, of_stage: str, return_page: str) -> HttpResponse:
    try:
        new_attempt = start_attempt(request.user, request.project, stage, of_stage)
    except AnnotationError as error:
        messages.error(request, str(error))
        return redirect(return_page, request.project.slug)
    return redirect("annotation:attempt", request.project.slug, new_attempt.pk)


def _question_context(asked_question: Question) -> dict[str, Any]:
    return _edit_question(asked_question) if asked_question.practice_id else _judgement(asked_question)


def _judgement(asked_question: Question) -> dict[str, Any]:
    pair, first = asked_question.pair, bool(asked_question.caption_first)
    work = two_texts(pair.caption_text, pair.foil_text, first)
    order_words = {"caption": "first" if first else "second", "foil": "second" if first else "first"}
    context: dict[str, Any] = {
        "clip": blind_clip(pair.video, asked_question.attempt.person_id, Piece.QUESTION, asked_question.pk),
        "texts": [(_("First"), work.first.segments), (_("Second"), work.second.segments)],
        "answers": ANSWER_ROWS,
    }
    if asked_question.answered_at:
        words = dict(ANSWERS)
        context["given"] = words[order_words.get(asked_question.choice, asked_question.choice)]
        context["expected"] = words[order_words.get(pair.answer, pair.answer)]
        context["explanation"] = pair.explanation
    return context


def _edit_question(asked_question: Question) -> dict[str, Any]:
    caption = asked_question.practice.caption
    marks = asked_question.practice.marks
    facts = {"caption": caption.text, "others": [], "dropped": [], **marked_words(marks)}
    context: dict[str, Any] = {
        "clip": blind_clip(caption.video, asked_question.attempt.person_id, Piece.QUESTION, asked_question.pk),
        "caption": caption.text,
        "facts": facts,
        "checks": live_checks,
        "of_action": marks is not None,
    }
    if asked_question.answered_at:
        texts = asked_question.text.split(LINE) if asked_question.practice.wanted > 1 else [asked_question.text]
        grades = grade_edits(caption.text, texts, asked_question.practice.examples, marks)
        context["given"] = [
            (
                diff_segments(caption.text, text),
                MATCHES[grade.match],
                [of_finding(finding) for finding in grade.findings],
            )
            for text, grade in zip(texts, grades, strict=True)
        ]
        context["examples"] = [diff_segments(caption.text, example) for example in asked_question.practice.examples]
        context["explanation"] = asked_question.practice.explanation
    return context
