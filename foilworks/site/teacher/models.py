"""Store trainings by LLM-teacher, the curve of each, and evaluations of releases before and after."""

from pathlib import PurePath

from django.db import models

from foilworks.core.corpus.models import Release
from foilworks.core.jobs.models import Job
from foilworks.core.projects.models import Project
from foilworks.core.projects.models.requested_jobs import RequestedJob


class TeacherTraining(RequestedJob):
    """One student trained on the captions of a project's train split and on the negatives of its runs."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="teacher_trainings")
    # Trainings of one label that differ only in their seed are one row of the ablation of a release.
    label = models.CharField(max_length=120)
    # As typed: "tiny:/path", "clip:openai/clip-vit-base-patch32?frames=8", "xclip:…".
    student = models.CharField(max_length=500)
    params = models.JSONField(default=dict, blank=True)
    seed = models.BigIntegerField(default=0)
    # The release of the RCAD curve; its evaluations, and those of others, are StudentEvaluations.
    release = models.ForeignKey(Release, models.SET_NULL, null=True, blank=True, related_name="+")
    # foilworks.site.teacher.sources.TrainingTexts.provenance: runs, methods, models, counts, the hash of every text.
    sources = models.JSONField(default=dict, blank=True)
    # The trained model as the adapters name it; "" until it exists.
    model_spec = models.CharField(max_length=500, blank=True)

    class Meta(RequestedJob.Meta):
        app_label = "evaluation"

    def __str__(self) -> str:
        return f"{self.label} for {self.project_id}"

    @property
    def student_name(self) -> str:
        """Return the student as tables name it: of a folder, its last part."""
        slug, _, argument = self.student.partition(":")
        return f"{slug}:{PurePath(argument).name}" if argument.startswith("/") else self.student

    @property
    def objective(self) -> str:
        """Return a summary such as "contrastive 1, lgt 0.5"."""
        shares = ((name, self.params.get(name, 0)) for name in ("contrastive", "lbl", "lgt"))
        return ", ".join(f"{name} {share:g}" for name, share in shares if share)

    @property
    def captions_per_clip(self) -> str:
        """Return the name of a row (Feint6K, Table 2): "10 actions", "5 actions + 5 objects"; or
        the mixture: "10 of run:4=0.5, people=0.5"."""
        if not self.params.get("lbl") and not self.params.get("lgt"):
            return ""
        if sources := self.params.get("negatives"):
            return f"{self.params['per_caption']} of {', '.join(sources)}"
        counts = (("actions", self.params.get("actions", 0)), ("objects", self.params.get("objects", 0)))
        return " + ".join(
            f"{count} {name.removesuffix('s') if count == 1 else name}" for name, count in counts if count
        )


class TeacherPoint(models.Model):
    """A point of a training's curve: the mean loss since the previous point, and RCAD on a part of the release."""

    training = models.ForeignKey(TeacherTraining, models.CASCADE, related_name="points", db_index=False)
    step = models.PositiveIntegerField()
    loss = models.FloatField()
    # {"contrastive": 1.2, "lgt": 0.3}
    parts = models.JSONField(default=dict, blank=True)
    rcad = models.FloatField(null=True, blank=True)
    standard = models.FloatField(null=True, blank=True)

    class Meta:
        app_label = "evaluation"
        ordering = ["training_id", "step"]
        constraints = [models.UniqueConstraint(fields=["training", "step"], name="one_point_a_step")]

    def __str__(self) -> str:
        return f"{self.training_id}: {self.step}"


class StudentEvaluation(models.Model):
    """The values of student and trained model on a release; metrics are computed from them, never stored."""

    training = models.ForeignKey(TeacherTraining, models.CASCADE, related_name="readings", db_index=False)
    release = models.ForeignKey(Release, models.CASCADE, related_name="+")
    # foilworks.site.teacher.readings.EvaluationResult as JSON; null until evaluated.
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)
    # Ids of items whose clip has no file.
    left_out = models.JSONField(default=list, blank=True)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "evaluation"
        db_table = "evaluation_teacherreading"
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["training", "release"], name="one_reading_a_release")]

    def __str__(self) -> str:
        return f"{self.training_id} on {self.release_id}"
