"""Views of lists that people name."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.personal_data import PersonalData


class SavedView(models.Model):
    """The filters, columns and order of a list of a project, under a name that one person chose."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    project = models.ForeignKey("projects.Project", models.CASCADE, related_name="+")
    # The name of the page's URL, such as items:items.
    page = models.CharField(max_length=60)
    name = models.CharField(_("name"), max_length=60)
    # The query of its address, without the position.
    query = models.CharField(max_length=2000, blank=True)
    personal_data = PersonalData(free_text=("name", "query"), own_row=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "project", "page", "name"], name="one_saved_view_a_name")
        ]

    def __str__(self) -> str:
        return self.name
