"""The stages of the work, and the states of its tasks and places."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Stage(models.TextChoices):
    EDIT = "edit", _("edit")
    REVIEW = "review", _("review")
    VALIDATION = "validation", _("validation")
    BASELINE = "baseline", _("human baseline")
    OBJECTS = "objects", _("object check")
    PRACTICE = "practice", _("practice")
    QUALIFICATION = "qualification", _("qualification")


class TaskState(models.TextChoices):
    OPEN = "open"
    DONE = "done"
    CANCELLED = "cancelled"


class SlotState(models.TextChoices):
    FREE = "free"
    LEASED = "leased"
    DONE = "done"
    CANCELLED = "cancelled"
