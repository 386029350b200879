"""Edits, reviews and votes, and the involvements that exclude people from later work."""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models.guidelines import Guideline
from annotation.models.quality import GoldPair, Standing
from annotation.models.stages import Stage
from annotation.models.tasks import Slot
from foilworks.core.corpus.models import Foil, Item, Video
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.personal_data import PersonalData
from generation.models import Candidate, CandidateGroup


class Involvement(models.Model):
    """A person's involvement in a video, or in one item of it: the facts of the leakage rule.

    Rows are only added: a person who undoes work has still seen it. One exception: an undone choice of the human
    baseline, whose item the person gets again.
    """

    class Kind(models.TextChoices):
        MADE = "made", _("wrote, edited or fixed")
        REVIEWED = "reviewed", _("reviewed")
        JUDGED = "judged", _("validated or took part in a study of its items")
        SETTLED = "settled", _("decided on a disputed item or a doubted caption")

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    person = models.ForeignKey(User, models.CASCADE, related_name="involvements", db_index=False)
    video = models.ForeignKey(Video, models.CASCADE, related_name="+")
    # The candidate group of the involvement: the scope "item" of the leakage rule. Null for imported items.
    group = models.ForeignKey(CandidateGroup, models.CASCADE, null=True, blank=True, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person", "video", "group", "kind"],
                condition=Q(group__isnull=False),
                name="one_involvement_a_group",
            ),
            models.UniqueConstraint(
                fields=["person", "video", "kind"], condition=Q(group__isnull=True), name="one_involvement_a_video"
            ),
        ]
        # Each claim checks it for every slot.
        indexes = [models.Index(fields=["person", "video", "kind"], name="hand_in_a_video")]

    def __str__(self) -> str:
        return f"{self.person_id} {self.kind} on {self.video_id}"


class WorkRecord(models.Model):
    """The columns of every record of work."""

    slot = models.ForeignKey(Slot, models.SET_NULL, null=True, blank=True, related_name="%(class)ss")
    # Made by the client: a double click, a retry or a reload gives one record.
    idempotency_key = models.CharField(max_length=64)
    guideline = models.ForeignKey(Guideline, models.SET_NULL, null=True, blank=True, related_name="+")
    # Watch evidence (annotation.rules.watch_evidence).
    watch = models.JSONField(default=dict, blank=True)
    seconds_spent = models.FloatField(null=True, blank=True)
    # The lease had already ended; it counts only if its slot was still free (else `slot` is null).
    late = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True


class Edit(WorkRecord):
    """An annotator's submission for a group; each text became or stayed a candidate (`candidates`)."""

    group = models.ForeignKey(CandidateGroup, models.CASCADE, related_name="edits")
    person = models.ForeignKey(User, models.CASCADE, related_name="edits", db_index=False)
    texts = models.JSONField()
    candidates = models.ManyToManyField(Candidate, related_name="submitted_in", blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    personal_data = PersonalData(works=("group__run__project",))

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "idempotency_key"], name="one_edit_a_key")]

    def __str__(self) -> str:
        return f"edit {self.pk}"


class ReviewDecision(models.TextChoices):
    ACCEPT = "accept", _("accept")
    SEND_BACK = "send_back", _("send back")
    DROP = "drop", _("drop")
    FIX = "fix", _("fix and accept")


class Review(WorkRecord):
    candidate = models.ForeignKey(Candidate, models.CASCADE, related_name="reviews")
    person = models.ForeignKey(User, models.CASCADE, related_name="reviews", db_index=False)
    decision = models.CharField(max_length=9, choices=ReviewDecision)
    reasons = models.JSONField(default=list, blank=True)
    comment = models.TextField(blank=True)
    # The reviewer's own text, if the decision is fix.
    child = models.ForeignKey(Candidate, models.SET_NULL, null=True, blank=True, related_name="+")
    undone_at = models.DateTimeField(null=True, blank=True)
    # A second review of the candidate, only compared with the first one.
    second = models.BooleanField(default=False)
    personal_data = PersonalData(free_text=("comment",), works=("candidate__group__run__project",))

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "idempotency_key"], name="one_review_a_key")]

    def __str__(self) -> str:
        return f"{self.decision} {self.candidate_id}"


