"""Assignments: how many tasks of a stage a person is asked to do, and until when."""

from django.core.validators import MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models.stages import Stage
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.personal_data import PersonalData


class Assignment(models.Model):
    """A person's quota at a stage. It says how many tasks, never which: the rules of eligibility choose them.

    `team`: the name that the members of a group share. `ended_at`: a researcher ended or replaced it.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="assignments", db_index=False)
    person = models.ForeignKey(User, models.CASCADE, related_name="assignments")
    stage = models.CharField(max_length=13, choices=Stage)
    team = models.CharField(_("team"), max_length=120, blank=True)
    quota = models.PositiveIntegerField(_("tasks per person"), validators=[MinValueValidator(1)])
    due = models.DateField(_("due date"), null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    personal_data = PersonalData(free_text=("team",), own_row=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "person", "stage"],
                condition=models.Q(ended_at=None),
                name="one_open_assignment_a_stage",
            )
        ]

    def __str__(self) -> str:
        return f"{self.quota} tasks of {self.stage} for {self.person_id}"
