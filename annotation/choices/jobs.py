"""Compose items in the background. The job's payload is the request."""

from annotation.choices.actions.compose_choices import Request, compose_choices
from foilworks.core.corpus.models import Subtest
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress

DONE = "items composed: {composed}"


def compose_items(subtest_id: int, job: Job) -> None:
    """Add the composed items to the subtest."""
    subtest = Subtest.objects.select_related("project").get(pk=subtest_id)
    progress(job, 0, 1, "reading captions")
    result = compose_choices(None, subtest, Request(**job.payload))
    progress(job, 1, 1, DONE.format(**result))
