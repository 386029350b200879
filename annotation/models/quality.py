"""A project's quality rules, and the status of each validator."""

import secrets

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.rules.pausing import Reason
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.personal_data import PersonalData
from foilworks.core.projects.sql.quick_rows import QuickRows

SHARE = [MinValueValidator(0.0), MaxValueValidator(1.0)]


def new_secret() -> int:
    """Return 53 random bits, which every database and JSON reader stores exactly."""
    return secrets.randbits(53)


class QualityPolicy(QuickRows):
    """The project's quality rules. Without a row: no gold, no pause by rule, no qualification."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="quality")
    # Decides where gold appears and which: stored, so that it can be computed again, and shown to nobody.
    secret = models.PositiveBigIntegerField(default=new_secret, editable=False)

    gold_rate = models.FloatField(default=0.0, validators=[MinValueValidator(0.0), MaxValueValidator(0.5)])
    gold_min = models.PositiveSmallIntegerField(default=4, validators=[MinValueValidator(1)])
    careful_accuracy = models.FloatField(default=0.92, validators=[MinValueValidator(0.5), MaxValueValidator(0.99)])
    guess_accuracy = models.FloatField(default=0.5, validators=[MinValueValidator(0.05), MaxValueValidator(0.95)])
    # The share of careful people that may be paused by mistake, over all tests and any working time.
    false_pauses = models.FloatField(default=0.02, validators=[MinValueValidator(0.0001), MaxValueValidator(0.2)])
    position_min = models.PositiveSmallIntegerField(default=10, validators=[MinValueValidator(1)])
    # An answer is too fast if it came before this share of the clip had passed; 0: no check.
    fast_share = models.FloatField(default=0.0, validators=SHARE)
    fast_min = models.PositiveSmallIntegerField(default=8, validators=[MinValueValidator(1)])

    practice_open = models.BooleanField(default=False)
    qualification_open = models.BooleanField(default=False)
    qualification_required = models.BooleanField(default=False)
    test_length = models.PositiveSmallIntegerField(default=10, validators=[MinValueValidator(1)])
    pass_share = models.FloatField(default=0.9, validators=SHARE)
    mismatched_share = models.FloatField(default=0.3, validators=SHARE)
    tries = models.PositiveSmallIntegerField(default=2, validators=[MinValueValidator(1)])
    # When the skill of validators was last requested.
    skill_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"quality of {self.project_id}"


class Standing(QuickRows):
    """One validator in one project: paused or not, qualified or not, and the running counts of the rule.

    The counts cover judgements since `counted_from` that were not undone; a resume restarts them. A consistency check
    compares them with the votes.
    """

    class State(models.TextChoices):
        ACTIVE = "active", _("active")
        PAUSED = "paused", _("paused")

    policy = models.ForeignKey(QualityPolicy, models.CASCADE, related_name="standings", db_index=False)
    person = models.ForeignKey(User, models.CASCADE, related_name="standings")
    state = models.CharField(max_length=6, choices=State, default=State.ACTIVE)
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_why = models.CharField(max_length=10, blank=True, choices=[(r.value, r.value) for r in Reason])
    paused_note = models.CharField(max_length=500, blank=True)
    # Null: paused by the rule.
    paused_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    set_aside_at = models.DateTimeField(null=True, blank=True)
    qualified_at = models.DateTimeField(null=True, blank=True)

    counted_from = models.DateTimeField(default=timezone.now)
    gold_seen = models.PositiveIntegerField(default=0)
    gold_right = models.PositiveIntegerField(default=0)
    first = models.PositiveIntegerField(default=0)
    second = models.PositiveIntegerField(default=0)
    timed = models.PositiveIntegerField(default=0)
    fast = models.PositiveIntegerField(default=0)

    # Number of assigned tasks; (slot, video) of the person's next gold, in order. No foreign keys: each is checked when
    # it is due.
    served = models.PositiveIntegerField(default=0)
    gold_ahead = models.JSONField(default=list, null=True)
    # Read by the previous version only; the next release removes it.
    gold_stretch = models.IntegerField(default=-1)
    gold_served = models.PositiveIntegerField(default=0)
    # Estimated probability of a true answer, 0 to 1; null: too few votes, or not estimated.
    skill = models.FloatField(null=True, blank=True)
    personal_data = PersonalData(free_text=("paused_note",))

    class Meta:
        constraints = [models.UniqueConstraint(fields=["policy", "person"], name="one_standing_a_person")]

    def __str__(self) -> str:
        return f"{self.person_id} in {self.policy_id}: {self.state}"
