"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "exports.tables": "foilworks.site.exports.jobs:compute_tables",
    "exports.write": "foilworks.site.exports.jobs:write_zip_file",
}
SENTENCES: dict[str, Promise] = {
    "evaluation.export_release": _("exported a release"),
}
