"""The documentation inside the app, for everybody."""

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from foilworks.site.help_pages import INDEX, help_address, help_names, help_page

TABS = (
    (INDEX, _("Start")),
    ("tutorial", _("Tutorial")),
    ("how-to/index", _("How-to")),
    ("explanation/index", _("Explanation")),
    ("reference/index", _("Reference")),
    ("workflow", _("Life cycle of an item")),
)


@require_safe
@login_not_required
def show(request: HttpRequest, name: str = INDEX) -> HttpResponse:
    if name not in help_names():
        raise Http404
    shelf = name.partition("/")[0]
    tabs = [
        {"label": label, "address": help_address(tab), "is_current": tab in (name, f"{shelf}/index")}
        for tab, label in TABS
    ]
    return render(request, "foilworks/help.html", {"page": help_page(name), "tabs": tabs})
