"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "blind.score": "evaluation.blind.jobs:run_blind_scoring",
}
SENTENCES: dict[str, Promise] = {
    "evaluation.score_blind": _("scored the texts alone"),
    "evaluation.set_blind_bars": _("changed the limits of the blind audit"),
}
