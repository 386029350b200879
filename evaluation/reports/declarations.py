"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "reports.compute": "evaluation.reports.jobs:compute_report",
    "reports.compute_figures": "evaluation.reports.jobs:compute_figures",
}
SENTENCES: dict[str, Promise] = {
    "evaluation.ask_report": _("asked for a report"),
}
