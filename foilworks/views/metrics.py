"""Figures for Prometheus, for who has the token or comes from a network that the operator names; for nobody else."""

import hmac
import ipaddress

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from foilworks.monitoring.metrics import exposition
from projects.rate_limits import address_of


@require_safe
@never_cache
@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    if not (_has_the_token(request) or _is_near(request)):
        raise Http404(_("There is no such page."))
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)


def _has_the_token(request: HttpRequest) -> bool:
    sent = request.headers.get("Authorization", "").removeprefix("Bearer ")
    wanted = settings.METRICS_TOKEN
    return bool(wanted) and hmac.compare_digest(sent.encode(), wanted.encode())


def _is_near(request: HttpRequest) -> bool:
    try:
        address = ipaddress.ip_address(address_of(request))
    except ValueError:
        return False
    return any(address in ipaddress.ip_network(each) for each in settings.METRICS_NETWORKS)
