"""The page of composed items: the form with its preview, the job, and the composed items of the project."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.choices.actions.compose_choices import Plan, ask_for_choices, jobs_of, plan_choices
from annotation.choices.composition_sources import composed_subtests, has_sources
from annotation.choices.forms import ComposeForm
from annotation.choices.wording import reasons
from annotation.errors import AnnotationError
from foilworks.core.projects.access import get_project
from foilworks.core.projects.live_pages import render_live
from foilworks.core.projects.models import Project, Role
from generation.choices.compose import HARD

EXAMPLES = 2
PREVIEW = "preview"


@require_http_methods(["GET", "HEAD", "POST"])
def choices(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form and the composed items; POST shows a preview, or queues the job.

    `?part=1` shows only the job, which polls while active.
    """
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    job = jobs_of(project).first()
    if request.method != "POST" and request.GET.get("part") == "1":
        return render_live(request, "annotation/_choices_job.html", {"job": job}, refresh=bool(job and job.is_over))
    form = ComposeForm(request.POST if request.method == "POST" else None, project=project)
    plan = None
    if request.method == "POST" and form.is_valid():
        try:
            if request.POST.get("act") != PREVIEW:
                ask_for_choices(request.user, form.cleaned_data["subtest"], form.request())
                messages.success(request, _("Composing items."))
                return redirect("choices:choices", project.slug)
            plan = plan_choices(form.cleaned_data["subtest"], form.request())
        except AnnotationError as error:
            form.add_error(None, str(error))
    context = {
        "form": form,
        "job": job,
        "preview": _preview(plan),
        "composed": composed_subtests(project),
        "closed": _why_closed(project, form),
    }
    status = 422 if request.method == "POST" and plan is None else 200
    return render(request, "annotation/choices.html", context, status=status)


def _preview(plan: Plan | None) -> dict[str, Any] | None:
    if plan is None:
        return None
    examples = [
        {
            "caption": composed_item.source.caption,
            "foils": [
                (text, role == HARD) for text, role in zip(composed_item.foils, composed_item.roles, strict=True)
            ],
        }
        for composed_item in plan.new[:EXAMPLES]
    ]
    left_out = reasons(plan.counts["left_out"])
    return {"n": len(plan.new), "existing": plan.existing, "left_out": left_out, "examples": examples}


def _why_closed(project: Project, form: ComposeForm) -> str:
    if not form.fields["subtest"].queryset.exists():  # type: ignore[attr-defined]
        return _("There is no subtest yet. Create one with 4 foils per item.")
    if not has_sources(project):
        return _("There are no random captions yet. Start a run, or import Random items.")
    return ""
