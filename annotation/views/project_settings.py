"""The settings of a project: its name, the rules of its work, archive, delete and restore."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.actions.settings.set_work_rules import set_work_rules
from annotation.queries.vote_rules import changeable
from annotation.queries.work_rules import why_scope_fixed
from annotation.settings_forms import WorkRulesForm
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.access import TIME_TO_RESTORE, get_project
from foilworks.core.projects.actions import lifecycle
from foilworks.core.projects.demo_accounts import NO_SETTINGS, why_closed
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.forms.settings import AboutForm, DeleteForm
from foilworks.core.projects.models import Project, Role
from foilworks.core.projects.pages import address_of
from foilworks.core.text.errors import ActionableError


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
