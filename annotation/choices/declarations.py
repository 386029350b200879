"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "choices.compose": "annotation.choices.jobs:compose_items",
}
SENTENCES: dict[str, Promise] = {
    "annotation.ask_for_choices": _("asked people to write the answers of a question"),
    "annotation.compose_choices": _("composed multiple-choice items"),
    "annotation.compose_item": _("composed a multiple-choice item"),
}
