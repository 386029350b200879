"""Define the forms of descriptions, bias runs, splits and benchmarks; the actions report what is wrong."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluation.scoring.forms import BudgetForm, ColumnsField
from evaluation.scoring.run_request import DEVICE
from evaluation.utd.actions.biases import MAX_EPOCHS, MAX_LABELS_LENGTH, READINGS
from evaluation.utd.actions.descriptions import MAX_FRAMES, MAX_MODEL_LENGTH, MAX_NAME_LENGTH
from evaluation.utd.instructions import CLASSIFICATION, RETRIEVAL
from evaluation.utd.models import Descriptions
from evaluation.utd.procedure import AS_PUBLISHED, CHOICES, MAX_C, MIN_C
from evaluation.utd.recipes import RECIPES
from evaluation.utd.vector_formats import FLOAT16, FLOAT32
from foilworks.core.projects.forms.registry_entry import choices_of
from foilworks.core.projects.models import Project
from foilworks.core.projects.number_fields import FloatField, IntegerField
from generation.forms import ModelField

TASK_NAMES = [(CLASSIFICATION, _("classification")), (RETRIEVAL, _("text-to-video retrieval"))]
BACKBONE = "backbone:"
READING_NAMES = dict(
    zip(READINGS, (_("highest cosine of any frame"), _("correct if any frame is correct")), strict=True)
)


def _choice(label: Any, names: Sequence[Any], name: str, help_text: Any = "") -> forms.ChoiceField:
    """Return a field for a choice of the procedure; the first value is as published."""
    choices = list(zip(CHOICES[name], names, strict=True))
    return forms.ChoiceField(label=label, choices=choices, required=False, help_text=help_text)


class _Device(forms.RegexField):
    def __init__(self) -> None:
        super().__init__(DEVICE, label=_("Device"), initial="auto", help_text=_("auto, cpu, cuda or cuda:N"))


class _Encoder(ModelField):
    def __init__(self) -> None:
        help_text = _("sentence:ID or clip:ID. Leave empty to use the encoder of the recipe.")
        super().__init__(label=_("Text encoder"), required=False, max_length=MAX_MODEL_LENGTH, help_text=help_text)


class _DescriptionsField(forms.ModelChoiceField):
    """Descriptions of one name are told apart by their number and date."""

    def label_from_instance(self, obj: Descriptions) -> str:
        return f"{obj.name} (#{obj.pk}, {obj.created_at:%Y-%m-%d})"


class _OfDescriptions(forms.Form):
    """Choice of descriptions of a project."""

    descriptions = _DescriptionsField(Descriptions.objects.none(), label=_("Descriptions"), empty_label=None)

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["descriptions"].queryset = Descriptions.objects.filter(project=project)


class DescribeForm(BudgetForm):
    """Empty fields use the recipe."""

    field_order = ("recipe", "describer", "extractor", "frames", "name", "device")

    recipe = forms.ChoiceField(
        label=_("Recipe"),
        choices=choices_of(RECIPES),
        help_text=_(
            "The models of the paper have 7 billion parameters and need a GPU. The demo models only read the sample "
            "project's videos."
        ),
    )
    describer = ModelField(
        label=_("Describer"),
        required=False,
        max_length=MAX_MODEL_LENGTH,
        help_text=_("An image-text-to-text model (vlm:ID) or an endpoint that accepts images (endpoint:NAME)."),
    )
    extractor = ModelField(
        label=_("Extractor"),
        required=False,
        max_length=MAX_MODEL_LENGTH,
        help_text=_("An instruction model (chat:ID) or an endpoint (endpoint:NAME)."),
    )
    frames = IntegerField(label=_("Frames per video"), initial=8, min_value=1, max_value=MAX_FRAMES)
    name = forms.CharField(label=_("Name"), required=False, max_length=MAX_NAME_LENGTH)
    device = _Device()


class DescriptionFilesForm(forms.Form):
    """`files`: UTD descriptions; the command line uploads several one after the other."""

    file = forms.FileField(
        label=_("File"), max_length=255, help_text=_("JSON: {video: {concept: [one text per frame]}}.")
    )
    extractor = ModelField(
        label=_("Extractor"),
        required=False,
        max_length=MAX_MODEL_LENGTH,
        help_text=_(
            "This model extracts the concepts that are missing from the file. Leave empty if the file has all concepts."
        ),
    )
    name = forms.CharField(label=_("Name"), required=False, max_length=MAX_NAME_LENGTH)


class MeasureForm(_OfDescriptions):
    """What most runs set comes first; the rest is as published."""

    FIRST = ("descriptions", "task", "labels", "encoder", "learning_curve", "name")
    field_order = FIRST

    task = forms.ChoiceField(label=_("Task"), choices=TASK_NAMES)
    labels = forms.CharField(
        label=_("Classes"),
        required=False,
        max_length=MAX_LABELS_LENGTH,
        help_text=_(
            "For classification, the field that contains the class: class_label (default), category or facts:NAME. "
            "For retrieval, the prefix of the caption keys."
        ),
    )
    encoder = _Encoder()
    max_reading = forms.ChoiceField(label=_("Max-score frame"), choices=list(READING_NAMES.items()))
    bootstrap = _choice(
        _("Bootstrap of the nine models"),
        (_("of all train videos, as in the paper"), _("of each class")),
        "bootstrap",
        _("With few train videos per class, use the second one."),
    )
    c = FloatField(
        label=_("C of the regressions"), initial=AS_PUBLISHED.c, min_value=MIN_C, max_value=MAX_C, required=False
    )
    empty_frames = _choice(
        _("Frames without activity"),
        (_("are skipped, as in the paper"), _("say that no activity is visible")),
        "empty_frames",
    )
    numbering = _choice(
        _("Frame numbers"), (_("“Frame #1:”, as in the code of UTD"), _("“Frame 1:”, as in the paper")), "numbering"
    )
    texts = _choice(
        _("Texts of frames"),
        (_("as published"), _("without repeated objects, with full stops")),
        "texts",
    )
    captions = _choice(_("Several captions"), (_("their mean"), _("the first caption")), "captions")
    ties = _choice(_("Ties in retrieval"), (_("are wrong"), _("share the rank")), "ties")
    learning_curve = forms.BooleanField(
        label=_("Learning curve"),
        required=False,
        help_text=_("Also measure smaller train splits. This takes about as long as the nine models per size."),
    )
    vectors = forms.ChoiceField(
        label=_("Stored vectors"),
        choices=[(FLOAT32, _("32 bits per number (float32)")), (FLOAT16, _("16 bits per number (float16)"))],
        help_text=_("float16 takes half the disk space; single samples may change."),
    )
    name = forms.CharField(label=_("Name"), required=False, max_length=MAX_NAME_LENGTH)
    device = _Device()

    def main_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name in self.FIRST]

    def advanced_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in self.FIRST]

    def has_advanced_errors(self) -> bool:
        return any(field.errors for field in self.advanced_fields())


class SplitFileForm(forms.Form):
    file = forms.FileField(
        label=_("File"),
        max_length=255,
        help_text=_("CSV: sample,class,correct_1 … correct_9,confidence. JSON: {full: [ids], debiased: [ids]}."),
    )
    task = forms.ChoiceField(
        label=_("Task"),
        required=False,
        choices=[("", _("as the file says")), *TASK_NAMES],
        help_text=_("A file with debiased-balanced or classes is a classification."),
    )
    columns = ColumnsField()
    name = forms.CharField(label=_("Name"), required=False, max_length=MAX_NAME_LENGTH)


class AnswersForm(forms.Form):
    file = forms.FileField(
        label=_("File"),
        max_length=255,
        help_text=_(
            "CSV: sample,class,prediction, or video_id,acc_top1. Instead of prediction: correct, "
            "or prediction_NAME for several models."
        ),
    )
    columns = ColumnsField()
    label = forms.CharField(label=_("Name"), required=False, max_length=MAX_NAME_LENGTH)


class TrainForm(forms.Form):
    """Train a classifier on a frozen backbone, or score an image-text model without training."""

    model = ModelField(
        label=_("Model"),
        max_length=MAX_MODEL_LENGTH,
        help_text=_(
            "To train: backbone:ID, such as backbone:MCG-NJU/videomae-base. To score without training: clip:ID, such "
            "as clip:openai/clip-vit-base-patch32."
        ),
    )
    rerank = ModelField(
        label=_("Second model"),
        required=False,
        max_length=MAX_MODEL_LENGTH,
        help_text=_(
            "Such as blip2:ID. It sees each caption together with the 128 videos that rank highest, and ranks them "
            "again. Leave empty for one model."
        ),
    )
    label = forms.CharField(
        label=_("Name"),
        required=False,
        max_length=MAX_NAME_LENGTH,
        help_text=_("A model of the same name is replaced."),
    )
    epochs = IntegerField(
        label=_("Epochs"), initial=50, min_value=1, max_value=MAX_EPOCHS, help_text=_("For training only.")
    )
    augment = forms.BooleanField(
        label=_("Augment training clips"), required=False, initial=True, help_text=_("For training only.")
    )
    device = _Device()

    def clean(self) -> dict[str, Any]:
        sent = super().clean() or {}
        sent["zero_shot"] = not str(sent.get("model", "")).startswith(BACKBONE)
        return sent


class ShortcutForm(_OfDescriptions):
    encoder = _Encoder()
    device = _Device()


class ShortcutBarForm(forms.Form):
    share = FloatField(
        label=_("Max share"),
        required=False,
        min_value=0,
        max_value=1,
        help_text=_(
            "With 0.6, a release is blocked if object lists alone solve more than 60 % of its items. Leave empty "
            "for no limit."
        ),
    )
