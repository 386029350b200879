"""Store answers without options, the verdicts of a judge model, and those of people on a sample."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from foilworks.core.corpus.models import Release
from foilworks.core.projects.models import User
from foilworks.core.projects.models.requested_jobs import RequestedJob
from generation.models import PricedUsage


class OpenAnswerSet(RequestedJob):
    """The answers of one model to questions without options, on the board of a release. `job`: of its judge."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="open_answer_sets")
    label = models.CharField(max_length=120)
    # Of the file of answers.
    sha256 = models.CharField(max_length=64)
    # "endpoint:NAME/MODEL" or "chat:FOLDER"; "" without a judge.
    judge = models.CharField(max_length=500, blank=True)
    judge_key = models.CharField(max_length=300, blank=True)
    judged_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.label} on {self.release_id}"


class OpenAnswer(models.Model):
    """One answer. `reference`: the right answer; of an item of the release, the text of its right option."""

    class Verdict(models.TextChoices):
        NONE = "", _("not judged")
        RIGHT = "right", _("right")
        WRONG = "wrong", _("wrong")
        UNREADABLE = "unreadable", _("cannot be read")

    answer_set = models.ForeignKey(OpenAnswerSet, models.CASCADE, related_name="answers", db_index=False)
    key = models.CharField(max_length=200)
    question = models.TextField(blank=True)
    reference = models.TextField()
    text = models.TextField(blank=True)
    kind = models.CharField(max_length=120, blank=True)
    cluster = models.CharField(max_length=310)
    verdict = models.CharField(max_length=10, choices=Verdict, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["answer_set", "key"], name="one_open_answer_a_key")]

    def __str__(self) -> str:
        return f"{self.answer_set_id}: {self.key}"


class AnswerJudgement(models.Model):
    """What a person says of an answer, without seeing the judge's verdict."""

    answer = models.ForeignKey(OpenAnswer, models.CASCADE, related_name="judgements", db_index=False)
    person = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    is_right = models.BooleanField()
    judged_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["answer", "person"], name="one_judgement_a_person")]

    def __str__(self) -> str:
        return f"{self.answer_id}: {self.is_right}"


class JudgeUsage(PricedUsage):
    """What the judge of a set has spent so far."""

    answer_set = models.OneToOneField(OpenAnswerSet, models.CASCADE, related_name="usage")

    def __str__(self) -> str:
        return f"{self.answer_set_id}: {self.requests}"
