"""Work for people: tasks with one row a slot, and what people gave: edits, reviews, votes.

The rules of workflow.md ("Rules that hold at claim AND again at submit") are constraints here wherever a database
can hold them, and pure functions in annotation/rules/ where it cannot.
"""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from corpus.models import Foil, Item, Subtest, Video
from generation.models import Candidate, CandidateGroup
from projects.models import Project, User


class Stage(models.TextChoices):
    EDIT = "edit", _("edit")
    REVIEW = "review", _("review")
    VALIDATION = "validation", _("validation")
    BASELINE = "baseline", _("human baseline")


class TaskState(models.TextChoices):
    OPEN = "open"
    DONE = "done"
    CANCELLED = "cancelled"


class SlotState(models.TextChoices):
    FREE = "free"
    LEASED = "leased"
    DONE = "done"
    CANCELLED = "cancelled"


class Guideline(models.Model):
    """A version of what people of a stage are told; the newest counts, older ones stay with the work done by them."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="guidelines")
    subtest = models.ForeignKey(Subtest, models.CASCADE, null=True, blank=True, related_name="guidelines")
    stage = models.CharField(max_length=10, choices=Stage)
    version = models.PositiveIntegerField()
    text = models.TextField(help_text=_("Plain paragraphs; a line that starts with + or - is a good or bad example."))
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "subtest", "stage", "version"],
                condition=Q(subtest__isnull=False),
                name="one_guideline_a_version",
            ),
            models.UniqueConstraint(
                fields=["project", "stage", "version"],
                condition=Q(subtest__isnull=True),
                name="one_general_guideline_a_version",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage} v{self.version}"


class Task(models.Model):
    """(stage, target). Edit: a group of candidates. Review: a candidate. Validation: an item and ONE foil of it."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="tasks")
    stage = models.CharField(max_length=10, choices=Stage)
    video = models.ForeignKey(Video, models.CASCADE, related_name="+")
    group = models.ForeignKey(CandidateGroup, models.CASCADE, null=True, blank=True, related_name="tasks")
    candidate = models.ForeignKey(Candidate, models.CASCADE, null=True, blank=True, related_name="tasks")
    item = models.ForeignKey(Item, models.CASCADE, null=True, blank=True, related_name="tasks")
    foil = models.ForeignKey(Foil, models.CASCADE, null=True, blank=True, related_name="tasks")
    overlap = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=9, choices=TaskState, default=TaskState.OPEN)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="task_has_its_target",
                condition=(
                    Q(stage="edit", group__isnull=False, candidate__isnull=True, item__isnull=True)
                    | Q(stage="review", candidate__isnull=False, item__isnull=True)
                    | Q(stage="validation", item__isnull=False, foil__isnull=False)
                    | Q(stage="baseline", item__isnull=False, foil__isnull=True)
                ),
            ),
            models.UniqueConstraint(
                fields=["group"], condition=Q(stage="edit", state="open"), name="one_open_edit_task_a_group"
            ),
            models.UniqueConstraint(
                fields=["candidate"], condition=Q(stage="review", state="open"), name="one_open_review_a_candidate"
            ),
            models.UniqueConstraint(fields=["foil"], condition=Q(stage="validation"), name="one_validation_a_foil"),
        ]

    def __str__(self) -> str:
        return f"{self.stage} {self.pk}"


