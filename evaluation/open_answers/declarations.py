"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

JOBS = {
    "answers.judge": "evaluation.open_answers.jobs:judge_answers",
}
SENTENCES: dict[str, Promise] = {
    "evaluation.import_open_answers": _("imported open answers"),
    "evaluation.judge_open_answers": _("judged a sample of open answers"),
}
