"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "demo.train_average": "foilworks.site.jobs:train_average",
    "demo.train_temporal": "foilworks.site.jobs:train_temporal",
}
SENTENCES: dict[str, Promise] = {
    "foilworks.demo.begin": _("created the sample project"),
    "foilworks.demo.enrol": _("added a simulated person"),
    "foilworks.demo.set_aside": _("prepared the sample project"),
}