class Slot(models.Model):
    """One place in a task. A claim is a lease on it: opaque token, expiry, heartbeat.

    stage, video and item repeat the task's, so that claiming is one indexed query and the constraints can hold.
    """

    task = models.ForeignKey(Task, models.CASCADE, related_name="slots")
    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    stage = models.CharField(max_length=10, choices=Stage)
    video = models.ForeignKey(Video, models.CASCADE, related_name="+")
    item = models.ForeignKey(Item, models.CASCADE, null=True, blank=True, related_name="+")
    index = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=9, choices=SlotState, default=SlotState.FREE)
    person = models.ForeignKey(User, models.CASCADE, null=True, blank=True, related_name="slots")
    # A returned piece waits for its author until then (null: for anyone at once).
    reserved_for = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    reserved_until = models.DateTimeField(null=True, blank=True)
    token = models.CharField(max_length=43, blank=True)
    leased_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    # Lower comes first: started tasks before fresh ones, then a seeded shuffle.
    priority = models.FloatField(default=1.0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "index"], name="one_slot_an_index"),
            models.UniqueConstraint(
                fields=["task", "person"], condition=Q(person__isnull=False), name="one_slot_a_person_in_a_task"
            ),
            models.UniqueConstraint(
                fields=["item", "stage", "person"],
                condition=Q(person__isnull=False, item__isnull=False),
                name="one_slot_a_person_in_an_item",
            ),
            models.UniqueConstraint(fields=["token"], condition=~Q(token=""), name="one_slot_a_token"),
        ]
        indexes = [
            models.Index(
                fields=["project", "stage", "priority", "id"], condition=Q(state="free"), name="slot_free_first"
            ),
            models.Index(fields=["project", "expires_at"], condition=Q(state="leased"), name="slot_lease_end"),
            models.Index(fields=["person", "state", "stage"], name="slot_of_a_person"),
        ]

    def __str__(self) -> str:
        return f"slot {self.index} of task {self.task_id}"


class Ending(models.TextChoices):
    """How a lease came to its end; blank while it runs."""

    RUNNING = ""
    SUBMITTED = "submitted"
    SKIPPED = "skipped"
    EXPIRED = "expired"
    # The rules forbade the work at submit, or somebody else's submit made the task needless.
    REFUSED = "refused"
    CANCELLED = "cancelled"


class Lease(models.Model):
    """Every lease ever given, so that work which comes after its end still finds its slot and its person.

    `token` is what the page holds; the slot carries it too while the lease runs. What the person was shown is fixed
    here at the claim: the order of the two texts, the version of the guidelines.
    """

    slot = models.ForeignKey(Slot, models.CASCADE, related_name="leases")
    task = models.ForeignKey(Task, models.CASCADE, related_name="leases", db_index=False)
    person = models.ForeignKey(User, models.CASCADE, related_name="leases")
    token = models.CharField(max_length=43, unique=True)
    caption_first = models.BooleanField(null=True, blank=True)
    guideline = models.ForeignKey(Guideline, models.SET_NULL, null=True, blank=True, related_name="+")
    leased_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    ending = models.CharField(max_length=9, choices=Ending, blank=True, default=Ending.RUNNING)

    class Meta:
        indexes = [
            models.Index(fields=["task", "person"], condition=Q(ending="skipped"), name="lease_skipped"),
        ]

    def __str__(self) -> str:
        return f"lease of slot {self.slot_id}"


class Draft(models.Model):
    """What a person has typed for a task and not sent yet; the submit ends it, a skip or an expiry does not."""

    person = models.ForeignKey(User, models.CASCADE, related_name="drafts")
    task = models.ForeignKey(Task, models.CASCADE, related_name="drafts")
    # {"base": the form as it was first shown, "values": {field: [text, …]}}: a form shown otherwise takes no old draft.
    payload = models.JSONField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "task"], name="one_draft_a_person_in_a_task")]

    def __str__(self) -> str:
        return f"draft of {self.person_id} for task {self.task_id}"


class Involvement(models.Model):
    """A person had a hand in a video (or in one item of it): the facts that the leakage rule reads.

    Rows are only ever added: who has undone their work has still seen and made it.
    """

    class Kind(models.TextChoices):
        MADE = "made", _("wrote, edited or fixed")
        REVIEWED = "reviewed", _("reviewed")
        JUDGED = "judged", _("validated or took the human baseline")

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    person = models.ForeignKey(User, models.CASCADE, related_name="involvements")
    video = models.ForeignKey(Video, models.CASCADE, related_name="+")
    # The candidate group behind the hand: an item's scope of leakage. Null for imported items.
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
        # The claim asks it of every slot that it looks at.
        indexes = [models.Index(fields=["person", "video", "kind"], name="hand_in_a_video")]

    def __str__(self) -> str:
        return f"{self.person_id} {self.kind} on {self.video_id}"


