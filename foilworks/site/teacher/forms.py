"""Define the forms of trainings: runs, release, and the parameters of their row."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Release, Split
from foilworks.core.projects.forms.registry_entry import EntryForm
from foilworks.core.projects.models import Project
from foilworks.core.projects.number_fields import IntegerField
from foilworks.core.text.errors import ActionableError
from foilworks.site.teacher.actions.trainings import STUDENTS
from foilworks.site.teacher.mixtures import PER_CAPTION, mixture_of
from foilworks.site.teacher.negatives import known_sources
from foilworks.site.teacher.plan import TEACHING
from foilworks.site.teacher.sources import runs_to_choose
from foilworks.site.teacher.training_request import TrainingRequest
from generation.model_presence import check_named

MAX_RUNS = 60
MAX_SOURCES_SHOWN = 12
# The fields that most trainings set, in the order of the page.
GROUPS: Sequence[tuple[Any, Sequence[str]]] = (
    (_("Data"), ("action_runs", "object_runs", "release")),
    (_("Models"), ("student", "teacher")),
    (_("Losses and negatives"), ("contrastive", "lbl", "lgt", "actions", "objects")),
    (_("Training"), ("steps", "batch", "learning_rate", "select_on", "seed", "label")),
)
# Labels that say more than the names, which are those of the command.
LABELS = {
    "student": _("Student (model to train)"),
    "teacher": _("Teacher (sentence encoder)"),
    "contrastive": _("Contrastive loss"),
    "lbl": _("Label loss (lbl)"),
    "lgt": _("Logit loss (lgt)"),
    "actions": _("Action negatives"),
    "objects": _("Object negatives"),
    "select_on": _("Data that chooses the model"),
    "bf16": _("Half precision (bf16)"),
    "device": _("Device"),
}


class TrainingForm(EntryForm):
    """`chosen()` returns the action's arguments, in addition to the parameters."""

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(TEACHING, data, prefix="teacher")
        runs = [
            (str(run.pk), f"#{run.pk} {run.method} – {run.subtest.name}") for run in runs_to_choose(project)[:MAX_RUNS]
        ]
        releases = Release.objects.filter(project=project).order_by("-pk").values_list("pk", "name")
        several = {"required": False, "choices": runs, "widget": forms.CheckboxSelectMultiple}
        own: dict[str, forms.Field] = {
            "label": forms.CharField(
                label=_("Name"),
                required=False,
                max_length=120,
                help_text=_(
                    "Trainings that have the same name and differ only in their seed share one row of the comparison."
                ),
            ),
            "action_runs": forms.MultipleChoiceField(label=_("Captions with a changed action, from runs"), **several),
            "object_runs": forms.MultipleChoiceField(label=_("Captions with a changed object, from runs"), **several),
            "release": forms.ChoiceField(
                label=_("Evaluate before and after on"),
                required=False,
                choices=[("", _("no release")), *((str(pk), name) for pk, name in releases)],
            ),
            "seed": IntegerField(label=_("Seed"), required=False, initial=0, min_value=0),
        }
        if not runs:
            del own["action_runs"], own["object_runs"]
        own |= _of_mixture(project, [int(pk) for pk, _ in runs])
        self.fields = {**own, **self.fields}
        self.fields["student"].required = True
        for name, label in LABELS.items():
            self.fields[name].label = label

    def groups(self) -> list[tuple[Any, list[forms.BoundField]]]:
        """Return the fields that most trainings set, by what they are about."""
        return [(title, [self[name] for name in names if name in self.fields]) for title, names in GROUPS]

    def advanced_fields(self) -> list[forms.BoundField]:
        grouped_names = {name for _, names in GROUPS for name in names}
        return [field for field in self if field.name not in grouped_names]

    def has_advanced_errors(self) -> bool:
        return any(field.errors for field in self.advanced_fields())

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        self._read_mixture(cleaned)
        if not self.errors:
            if self.converted["student"].strip().partition(":")[0] not in STUDENTS:
                kinds = ", ".join(f"{kind}:" for kind in STUDENTS)
                problem = _("This model cannot be trained. Start with one of: %(kinds)s")
                self.add_error("student", problem % {"kinds": kinds})
            for name in ("student", *(["teacher"] if self.converted["lgt"] > 0 else [])):
                try:
                    check_named(self.converted[name])
                except ActionableError as error:
                    self.add_error(name, str(error))
        return cleaned

    def _read_mixture(self, cleaned: dict[str, Any]) -> None:
        self.mixture = None
        lines = [line for line in cleaned.get("negatives", "").splitlines() if line.strip()]
        count = cleaned.get("per_caption")
        try:
            self.mixture = mixture_of(
                lines, PER_CAPTION if count is None else count, cleaned.get("negatives_seed") or 0
            )
        except EvaluationError as error:
            self.add_problem(error, "negatives")

    def training_request(self, project: Project) -> TrainingRequest:
        """Return what a valid form asks for."""
        data = self.cleaned_data
        release = Release.objects.get(project=project, pk=data["release"]) if data["release"] else None
        runs = {name: tuple(map(int, data.get(name) or ())) for name in ("action_runs", "object_runs")}
        return TrainingRequest(
            self.values(),
            label=data["label"],
            seed=data["seed"] or 0,
            release=release,
            mixture=self.mixture,
            **runs,
        )


def _of_mixture(project: Project, runs: list[int]) -> dict[str, forms.Field]:
    """Return the fields of the mixture; none if no source has texts for the train split."""
    sources = known_sources(project, Split.TRAIN, runs)
    if not sources:
        return {}
    listed_sources = ", ".join(sources[:MAX_SOURCES_SHOWN]) + (" …" if len(sources) > MAX_SOURCES_SHOWN else "")
    explained = _(
        "Instead of runs: one source per line with its share, such as %(example)s. Shares add up to 1. This project "
        "has: %(sources)s."
    )
    return {
        "negatives": forms.CharField(
            label=_("Mixture of negatives"),
            required=False,
            widget=forms.Textarea(attrs={"rows": 3, "translate": "no", "spellcheck": "false"}),
            help_text=explained % {"example": f"{sources[0]}=0.5", "sources": listed_sources},
        ),
        "per_caption": IntegerField(
            label=_("Negatives per caption in a mixture"), required=False, initial=PER_CAPTION, min_value=1
        ),
        "negatives_seed": IntegerField(
            label=_("Seed of a mixture"),
            required=False,
            initial=0,
            min_value=0,
            help_text=_("Trainings that differ only in their own seed learn from the same texts."),
        ),
    }


class ReadingForm(forms.Form):
    """The other release to evaluate."""

    release = forms.ChoiceField(label=_("Release"))

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data)
        rows = Release.objects.filter(project=project).order_by("-pk").values_list("pk", "name")
        self.fields["release"].choices = [(str(pk), name) for pk, name in rows]
