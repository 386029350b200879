"""Queue a job for the tables of each new release; `foilworks.site.apps` loads this at the start of each process."""

from django.utils.translation import gettext as _

from evaluation.releases.frozen import on_frozen
from foilworks.core.corpus.models import Release
from foilworks.core.jobs.queue import enqueue

TABLES_JOB = "exports.tables"


def queue_tables(release: Release) -> None:
    title = _("Tables of %(release)s") % {"release": release.name}
    enqueue(TABLES_JOB, release.pk, title=title, project_id=release.project_id, by_person=False)


on_frozen(queue_tables)