class WorkRecord(models.Model):
    """What every piece of work by a person carries."""

    slot = models.ForeignKey(Slot, models.SET_NULL, null=True, blank=True, related_name="%(class)ss")
    # Client-made: a double click, a retry, a reload give one record.
    idempotency_key = models.CharField(max_length=64)
    guideline = models.ForeignKey(Guideline, models.SET_NULL, null=True, blank=True, related_name="+")
    # Watch evidence: {"seconds": …, "loops": …, "covered": share of the clip in 0..1}.
    watch = models.JSONField(default=dict, blank=True)
    seconds_spent = models.FloatField(null=True, blank=True)
    # The lease had ended when it came; it counts only where its slot was still free (`slot` is null otherwise).
    late = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True


class Edit(WorkRecord):
    """What an annotator submitted for a group; each text became or stayed a candidate (`candidates`)."""

    group = models.ForeignKey(CandidateGroup, models.CASCADE, related_name="edits")
    person = models.ForeignKey(User, models.CASCADE, related_name="edits")
    texts = models.JSONField()
    candidates = models.ManyToManyField(Candidate, related_name="submitted_in", blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

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
    person = models.ForeignKey(User, models.CASCADE, related_name="reviews")
    decision = models.CharField(max_length=9, choices=ReviewDecision)
    reasons = models.JSONField(default=list, blank=True)
    comment = models.TextField(blank=True)
    # The reviewer's own rewording where the decision is fix.
    child = models.ForeignKey(Candidate, models.SET_NULL, null=True, blank=True, related_name="+")
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "idempotency_key"], name="one_review_a_key")]

    def __str__(self) -> str:
        return f"{self.decision} {self.candidate_id}"


class Choice(models.TextChoices):
    """What a validator says is true of the video, in truth coding. OTHER comes from files alone."""

    CAPTION = "caption", _("only the caption")
    FOIL = "foil", _("only the foil")
    NEITHER = "neither", _("neither")
    BOTH = "both", _("both")
    CANNOT_TELL = "cannot_tell", _("cannot tell")
    OTHER = "other", _("other")


class VoteState(models.TextChoices):
    COUNTED = "counted"
    # Came when no slot was free: kept, apart, never counted.
    SURPLUS = "surplus"
    SET_ASIDE = "set_aside"
    UNDONE = "undone"


class Vote(WorkRecord):
    """One judgement of one caption-foil pair.

    Votes from files have no person, and no foil where they are item-level.
    """

    class Source(models.TextChoices):
        PERSON = "person"
        IMPORT = "import"

    item = models.ForeignKey(Item, models.CASCADE, related_name="votes")
    foil = models.ForeignKey(Foil, models.CASCADE, null=True, blank=True, related_name="votes")
    stage = models.CharField(max_length=10, choices=Stage, default=Stage.VALIDATION)
    person = models.ForeignKey(User, models.CASCADE, null=True, blank=True, related_name="votes")
    source = models.CharField(max_length=6, choices=Source, default=Source.PERSON)
    # Tells apart the votes of a file, which name nobody.
    import_index = models.PositiveSmallIntegerField(null=True, blank=True)
    choice = models.CharField(max_length=11, choices=Choice)
    # The order shown: True when the caption was the first text. Null for imported votes.
    caption_first = models.BooleanField(null=True, blank=True)
    state = models.CharField(max_length=9, choices=VoteState, default=VoteState.COUNTED)

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
        ]
        indexes = [models.Index(fields=["item", "state"], name="vote_of_an_item")]

    def __str__(self) -> str:
        return f"{self.choice} on {self.item_id}"
