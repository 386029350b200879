"""Create the zip of a release for visitors of its public page; it is offered until something in it is withdrawn."""

import tempfile
from pathlib import Path

from django.db.models.fields.files import FieldFile
from django.utils import timezone
from django.utils.text import slugify

from annotation.models import Vote
from evaluation.cached_results.cache import digest
from evaluation.releases.withheld import withheld_of
from foilworks.core.corpus.export_formats import foilworks
from foilworks.core.corpus.export_formats.parts.folder import manifest_hash, write_zip
from foilworks.core.corpus.models import Takedown
from foilworks.core.corpus.video_files.stored_files import store
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.projects.models import AuditEvent
from foilworks.site.exports.collect import collect_release, write_export
from foilworks.site.publishing.models import PublicPage


def build(page: PublicPage, job: Job) -> None:
    """Write the whole export and store it as the page's archive, in place of an earlier one."""
    release, began = page.release, timezone.now()
    progress(job, 0, 1, "writing")
    stated = withdrawn_print(page, began)
    name = f"{release.project.slug}-{slugify(release.name) or release.pk}"
    with tempfile.TemporaryDirectory(prefix="foilworks-archive-") as folder:
        out, packed = Path(folder) / name, Path(folder) / "packed.zip"
        written = write_export("foilworks", foilworks, collect_release(release), out, {})
        write_zip(packed, name, out, written)
        page.archive_manifest = manifest_hash(out)
        # The name contains the hash, so the stored row refers to the old file until it is saved.
        page.archive.name = f"releases/{release.pk}/{name}-{page.archive_manifest[:16]}.zip"
        store(packed, page.archive.name)
    # It may name people who were erased since.
    erased = AuditEvent.objects.filter(project=None, action="erase_person", at__gte=began).exists()
    page.archive_print, page.archive_made_at = "" if erased else stated, began
    page.save(update_fields=["archive", "archive_print", "archive_manifest", "archive_made_at", "changed_at"])
    _remove_others(page.archive)
    progress(job, 1, 1, "done")


def _remove_others(archive: FieldFile) -> None:
    """Remove the earlier archives of the release, including those of killed workers."""
    folder, _, kept = archive.name.rpartition("/")
    for name in archive.storage.listdir(folder)[1]:
        if name != kept:
            archive.storage.delete(f"{folder}/{name}")


def is_current(page: PublicPage) -> bool:
    """Report whether nothing in the archive was withheld or erased after its creation. Three queries."""
    return bool(page.archive) and page.archive_print == withdrawn_print(page, page.archive_made_at)


def withdrawn_print(page: PublicPage, moment: object) -> str:
    """Return a hash that changes with every takedown of the project and every deleted vote from before `moment`.

    The project's other items and rejected foils are in the archive as well.
    """
    project = page.release.project_id
    votes = Vote.objects.filter(item__subtest__project=project, created_at__lte=moment)
    taken = Takedown.objects.filter(video__project=project).order_by("pk").values_list("pk", flat=True)
    return digest([page.release.content_hash, sorted(withheld_of(page.release)), votes.count(), *taken])
