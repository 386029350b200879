"""Store descriptions of frames, the biases measured from them, and models compared on the splits."""

from dataclasses import asdict
from typing import Any

from django.db import models

from evaluation.utd.instructions import CLASSIFICATION, MODELS, TASKS
from evaluation.utd.procedure import AS_PUBLISHED
from foilworks.core.corpus.models import Item, Video
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.models.requested_jobs import RequestedJob
from generation.models import PricedUsage

# Parameters of a bias run that pages do not show.
DEFAULT_PARAMS: dict[str, Any] = {
    "max_reading": "score",
    "device": "auto",
    "seed": 0,
    "vectors": "float32",
    **asdict(AS_PUBLISHED),
}


class TextSource(models.Model):
    """A model with everything that its texts depend on: weights, prompts, frames, temperature. One row for all
    frames."""

    sha256 = models.CharField(max_length=64, unique=True)
    # "vlm:…", "endpoint:NAME:MODEL", "file:NAME": as entered.
    spec = models.CharField(max_length=500)
    settings = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.spec} {self.sha256[:8]}"


class Descriptions(RequestedJob):
    """A describer and an extractor on the frames of a project's videos (UTD, Sec. 3.3.1), or an imported file."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="descriptions")
    name = models.CharField(max_length=120)
    describer = models.CharField(max_length=500)
    extractor = models.CharField(max_length=500, blank=True)
    # evaluation.utd.recipes.Recipe without its models, and the device.
    params = models.JSONField(default=dict)
    # Videos and frames without text: {"missing_media": [keys], "unreadable": [{"item", "why"}], …}.
    problems = models.JSONField(default=dict, blank=True)
    described_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name


class DescriptionsUsage(PricedUsage):
    """The cost of describing and extracting at endpoints so far, failures included."""

    descriptions = models.OneToOneField(Descriptions, models.CASCADE, related_name="usage")

    def __str__(self) -> str:
        return f"{self.descriptions_id}: {self.requests}"


class FrameText(models.Model):
    """The raw answers about one frame, by concept; the text of a representation is computed from them."""

    descriptions = models.ForeignKey(Descriptions, models.CASCADE, related_name="frames", db_index=False)
    video = models.ForeignKey(Video, models.CASCADE, related_name="frame_texts")
    place = models.PositiveSmallIntegerField()
    # Presentation time in seconds; None if a file did not state it.
    time = models.FloatField(null=True, blank=True)
    raw = models.JSONField(default=dict)
    described_by = models.ForeignKey(TextSource, models.PROTECT, related_name="+")
    extracted_by = models.ForeignKey(TextSource, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["video_id", "place"]
        constraints = [models.UniqueConstraint(fields=["descriptions", "video", "place"], name="one_text_a_frame")]

    def __str__(self) -> str:
        return f"{self.video_id}:{self.place}"


class BiasRun(RequestedJob):
    """The biases of a data set under one embedding of its descriptions; nine models' predictions, and splits.

    Without descriptions, the predictions come from a file, and there are only splits.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="bias_runs")
    descriptions = models.ForeignKey(Descriptions, models.CASCADE, null=True, blank=True, related_name="bias_runs")
    name = models.CharField(max_length=120)
    task = models.CharField(max_length=14, choices=[(name, name) for name in TASKS], default=CLASSIFICATION)
    # Classification: class_label, category or facts:NAME. Retrieval: the prefix of the captions' keys.
    labels = models.CharField(max_length=100, blank=True)
    encoder = models.CharField(max_length=500, blank=True)
    encoder_key = models.CharField(max_length=300, blank=True)
    params = models.JSONField(default=dict)
    # evaluation.utd.measuring; None until the job is done.
    result = models.JSONField(null=True, blank=True)
    # {"ids", "classes", "clusters", "correct": ["111111110", …], "confidence"} of the nine models.
    predictions = models.JSONField(null=True, blank=True)
    measured_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name

    @property
    def changed_settings(self) -> list[tuple[str, str]]:
        """Return the parameters that differ from the defaults, to tell runs of one name apart; "" for a set switch."""
        plain = {name: value for name, value in self.params.items() if isinstance(value, str | int | float | bool)}
        changed = {name: value for name, value in plain.items() if value != DEFAULT_PARAMS.get(name)}
        return [(name.replace("_", " "), "" if value is True else str(value)) for name, value in changed.items()]


class BenchmarkedModel(RequestedJob):
    """A model's right and wrong answers on the samples of a bias run: {sample: 0 to 1}."""

    run = models.ForeignKey(BiasRun, models.CASCADE, related_name="benchmarked", db_index=False)
    label = models.CharField(max_length=120)
    # "file:NAME", "backbone:…" for a classifier trained here, "clip:…" for an image-text model's zero-shot.
    source = models.CharField(max_length=500, blank=True)
    right = models.JSONField(default=dict)
    # For imports: ids on one side only; for trained models: losses.
    details = models.JSONField(default=dict, blank=True)
    scored_at = models.DateTimeField(null=True, blank=True)

    class Meta(RequestedJob.Meta):
        ordering = ["label", "id"]
        constraints = [models.UniqueConstraint(fields=["run", "label"], name="one_benchmarked_model_a_label")]

    def __str__(self) -> str:
        return self.label


class ItemCheck(RequestedJob):
    """Which items of a project descriptions alone answer, by one embedding."""

    descriptions = models.ForeignKey(Descriptions, models.CASCADE, related_name="item_checks")
    encoder = models.CharField(max_length=500)
    encoder_key = models.CharField(max_length=300, blank=True)
    params = models.JSONField(default=dict)
    checked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"items by {self.descriptions}"


class ItemShortcut(models.Model):
    """The result of one check for an item's texts at that time.

    It says how many of nine models are right by objects alone, and whether one frame's description alone is enough.
    """

    check_of = models.ForeignKey(ItemCheck, models.CASCADE, related_name="found", db_index=False)
    item = models.ForeignKey(Item, models.CASCADE, related_name="shortcuts")
    # A hash of the caption and its foils: a changed text is a different question.
    texts_sha256 = models.CharField(max_length=64)
    objects_right = models.PositiveSmallIntegerField()
    frame_right = models.BooleanField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["check_of", "item"], name="one_shortcut_an_item")]

    def __str__(self) -> str:
        return f"{self.item_id}: {self.objects_right} of 9"

    @property
    def by_objects(self) -> bool:
        """Report whether all nine combinations of the objects alone are right."""
        return self.objects_right == MODELS


class ShortcutBar(models.Model):
    """The largest share of a release's items that objects alone may answer; a project without a row has no limit."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="shortcut_bar")
    share = models.FloatField()
    changed_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.share:.0%}"
