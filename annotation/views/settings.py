"""Settings of a project: name, rules, archive; guidelines, review sampling, votes per pair."""

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import subtest_for
from annotation.actions.settings.published_labels import collect_votes, items_without_votes
from annotation.actions.settings.work_settings import (
    publish_guideline,
    set_review_sampling,
    set_vote_rule,
    set_work_rules,
)
from annotation.errors import AnnotationError
from annotation.forms import CollectVotesForm, ReviewSharesForm
from annotation.models import Stage
from annotation.queries.guidelines import current_guidelines, versions_of, work_under_version
from annotation.queries.work_rules import (
    annotator_shares,
    changeable,
    policy_of,
    waiting_second_reviews,
    why_fixed,
    why_scope_fixed,
)
from annotation.rules.guidelines import MAX_CHARACTERS
from annotation.rules.voting import rule_in_force
from annotation.settings_forms import WorkRulesForm
from annotation.views._work_pages import guideline_html
from foilworks.core.corpus.forms import VoteRuleForm
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.access import TIME_TO_RESTORE, get_project
from foilworks.core.projects.actions import lifecycle
from foilworks.core.projects.demo_accounts import NO_SETTINGS, why_closed
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.forms.settings import AboutForm, DeleteForm
from foilworks.core.projects.models import Project, Role
from foilworks.core.projects.pages import address_of
from foilworks.core.text.diff import diff_segments
from foilworks.core.text.errors import ActionableError

# Older versions stay with the work done under them.
SHOWN = 20


