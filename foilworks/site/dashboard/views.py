"""Show a project at a glance. Researchers see all of it, other people their own work."""

import math
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.models import Stage
from annotation.queries.decision_queues import desks_of
from annotation.work_queues import introduction_for, queues_of
from foilworks.core.corpus.models import Release, Subtest
from foilworks.core.projects.access import get_project, roles_in
from foilworks.core.projects.crowd_entry import CROWD_PLACE_KEY
from foilworks.core.projects.models import Project, Role
from foilworks.site.dashboard import drawings, overview
from foilworks.site.dashboard.activity import people_at_work, recent_activity
from foilworks.site.dashboard.alarms import FOLLOWING, WORDS, Alarm
from foilworks.site.dashboard.next_steps import after_release, first_steps, latest_releases, next_action
from foilworks.site.dashboard.stored_count import StoredCount, counted


def context(project: Project, counted: StoredCount, releases: Sequence[Release] | None = None) -> dict[str, Any]:
    """Return what templates/evaluation/_count.html shows; `count` is None during the first count.

    `releases`: the newest ones, if the caller has read them.
    """
    counts = counted.data
    state = {"as_of": counted.as_of, "is_counting": counted.is_counting, "count": counts}
    if counts is None:
        return state
    # A count that an earlier version stored has no missing people.
    funnel, missing = counts["funnel"], counts.get("missing", {})
    n_open = sum(row["open"] + row["leased"] for row in counts["queues"])
    first = first_steps({**funnel, "subtests": len(counts["subtests"])}, missing, n_open)
    after = after_release(project, releases) if funnel["released"] else None
    return {
        **state,
        "first_steps": first,
        "n_first_done": sum(step.is_done for step in first),
        "after_release": after,
        "next": next_action(counts, first, after),
        "is_empty": not (funnel["captions"] or funnel["items"]),
        "funnel": drawings.steps(funnel, edits=project.edit_stage),
        "stages": drawings.stages(funnel, edits=project.edit_stage),
        "queues": _queues(project, counts),
        "has_proficiency": any(row["kind"] == Subtest.Kind.PROFICIENCY for row in counts["subtests"]),
        "subtests": drawings.subtest_rows(counts["subtests"]),
        "states": drawings.states_of_all(counts["subtests"]),
        "alarms": [_alarm(project, row) for row in counts["alarms"]],
        "forecast": _forecast(counts["forecast"]),
        "cost": counts["cost"],
        "target": counts["target"],
        "activity": recent_activity(project),
        **drawings.days(counts["days"], timezone.localdate()),
    }


def _queues(project: Project, counts: Mapping[str, Any]) -> list[drawings.StageQueue]:
    """Return the queues of a count with the people who are at work now and when the work will end."""
    forecast = counts["forecast"]
    ends = {} if forecast["is_short"] else {row["stage"]: row["days"] for row in forecast["stages"]}
    people = people_at_work(project, timezone.now())
    return [
        drawings.StageQueue(
            row["stage"],
            str(Stage(row["stage"]).label),
            *(row[key] for key in ("open", "leased", "done")),
            people=tuple(people.get(row["stage"], ())),
            ends=drawings.duration(ends.get(row["stage"])) if row["open"] + row["leased"] else "",
        )
        for row in counts["queues"]
    ]


def _alarm(project: Project, row: Mapping[str, Any]) -> Alarm:
    title, text, url_name = WORDS[row["code"]]
    values = {**row, "stage": Stage(row["stage"]).label.capitalize()} if "stage" in row else row
    sentences = [text, *(more for name, more in FOLLOWING.items() if row.get(name))]
    words = " ".join(str(sentence % values) for sentence in sentences)
    return Alarm(row["code"], str(title), words, reverse(url_name, args=[project.slug]))


def _forecast(forecast: Mapping[str, Any]) -> dict[str, Any]:
    today = timezone.localdate()

    def on(days: float | None) -> date | None:
        return None if days is None else today + timedelta(days=math.ceil(days))

    return {
        **forecast,
        "date": on(forecast["days"]) if forecast["days"] else None,
        "from": on(forecast["low"]),
        "to": on(forecast["high"]),
        "stuck_labels": [Stage(stage).label for stage in forecast["stuck"]],
        "stage_rows": [{**row, "label": Stage(row["stage"]).label} for row in forecast["stages"]],
    }


@require_safe
def dashboard(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug)
    if Role.RESEARCHER in roles_in(request.user, project):
        return render(request, "evaluation/dashboard.html", _everything(project))
    if project.archived_at is None:
        overview.lay_out({project: overview.stages_of(roles_in(request.user, project))})
    queues = queues_of(request.user, project, in_crowd=CROWD_PLACE_KEY in request.session)
    page_context = {
        "work": queues,
        "desks": desks_of(request.user, project),
        "introduction": introduction_for(request, project, queues),
    }
    return render(request, "evaluation/dashboard.html", page_context)


@require_safe
def dashboard_runs(request: HttpRequest, slug: str) -> HttpResponse:
    """Render the live part: it polls itself while a job is in progress."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    return render(request, "evaluation/_runs.html", _runs(project))


@require_safe
def dashboard_count(request: HttpRequest, slug: str) -> HttpResponse:
    """Render the numbers, which poll themselves: soon during a count, else every minute."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    return render(request, "evaluation/_count.html", context(project, counted(project)))


def _everything(project: Project) -> dict[str, Any]:
    releases = latest_releases(project)
    return {
        "releases": releases,
        **context(project, counted(project), releases),
        **_runs(project),
    }


def _runs(project: Project) -> dict[str, Any]:
    runs = overview.recent_runs(project)
    return {"runs": runs, "is_live": any(run.job and not run.job.is_over for run in runs)}
