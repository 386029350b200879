"""Define the background jobs of the dashboard."""

from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.projects.models import Project
from foilworks.site.dashboard.stored_count import keep as keep_count


def count_dashboard(project_id: int, job: Job) -> None:
    """Count a project again for its dashboard."""
    progress(job, 0, 1, "counting")
    keep_count(Project.objects.get(pk=project_id))
    progress(job, 1, 1, "done")
