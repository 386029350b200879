"""Store public pages, and what visitors submit to them."""

import secrets

from django.db import models
from django.utils.translation import gettext_lazy as _

from foilworks.core.corpus.models import Release
from foilworks.core.jobs.models import Job
from foilworks.core.projects.models import User
from foilworks.core.projects.personal_data import PersonalData


def new_key() -> str:
    """Return 128 random bits as letters for an address."""
    return secrets.token_urlsafe(16)


class PublicPage(models.Model):
    """The page of a release for people without an account; its key is an address that nobody can guess."""

    release = models.OneToOneField(Release, models.CASCADE, related_name="public_page")
    key = models.CharField(max_length=40, unique=True, default=new_key)
    is_open = models.BooleanField(default=False)
    # Visitors see and search the public items. Off for pages of 0.3 without an export, whose owners never chose it.
    lists_items = models.BooleanField(default=True, db_default=True)
    offers_export = models.BooleanField(default=False)
    takes_scores = models.BooleanField(default=False)
    # The zip that visitors download, created by a job; `archive_print`: what was withheld and erased by then.
    archive = models.FileField(max_length=300, blank=True)
    archive_print = models.CharField(max_length=64, blank=True)
    # The hash of its manifest, which covers every byte: the argument of `foilworks verify --expect`.
    archive_manifest = models.CharField(max_length=64, blank=True, db_default="", default="")
    archive_made_at = models.DateTimeField(null=True, blank=True)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="+")
    opened_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        app_label = "evaluation"

    def __str__(self) -> str:
        return f"public page of {self.release_id}"


class SubmissionState(models.TextChoices):
    WAITING = "waiting", _("waiting")
    ACCEPTED = "accepted", _("accepted")
    REFUSED = "refused", _("rejected")


class Submission(models.Model):
    """Scores of a model from somebody without an account; a researcher decides whether they are shown."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="submissions", db_index=False)
    label = models.CharField(max_length=120)
    # Shown next to the model: who ran it.
    sent_by = models.CharField(max_length=200)
    # Visible only to researchers.
    contact = models.CharField(max_length=200)
    url = models.URLField(max_length=500, blank=True)
    notes = models.TextField(blank=True)
    file_name = models.CharField(max_length=200)
    # Below UPLOAD_ROOT; never served.
    path = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    n_items = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=SubmissionState, default=SubmissionState.WAITING)
    run = models.OneToOneField("evaluation.Run", models.SET_NULL, null=True, blank=True, related_name="submission")
    reason = models.CharField(max_length=500, blank=True)
    decided_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(auto_now_add=True)
    personal_data = PersonalData(free_text=("contact", "notes", "reason"))

    class Meta:
        app_label = "evaluation"
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["release", "sha256"], name="one_submission_a_file")]

    def __str__(self) -> str:
        return f"{self.label} for {self.release_id}"
