"""Read how a project does: its numbers, its plan, its audit trail; and audit a file of any benchmark."""

from typing import Any

from ninja import Schema

from foilworks.core.projects.audit_trail.forms import TrailFilter
from foilworks.core.projects.audit_trail.words import actor_name
from foilworks.core.projects.models import AuditEvent
from foilworks.site.api.answers import cleaned
from foilworks.site.api.rows import Call, Rows, shape_of
from foilworks.site.api.shapes import Anything, Word
from foilworks.site.dashboard.forms import PlanForm
from foilworks.site.dashboard.pilot import pilot_of
from foilworks.site.dashboard.planning import plan
from foilworks.site.dashboard.stored_count import counted
from foilworks.site.views.audit import AuditForm, audit_upload


class OverviewOut(Schema):
    """`data`: null until a large project is counted for the first time; `is_counting`: a job counts it now."""

    data: Anything | None
    is_counting: bool


def _overview(call: Call) -> dict[str, Any]:
    stored = counted(call.project)
    return {"data": stored.data, "is_counting": stored.is_counting}


def _plan(call: Call) -> dict[str, Any]:
    pilot = pilot_of(call.project)
    form = PlanForm(pilot.values, call.body["values"])
    cleaned(form)
    return {"values": form.values(), "pilot": pilot.rows, "plan": plan(form.values())}


COLUMNS = ("id", "at", "action", "target_type", "target_id", "from_state", "to_state", "reason", "details")
EventOut = shape_of(AuditEvent, *COLUMNS, actor=str)


def _event(event: AuditEvent) -> dict[str, Any]:
    return {**{name: getattr(event, name) for name in COLUMNS}, "actor": actor_name(event.project, event)}


class PlanIn(Schema):
    """`values`: parameters of the plan; the others are what the project knows, else the defaults."""

    values: Anything = {}


rows = Rows("overview")
rows.read(
    "/overview", "read_overview", "Get the numbers of the project, as its overview shows them.", _overview, OverviewOut
)
rows.write(
    "/plan", "compute_plan", "Estimate what a study takes: items, votes, people, hours and cost.", _plan, body=PlanIn
)
rows.listed(
    "/audit-trail",
    "list_events",
    "List who did what, newest first.",
    lambda call: TrailFilter({"tasks": "on"}).narrow(call.project).select_related("actor", "project"),
    EventOut,
    filters={"action": Word, "target_type": Word, "target_id": Word},
    out=_event,
)
files = Rows("audit", in_project=False)
files.write(
    "",
    "audit_file",
    "Audit a benchmark file; nothing of it is stored.",
    lambda call: audit_upload(call.form.cleaned_data["file"], call.form.cleaned_data["form"]),
    form=AuditForm,
    files=("file",),
)
