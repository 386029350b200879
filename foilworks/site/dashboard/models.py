"""Store the target of a project: how many items people should judge, and with how many votes."""

from django.db import models

from foilworks.core.projects.models import Project


class StudyTarget(models.Model):
    """The target that the overview compares the progress with. Without a row, it shows none."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="study_target")
    # Items to judge, whether or not they turn out to be valid.
    items = models.PositiveIntegerField()
    # Votes of validators; 0: no limit.
    votes = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        app_label = "evaluation"

    def __str__(self) -> str:
        return f"{self.items} items of {self.project_id}"
