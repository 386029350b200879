"""Invitation links: the owner's list, and the page that somebody comes to who opens one."""

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from projects import rate_limits
from projects.access import get_project
from projects.actions.accept_invitation import accept_invitation, accept_with_new_account
from projects.actions.make_invitation import make_invitation
from projects.actions.withdraw_invitation import withdraw_invitation
from projects.errors import EntryRefused, ProjectError, TooManyTries
from projects.forms.accounts import InvitationForm, JoinForm
from projects.forms.strict import refuse_other_fields
from projects.invitations import (
    CLOSED_REASONS,
    closed_reason,
    has_its_roles,
    invitation_for,
    invitation_named,
    token_of,
)
from projects.models import Invitation, Role
from projects.views.sign_in import complete_login

PER_PAGE = 50


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitations(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = InvitationForm(request.POST if request.method == "POST" else None, initial={"roles": [Role.ANNOTATOR]})
    if request.method == "POST" and form.is_valid():
        make_invitation(request.user, project, **form.cleaned_data)
        messages.success(request, _("The invitation is made; its link stands first in the list."))
        return redirect("projects:invitations", slug)
    rows = Invitation.objects.filter(project=project).select_related("created_by")
    page, now = Paginator(rows, PER_PAGE).get_page(request.GET.get("page")), timezone.now()
    for row in page:
        row.over = CLOSED_REASONS.get(closed_reason(row, now), "")
        row.role_labels = [label for role, label in Role.choices if role in row.roles]
        row.link = request.build_absolute_uri(reverse("projects:join", args=[token_of(row)]))
    context = {"form": form, "page": page}
    return render(request, "projects/invitations.html", context, status=422 if form.errors else 200)


@require_POST
def invitation_withdraw(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    if withdraw_invitation(request.user, project, pk):
        messages.success(request, _("The invitation is withdrawn: its link brings nobody in any more."))
    return redirect("projects:invitations", slug)


@sensitive_post_parameters()
@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """For who is signed in one button; for others a new account, or the way to sign in."""
    signed_in = request.user.is_authenticated
    invitation = _looked_up(request, token)
    form = None if signed_in else JoinForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        refuse_other_fields(request, form, project=invitation.project)
        if signed_in:
            return _welcome(request, accept_invitation(request.user, token).slug)
        if form.is_valid():
            answer = _with_new_account(request, form, token)
            if answer is not None:
                return answer
    roles = [label for role, label in Role.choices if role in invitation.roles]
    context = {"invitation": invitation, "form": form, "roles_offered": roles, "token": token}
    return render(request, "projects/join.html", context, status=422 if form and form.errors else 200)


def _looked_up(request: HttpRequest, token: str) -> Invitation:
    """EntryRefused for what does not hold; who tries many is told to wait."""
    address = rate_limits.network_of(request)
    if rate_limits.is_exceeded(rate_limits.ENTRY, address):
        raise TooManyTries(_("Too many links from here did not hold; wait an hour."))
    try:
        invitation = invitation_named(token)
        there = request.user.is_authenticated and has_its_roles(request.user, invitation)
        return invitation if there else invitation_for(token)
    except EntryRefused:
        rate_limits.hit(rate_limits.ENTRY, address)
        raise


def _with_new_account(request: HttpRequest, form: JoinForm, token: str) -> HttpResponse | None:
    given = form.cleaned_data
    try:
        person, project = accept_with_new_account(
            token, username=given["username"], password=given["password1"], email=given["email"]
        )
    except ProjectError as error:
        form.add_error("username", str(error))
        return None
    messages.success(request, _("You are a member of %(project)s now.") % {"project": project.name})
    return complete_login(request, person, reverse("dashboard:dashboard", args=[project.slug]))


def _welcome(request: HttpRequest, slug: str) -> HttpResponse:
    messages.success(request, _("You are a member now."))
    return redirect("dashboard:dashboard", slug)
