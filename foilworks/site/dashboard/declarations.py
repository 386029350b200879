"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.notifications.kind import RESEARCHERS, Kind

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "dashboard.count": "foilworks.site.dashboard.jobs:count_dashboard",
}
SENTENCES: dict[str, Promise] = {
    "evaluation.set_target": _("changed the target number of items"),
}
NOTIFICATIONS: dict[str, Kind] = {
    "queue_empty": Kind(
        _("A queue is empty"),
        RESEARCHERS,
        "dashboard:dashboard",
        words_by_stage={
            "edit": _("The edit queue is empty"),
            "review": _("The review queue is empty"),
            "validation": _("The validation queue is empty"),
            "baseline": _("The queue of the human baseline is empty"),
            "unseen": _("The queue of choices without the clip is empty"),
            "objects": _("The queue of the object check is empty"),
        },
    ),
}
# What a page shows -> the name of its URL (foilworks.core.projects.pages).
PAGES = {
    "project": "dashboard:dashboard",
}
