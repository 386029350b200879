"""Store measurements of semantic proximity."""

from django.db import models

from foilworks.core.corpus.models import Release
from foilworks.core.projects.models.requested_jobs import RequestedJob
from generation.models import Scorer


class ProximityRun(RequestedJob):
    """A measurement of the foils of a release by one encoder; the cosines are Measures, stored per pair."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="proximities")
    # "sentence:sentence-transformers/all-MiniLM-L6-v2", a folder, "clip:openai/clip-vit-base-patch32".
    model = models.CharField(max_length=500)
    name = models.CharField(max_length=60)
    device = models.CharField(max_length=12, default="auto")
    # The keys of its measures: of the encoder, and of whether caption and foil differ by antonyms.
    scorer = models.ForeignKey(Scorer, models.SET_NULL, null=True, blank=True, related_name="+")
    antonyms = models.ForeignKey(Scorer, models.SET_NULL, null=True, blank=True, related_name="+")
    # Texts that the encoder truncates: {"truncated_texts": [{"item", "why"}], "equal_after_truncation": ...}.
    problems = models.JSONField(default=dict, db_default={}, blank=True)
    measured_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} of {self.release_id}"
