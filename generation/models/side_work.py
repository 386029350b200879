"""Tables of caption runs, tunings and detections."""

from pathlib import Path

from django.db import models
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.model_folders import models_of
from foilworks.core.projects.models import Project
from foilworks.core.projects.models.requested_jobs import RequestedJob
from foilworks.core.text.registry import MAX_VERSION_LENGTH


class CaptionSources(models.TextChoices):
    CAPTIONS = "captions", _("existing captions (sentences, templates)")
    VIDEOS = "videos", _("videos without a caption (their class label)")


class CaptionRun(RequestedJob):
    """A run of a caption maker over a project's sources: first a preview, then, on request, all captions."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="caption_runs")
    maker = models.CharField(max_length=40)
    maker_version = models.CharField(max_length=MAX_VERSION_LENGTH, blank=True)
    mode = models.CharField(max_length=10, default="corrected")
    params = models.JSONField(default=dict, blank=True)
    seed = models.BigIntegerField(default=0)
    sources = models.CharField(max_length=8, choices=CaptionSources, default=CaptionSources.CAPTIONS)
    split = models.CharField(max_length=5, blank=True)
    # Sources imported later are not part of it.
    last_source = models.BigIntegerField(default=0)
    # {"sources": n, "made": [[source, caption], …], "skipped": {why: n}} of the first sources; null until done.
    preview = models.JSONField(null=True, blank=True)
    asked_at = models.DateTimeField(null=True, blank=True)
    # Sources up to this row are processed, with these results.
    cursor = models.BigIntegerField(default=0)
    stored = models.PositiveIntegerField(default=0)
    known = models.PositiveIntegerField(default=0)
    skipped = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return f"{self.maker} for {self.project_id}"


class Tuning(RequestedJob):
    """A text-to-text model fine-tuned on the captions of a project's train split by span corruption."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="tunings")
    base_model = models.CharField(max_length=300)
    params = models.JSONField(default=dict, blank=True)
    seed = models.BigIntegerField(default=0)
    last_caption = models.BigIntegerField(default=0)
    captions = models.PositiveIntegerField(default=0)
    steps = models.PositiveIntegerField(default=0)
    # [[step, mean loss since the one before], …]
    losses = models.JSONField(default=list, blank=True)
    # The folder in the installation's models, named by the hash of its files; "" until the model exists.
    folder = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return f"{self.base_model} for {self.project_id}"

    @property
    def path(self) -> Path | None:
        """The folder of the model; None until it exists."""
        return models_of(self.project_id) / self.folder if self.folder else None


class DetectionResult(models.Model):
    """A detector's results on one video's frames, computed once for all score limits."""

    video = models.ForeignKey("corpus.Video", models.CASCADE, related_name="sightings", db_index=False)
    # Hash of the file and trim, the model's weights and the frames.
    key = models.CharField(max_length=64)
    model_id = models.CharField(max_length=200)
    model_revision = models.CharField(max_length=64)
    # {label: the highest score in any frame}
    labels = models.JSONField(default=dict)

    class Meta:
        db_table = "generation_sighting"
        constraints = [models.UniqueConstraint(fields=["video", "key"], name="one_sighting_a_video_and_key")]

    def __str__(self) -> str:
        return f"{self.model_id} of {self.video_id}"
