"""The only way to write the audit trail; call it in the transaction of the write that it records.

Rows fire webhook events (foilworks.core.projects.webhooks): every write announces itself in its own transaction.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import models, transaction
from django.http import HttpRequest

from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.errors import AccessDenied, EntryRefused, NotAMember
from foilworks.core.projects.limits import rate_limits
from foilworks.core.projects.model_folders import with_names
from foilworks.core.projects.models import AuditEvent, Project, User, Webhook
from foilworks.core.projects.sql.bulk_writes import insert_many
from foilworks.core.projects.sql.fast_inserts import insert
from foilworks.core.projects.sql.prepared_queries import Prepared
from foilworks.core.projects.webhooks.event_type import events_by_action, events_by_state
from foilworks.core.projects.webhooks.events import write_delivery

# Up to this many rows are one statement, compiled once per process; with more, compiling costs little.
FEW = 4
_HOOKS = Prepared(
    lambda project: Webhook.objects.select_related("project").filter(
        project=project, project__deleted_at=None, stopped_at=None
    )
)
_HELD_BACK: ContextVar[list[AuditEvent] | None] = ContextVar("rows held back", default=None)


def events_of(row: models.Model) -> models.QuerySet[AuditEvent]:
    """Return what happened to a row, oldest first."""
    events = AuditEvent.objects.filter(target_type=row._meta.label_lower, target_id=str(row.pk))
    return events.order_by("pk")


def event(
    project: Project | None,
    actor: User | None,
    action: str,
    target: models.Model,
    *,
    from_state: str = "",
    to_state: str = "",
    reason: str = "",
    **details: Any,
) -> AuditEvent:
    """Return an unsaved audit row; `actor` None means the system (an expiry, a job)."""
    return AuditEvent(
        project_id=None if project is None else project.pk,
        actor_id=None if actor is None else actor.pk,
        action=action,
        target_type=target._meta.label_lower,
        target_id=str(target.pk),
        from_state=from_state,
        to_state=to_state,
        reason=reason[:500],
        details=with_names(details),
    )


def refusal(
    project: Project | None, actor: User | None, target: models.Model | None, why: str, **details: Any
) -> AuditEvent:
    """Return an unsaved row about a refused action; `why` is a word. Without a target, nothing known was meant."""
    return AuditEvent(
        project=project,
        actor=actor,
        action="projects.refused",
        target_type=target._meta.label_lower if target is not None else "",
        target_id=str(target.pk) if target is not None else "",
        to_state="refused",
        reason=why,
        details=details,
    )


def record(*events: AuditEvent) -> None:
    record_many(events)


@contextmanager
def in_one_statement() -> Iterator[None]:
    """Store the rows that are recorded inside in one statement, at the end. After an error, none are stored."""
    rows: list[AuditEvent] = []
    mark = _HELD_BACK.set(rows)
    try:
        yield
    finally:
        _HELD_BACK.reset(mark)
    record_many(rows)


def record_many(events: Iterable[AuditEvent]) -> None:
    """Store the rows, and the deliveries of the webhook events that they fire.

    Outside a transaction this is a programming error: the write could be stored without its row.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("audit rows are written in the same transaction as what they record")
    rows = list(events)
    if (held_back := _HELD_BACK.get()) is not None:
        held_back += rows
        return
    if 0 < len(rows) <= FEW:
        insert(*rows)
    else:
        insert_many(rows)
    _announce(rows)


def _announce(events: Sequence[AuditEvent]) -> None:
    """Write a delivery for every address that wants one of the events, and queue its job; part of the transaction."""
    events_by_slug = [(slug, event) for event in events if event.project_id and (slug := event_slug(event))]
    if not events_by_slug:
        return
    project_ids = {event.project_id for _slug, event in events_by_slug}
    for hook in (hook for project in project_ids for hook in _HOOKS.all(project=project)):
        for slug, event in events_by_slug:
            of_this = event.target_id == str(hook.pk) if slug == "ping" else slug in hook.events
            if event.project_id == hook.project_id and of_this:
                write_delivery(hook, slug, event)


def event_slug(event: AuditEvent) -> str | None:
    """Return the webhook event that an audit row fires; None for most."""
    if event.from_state != event.to_state and (slug := events_by_state().get((event.target_type, event.to_state))):
        return slug
    return events_by_action().get(event.action)


def record_refusal(request: HttpRequest, error: AccessDenied | NotAMember) -> None:
    """Store one row with `to_state` "refused", at most rate_limits.REFUSAL_ROWS an hour."""
    actor = request.user if request.user.is_authenticated else None
    rate_limit_key = actor.pk if actor else rate_limits.network_of(request)
    if not rate_limits.hit(rate_limits.REFUSAL_ROWS, rate_limit_key):
        return
    page = request.resolver_match.view_name if request.resolver_match else ""
    why = error.why if isinstance(error, EntryRefused) else type(error).__name__
    project = getattr(error, "project", None) or getattr(request, "project", None)
    target = getattr(error, "target", None) or project or actor
    with transaction.atomic():
        audit.record(audit.refusal(project, actor, target, why, page=page, method=request.method))
