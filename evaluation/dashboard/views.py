"""Show a project at a glance. Researchers see all of it, other people their own work."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from annotation.models import Stage
from annotation.queries.queues import open_work, work_counts
from corpus.models import Release, Subtest
from evaluation.dashboard import overview
from evaluation.dashboard.alarms import FOLLOWING, WORDS, Alarm
from evaluation.dashboard.counting import SHOWN_DAYS
from evaluation.dashboard.next_steps import after_release, first_steps
from evaluation.dashboard.stored_count import Counted, counted
from projects.access import get_project, roles_in
from projects.models import Project, Role, User

# (key of the counts, label, unit that is counted)
STEPS: tuple[tuple[str, str | Promise, str], ...] = (
    ("captions", _("Captions"), "captions"),
    ("captions_used", _("Captions with generated foils"), "captions"),
    ("made", _("Candidates generated"), "candidates"),
    ("passed", _("Passed the filters"), "candidates"),
    ("edited", _("Submitted by an annotator"), "candidates"),
    ("accepted", _("Accepted in review"), "candidates"),
    ("items", _("Items assembled or imported"), "items"),
    ("judged", _("Judged by validators"), "items"),
    ("valid", _("Valid items"), "items"),
    ("released", _("In a release"), "items"),
)


@dataclass(frozen=True)
class FunnelStep:
    """`percent` of the step before if this is a part of it (captions, candidates, items), else None.

    `most` is the largest count of the steps that count the same thing: the length of a full bar.
    """

    label: str
    count: int
    what: str
    most: int
    percent: float | None = None


def steps(counts: Mapping[str, int], *, edits: bool) -> list[FunnelStep]:
    """Return the steps of the funnel. `edits`: whether the project has an edit stage; without one, no step waits for
    it.
    """
    rows = [(str(label), what, counts[key]) for key, label, what in STEPS if edits or key != "edited"]
    found: list[FunnelStep] = []
    for label, what, count in rows:
        before = found[-1].count if found and found[-1].what == what else 0
        most = max(1, *(n for _label, same, n in rows if same == what))
        found.append(FunnelStep(label, count, what, most, 100 * count / before if before and count <= before else None))
    return found


# The chart of the days, in its own units.
BAR, GAP, HEIGHT = 14, 4, 90


# The stages of a day's bar, in the order of stacking.
STACKED_STAGES = (Stage.EDIT, Stage.REVIEW, Stage.VALIDATION, Stage.BASELINE, Stage.OBJECTS)


@dataclass(frozen=True)
class StageQueue:
    """Slots of one stage."""

    stage: str
    label: str
    open: int
    leased: int
    done: int

    @property
    def total(self) -> int:
        return self.open + self.leased + self.done


@dataclass(frozen=True)
class Bar:
    stage: str
    x: int
    y: float
    height: float


@dataclass(frozen=True)
class Day:
    day: date
    counts: list[tuple[str, int]]
    total: int


def context(project: Project, counted: Counted) -> dict[str, Any]:
    """Return the variables of foilworks/templates/evaluation/_count.html; `count` is None until the first count."""
    found = counted.data
    state = {"as_of": counted.as_of, "is_counting": counted.is_counting, "count": found}
    if found is None:
        return state
    return {
        **state,
        # A count that an earlier version stored has no missing people.
        "first_steps": first_steps({**found["funnel"], "subtests": len(found["subtests"])}, found.get("missing", {})),
        "after_release": after_release(project) if found["funnel"]["released"] else None,
        "is_empty": not (found["funnel"]["captions"] or found["funnel"]["items"]),
        "funnel": steps(found["funnel"], edits=project.edit_stage),
        "queues": [
            StageQueue(q["stage"], Stage(q["stage"]).label, *(q[k] for k in ("open", "leased", "done")))
            for q in found["queues"]
        ],
        "subtests": [{**row, "kind_label": Subtest.Kind(row["kind"]).label} for row in found["subtests"]],
        "alarms": [_alarm(project, row) for row in found["alarms"]],
        "forecast": _forecast(found["forecast"]),
        "cost": found["cost"],
        **_days(found["days"]),
    }


def _alarm(project: Project, row: Mapping[str, Any]) -> Alarm:
    title, text, url_name = WORDS[row["code"]]
    said = {**row, "stage": Stage(row["stage"]).label.capitalize()} if "stage" in row else row
    sentences = [text, *(more for name, more in FOLLOWING.items() if row.get(name))]
    words = " ".join(str(sentence) % said for sentence in sentences)
    return Alarm(row["code"], str(title), words, reverse(url_name, args=[project.slug]))


def _forecast(said: Mapping[str, Any]) -> dict[str, Any]:
    today = timezone.localdate()

    def on(days: float | None) -> date | None:
        return None if days is None else today + timedelta(days=math.ceil(days))

    return {
        **said,
        "date": on(said["days"]) if said["days"] else None,
        "from": on(said["low"]),
        "to": on(said["high"]),
        "stuck_labels": [Stage(stage).label for stage in said["stuck"]],
        "stage_rows": [{**row, "label": Stage(row["stage"]).label} for row in said["stages"]],
    }


def _days(counts: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """Return the last days with their tasks by stage, as a table and as stacked bars."""
    today = timezone.localdate()
    shown = [today - timedelta(days=back) for back in range(SHOWN_DAYS - 1, -1, -1)]
    stages = [stage for stage in STACKED_STAGES if stage in counts]
    rows = []
    for day in shown:
        per = [(str(Stage(stage).label), counts[stage].get(day.isoformat(), 0)) for stage in stages]
        rows.append(Day(day, per, sum(n for _label, n in per)))
    most = max((row.total for row in rows), default=0)
    bars = []
    for place, row in enumerate(rows):
        top = float(HEIGHT)
        for stage, (_label, n) in zip(stages, row.counts, strict=True):
            height = HEIGHT * n / most if most else 0.0
            top -= height
            if n:
                bars.append(Bar(stage, place * (BAR + GAP), round(top, 2), round(height, 2)))
    return {
        "days": rows,
        "day_stages": [(stage, Stage(stage).label) for stage in stages],
        "bars": bars,
        "bar": {"width": BAR, "height": HEIGHT, "across": len(rows) * (BAR + GAP) - GAP},
        "busiest": most,
        "worked_days": sum(1 for row in rows if row.total),
        "done_in_window": sum(row.total for row in rows),
    }


N_RELEASES = 5


@require_safe
def dashboard(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug)
    if Role.RESEARCHER in roles_in(request.user, project):
        return render(request, "evaluation/dashboard.html", _everything(project))
    return render(request, "evaluation/dashboard.html", {"work": _work(request.user, project)})


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
    return {
        "releases": Release.objects.filter(project=project)[:N_RELEASES],
        **context(project, counted(project)),
        **_runs(project),
    }


def _runs(project: Project) -> dict[str, Any]:
    runs = overview.recent_runs(project)
    return {"runs": runs, "is_live": any(run.job and not run.job.is_over for run in runs)}


def _work(person: User, project: Project) -> list[dict[str, Any]]:
    """Return the stages that the person's roles open: waiting tasks, and their finished tasks."""
    stages, now = overview.stages_of(roles_in(person, project)), timezone.now()
    if stages:
        overview.lay_out({project: stages})
    return [
        {
            "stage": stage,
            "label": Stage(stage).label,
            "open": open_work(person, project, stage, now=now),
            "done": work_counts(person, project, stage, now),
        }
        for stage in stages
    ]
