"""Name the roles that a person can hold in a project."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """Roles are per project; a person may hold several. Site administrators are `User.is_superuser`."""

    ANNOTATOR = "annotator", _("annotator")
    REVIEWER = "reviewer", _("reviewer")
    VALIDATOR = "validator", _("validator")
    RESEARCHER = "researcher", _("researcher")
