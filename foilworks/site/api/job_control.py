"""Follow, stop and retry the jobs of a project, whatever they do, and start those that other resources do not."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from ninja import Schema

from annotation.actions.studies import ask_for_nouns
from annotation.pairs.actions.store_pairs import ask_for_pairs, jobs_of
from annotation.pairs.forms import ProposeForm
from evaluation.scoring.access import get_run as get_scoring_run
from evaluation.scoring.actions import runs as scoring
from evaluation.utd.access import get_descriptions
from evaluation.utd.actions.descriptions import resume_description
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.projects.access import or_404
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import User
from foilworks.site.api.imports import JobOut, job_out
from foilworks.site.api.rows import Call, Rows, shape_of
from foilworks.site.api.shapes import Word
from foilworks.site.teacher.access import get_teacher_training
from foilworks.site.teacher.actions.trainings import resume_teacher
from generation.access import get_run
from generation.actions import runs as generation

FIELDS = ("id", "dotted", "target_id", "title", "state", "done", "total", "message", "error")
JobRow = shape_of(Job, *FIELDS, "created_at", "started_at", "finished_at")
Budget = Mapping[str, float] | None
Get = Callable[[User, str, int], Any]
# Name of a job -> access to what it works on, and the actions of its page.
STOPS: dict[str, tuple[Get, Callable[[User, Any], object]]] = {
    "generation.run": (get_run, generation.stop_run),
    "scoring.run": (get_scoring_run, scoring.stop_run),
}
RETRIES: dict[str, tuple[Get, Callable[[User, Any, Any], object]]] = {
    "generation.run": (get_run, lambda person, run, budget: generation.resume_run(person, run, budget=budget)),
    "scoring.run": (get_scoring_run, scoring.resume_run),
    "utd.describe": (get_descriptions, resume_description),
    "teacher.run": (get_teacher_training, lambda person, training, _budget: resume_teacher(person, training)),
}


class RetryIn(Schema):
    """A new budget, with what is already spent; only of jobs that use an endpoint."""

    requests: int | None = None
    tokens: int | None = None
    cost: float | None = None


def _job(call: Call) -> Job:
    rows = Job.objects.filter(project_id=call.project.pk, parent=None)
    return or_404(rows.filter(pk=call.job).first(), _("Job not found."))


def _moved(call: Call, table: Mapping[str, tuple[Get, Callable[..., object]]], *more: Any) -> Job:
    """Call the action of the job's kind; ProjectError for a kind that cannot be stopped or retried."""
    job = _job(call)
    if job.dotted not in table:
        kinds = ", ".join(table)
        raise ProjectError(_("This is not possible for a job of this kind. It is for: %(kinds)s.") % {"kinds": kinds})
    get, act = table[job.dotted]
    row = get(call.person, call.slug, job.target_id)
    act(call.person, row, *more)
    row.refresh_from_db()
    return row.job or job


def _retry(call: Call) -> Job:
    budget = {name: value for name, value in call.body.items() if value is not None}
    return _moved(call, RETRIES, budget or None)


def _pairs(call: Call) -> Any:
    ask_for_pairs(call.person, call.values["subtest"], call.values["kind"])
    return job_out(jobs_of(call.project).first())


rows = Rows("jobs")
rows.listed(
    "/jobs",
    "list_jobs",
    "List the jobs of the project, newest first.",
    lambda call: Job.objects.filter(project_id=call.project.pk, parent=None),
    JobRow,
    orders=("-created_at", "created_at"),
    filters={"dotted": Word, "state": JobState},
)
rows.read("/jobs/{uuid:job}", "read_job", "Get one job with its progress.", _job, JobRow)
rows.write(
    "/jobs/{uuid:job}/stop",
    "stop_job",
    "Stop a generation or scoring run; stored results stay.",
    lambda call: _moved(call, STOPS),
    shape=JobRow,
)
rows.write(
    "/jobs/{uuid:job}/retry",
    "retry_job",
    "Continue a run, a description or a training that failed or was stopped; stored results stay.",
    _retry,
    body=RetryIn,
    shape=JobRow,
)
rows.write(
    "/pairs",
    "propose_pairs",
    "Propose up to 100 items of two clips, in a background job.",
    _pairs,
    form=ProposeForm,
    make=lambda call, data: ProposeForm(data, project=call.project),
    shape=JobOut,
    status=202,
)
rows.write(
    "/objects",
    "extract_objects",
    "Store the nouns of the captions as objects of the clips, in a background job.",
    lambda call: job_out(ask_for_nouns(call.person, call.project)),
    shape=JobOut,
    status=202,
)
