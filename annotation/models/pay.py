"""Pay: rates with their dates, the minimum hourly pay, and the ledger of what each submission earned."""

from decimal import Decimal

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models.stages import Stage
from annotation.rules.pay import Unit
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.personal_data import PersonalData

NOT_NEGATIVE = MinValueValidator(Decimal(0))
CURRENCY = RegexValidator(r"^[A-Z]{3}$", _("Three capital letters, such as EUR."))
UNITS = [(unit.value, unit.value) for unit in Unit]


class PayPolicy(models.Model):
    """The pay policy; a project without a row pays nobody through this installation."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="pay_policy")
    currency = models.CharField(max_length=3, default="EUR", validators=[CURRENCY])
    # None: no minimum.
    floor = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True, validators=[NOT_NEGATIVE])

    def __str__(self) -> str:
        return f"pay of {self.project_id}"


class PayRate(models.Model):
    """The pay per task or hour of a stage from `since` on, until the stage's next row. Rows are only added.

    A stage without a row, or whose last row has no amount, earns nothing.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="pay_rates", db_index=False)
    stage = models.CharField(max_length=13, choices=Stage)
    unit = models.CharField(max_length=5, choices=UNITS)
    amount = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True, validators=[NOT_NEGATIVE])
    since = models.DateTimeField(default=timezone.now, db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["project", "stage", "since"], name="pay_rate_of_a_stage")]

    def __str__(self) -> str:
        return f"{self.amount} per {self.unit} of {self.stage}"


class PayEntry(models.Model):
    """A line of the ledger: submitted work with its rate, or the reversal of such a line. Rows are only added.

    The author and the key of the client identify the work; a table of work has one row of each.
    """

    class Reason(models.TextChoices):
        WORK = "work", _("submitted")
        UNDONE = "undone", _("undone")
        REJECTED = "rejected", _("rejected")
        WITHDRAWN = "withdrawn", _("withdrawn")

    project = models.ForeignKey(Project, models.CASCADE, related_name="pay_entries", db_index=False)
    person = models.ForeignKey(User, models.CASCADE, related_name="pay_entries")
    stage = models.CharField(max_length=13, choices=Stage)
    key = models.CharField(max_length=64)
    reason = models.CharField(max_length=9, choices=Reason, default=Reason.WORK)
    unit = models.CharField(max_length=5, choices=UNITS, default=Unit.PIECE.value)
    # Null: the stage was not paid.
    rate = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)
    # The measured time; null if nobody measured it.
    seconds = models.FloatField(null=True, blank=True)
    amount = models.DecimalField(max_digits=16, decimal_places=6, default=Decimal(0))
    currency = models.CharField(max_length=3, blank=True)
    reverses = models.OneToOneField("self", models.CASCADE, null=True, blank=True, related_name="reversal")
    created_at = models.DateTimeField(default=timezone.now)
    personal_data = PersonalData(works=("project",))

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person", "stage", "key"], condition=Q(reverses=None), name="one_entry_a_submission"
            )
        ]
        indexes = [models.Index(fields=["project", "person", "stage"], name="entries_of_a_person")]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency} {self.reason} for {self.stage}"
