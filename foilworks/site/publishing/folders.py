"""Store a written folder as a zip for researchers, and offer it until something in it is withdrawn."""

import tempfile
from pathlib import Path

from django.core.files.storage import default_storage
from django.db.models.fields.files import FieldFile
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.text import slugify

from foilworks.core.corpus.export_formats.parts.anonymous import PROJECT
from foilworks.core.corpus.export_formats.parts.folder import write_zip
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.video_files.stored_files import store
from foilworks.core.jobs.lease import write
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.names import stored_names
from foilworks.core.jobs.progress import progress
from foilworks.core.projects.models import AuditEvent
from foilworks.site.publishing.actions.publish_release import JOB
from foilworks.site.publishing.archive import withdrawn_print
from foilworks.site.publishing.hub_folder import videos_to_copy, write_publication
from foilworks.site.publishing.models import PublicPage

FORM_OF_PLACE = "releases/{release}/hub/{job}.zip"


def build(release: Release, job: Job) -> None:
    """Write the folder that the job's payload describes, and store it in place of the release's earlier ones."""
    asked, began = job.payload, timezone.now()
    progress(job, 0, 1, "writing")
    stated = withdrawn_print(PublicPage(release=release), began)
    name = PROJECT if asked["anonymous"] else f"{release.project.slug}-{slugify(release.name) or release.pk}"
    place = FORM_OF_PLACE.format(release=release.pk, job=job.pk)
    with tempfile.TemporaryDirectory(prefix="foilworks-hub-") as folder:
        out, packed = Path(folder) / name, Path(folder) / "packed.zip"
        written = write_publication(
            release,
            out,
            anonymous=asked["anonymous"],
            videos=videos_to_copy(release) if asked["videos"] else None,
            say_names=False,
        )
        write_zip(packed, name, out, written.files)
        size = packed.stat().st_size
        store(packed, place)
    # How many, not which: the row of a job is kept when a person is erased.
    chance = len({leak.text for leak in written.leaks})
    made = {"file": place, "name": name, "print": stated, "began": began.isoformat(), "bytes": size, "words": chance}
    write(job, payload={**asked, **made})
    _remove_others(release, place)
    progress(job, 1, 1, "done")


def _remove_others(release: Release, place: str) -> None:
    folder, _slash, kept = place.rpartition("/")
    for name in default_storage.listdir(folder)[1]:
        if name != kept:
            default_storage.delete(f"{folder}/{name}")


def last_job(release: Release) -> Job | None:
    """Return the newest job that writes a folder of the release."""
    return Job.objects.filter(dotted__in=stored_names(JOB), target_id=release.pk).order_by("-created_at").first()


def file_of(release: Release, job: Job | None) -> FieldFile | None:
    """Return the stored zip of the job; None if it is not written, or something in it was withdrawn since."""
    if job is None or job.state != JobState.DONE or not job.payload.get("file"):
        return None
    began = parse_datetime(job.payload["began"])
    erased = AuditEvent.objects.filter(project=None, action="erase_person", at__gte=began).exists()
    if erased or job.payload["print"] != withdrawn_print(PublicPage(release=release), began):
        return None
    field = PublicPage._meta.get_field("archive")
    return FieldFile(PublicPage(release=release), field, job.payload["file"])
