"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "pairs.add_natural": "annotation.pairs.jobs:add_natural_pairs",
    "pairs.add_reversals": "annotation.pairs.jobs:add_reversals",
    "pairs.add_orders": "annotation.pairs.jobs:add_orders",
    "pairs.add_speeds": "annotation.pairs.jobs:add_speeds",
    "pairs.add_repetitions": "annotation.pairs.jobs:add_repetitions",
}
SENTENCES: dict[str, Promise] = {
    "annotation.ask_for_pairs": _("proposed items of two clips"),
    "annotation.store_pair": _("stored an item of two clips"),
    "corpus.make_clip": _("cut a clip"),
    "corpus.name_source": _("named the source of a clip"),
}
