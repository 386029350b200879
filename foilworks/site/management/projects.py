"""Find the project and the subtest of a command. The operator of the server can reach all of them.

Run the job of a command at once, or leave it to a worker.
"""

from typing import Any

from foilworks.core.corpus.models import Subtest
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.actions.creation import new_project
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted
from foilworks.site.management.base import FoilworksCommand

SHOWN = 20


def project_by_slug(slug: str) -> Project:
    """Return the project named `slug`; the ProjectError lists the existing ones."""
    found = Project.objects.filter(slug=slug).first()
    if found is None:
        raise ProjectError(f"--project: project {quoted(slug)} not found; choose one of: {_known()}")
    return found


def subtest_by_name(project: Project, name: str, option: str = "--subtest") -> Subtest:
    """Return the project's subtest; the ProjectError names the option and lists the existing ones."""
    subtests = Subtest.objects.filter(project=project)
    found = subtests.filter(name=name).select_related("project").first()
    if found is None:
        names = ", ".join(subtests.values_list("name", flat=True)) or "(none yet)"
        raise ProjectError(f"{option}: subtest {quoted(name)} not found; choose one of: {names}")
    return found


def project_to_fill(slug: str, create: bool) -> Project:
    """Return the project named `slug` or, if `create` allows it, a new one that the import saves."""
    found = Project.objects.filter(slug=slug).first()
    if found is None and not create:
        raise ProjectError(f"--project: project {quoted(slug)} not found; add --create, or choose one of: {_known()}")
    return found or new_project(slug)


def _known() -> str:
    return ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)[:SHOWN]) or "(none yet)"


def run_or_queue(command: FoilworksCommand, job: Job | None, sync: bool) -> dict[str, Any]:
    """Return id and state of the job, or {} without a job. Prints a hint if no worker would run it."""
    if job is None:
        return {}
    if sync:
        job = run_now(job)
    else:
        command.say_if_no_worker(job)
    return {"job": str(job.pk), "state": job.state}
