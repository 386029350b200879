"""Whether this process can work now; for who decides whether it gets requests."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from foilworks.monitoring.readiness import readiness


@require_safe
@never_cache
@login_not_required
def readyz(request: HttpRequest) -> JsonResponse:
    parts = readiness()
    ok = set(parts.values()) == {"ok"}
    return JsonResponse({"ok": ok, **parts}, status=200 if ok else 503)
