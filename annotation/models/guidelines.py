"""Guidelines of a stage."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.stages import Stage
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.sql.quick_rows import QuickRows


class Guideline(QuickRows):
    """A version of a stage's guidelines; the newest applies, older ones stay with the work done under them."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="guidelines")
    subtest = models.ForeignKey(Subtest, models.CASCADE, null=True, blank=True, related_name="guidelines")
    stage = models.CharField(max_length=13, choices=Stage)
    version = models.PositiveIntegerField()
    text = models.TextField(help_text=_("Markdown; lists of + and - lines hold good and bad examples."))
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "subtest", "stage", "version"],
                condition=Q(subtest__isnull=False),
                name="one_guideline_a_version",
            ),
            models.UniqueConstraint(
                fields=["project", "stage", "version"],
                condition=Q(subtest__isnull=True),
                name="one_general_guideline_a_version",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage} v{self.version}"
