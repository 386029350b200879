"""The audit trail of a project, as a list and as a file."""

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from foilworks.core.projects.access import get_project
from foilworks.core.projects.audit_trail.forms import TrailFilter
from foilworks.core.projects.audit_trail.sentences import detail_words, phrase
from foilworks.core.projects.audit_trail.words import action_words, actor_name, is_judgement, kind_words, target_page
from foilworks.core.projects.listing.keyset import Order
from foilworks.core.projects.listing.listing import list_rows
from foilworks.core.projects.models import AuditEvent, Project, Role, User
from foilworks.core.text.storable import safe_row

ORDERS = (
    Order("newest", gettext_lazy("Newest first"), ("id",), descending=True),
    Order("oldest", gettext_lazy("Oldest first"), ("id",)),
)
MEMBER = "projects.user"
COLUMNS = ("id", "at", "actor", "action", "target_type", "target_id", "from_state", "to_state", "reason", "details")


@never_cache
@require_safe
def trail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show who did what, newest first."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = TrailFilter(request.GET, is_open="open" in request.GET)
    if form.is_open:
        return render(request, "foilworks/_folded_filters.html", {"form": form})
    listing = list_rows(form.narrow(project), ORDERS, request.GET, form.chosen(), _with_actor)
    for row in listing.page.rows:
        row.words, row.kind = action_words(row.action), kind_words(row.target_type)
        row.who, row.page = actor_name(project, row), target_page(project, row)
        row.state = row.to_state.replace("_", " ")
        row.said = phrase(row.action)
        row.detail_text = Truncator(detail_words(row.details)).chars(160)
    _name_members(listing.page.rows)
    leads = _folded(listing.page.rows)
    page = replace(listing.page, rows=leads, folded=len(listing.page.rows) - len(leads))
    context = {
        "form": form,
        "listing": replace(listing, page=page),
        "any": True,
        "row_template": "projects/_trail_row.html",
        "list_name": _("Audit trail"),
    }
    return render(request, "projects/trail.html", context)


@never_cache
@require_safe
def trail_file(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """Send the rows that fit the filters as CSV, oldest first."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    events = TrailFilter(request.GET).narrow(project)
    headers = {"Content-Disposition": f'attachment; filename="{project.slug}-audit-trail.csv"'}
    return StreamingHttpResponse(_csv(project, events), content_type="text/csv; charset=utf-8", headers=headers)


def _with_actor(events: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
    return events.select_related("actor")


def _folded(rows: list[AuditEvent]) -> list[AuditEvent]:
    """Return the rows without those that a person repeated: `more` of the row before has them, such as votes."""
    leads: list[AuditEvent] = []
    for row in rows:
        row.more = []
        last = leads[-1] if leads else None
        if last and _doing(last) == _doing(row):
            last.more.append(row)
        else:
            leads.append(row)
    return leads


def _doing(row: AuditEvent) -> tuple[object, ...]:
    """Return what rows share that belong together; a vote writes one about its item and one about itself."""
    return (row.actor_id, "votes") if is_judgement(row) else (row.actor_id, row.action, row.target_type)


def _name_members(rows: list[AuditEvent]) -> None:
    """Give rows about a member the username, in one query if there are any."""
    numbers = {int(row.target_id) for row in rows if row.target_type == MEMBER and row.target_id.isdecimal()}
    names = dict(User.objects.filter(pk__in=numbers).values_list("pk", "username")) if numbers else {}
    for row in rows:
        row.target_name = names.get(int(row.target_id), "") if row.target_type == MEMBER else ""


class _Line:
    """What csv.writer writes to: it returns the line."""

    def write(self, line: str) -> str:
        return line


def _csv(project: Project, events: QuerySet[AuditEvent]) -> Iterator[str]:
    writer = csv.writer(_Line(), lineterminator="\n")
    rows = (_cells(project, event) for event in events.select_related("actor").order_by("pk").iterator(2000))
    for row in chain([list(COLUMNS)], rows):
        yield writer.writerow(safe_row(row))


def _cells(project: Project, event: AuditEvent) -> list[str]:
    return [
        str(event.pk),
        event.at.isoformat(),
        actor_name(project, event),
        event.action,
        event.target_type,
        event.target_id,
        event.from_state,
        event.to_state,
        event.reason,
        json.dumps(event.details, ensure_ascii=False) if event.details else "",
    ]
