"""Background work on clips: their clocks and film strips."""

import logging

from corpus.errors import CorpusError
from corpus.video_files.film_strips import prepare_video, unprepared_videos
from jobs.models import OPEN_STATES, Job
from jobs.progress import progress
from jobs.queue import enqueue
from media.errors import MediaError

log = logging.getLogger(__name__)
PREPARE = "corpus.jobs.prepare_videos"


def prepare_videos(project_id: int, job: Job) -> None:
    """Make the film strips, and read the clocks, that clips of the project lack. A file that fails is skipped."""
    waiting = list(unprepared_videos(project_id).order_by("pk"))
    progress(job, 0, len(waiting), "reading videos")
    for number, video in enumerate(waiting, 1):
        try:
            prepare_video(video)
        except (MediaError, CorpusError, OSError) as error:
            log.warning("video %s: no film strip: %s", video.pk, error)
        progress(job, number, len(waiting), "reading videos")


def prepare_later(project_id: int) -> None:
    """Queue that work if there is any and it does not wait already."""
    waits = Job.objects.filter(dotted=PREPARE, target_id=project_id, state__in=OPEN_STATES)
    if unprepared_videos(project_id).exists() and not waits.exists():
        enqueue(PREPARE, project_id, title="film strips", project_id=project_id, asked=False)
