"""Objects that something extracted from frames come in: by a file, or from the captions by a job."""

from collections.abc import Iterable
from itertools import islice

from django.utils.translation import gettext as _

from annotation.errors import AnnotationError
from annotation.models import FrameObjects
from annotation.rules.objects import Extracted, LineError, parse_line
from annotation.transactions import run_in_transaction, serialize_writes
from corpus.models import Video
from jobs.models import Job
from jobs.queue import enqueue
from projects import audit
from projects.access import require_researcher, require_role
from projects.models import Project, Role, User

BATCH = 1000
FROM_CAPTIONS = "captions"
MAX_ERRORS = 20


def import_objects(
    person: User | None, project: Project, lines: Iterable[str], *, name: str, source: str = "import"
) -> int:
    """Store a file of extracted objects, one JSON object a line (docs/reference/formats.md); how many frames it names.

    `person` None: the operator of the server. What a source said before of a video that the file names is replaced.
    AnnotationError lists the lines that are wrong as PATH:LINE: FIELD: what; nothing is stored then.
    """
    require_researcher(person, project)
    rows, errors = _read(project, lines, name, source)
    if errors:
        raise AnnotationError("\n".join(errors))
    if not rows:
        raise AnnotationError(f"{name}:1: line: the file names no frame; write one JSON object a line")
    return run_in_transaction(lambda: _store(person, project, rows))


def ask_for_nouns(person: User, project: Project) -> Job:
    """Queue the job that takes the nouns of every caption as the objects of its clip."""
    require_role(person, project, Role.RESEARCHER)
    return enqueue(
        "annotation.jobs.nouns_of_captions", project.pk, title=_("Objects from captions"), project_id=project.pk
    )


def store_objects(project: Project, rows: list[tuple[int, Extracted]]) -> None:
    """Replace what the rows' sources said of the rows' videos (ids beside them), in the caller's transaction."""
    by_source: dict[str, set[int]] = {}
    for video, row in rows:
        by_source.setdefault(row.source, set()).add(video)
    for named, videos in by_source.items():
        ids = sorted(videos)
        for start in range(0, len(ids), BATCH):
            FrameObjects.objects.filter(project=project, source=named, video__in=ids[start : start + BATCH]).delete()
    FrameObjects.objects.bulk_create(
        (
            FrameObjects(
                project=project, video_id=video, time=row.time, objects_named=list(row.objects), source=row.source
            )
            for video, row in rows
        ),
        batch_size=BATCH,
    )


def _read(
    project: Project, lines: Iterable[str], name: str, source: str
) -> tuple[list[tuple[int, Extracted]], list[str]]:
    rows: list[tuple[int, Extracted]] = []
    errors: list[str] = []
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    while batch := list(islice(numbered, BATCH)):
        parsed: list[tuple[int, Extracted]] = []
        for number, line in batch:
            try:
                parsed.append((number, parse_line(line, source)))
            except LineError as error:
                errors.append(f"{name}:{number}: {error}")
        keys = {row.key for _number, row in parsed}
        ids = dict(Video.objects.filter(project=project, key__in=keys).values_list("key", "pk"))
        for number, row in parsed:
            if row.key in ids:
                rows.append((ids[row.key], row))
            else:
                errors.append(f"{name}:{number}: video: the project has no video '{row.key}'; import it first")
        if len(errors) >= MAX_ERRORS:
            return rows, [*errors[:MAX_ERRORS], f"{name}: further lines were not read"]
    return rows, errors


def _store(person: User | None, project: Project, rows: list[tuple[int, Extracted]]) -> int:
    serialize_writes(project)
    store_objects(project, rows)
    sources = sorted({row.source for _video, row in rows})
    audit.record(audit.event(project, person, "import_objects", project, frames=len(rows), sources=sources[:20]))
    return len(rows)
