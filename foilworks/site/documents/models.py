"""Store the citation, terms of sources and datasheet answers of a project."""

import hashlib

from django.db import models

from foilworks.core.projects.models import Project, User
from foilworks.core.projects.personal_data import PersonalData


class PublicationFacts(models.Model):
    """How the project's releases are cited, and the licence of its own texts. Empty: not stated."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="publication")
    title = models.CharField(max_length=300, blank=True)
    # One per line, "Family, Given" or the name of an organisation.
    authors = models.TextField(blank=True)
    abstract = models.TextField(blank=True)
    year = models.CharField(max_length=4, blank=True)
    doi = models.CharField(max_length=200, blank=True)
    url = models.URLField(max_length=500, blank=True)
    licence = models.CharField(max_length=200, blank=True)
    licence_url = models.URLField(max_length=500, blank=True)
    contact = models.CharField(max_length=200, blank=True)
    # Authors remain: a printed citation cannot be withdrawn with an account.
    personal_data = PersonalData(free_text=("contact",), archive="project")

    class Meta:
        app_label = "evaluation"

    def __str__(self) -> str:
        return self.title or f"publication of {self.project_id}"


class SourceLicence(models.Model):
    """The terms of one data set that videos of the project come from; "" for videos that name none."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="source_licences", db_index=False)
    source_dataset = models.CharField(max_length=100, blank=True)
    licence = models.CharField(max_length=200, blank=True)
    url = models.URLField(max_length=500, blank=True)
    notes = models.CharField(max_length=500, blank=True)
    # Whether a public page may play videos of this source.
    may_show = models.BooleanField(default=False)
    personal_data = PersonalData(free_text=("notes",), archive="project")

    class Meta:
        app_label = "evaluation"
        constraints = [models.UniqueConstraint(fields=["project", "source_dataset"], name="one_licence_a_source")]

    def __str__(self) -> str:
        return f"{self.source_dataset}: {self.licence}"


def answer_version(text: str) -> str:
    """Return a short hash of an answer, by which a form knows that nobody changed it meanwhile."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


class DatasheetAnswer(models.Model):
    """The answer of the project's people to one question of the datasheet."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="datasheet_answers", db_index=False)
    # A slug of foilworks.core.corpus.export_formats.parts.datasheet_questions.
    question = models.CharField(max_length=60)
    text = models.TextField()
    changed_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now=True)
    personal_data = PersonalData(free_text=("text",), archive="project")

    class Meta:
        app_label = "evaluation"
        constraints = [models.UniqueConstraint(fields=["project", "question"], name="one_answer_a_question")]

    def __str__(self) -> str:
        return f"{self.question} of {self.project_id}"
