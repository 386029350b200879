"""Erase one's own account, or, for a researcher, a crowd worker who asks for it on the platform."""

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation.access import validator_for
from annotation.erasure.actions.erase_person import erase_person, may_erase
from annotation.erasure.forms import EraseForm
from foilworks.core.projects.access import get_project
from foilworks.core.projects.crowd_entry import require_proof
from foilworks.core.projects.demo_accounts import NO_ERASURE, why_closed
from foilworks.core.projects.errors import AccessDenied, ProjectError, TooManyTries
from foilworks.core.projects.forms.strict import refuse_other_fields
from foilworks.core.projects.limits import rate_limits
from foilworks.core.projects.models import CrowdWorker, Role, User


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def erase(request: HttpRequest) -> HttpResponse:
    """Erase one's own account."""
    require_proof(request)
    form = EraseForm(request.POST if request.method == "POST" else None, actor=request.user)
    if request.method == "POST":
        refuse_other_fields(request, form)
        if _erased(request, form, request.user):
            logout(request)
            return redirect("projects:sign_in")
    context = {"form": form, "closed": why_closed(request.user, NO_ERASURE)}
    return render(request, "evaluation/erase.html", context, status=422 if form.errors else 200)


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def erase_worker(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Erase a crowd worker, as a researcher; or any member of the project, as a site administrator."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    worker = CrowdWorker.objects.filter(project=project, person=pk).select_related("person").first()
    person = worker.person if worker else validator_for(request.user, project, pk)
    if not may_erase(request.user, person):
        raise AccessDenied(
            _("This account also belongs to other projects. Only the person or a site administrator can delete it.")
        )
    form = EraseForm(request.POST if request.method == "POST" else None, actor=request.user)
    if request.method == "POST" and _erased(request, form, person):
        return redirect("annotation:crowd", slug)
    context = {"form": form, "person": person}
    return render(request, "evaluation/erase.html", context, status=422 if form.errors else 200)


def _erased(request: HttpRequest, form: EraseForm, person: User) -> bool:
    """Return whether the form was valid and the person is erased; otherwise it shows why not."""
    limit, whose = rate_limits.SIGN_IN_HERE, (request.user.username.lower(), rate_limits.network_of(request))
    if rate_limits.is_exceeded(limit, *whose):
        raise TooManyTries(_("Too many wrong passwords. Try again in 15 minutes."))
    if not form.is_valid():
        if "password" in form.errors:
            rate_limits.hit(limit, *whose)
        return False
    try:
        erase_person(request.user, person, form.cleaned_data["work"])
    except ProjectError as error:
        form.add_error(None, str(error))
        return False
    return True
