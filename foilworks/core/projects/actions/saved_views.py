"""Save the filters, columns and order of a list under a name, for one person in one project."""

from collections.abc import Sequence

from django.db import transaction
from django.http import Http404
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _

from foilworks.core.projects.access import get_project
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import Project, SavedView, User

MAX_VIEWS_PER_LIST = 30
MAX_NAME, MAX_QUERY = (SavedView._meta.get_field(column).max_length for column in ("name", "query"))


def views_of(project: Project, person: User, page: str) -> Sequence[SavedView]:
    """Return the person's views of a list by name; one query."""
    return list(SavedView.objects.filter(person=person, project=project, page=page).order_by("name"))


def address_of(view: SavedView, slug: str) -> str:
    """Return the address of the list with the view's query."""
    return reverse(view.page, args=[slug]) + (f"?{view.query}" if view.query else "")


@transaction.atomic
def save_view(person: User, slug: str, page: str, name: str, query: str) -> SavedView:
    """Store the view and return it; the same name replaces it. The query is checked when the list is opened.

    ProjectError: no name, a name or a query that is too long, or too many views. 404: no list of a project.
    """
    project = get_project(person, slug)
    try:
        reverse(page, args=[slug])
    except NoReverseMatch:
        raise Http404(_("This list does not exist.")) from None
    name, query = " ".join(name.split()), query.strip("&?")
    if not name or len(name) > MAX_NAME:
        raise ProjectError(_("Enter a name of 1 to %(n)s characters.") % {"n": MAX_NAME})
    if len(query) > MAX_QUERY:
        raise ProjectError(_("The filters of this view are too long to save. Shorten the search."))
    of_list = SavedView.objects.filter(person=person, project=project, page=page)
    if of_list.exclude(name=name).count() >= MAX_VIEWS_PER_LIST:
        raise ProjectError(_("You have %(n)s views of this list, the maximum. Delete one.") % {"n": MAX_VIEWS_PER_LIST})
    names = {"person": person, "project": project, "page": page, "name": name}
    view, _created = SavedView.objects.update_or_create(**names, defaults={"query": query})
    audit.record(audit.event(None, person, "projects.save_view", person, page=page))
    return view


@transaction.atomic
def delete_view(person: User, slug: str, pk: int) -> SavedView:
    """Delete the person's view and return it; 404 without one."""
    project = get_project(person, slug)
    view = SavedView.objects.filter(person=person, project=project, pk=pk).first()
    if view is None:
        raise Http404(_("This view does not exist any more."))
    view.delete()
    audit.record(audit.event(None, person, "projects.delete_view", person, page=view.page))
    return view
