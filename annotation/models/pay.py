"""What people are paid: a rate a stage, by the piece or by the hour, and the hourly floor that it is held against."""

from decimal import Decimal

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.stages import Stage
from annotation.rules.pay import Unit
from projects.models import Project

NOT_NEGATIVE = MinValueValidator(Decimal(0))
CURRENCY = RegexValidator(r"^[A-Z]{3}$", _("Three capital letters, such as EUR."))


class PayPolicy(models.Model):
    """A project without a row pays nobody, as far as this installation knows."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="pay_policy")
    currency = models.CharField(max_length=3, default="EUR", validators=[CURRENCY])
    # None: pay is held against nothing.
    floor = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True, validators=[NOT_NEGATIVE])

    def __str__(self) -> str:
        return f"pay of {self.project_id}"


class PayRate(models.Model):
    """What one piece, or one hour, of a stage earns; a stage without a row earns nothing."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="pay_rates", db_index=False)
    stage = models.CharField(max_length=13, choices=Stage)
    unit = models.CharField(max_length=5, choices=[(unit.value, unit.value) for unit in Unit])
    amount = models.DecimalField(max_digits=10, decimal_places=4, validators=[NOT_NEGATIVE])

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "stage"], name="one_pay_rate_a_stage")]

    def __str__(self) -> str:
        return f"{self.amount} a {self.unit} of {self.stage}"
