"""What was refused stands in the audit trail, too: who tried, at which page, and why not."""

from django.db import transaction
from django.http import HttpRequest

from projects import audit, rate_limits
from projects.errors import AccessDenied, EntryRefused, NotAMember


def record_refusal(request: HttpRequest, error: AccessDenied | NotAMember) -> None:
    """One row, `to_state` "refused"; nobody fills the database with them (throttle.REFUSAL_ROWS an hour)."""
    actor = request.user if request.user.is_authenticated else None
    whose = actor.pk if actor else rate_limits.address_of(request)
    if not rate_limits.hit(rate_limits.REFUSAL_ROWS, whose):
        return
    page = request.resolver_match.view_name if request.resolver_match else ""
    why = error.why if isinstance(error, EntryRefused) else type(error).__name__
    project = getattr(error, "project", None) or getattr(request, "project", None)
    target = getattr(error, "target", None) or project or actor
    with transaction.atomic():
        audit.record(audit.refusal(project, actor, target, why, page=page, method=request.method))