class Choice(models.TextChoices):
    """A validator's statement of what is true of the video, in truth coding. OTHER comes from files only."""

    CAPTION = "caption", _("only the caption")
    FOIL = "foil", _("only the foil")
    NEITHER = "neither", _("neither")
    BOTH = "both", _("both")
    CANNOT_TELL = "cannot_tell", _("cannot tell")
    OTHER = "other", _("other")


class VoteState(models.TextChoices):
    COUNTED = "counted"
    # Submitted when no slot was free: stored, never counted.
    SURPLUS = "surplus"
    SET_ASIDE = "set_aside"
    UNDONE = "undone"


class Vote(WorkRecord):
    """One judgement of a caption-foil pair or a gold pair.

    A gold pair has no item, so it counts in no verdict. Votes from files have no person, and no foil if they are about
    the whole item.
    """

    class Source(models.TextChoices):
        PERSON = "person"
        IMPORT = "import"

    item = models.ForeignKey(Item, models.CASCADE, null=True, blank=True, related_name="votes", db_index=False)
    foil = models.ForeignKey(Foil, models.CASCADE, null=True, blank=True, related_name="votes")
    gold = models.ForeignKey(GoldPair, models.CASCADE, null=True, blank=True, related_name="votes")
    stage = models.CharField(max_length=13, choices=Stage, default=Stage.VALIDATION)
    person = models.ForeignKey(User, models.CASCADE, null=True, blank=True, related_name="votes")
    source = models.CharField(max_length=6, choices=Source, default=Source.PERSON)
    # Distinguishes the votes of a file, which name nobody.
    import_index = models.PositiveSmallIntegerField(null=True, blank=True)
    # The author's pseudonym in a file of raw votes; empty if a file only counts.
    imported_as = models.CharField(max_length=100, blank=True)
    choice = models.CharField(max_length=11, choices=Choice)
    # The order shown: True when the caption was the first text. Null for imported votes.
    caption_first = models.BooleanField(null=True, blank=True)
    # The order of the texts, by foil id (caption: 0), of a choice among several. Human baseline: `foil` is the chosen
    # one.
    order_shown = models.JSONField(null=True, blank=True)
    # Validation of a multiple-choice item: the place (from 1) of the text that was chosen as the only true one. `foil`
    # is then the one that the task names, so that all votes on the item are about the same pair.
    chosen_place = models.PositiveSmallIntegerField(null=True, blank=True)
    state = models.CharField(max_length=9, choices=VoteState, default=VoteState.COUNTED)
    # The row that counts it, and whether it was too fast by the policy at the time (null: not measured).
    standing = models.ForeignKey(Standing, models.SET_NULL, null=True, blank=True, related_name="votes")
    fast = models.BooleanField(null=True, blank=True)
    personal_data = PersonalData(works=("item__subtest__project", "gold__project"))

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person", "idempotency_key"], condition=Q(person__isnull=False), name="one_vote_a_key"
            ),
            models.UniqueConstraint(
                fields=["item", "stage", "person"],
                condition=Q(person__isnull=False) & ~Q(state="undone"),
                name="one_vote_a_person_in_an_item",
            ),
            models.UniqueConstraint(
                fields=["slot"], condition=Q(state="counted", slot__isnull=False), name="one_counted_vote_a_slot"
            ),
            models.UniqueConstraint(
                fields=["item", "import_index"],
                condition=Q(import_index__isnull=False),
                name="one_imported_vote_an_index",
            ),
            models.UniqueConstraint(
                fields=["gold", "person"],
                condition=Q(gold__isnull=False) & ~Q(state="undone"),
                name="one_vote_a_person_in_a_gold_pair",
            ),
            models.CheckConstraint(
                name="vote_is_on_an_item_or_on_gold",
                condition=Q(gold__isnull=True, item__isnull=False)
                | Q(gold__isnull=False, item__isnull=True, stage="gold"),
            ),
        ]
        indexes = [models.Index(fields=["item", "state"], name="vote_of_an_item")]

    def __str__(self) -> str:
        return f"{self.choice} on {self.item_id}"


class DeclinedVideo(models.Model):
    """The person gets no more tasks of this video, at any stage; nobody can see who declined what."""

    person = models.ForeignKey(User, models.CASCADE, related_name="declined_videos", db_index=False)
    video = models.ForeignKey(Video, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    personal_data = PersonalData(own_row=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "video"], name="one_decline_a_video")]

    def __str__(self) -> str:
        return f"{self.person_id} declined {self.video_id}"
