"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.audit_trail.row_kind import RowKind, RowPage
from foilworks.core.projects.notifications.kind import RunKind

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "utd.describe": "evaluation.utd.jobs:describe_videos",
    "utd.describe_shard": "evaluation.utd.jobs:describe_shard",
    "utd.measure": "evaluation.utd.jobs:measure_bias",
    "utd.measure_shard": "evaluation.utd.jobs:measure_shard",
    "utd.check_shortcuts": "evaluation.utd.jobs:check_shortcuts",
    "utd.answer": "evaluation.utd.jobs:answer_samples",
    "utd.answer_shard": "evaluation.utd.jobs:answer_shard",
}
SENTENCES: dict[str, Promise] = {
    "evaluation.answer_samples": _("started to predict samples"),
    "evaluation.bring_benchmark": _("imported a benchmark"),
    "evaluation.bring_splits": _("imported debiased splits"),
    "evaluation.check_shortcuts": _("checked a model for shortcuts"),
    "evaluation.describe_videos": _("started describing videos"),
    "evaluation.go_on_describing": _("resumed describing videos"),
    "evaluation.import_descriptions": _("imported descriptions of videos"),
    "evaluation.measure_bias": _("started a bias run"),
    "evaluation.set_shortcut_bar": _("changed the limit of shortcuts"),
}
RUNS: dict[str, RunKind] = {
    "descriptions": RunKind(_("Descriptions"), "evaluation.descriptions", "utd:bias_descriptions"),
    "bias": RunKind(_("Bias run"), "evaluation.biasrun", "utd:bias_run"),
}
ROW_KINDS: dict[str, RowKind] = {
    "evaluation.benchmarkedmodel": RowKind(_("model on splits")),
    "evaluation.biasrun": RowKind(_("bias run")),
    "evaluation.descriptions": RowKind(_("frame descriptions")),
}
ROW_PAGES: dict[str, RowPage] = {
    "evaluation.biasrun": RowPage("utd:bias_run"),
    "evaluation.descriptions": RowPage("utd:bias_descriptions"),
}
