"""Answer monitoring: whether the process runs, whether it is ready, and its metrics."""

import hmac
import ipaddress

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from foilworks.core.projects.limits.rate_limits import address_of
from foilworks.site.monitoring.metrics import exposition
from foilworks.site.monitoring.readiness import readiness


@require_safe
@never_cache
@login_not_required
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer while the process serves. A restart does not help against a lost database, which `readyz` reports."""
    return JsonResponse({"ok": True})


@require_safe
@never_cache
@login_not_required
def readyz(request: HttpRequest) -> JsonResponse:
    checks = readiness()
    ok = set(checks.values()) == {"ok"}
    return JsonResponse({"ok": ok, **checks}, status=200 if ok else 503)


@require_safe
@never_cache
@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    if not (_has_token(request) or _is_allowed_address(request)):
        raise Http404(_("Page not found."))
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)


def _has_token(request: HttpRequest) -> bool:
    sent_token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    expected_token = settings.METRICS_TOKEN
    return bool(expected_token) and hmac.compare_digest(sent_token.encode(), expected_token.encode())


def _is_allowed_address(request: HttpRequest) -> bool:
    try:
        address = ipaddress.ip_address(address_of(request))
    except ValueError:
        return False
    return any(address in ipaddress.ip_network(network) for network in settings.METRICS_NETWORKS)
