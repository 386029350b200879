"""Find the descriptions and results that a command means without naming their id."""

from django.db.models import Exists, OuterRef

from evaluation.errors import EvaluationError
from evaluation.utd.models import BiasRun, Descriptions, FrameText
from foilworks.core.projects.models import Project


def newest_descriptions(project: Project) -> Descriptions:
    """Return the newest descriptions that have texts. EvaluationError: there are none, and how to make them."""
    rows = Descriptions.objects.filter(project=project).select_related("project", "job").order_by("-pk")
    texts = FrameText.objects.filter(descriptions=OuterRef("pk"))
    if descriptions := rows.filter(Exists(texts)).first():
        return descriptions
    empty = rows.first()
    if empty and empty.job and not empty.job.is_over:
        raise EvaluationError(f"descriptions {empty.pk} have no texts yet: their job is {empty.job.state}; wait for it")
    why = f" (the last job failed: {empty.job.error})" if empty and empty.job and empty.job.error else ""
    make = f"`foilworks utd describe --project {project.slug} --sync`"
    published = f"`foilworks utd import --project {project.slug} --file FILE`"
    raise EvaluationError(
        f"{project.slug} has no descriptions yet{why}; make them: {make}; or import published ones: {published}"
    )


def check_measured(run: BiasRun) -> None:
    """Raise EvaluationError if the run has no result yet: why, and the command that makes one."""
    if run.result:
        return
    job = run.job
    if job and not job.is_over:
        raise EvaluationError(f"run {run.pk} has no result yet: its job is {job.state}; wait for it, then try again")
    why = f": {job.error}" if job and job.error else ""
    command = f"`foilworks utd bias --descriptions {run.descriptions_id} --task {run.task} --sync`"
    raise EvaluationError(f"run {run.pk} has no result{why}; correct this, then measure again: {command}")
