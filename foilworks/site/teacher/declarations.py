"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.audit_trail.row_kind import RowKind, RowPage
from foilworks.core.projects.notifications.kind import RunKind

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "teacher.run": "foilworks.site.teacher.jobs:run_teacher",
    "teacher.ask": "foilworks.site.teacher.jobs:ask_teacher",
    "teacher.read_release": "foilworks.site.teacher.jobs:read_release",
}
SENTENCES: dict[str, Promise] = {
    "evaluation.read_release": _("evaluated a trained model on a release"),
    "evaluation.resume_teacher": _("continued a training"),
    "evaluation.start_teacher": _("started a training"),
}
RUNS: dict[str, RunKind] = {
    "teacher": RunKind(_("Training"), "evaluation.teachertraining", "teacher:teacher_training"),
}
ROW_KINDS: dict[str, RowKind] = {
    "evaluation.studentevaluation": RowKind(_("evaluation of a training")),
    "evaluation.teachertraining": RowKind(_("training")),
}
ROW_PAGES: dict[str, RowPage] = {
    "evaluation.teachertraining": RowPage("teacher:teacher_training"),
}
