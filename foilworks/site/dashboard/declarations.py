"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "dashboard.count": "foilworks.site.dashboard.jobs:count_dashboard",
}
SENTENCES: dict[str, Promise] = {
    "evaluation.set_target": _("changed the target number of items"),
}
