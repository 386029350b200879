"""Background work on clips: their clocks and film strips."""

import logging

from foilworks.core.corpus.actions.prepare_videos import try_to_prepare, unprepared_videos
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress

log = logging.getLogger(__name__)


def prepare_videos(project_id: int, job: Job) -> None:
    """Make the film strips, and read the clocks, that clips of the project lack. A file that fails is skipped."""
    waiting = list(unprepared_videos(project_id).order_by("pk"))
    progress(job, 0, len(waiting), "decoding frames")
    for number, video in enumerate(waiting, 1):
        if error := try_to_prepare(video):
            log.warning("video %s has no film strip: %s", video.pk, error)
        progress(job, number, len(waiting), "decoding frames")
