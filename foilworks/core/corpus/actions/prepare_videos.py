"""Prepare clocks and film strips of clips that lack them: queued after an import, or from the command line."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db.models import Q, QuerySet

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.jobs.models import OPEN_STATES, Job
from foilworks.core.jobs.names import stored_names
from foilworks.core.jobs.queue import enqueue
from foilworks.core.media.errors import MediaError

JOB = "corpus.prepare_videos"
Progress = Callable[[Iterable[Any], int, str], Iterator[Any]]


def unprepared_videos(project_id: int) -> QuerySet[Video]:
    """Clips with a file that lack their clock or their film strip."""
    is_unprepared = Q(film_strip="") | Q(frame_times="")
    return Video.objects.filter(is_unprepared, project=project_id, media_state=MediaState.READY).exclude(file="")


def prepare_later(project_id: int) -> None:
    """Queue the job that prepares the project's clips, if any lacks something and no such job is open."""
    is_open = Job.objects.filter(dotted__in=stored_names(JOB), target_id=project_id, state__in=OPEN_STATES)
    if unprepared_videos(project_id).exists() and not is_open.exists():
        enqueue(JOB, project_id, title="film strips", project_id=project_id, by_person=False)


def prepare_now(project_ids: list[int], progress: Progress) -> dict[str, Any]:
    """Prepare the projects' clips; return {"prepared": count, "failed": [{"video", "error"}]}."""
    waiting = [video for pk in project_ids for video in unprepared_videos(pk).order_by("pk")]
    errors = [(video.key, try_to_prepare(video)) for video in progress(waiting, len(waiting), "videos")]
    failed = [{"video": key, "error": error} for key, error in errors if error]
    return {"prepared": len(waiting) - len(failed), "failed": failed}


def try_to_prepare(video: Video) -> str:
    """Prepare the clip; return the reason of a failure, or ""."""
    # Imported here, because a web process only queues the job.
    from foilworks.core.corpus.video_files.film_strips import prepare_video

    try:
        prepare_video(video)
    except (MediaError, CorpusError, OSError) as error:
        return str(error)
    return ""
