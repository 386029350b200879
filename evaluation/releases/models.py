"""Store the gate's finding and the changelog of a release, and reports about its items."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.projects.models import User
from foilworks.core.projects.personal_data import PersonalData


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


class ReportReason(models.TextChoices):
    CAPTION = "caption", _("the caption is false")
    FOIL = "foil", _("a foil is true")
    TEXT = "text", _("a text has errors")
    VIDEO = "video", _("the video does not play or is another one")
    OTHER = "other", _("another reason")


class ReportState(models.TextChoices):
    WAITING = "waiting", _("waiting")
    ASKED = "asked", _("new votes")
    DISMISSED = "dismissed", _("dismissed")


class ItemReport(models.Model):
    """What somebody without an account reports about a released item; a researcher decides what follows."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="reports", db_index=False)
    member = models.ForeignKey(ReleaseItem, models.CASCADE, related_name="reports")
    why = models.CharField(max_length=7, choices=ReportReason)
    text = models.CharField(max_length=500, blank=True)
    # Visible only to researchers.
    contact = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=9, choices=ReportState, default=ReportState.WAITING)
    reason = models.CharField(max_length=500, blank=True)
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(auto_now_add=True)
    personal_data = PersonalData(free_text=("text", "contact", "reason"))

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["release", "state"], name="report_state")]

    def __str__(self) -> str:
        return f"{self.why} of {self.member_id}"
