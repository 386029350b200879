"""The language of the pages, kept in a cookie; who is not signed in may choose it too."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST
from django.views.i18n import set_language


@login_not_required
@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """POST `language` and `next`; only languages of the settings are taken, only addresses of our own gone to."""
    return set_language(request)
