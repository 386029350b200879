"""The stages of the work, and the states of its tasks and slots."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Stage(models.TextChoices):
    EDIT = "edit", _("edit")
    REVIEW = "review", _("review")
    VALIDATION = "validation", _("validation")
    BASELINE = "baseline", _("human baseline")
    UNSEEN = "unseen", _("choice without the clip")
    OBJECTS = "objects", _("object check")
    PRACTICE = "practice", _("practice")
    QUALIFICATION = "qualification", _("qualification")
    # Pairs with a known answer among validation tasks: the same page and steps, but separate rows.
    GOLD = "gold", _("gold")


# One choice among all texts of an item, which no verdict uses.
CHOICES = frozenset({Stage.BASELINE, Stage.UNSEEN})


def public_stage(stage: str) -> str:
    """Return the stage as people know it: gold belongs to validation."""
    return Stage.VALIDATION if stage == Stage.GOLD else stage


def stages_shown_as(desk: str) -> tuple[str, ...]:
    """Return the stages whose slots people see under one stage's name."""
    return (Stage.VALIDATION, Stage.GOLD) if desk == Stage.VALIDATION else (desk,)


class TaskState(models.TextChoices):
    OPEN = "open"
    DONE = "done"
    CANCELLED = "cancelled"


class SlotState(models.TextChoices):
    FREE = "free"
    LEASED = "leased"
    DONE = "done"
    CANCELLED = "cancelled"
