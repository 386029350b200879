"""Define models that read only text, for the blind audit."""

from django.db import models

from foilworks.core.projects.models import Project
from foilworks.core.projects.models.requested_jobs import RequestedJob


class BlindScorer(RequestedJob):
    """A text-only model for the blind audit of a project; its values are Scores without a clip."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="blind_scorers", db_index=False)
    # "lm:openai-community/gpt2", "fake:text".
    spec = models.CharField(max_length=500)
    device = models.CharField(max_length=12, default="auto")
    label = models.CharField(max_length=120)
    model_key = models.CharField(max_length=300, blank=True)
    # Of texts that reach the model's limit: {text_sha256: [an id of the part it reads, whether it was truncated]}.
    at_limit = models.JSONField(default=dict, db_default={}, blank=True)
    scored_at = models.DateTimeField(null=True, blank=True)

    class Meta(RequestedJob.Meta):
        ordering = ["label", "id"]
        constraints = [models.UniqueConstraint(fields=["project", "spec"], name="one_scorer_a_spec")]

    def __str__(self) -> str:
        return self.label
