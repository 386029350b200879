"""Store the gate's finding and the changelog of a release."""

from django.db import models

from corpus.models import Release
from projects.models import User
from projects.personal_data import PersonalData


class ReleaseGate(models.Model):
    """The gate's finding when a release was frozen, and who released it despite the gate for which reason, if
    anyone."""

    release = models.OneToOneField(Release, models.CASCADE, related_name="gate")
    # evaluation.releases.gate.GateFinding as JSON.
    data = models.JSONField()
    override = models.TextField(blank=True)
    overridden_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    personal_data = PersonalData(free_text=("override",), archive="release__project")

    def __str__(self) -> str:
        return f"gate of {self.release_id}"


class ReleaseChangelog(models.Model):
    """Changes since the previous release, stored when the release is frozen: ids and names of fields."""

    release = models.OneToOneField(Release, models.CASCADE, related_name="changelog")
    data = models.JSONField()

    def __str__(self) -> str:
        return f"changelog of {self.release_id}"
