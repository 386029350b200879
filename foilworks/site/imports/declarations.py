"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.audit_trail.row_kind import RowKind, RowPage
from foilworks.core.projects.limits.pace import MIB
from foilworks.core.projects.limits.visitor_page import UploadPage
from foilworks.core.projects.webhooks.event_type import EventType

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "imports.preview": "foilworks.site.imports.jobs:preview_import",
    "imports.store": "foilworks.site.imports.jobs:run_import",
    "imports.undo": "foilworks.site.imports.jobs:undo_import",
}
SENTENCES: dict[str, Promise] = {
    "corpus.add_version": _("added a version of a used video"),
    "corpus.replace_media": _("replaced the file of an unused video"),
    "evaluation.confirm_import": _("confirmed an import"),
    "evaluation.discard_import": _("discarded an import"),
    "evaluation.import_records": _("imported a file"),
    "evaluation.map_columns": _("said what the columns of an import are"),
    "evaluation.receive_import": _("uploaded an import"),
    "evaluation.request_undo": _("asked to undo an import"),
    "evaluation.undo_import": _("undid an import"),
    "evaluation.update_record": _("changed stored records by an import"),
    "import_votes": _("imported votes"),
}
EVENTS: dict[str, EventType] = {
    "import.stored": EventType(
        _("an import is stored"), action="evaluation.import_records", payload=("created", "bad")
    ),
}
ROW_KINDS: dict[str, RowKind] = {
    "evaluation.import": RowKind(_("import")),
}
ROW_PAGES: dict[str, RowPage] = {
    "evaluation.import": RowPage("imports:import"),
}
UPLOAD_PAGES = {"imports:new_import": UploadPage(_("records and their videos"))}
# Files of an import that the page sends before the form, part by part.
FILE_PARTS = UploadPage(_("a part of a file"), part_bytes=8 * MIB, hours=24)
