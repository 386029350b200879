"""Say what each column of an uploaded table is; the preview of its records follows."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from foilworks.core.corpus.import_formats.parsing.table_recipe import parse_recipe
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User
from foilworks.site.imports.actions.receive_import import PREVIEW
from foilworks.site.imports.models import Import
from foilworks.site.imports.uploads import is_small


@transaction.atomic
def map_columns(person: User, upload: Import, document: Mapping[str, Any]) -> Import:
    """Store the recipe and queue the job that previews its records.

    CorpusError: a recipe without meaning. EvaluationError: the import is not a table, or is already confirmed or
    discarded, or is being read.
    """
    require_role(person, upload.project, Role.RESEARCHER)
    parse_recipe(document)
    waiting = Import.objects.filter(pk=upload.pk, format="table", confirmed_at=None, discarded_at=None)
    params = {**upload.params, "mapping": dict(document)}
    if waiting.exclude(preview=None).update(params=params, preview=None) != 1:
        raise EvaluationError(_("The columns of this import cannot be changed now. Reload the page."))
    upload.params, upload.preview = params, None
    title = _("Checking %(name)s") % {"name": upload.file_name}
    upload.job = enqueue(PREVIEW, upload.pk, title=title, project_id=upload.project_id, quick=is_small(upload))
    upload.save(update_fields=["job"])
    audit.record(audit.event(upload.project, person, "evaluation.map_columns", upload, columns=document.get("columns")))
    return upload