@require_safe
def guidelines(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    subtests = Subtest.objects.filter(project=project)
    return render(request, "annotation/guidelines.html", {"rows": current_guidelines(project), "subtests": subtests})


@require_http_methods(["GET", "HEAD", "POST"])
def guideline(request: HttpRequest, slug: str, stage: str, subtest: int | None = None) -> HttpResponse:
    """Show a stage's text; POST publishes it, after a confirmation if work under the last version exists."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    if stage not in Stage.values:
        raise Http404(_("Stage not found."))
    guideline_subtest = subtest_for(project, subtest) if subtest is not None else None
    form, problem, n_begun = request.POST, "", work_under_version(project, stage, guideline_subtest)
    if request.method == "POST":
        unwarned = n_begun and form.get("begun") != str(n_begun)
        if "preview" not in form and not unwarned:
            try:
                new_guideline = publish_guideline(
                    request.user, project, stage, form.get("text", ""), subtest=guideline_subtest
                )
            except AnnotationError as error:
                problem = str(error)
            else:
                messages.success(request, _("Version %(n)s published.") % {"n": new_guideline.version})
                return redirect(request.path)
    context = _guideline_context(request, project, stage, guideline_subtest) | {"problem": problem, "begun": n_begun}
    return render(request, "annotation/guideline.html", context, status=400 if problem else 200)


@require_POST
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the HTML of the typed text, for the page to show beside it."""
    request.project = get_project(request.user, slug, Role.RESEARCHER)
    html = guideline_html(request.POST.get("text", "")[:MAX_CHARACTERS])
    return render(request, "annotation/_guideline_preview.html", {"preview": html})


def _guideline_context(request: HttpRequest, project: Project, stage: str, subtest: Subtest | None) -> dict[str, Any]:
    versions = list(versions_of(project, stage, subtest)[:SHOWN])
    text = request.POST.get("text", versions[0].text if versions else "")
    return {
        "stage": Stage(stage),
        "subtest": subtest,
        "text": text,
        "most": MAX_CHARACTERS,
        "preview": guideline_html(text[:MAX_CHARACTERS]),
        "warned": request.method == "POST" and "preview" not in request.POST,
        "versions": [
            {"row": row, "segments": diff_segments(older.text, row.text) if older else [("same", row.text)]}
            for row, older in zip_longest(versions, versions[1:])
        ],
    }


@require_http_methods(["GET", "HEAD", "POST"])
def review_shares(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    shares = annotator_shares(project)
    form = ReviewSharesForm(
        request.POST if request.method == "POST" else None, policy=policy_of(project), shares=shares
    )
    if form.is_bound and form.is_valid():
        try:
            set_review_sampling(request.user, project, **form.shares())
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Review shares saved. They apply to new edits."))
            return redirect(request.path)
    rows = [(share, form[form.field_of(share.person)]) for share in shares]
    context = {"form": form, "rows": rows, "waiting": waiting_second_reviews(project)}
    return render(request, "annotation/review_shares.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def vote_rule(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    subtest = subtest_for(project, pk)
    name, form = subtest.name, VoteRuleForm(request.POST if request.method == "POST" else None, instance=subtest)
    if form.is_bound and form.is_valid():
        rule = rule_in_force(form.instance)
        try:
            set_vote_rule(request.user, subtest, rule)
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Vote rule of %(name)s saved.") % {"name": name})
            return redirect("corpus:subtests", project.slug)
    # The form's rejected values are not in force.
    context = {"form": form, "subtest": subtest_for(project, pk), "why_fixed": why_fixed(subtest)}
    context["n_on_word"] = items_without_votes(subtest).count()
    context["votes_form"] = CollectVotesForm()
    return render(request, "annotation/vote_rule.html", context, status=422 if form.errors else 200)


@require_POST
def ask_for_votes(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Collect votes on items that were imported as published."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    subtest, form = subtest_for(project, pk), CollectVotesForm(request.POST)
    try:
        if not form.is_valid():
            raise AnnotationError(_("Choose at least one item."))
        n = collect_votes(request.user, subtest, size=form.cleaned_data["sample"])
    except AnnotationError as error:
        messages.error(request, str(error))
    else:
        message = ngettext("Votes will be collected for %(n)d item.", "Votes will be collected for %(n)d items.", n)
        messages.success(request, message % {"n": n})
    return redirect("annotation:vote_rule", project.slug, subtest.pk)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def project_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the settings; POST saves the part that its button names."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    section = request.POST.get("part", "about") if request.method == "POST" else ""
    why_fixed = why_scope_fixed(project)
    forms_by_section: dict[str, forms.Form] = {
        # A copy: a rejected name must not appear in the bar.
        "about": AboutForm(request.POST if section == "about" else None, instance=Project.objects.get(pk=project.pk)),
        "rules": WorkRulesForm(request.POST if section == "rules" else None, project=project, why_fixed=why_fixed),
        "delete": DeleteForm(request.POST if section == "delete" else None),
    }
    if (
        section
        and section in forms_by_section
        and (answer := _write(request, project, section, forms_by_section[section]))
    ):
        return answer
    return render(
        request, "annotation/project_settings.html", _context(request, forms_by_section), status=422 if section else 200
    )


def _context(request: HttpRequest, forms_by_section: dict[str, forms.Form]) -> dict[str, Any]:
    subtests = Subtest.objects.filter(project=request.project).order_by("name")
    return {
        **{f"{section}_form": form for section, form in forms_by_section.items()},
        "subtests": subtests,
        "changeable": set(changeable(subtests).values_list("pk", flat=True)),
        "closed": why_closed(request.user, NO_SETTINGS),
        "days": TIME_TO_RESTORE.days,
    }


def _write(request: HttpRequest, project: Project, section: str, form: forms.Form) -> HttpResponse | None:
    """Store the part and return where to go; None with the problem in the form."""
    if not form.is_valid():
        return None
    try:
        return WRITES[section](request, project, form)
    except AccessDenied:
        raise
    except ActionableError as error:
        form.add_error("typed_name" if section == "delete" else None, str(error))
        return None


def _save_description(request: HttpRequest, project: Project, form: forms.Form) -> HttpResponse:
    lifecycle.describe_project(request.user, project, **form.cleaned_data)
    messages.success(request, _("Name and description saved."))
    return redirect(request.path)


def _save_rules(request: HttpRequest, project: Project, form: forms.Form) -> HttpResponse:
    set_work_rules(request.user, project, form.rules())
    messages.success(request, _("Rules saved. They apply to tasks that people get from now on."))
    return redirect(request.path)


def _delete(request: HttpRequest, project: Project, form: forms.Form) -> HttpResponse:
    lifecycle.delete_project(request.user, project, form.cleaned_data["typed_name"])
    words = _("Project %(name)s deleted. You can restore it on this page for %(days)d days.")
    messages.success(request, words % {"name": project.name, "days": TIME_TO_RESTORE.days})
    return redirect("home")


WRITES: dict[str, Callable[[HttpRequest, Project, Any], HttpResponse]] = {
    "about": _save_description,
    "rules": _save_rules,
    "delete": _delete,
}


@require_POST
def archive_project(request: HttpRequest, slug: str) -> HttpResponse:
    """Archive the project, or with `archived=0` end that."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    archived = request.POST.get("archived") != "0"
    lifecycle.set_archived(request.user, project, archived=archived)
    messages.success(
        request,
        _("Project archived. Nobody gets new tasks.") if archived else _("Project unarchived. People get tasks again."),
    )
    return redirect("annotation:project_settings", slug)


@require_POST
def restore_project(request: HttpRequest, slug: str) -> HttpResponse:
    project = lifecycle.restore_project(request.user, slug)
    messages.success(request, _("Project %(name)s restored.") % {"name": project.name})
    return redirect(address_of("project", project.slug))
