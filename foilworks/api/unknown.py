"""Addresses below /api/ that are none: a problem in the shape of all others."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt


@csrf_exempt
@login_not_required
def unknown(request: HttpRequest) -> JsonResponse:
    body = {"problem": _("There is no such address; /api/docs/ lists those that are."), "fields": []}
    return JsonResponse(body, status=404)
