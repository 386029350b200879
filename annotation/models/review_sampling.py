"""Review sampling: the share of work that reviewers see, and the share that two of them see."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.models import Project, User
from foilworks.core.projects.personal_data import PersonalData

SHARE = (MinValueValidator(0.0), MaxValueValidator(1.0))


class ReviewPolicy(models.Model):
    """Review sampling; in a project without a row, everything is reviewed once.

    The draws are seeded by project and candidate, so they can be repeated; what is not drawn is accepted by rule.
    """

    project = models.OneToOneField(Project, models.CASCADE, related_name="review_policy")
    # The share of annotators' work that a reviewer sees, unless the annotator has their own rate.
    rate = models.FloatField(_("share of edits to review"), default=1.0, validators=SHARE)
    # The share of reviewed work that a second reviewer decides on, too, without seeing the first decision.
    second_share = models.FloatField(_("share of reviews to repeat"), default=0.0, validators=SHARE)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(rate__range=(0.0, 1.0)), name="review_rate_is_a_share"),
            models.CheckConstraint(condition=Q(second_share__range=(0.0, 1.0)), name="second_share_is_a_share"),
        ]

    def __str__(self) -> str:
        return f"reviews of {self.project_id}"


class ReviewRate(models.Model):
    """One annotator's own share of edits that a reviewer sees."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="review_rates", db_index=False)
    person = models.ForeignKey(User, models.CASCADE, related_name="+")
    rate = models.FloatField(validators=SHARE)
    personal_data = PersonalData(own_row=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "person"], name="one_review_rate_a_person"),
            models.CheckConstraint(condition=Q(rate__range=(0.0, 1.0)), name="own_review_rate_is_a_share"),
        ]

    def __str__(self) -> str:
        return f"{self.rate} of {self.person_id} in {self.project_id}"
