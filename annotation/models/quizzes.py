"""Practice and the qualification: attempts at a drawn list of questions, without slots or leases."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models.gold import GoldPair, KnownAnswer, PracticeCaption
from annotation.models.stages import Stage
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.models import Project, User


class Attempt(models.Model):
    """One person's attempt at practice or the qualification; its questions are drawn at the start."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="attempts", db_index=False)
    person = models.ForeignKey(User, models.CASCADE, related_name="attempts")
    # PRACTICE or QUALIFICATION, and the stage that it prepares for: EDIT or VALIDATION.
    stage = models.CharField(max_length=13, choices=Stage)
    of_stage = models.CharField(max_length=13, choices=Stage)
    subtest = models.ForeignKey(Subtest, models.CASCADE, null=True, blank=True, related_name="+")
    number = models.PositiveSmallIntegerField()
    # The pass mark, as it was when the attempt began.
    pass_share = models.FloatField(default=0.0)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    passed = models.BooleanField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "person", "stage", "of_stage", "number"], name="one_attempt_a_number"
            ),
            models.UniqueConstraint(
                fields=["project", "person", "stage", "of_stage"],
                condition=Q(finished_at__isnull=True),
                name="one_open_attempt",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage} {self.number} of {self.person_id}"


class Question(models.Model):
    """One question of an attempt and its answer, if given: one of five options, or a written foil."""

    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="questions", db_index=False)
    place = models.PositiveSmallIntegerField()
    pair = models.ForeignKey(GoldPair, models.CASCADE, null=True, blank=True, related_name="questions")
    practice = models.ForeignKey(PracticeCaption, models.CASCADE, null=True, blank=True, related_name="questions")
    caption_first = models.BooleanField(null=True, blank=True)
    choice = models.CharField(max_length=11, choices=KnownAnswer, blank=True)
    text = models.TextField(blank=True)
    right = models.BooleanField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    seconds_spent = models.FloatField(null=True, blank=True)
    watch = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attempt", "place"], name="one_question_a_place"),
            models.UniqueConstraint(
                fields=["attempt", "pair"], condition=Q(pair__isnull=False), name="one_question_a_pair"
            ),
            models.CheckConstraint(
                name="question_is_a_pair_or_a_caption",
                condition=Q(pair__isnull=False, practice__isnull=True) | Q(pair__isnull=True, practice__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"question {self.place} of attempt {self.attempt_id}"
