"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.audit_trail.row_kind import RowKind, RowPage
from foilworks.core.projects.limits.visitor_page import UploadPage
from foilworks.core.projects.notifications.kind import RunKind
from foilworks.core.projects.webhooks.event_type import EventType

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "scoring.run": "evaluation.scoring.jobs:run_scoring",
    "scoring.shard": "evaluation.scoring.jobs:score_shard",
}
SENTENCES: dict[str, Promise] = {
    "evaluation.add_controls": _("added rungs of the evidence ladder"),
    "evaluation.describe_model": _("described a model"),
    "evaluation.import_rung_scores": _("imported scores of the evidence ladder"),
    "evaluation.resume_run": _("continued a scoring run"),
    "evaluation.start_run": _("started a scoring run"),
    "evaluation.stop_run": _("stopped a scoring run"),
    "evaluation.trust_model": _("allowed the code of a model"),
}
EVENTS: dict[str, EventType] = {
    "scoring.started": EventType(
        _("a scoring run is started"), action="evaluation.start_run", payload=("spec", "protocol")
    ),
}
RUNS: dict[str, RunKind] = {
    "scoring": RunKind(_("Scoring run"), "evaluation.run", "scoring:run"),
}
ROW_KINDS: dict[str, RowKind] = {
    "evaluation.modelcard": RowKind(_("model card")),
    "evaluation.run": RowKind(_("scoring run")),
}
ROW_PAGES: dict[str, RowPage] = {
    "evaluation.run": RowPage("scoring:run"),
}
UPLOAD_PAGES = {"scoring:bring_scores": UploadPage(_("scores of a release"))}
