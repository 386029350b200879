"""Save and delete named views of lists."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from foilworks.core.projects.actions import saved_views
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import SavedView


@require_POST
def save_view(request: HttpRequest, slug: str) -> HttpResponse:
    page, name, query = (request.POST.get(key, "") for key in ("page", "name", "query"))
    try:
        view = saved_views.save_view(request.user, slug, page, name, query)
    except ProjectError as error:
        messages.error(request, str(error))
        unsaved_view = SavedView(page=page, query=query[: saved_views.MAX_QUERY])
        return redirect(saved_views.address_of(unsaved_view, slug))
    messages.success(request, _("View saved: %(name)s.") % {"name": view.name})
    return redirect(saved_views.address_of(view, slug))


@require_POST
def delete_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    view = saved_views.delete_view(request.user, slug, pk)
    messages.success(request, _("View deleted: %(name)s.") % {"name": view.name})
    return redirect(saved_views.address_of(view, slug))
