"""Background jobs: objects from captions, images of the frames of an object check."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import QuerySet

from annotation.actions.quality.skilled_validators import store_skills
from annotation.actions.studies import FROM_CAPTIONS, store_objects
from annotation.actions.workflow import task_slots
from annotation.models import CheckedFrame, FrameState, ObjectCheck, Stage, Task, Vote, VoteState
from annotation.rules.objects import MAX_NAME, MAX_OBJECTS, Extracted, nouns
from annotation.rules.skill import skills
from annotation.rules.voting import CAPTION, FOIL
from foilworks.core.corpus.models import Caption
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.media.errors import MediaError
from foilworks.core.media.frames import frame_at, jpeg
from foilworks.core.projects.models import Project
from foilworks.core.text.language.tools import tagger

BATCH = 200


def nouns_of_captions(project_id: int, job: Job) -> None:
    """Store the nouns of each video's captions as its objects; a second run replaces the first."""
    project = Project.objects.get(pk=project_id)
    captions = Caption.objects.filter(video__project=project).order_by("video_id", "pk")
    total, done, tool = captions.count(), 0, tagger()
    progress(job, 0, total, "reading captions")
    pending_rows: list[tuple[int, Extracted]] = []
    for video, key, texts in _by_video(captions):
        names: dict[str, None] = {}
        for text in texts:
            words = [(token.part, token.lemma, token.text) for token in tool.tag(text)]
            names.update(dict.fromkeys(nouns(words)))
            done += 1
        usable = tuple(name for name in names if len(name) <= MAX_NAME)[:MAX_OBJECTS]
        if usable:
            pending_rows.append((video, Extracted(key, None, usable, FROM_CAPTIONS)))
        if len(pending_rows) >= BATCH:
            _store(project, pending_rows)
            progress(job, done, total, "reading captions")
    _store(project, pending_rows)
    progress(job, total, total, "done")


def estimate_skill(project_id: int, job: Job) -> None:
    """Store the skill of the project's validators, estimated from their counted votes."""
    project = Project.objects.get(pk=project_id)
    progress(job, 0, 1, "reading votes")
    counted = Vote.objects.filter(
        stage=Stage.VALIDATION,
        state=VoteState.COUNTED,
        item__subtest__project=project,
        foil__isnull=False,
        person__isnull=False,
    )
    labels = {CAPTION: 0, FOIL: 1}
    rows = counted.order_by("pk").values_list("foil", "person", "choice")
    skill_by_person = skills([(foil, person, labels.get(choice, 2)) for foil, person, choice in rows], labels=3)
    store_skills(project, skill_by_person)
    progress(job, 1, 1, "done")


def _by_video(captions: QuerySet[Caption]) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (id, key, texts) of each video, in batches of videos.

    Not one open cursor: on SQLite, a write between two of its reads fails as soon as another writer has committed.
    """
    videos = list(captions.order_by("video_id").values_list("video_id", flat=True).distinct())
    for start in range(0, len(videos), BATCH):
        rows = captions.filter(video_id__in=videos[start : start + BATCH])
        caption_rows = rows.values_list("video_id", "video__key", "text")
        for (video, key), video_rows in groupby(caption_rows, key=lambda row: (row[0], row[1])):
            yield video, key, [text for _video, _key, text in video_rows]


def _store(project: Project, pending_rows: list[tuple[int, Extracted]]) -> None:
    with transaction.atomic():
        store_objects(project, pending_rows)
    pending_rows.clear()


def pictures_of_frames(check_id: int, job: Job) -> None:
    """Decode the check's frames one by one; each becomes a task as soon as its image is ready."""
    check = ObjectCheck.objects.select_related("project").get(pk=check_id)
    frames = CheckedFrame.objects.filter(check_of=check).order_by("pk")
    total = frames.count()
    waiting_frames = list(frames.filter(state=FrameState.WAITING).select_related("video"))
    progress(job, total - len(waiting_frames), total, "decoding frames")
    for number, frame in enumerate(waiting_frames, total - len(waiting_frames) + 1):
        _picture(check, frame)
        progress(job, number, total, "decoding frames")
    progress(job, total, total, "done")


def _picture(check: ObjectCheck, frame: CheckedFrame) -> None:
    """Store the frame's image and its task.

    The row's state is the record: a frame that is ready has both.
    """
    path = None
    try:
        path = Path(clip_file(frame.video))
        picture = jpeg(frame_at(path, frame.time))
    except (MediaError, OSError) as error:
        problem = str(error).replace(str(path.parent), "…") if path else str(error)
        CheckedFrame.objects.filter(pk=frame.pk).update(state=FrameState.BROKEN, error=problem[:500])
        return
    name = f"frames/{check.pk}/{frame.pk}.jpg"
    with transaction.atomic():
        # A worker that was killed here has left the file behind: the same frame gives the same picture.
        frame.image.storage.delete(name)
        frame.image.save(name, ContentFile(picture), save=False)
        if CheckedFrame.objects.filter(pk=frame.pk, state=FrameState.WAITING).update(
            state=FrameState.READY, image=frame.image.name
        ):
            task = Task(
                project=check.project,
                stage=Stage.OBJECTS,
                video_id=frame.video_id,
                frame=frame,
                overlap=check.overlap,
            )
            task_slots.store([task])
