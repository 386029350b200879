"""Show the state of the installation to site administrators."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from foilworks.core.projects.errors import AccessDenied
from foilworks.site.administration import overview


@never_cache
@require_safe
def administration(request: HttpRequest) -> HttpResponse:
    if not request.user.is_superuser:
        raise AccessDenied(_("Only site administrators can open this page."))
    return render(request, "foilworks/administration.html", overview())
