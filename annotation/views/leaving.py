"""A person leaves a project, and what is stored of them as a file."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.actions.people.withdraw import on_withdrawal, withdraw
from annotation.queries.personal_data import own_data as everything
from projects.access import get_project
from projects.crowd_entry import require_proof
from projects.errors import ProjectError
from projects.forms.accounts import LeaveForm
from projects.forms.strict import refuse_other_fields


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def leave(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, consenting=True)
    rule = on_withdrawal(request.user, project)
    form = LeaveForm(request.POST if request.method == "POST" else None, on_withdrawal=rule)
    if request.method == "POST":
        refuse_other_fields(request, form, project=project)
        if form.is_valid():
            require_proof(request)
            try:
                removed = withdraw(request.user, project, form.cleaned_data["work"])
            except ProjectError as error:
                form.add_error(None, str(error))
            else:
                words = ngettext("%(n)s answer was removed.", "%(n)s answers were removed.", removed) % {"n": removed}
                messages.success(request, _("You have left %(project)s.") % {"project": project.name} + f" {words}")
                return redirect("home")
    return render(request, "annotation/leave.html", {"form": form}, status=422 if form.errors else 200)


@never_cache
@require_safe
def own_data(request: HttpRequest) -> HttpResponse:
    require_proof(request)
    answer = JsonResponse(everything(request.user), json_dumps_params={"indent": 1, "ensure_ascii": False})
    answer.headers["Content-Disposition"] = 'attachment; filename="my-data.json"'
    return answer
