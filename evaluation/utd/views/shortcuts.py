"""Items that descriptions alone answer: the check, what it found, and the bar of a release."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.utd.actions.check_shortcuts import check_shortcuts, set_shortcut_bar
from evaluation.utd.forms import ShortcutBarForm, ShortcutForm
from evaluation.utd.models import Descriptions, ItemCheck, ShortcutBar
from evaluation.utd.shortcuts import latest_check, summary
from projects.access import get_project
from projects.live_pages import render_live
from projects.models import Project, Role
from text.errors import ActionableError


@require_http_methods(["GET", "HEAD", "POST"])
def shortcuts(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = ShortcutForm(project, request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        asked = dict(form.cleaned_data)
        try:
            check_shortcuts(request.user, asked.pop("descriptions"), **asked)
        except ActionableError as error:
            form.add_error("encoder", str(error))
        else:
            return redirect("utd:bias_items", slug)
    status = 422 if form.errors else 200
    return render(request, "evaluation/bias/shortcuts.html", {**_context(project), "form": form}, status=status)


@require_safe
def shortcuts_progress(request: HttpRequest, slug: str) -> HttpResponse:
    """The live part: asks for itself again while a check is at work, then asks for the whole page."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    pending = _pending(project)
    return render_live(
        request,
        "evaluation/bias/_shortcuts_progress.html",
        {"pending": pending},
        refresh=not pending or pending.job is None or pending.job.is_over,
    )


@require_POST
def shortcut_bar(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = ShortcutBarForm(request.POST)
    if form.is_valid():
        set_shortcut_bar(request.user, project, form.cleaned_data["share"])
        messages.success(request, _("The bar is set; it counts from the next release on."))
        return redirect("utd:bias_items", slug)
    context = {**_context(project), "form": ShortcutForm(project), "bar_form": form}
    return render(request, "evaluation/bias/shortcuts.html", context, status=422)


def _pending(project: Project) -> ItemCheck | None:
    checks = ItemCheck.objects.filter(descriptions__project=project, checked_at__isnull=True)
    return checks.select_related("job").order_by("-pk").first()


def _context(project: Project) -> dict[str, Any]:
    check, bar = latest_check(project), ShortcutBar.objects.filter(project=project).first()
    return {
        "check": check,
        "rows": summary(check) if check else [],
        "pending": _pending(project),
        "described": Descriptions.objects.filter(project=project).exists(),
        "bar": bar,
        "bar_form": ShortcutBarForm(initial={"share": bar.share if bar else None}),
    }
