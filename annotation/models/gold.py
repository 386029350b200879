"""Pairs whose answer is known: served among real work, asked in the qualification, shown in practice."""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.rules.marking import Marks, marks_of
from foilworks.core.corpus.models import Caption, Foil, Item, Subtest, Video
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.personal_data import PersonalData


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
