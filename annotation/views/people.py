"""The members of a project: who they are, what they may do, who joins and who leaves."""

from collections.abc import Callable

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Prefetch, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import member_for
from annotation.actions.people import change_roles as changing
from annotation.actions.people import remove_member as removing
from annotation.forms import MemberForm
from annotation.models import SlotState
from projects.access import get_project
from projects.actions.add_member import Added, add_member
from projects.actions.renew_password import renew_password, unused_accounts
from projects.errors import ProjectError
from projects.models import Membership, Project, Role, User

PER_PAGE = 50


@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    """The list; POST adds somebody, or renews a password that nobody used. Its answer is the only page that ever shows
    the password."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    if request.method == "POST" and request.POST.get("renew", "").isdecimal():
        return _renew(request, project, int(request.POST["renew"]))
    form = MemberForm(request.POST if request.method == "POST" else None, initial={"roles": [Role.ANNOTATOR]})
    added = _added(request, project, form)
    if added and not added.password:
        messages.success(request, _("%(name)s is a member now.") % {"name": added.person.username})
        return redirect("annotation:people", slug)
    return _page(request, project, None if added else form, added=added)


def _renew(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    person = member_for(request.user, project, pk)
    try:
        return _page(request, project, renewed=renew_password(request.user, project, person.pk))
    except ProjectError as error:
        messages.error(request, str(error))
        return redirect("annotation:people", project.slug)


def _page(request: HttpRequest, project: Project, form: MemberForm | None = None, **told: Added | None) -> HttpResponse:
    """`told`: whose password is shown, this once."""
    context = {
        "form": form or MemberForm(initial={"roles": [Role.ANNOTATOR]}),
        "page": _members(project, request.GET.get("page")),
        "roles_of_people": Role.choices,
        **told,
    }
    status = 422 if form is not None and form.errors else 200
    response = render(request, "annotation/people.html", context, status=status)
    response.headers["Cache-Control"] = "no-store"
    return response


@require_POST
def member_roles(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    person, roles = member_for(request.user, project, pk), request.POST.getlist("roles")
    said = _("The roles of %(name)s are changed.") % {"name": person.username}
    return _done(request, person, lambda: changing.change_roles(request.user, project, pk, roles), said)


@require_POST
def member_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    person = member_for(request.user, project, pk)
    said = _("%(name)s is no member any more; what they have done stays.") % {"name": person.username}
    return _done(request, person, lambda: removing.remove_member(request.user, project, pk), said)


def _added(request: HttpRequest, project: Project, form: MemberForm) -> Added | None:
    """Who was added; what the action refuses stands beside the name."""
    if not form.is_bound or not form.is_valid():
        return None
    try:
        return add_member(request.user, project, **form.cleaned_data)
    except ProjectError as error:
        form.add_error("username", str(error))
        return None


def _members(project: Project, number: str | None) -> Page:
    """A page of the members, each with `roles_here`, the number of pieces `in_hand`, and whether the password
    `may_renew`. Three queries."""
    here = Membership.objects.filter(project=project)
    held = Q(slots__project=project, slots__state=SlotState.LEASED)
    rows = User.objects.filter(pk__in=here.values("person")).annotate(in_hand=Count("slots", filter=held))
    rows = rows.annotate(may_renew=Exists(unused_accounts(project).filter(pk=OuterRef("pk"))))
    rows = rows.prefetch_related(Prefetch("memberships", here, to_attr="here"))
    page = Paginator(rows.order_by("username"), PER_PAGE).get_page(number)
    for person in page:
        person.roles_here = {membership.role for membership in person.here}
    return page


def _done(request: HttpRequest, person: User, write: Callable[[], int], said: str) -> HttpResponse:
    try:
        freed = write()
    except ProjectError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{said} {_freed(freed)}".strip())
    return _back(request, person)


def _back(request: HttpRequest, person: User) -> HttpResponse:
    """To the list, or home for who has just given up their own right to it."""
    mine = Membership.objects.filter(project=request.project, person=request.user, role=Role.RESEARCHER)
    if person == request.user and not request.user.is_superuser and not mine.exists():
        return redirect("home")
    return redirect("annotation:people", request.project.slug)


def _freed(count: int) -> str:
    if not count:
        return ""
    words = ngettext("%(n)s piece in their hands is free again.", "%(n)s pieces in their hands are free again.", count)
    return words % {"n": count}
