"""Pay: a rate per stage, for each task or hour, and the minimum hourly pay."""

from decimal import Decimal

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.stages import Stage
from annotation.rules.pay import Unit
from foilworks.core.projects.models import Project

NOT_NEGATIVE = MinValueValidator(Decimal(0))
CURRENCY = RegexValidator(r"^[A-Z]{3}$", _("Three capital letters, such as EUR."))


class PayPolicy(models.Model):
    """The pay policy; a project without a row pays nobody through this installation."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="pay_policy")
    currency = models.CharField(max_length=3, default="EUR", validators=[CURRENCY])
    # None: no minimum.
    floor = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True, validators=[NOT_NEGATIVE])

    def __str__(self) -> str:
        return f"pay of {self.project_id}"


class PayRate(models.Model):
    """The pay per task or hour of a stage; a stage without a row earns nothing."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="pay_rates", db_index=False)
    stage = models.CharField(max_length=13, choices=Stage)
    unit = models.CharField(max_length=5, choices=[(unit.value, unit.value) for unit in Unit])
    amount = models.DecimalField(max_digits=10, decimal_places=4, validators=[NOT_NEGATIVE])

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "stage"], name="one_pay_rate_a_stage")]

    def __str__(self) -> str:
        return f"{self.amount} per {self.unit} of {self.stage}"
