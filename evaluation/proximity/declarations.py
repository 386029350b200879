"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "proximity.measure": "evaluation.proximity.jobs:measure_proximity",
}
SENTENCES: dict[str, Promise] = {
    "evaluation.measure_proximity": _("measured semantic proximity"),
}
