"""A project's quality rules, and the status of each validator.

Pairs whose answer is known: served among real work, asked in the qualification, shown in practice.

Practice and the qualification: attempts at a drawn list of questions, without slots or leases.
"""

import secrets

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models.stages import Stage
from annotation.rules.marking import Marks, marks_of
from annotation.rules.pausing import Reason
from foilworks.core.corpus.models import Caption, Foil, Item, Subtest, Video
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.personal_data import PersonalData
from foilworks.core.projects.sql.quick_rows import QuickRows


class Use(models.TextChoices):
    """The one use of a pair: pairs with feedback and pairs of the qualification never mix."""

    MIXED = "mixed", _("mixed in among real work")
    QUALIFICATION = "qualification", _("qualification")
    PRACTICE = "practice", _("practice")


class KnownAnswer(models.TextChoices):
    CAPTION = "caption", _("only the caption")
    FOIL = "foil", _("only the foil")
    NEITHER = "neither", _("neither")
    BOTH = "both", _("both")
    CANNOT_TELL = "cannot_tell", _("cannot tell")


class GoldPair(models.Model):
    """A video and two texts with the known answer, and who said so.

    A mismatched pair shows the texts of `item` with another video: its answer is "neither".
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="gold_pairs", db_index=False)
    use = models.CharField(max_length=13, choices=Use)
    # The subtest whose name and guidelines people see: that of the work around it.
    subtest = models.ForeignKey(Subtest, models.CASCADE, related_name="gold_pairs")
    video = models.ForeignKey(Video, models.CASCADE, related_name="+")
    caption_text = models.TextField()
    foil_text = models.TextField()
    answer = models.CharField(max_length=11, choices=KnownAnswer)
    explanation = models.TextField(blank=True, help_text=_("Shown after the answer in practice."))
    mismatched = models.BooleanField(default=False)
    # The source of the texts.
    item = models.ForeignKey(Item, models.CASCADE, null=True, blank=True, related_name="gold_pairs")
    foil = models.ForeignKey(Foil, models.SET_NULL, null=True, blank=True, related_name="+")
    said_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    # Withdrawn pairs are no longer asked; existing answers stay.
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    personal_data = PersonalData(free_text=("explanation",))

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "foil"],
                condition=Q(mismatched=False, foil__isnull=False),
                name="one_gold_pair_a_foil",
            ),
            models.UniqueConstraint(
                fields=["video", "foil"], condition=Q(mismatched=True), name="one_mismatched_pair_a_video_and_foil"
            ),
        ]
        indexes = [models.Index(fields=["project", "use"], name="gold_of_a_use")]

    def __str__(self) -> str:
        return f"{self.use} pair {self.pk}: {self.answer}"


class ExpertLabel(models.Model):
    """An expert's blind answer to a pair: the baseline for people's results (ViLMA, Sec. B.1)."""

    pair = models.ForeignKey(GoldPair, models.CASCADE, related_name="labels", db_index=False)
    person = models.ForeignKey(User, models.CASCADE, related_name="+")
    caption_first = models.BooleanField()
    choice = models.CharField(max_length=11, choices=KnownAnswer)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pair", "person"], name="one_label_an_expert")]

    def __str__(self) -> str:
        return f"{self.choice} on pair {self.pair_id}"


class PracticeCaption(models.Model):
    """A practice caption with an expert's foils."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="practice_captions")
    subtest = models.ForeignKey(Subtest, models.CASCADE, null=True, blank=True, related_name="practice_captions")
    caption = models.ForeignKey(Caption, models.CASCADE, related_name="+")
    examples = models.JSONField(help_text=_("Foils by an expert, one per line."))
    explanation = models.TextField(blank=True)
    said_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    personal_data = PersonalData(free_text=("explanation",))

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "caption"],
                condition=Q(withdrawn_at__isnull=True),
                name="one_practice_a_caption",
            )
        ]

    def __str__(self) -> str:
        return f"practice on caption {self.caption_id}"

    @property
    def wanted(self) -> int:
        """Return the number of foils to write: as many as for an item of the subtest."""
        return 1 if self.subtest is None else self.subtest.foils_per_item

    @property
    def marks(self) -> Marks | None:
        """Return the words that stay and change, if the subtest's foils change the action."""
        of_action = self.subtest is not None and self.subtest.changes == Subtest.Changes.ACTION
        return marks_of(self.caption.text) if of_action else None


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
