"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.audit_trail.row_kind import RowKind, RowPage
from foilworks.core.projects.notifications.kind import RunKind
from foilworks.core.projects.webhooks.event_type import EventType

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "generation.run": "generation.jobs:run_generation",
    "generation.tune": "generation.jobs:run_tuning",
    "generation.select": "generation.jobs:work_out_selection",
    "generation.preview_captions": "generation.jobs:run_caption_preview",
    "generation.make_captions": "generation.jobs:run_captions",
}
SENTENCES: dict[str, Promise] = {
    "generation.apply_selection": _("applied a balanced selection"),
    # Of rows from before 0.4.
    "generation.ask_hint": _("asked for a hint"),
    "generation.make_captions": _("started a caption run"),
    "generation.move_thresholds": _("changed the thresholds of filters"),
    "generation.preview_captions": _("previewed captions"),
    "generation.resume_run": _("continued a generation run"),
    # Of rows from before 0.4.
    "generation.set_hint_model": _("changed the model of the hints"),
    "generation.start_run": _("started a generation run"),
    "generation.start_selection": _("started a balanced selection"),
    "generation.start_tuning": _("started to tune a model"),
    "generation.stop_run": _("stopped a generation run"),
    "generation.write_prompt": _("wrote a prompt"),
}
EVENTS: dict[str, EventType] = {
    "generation.started": EventType(
        _("a generation run is started"), action="generation.start_run", payload=("method",)
    ),
}
RUNS: dict[str, RunKind] = {
    "generation": RunKind(_("Generation run"), "generation.generationrun", "generation:run"),
    "captions": RunKind(_("Caption run"), "generation.captionrun", "generation:caption_run"),
    "tuning": RunKind(_("Tuned model"), "generation.tuning", "generation:tuning"),
}
ROW_KINDS: dict[str, RowKind] = {
    "generation.candidate": RowKind(_("candidate")),
    "generation.captionrun": RowKind(_("caption run")),
    "generation.generationrun": RowKind(_("generation run")),
    "generation.selection": RowKind(_("balanced selection")),
    "generation.tuning": RowKind(_("tuned model")),
}
ROW_PAGES: dict[str, RowPage] = {
    "generation.candidate": RowPage("generation:candidate"),
    "generation.generationrun": RowPage("generation:run"),
}
