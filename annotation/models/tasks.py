"""Tasks with a row per slot, leases on slots, and drafts."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.guidelines import Guideline
from annotation.models.quality import GoldPair, Standing
from annotation.models.stages import SlotState, Stage, TaskState
from foilworks.core.corpus.models import Foil, Item, Video
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.personal_data import PersonalData
from foilworks.core.projects.sql.quick_rows import QuickRows
from generation.models import Candidate, CandidateGroup


class Task(QuickRows):
    """A task: (stage, target).

    Edit: a group of candidates. Review: a candidate. Validation: an item and ONE foil of it, or a multiple-choice item
    with all its foils in one task. Human baseline and choice without the clip: an item. Object check: a frame.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="tasks", db_index=False)
    stage = models.CharField(max_length=13, choices=Stage)
    video = models.ForeignKey(Video, models.CASCADE, related_name="+")
    group = models.ForeignKey(CandidateGroup, models.CASCADE, null=True, blank=True, related_name="tasks")
    candidate = models.ForeignKey(Candidate, models.CASCADE, null=True, blank=True, related_name="tasks")
    item = models.ForeignKey(Item, models.CASCADE, null=True, blank=True, related_name="tasks")
    foil = models.ForeignKey(Foil, models.CASCADE, null=True, blank=True, related_name="tasks")
    frame = models.ForeignKey("CheckedFrame", models.CASCADE, null=True, blank=True, related_name="tasks")
    # Gold: each person who gets it has their own slot, so `overlap` has no meaning there.
    gold = models.ForeignKey(GoldPair, models.CASCADE, null=True, blank=True, related_name="tasks")
    overlap = models.PositiveSmallIntegerField(default=1)
    # The ids of the foils to choose among. Studies: when they were opened or in their release; null if it was opened
    # before they were stored. Validation: of a multiple-choice item, where `foil` is its hard foil; null for a pair.
    foils_asked = models.JSONField(null=True, blank=True)
    # A second, blind review: it measures agreement and decides nothing.
    second = models.BooleanField(default=False)
    # Validation: drawn to collect all votes although the subtest's votes stop early. Agreement is measured on these.
    in_full = models.BooleanField(default=False, db_default=False)
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
                    | Q(stage__in=["baseline", "unseen"], item__isnull=False, foil__isnull=True)
                    | Q(stage="objects", frame__isnull=False, item__isnull=True)
                    | Q(stage="gold", gold__isnull=False, item__isnull=True)
                ),
            ),
            models.UniqueConstraint(
                fields=["group"], condition=Q(stage="edit", state="open"), name="one_open_edit_task_a_group"
            ),
            models.UniqueConstraint(
                fields=["candidate", "second"],
                condition=Q(stage="review", state="open"),
                name="one_open_review_a_candidate",
            ),
            models.UniqueConstraint(fields=["foil"], condition=Q(stage="validation"), name="one_validation_a_foil"),
            models.UniqueConstraint(
                fields=["item"],
                condition=Q(stage="baseline") & ~Q(state="cancelled"),
                name="one_baseline_an_item",
            ),
            models.UniqueConstraint(
                fields=["item"],
                condition=Q(stage="unseen") & ~Q(state="cancelled"),
                name="one_unseen_choice_an_item",
            ),
            models.UniqueConstraint(fields=["frame"], condition=Q(stage="objects"), name="one_object_task_a_frame"),
            models.UniqueConstraint(fields=["gold"], condition=Q(stage="gold"), name="one_gold_task_a_pair"),
        ]
        # The counts of a project's stages need this index only.
        indexes = [models.Index(fields=["project", "stage", "state"], name="task_of_a_stage")]

    def __str__(self) -> str:
        return f"{self.stage} {self.pk}"


class Slot(QuickRows):
    """One slot of a task. A claim is a lease on it: opaque token, expiry, heartbeat.

    stage, video and item repeat the task's, so that claiming is one indexed query and the constraints can apply.
    """

    task = models.ForeignKey(Task, models.CASCADE, related_name="slots", db_index=False)
    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    stage = models.CharField(max_length=13, choices=Stage)
    video = models.ForeignKey(Video, models.CASCADE, related_name="+")
    item = models.ForeignKey(Item, models.CASCADE, null=True, blank=True, related_name="+")
    # Gold: the id of the person for whom the slot was made.
    index = models.PositiveBigIntegerField(default=0)
    state = models.CharField(max_length=9, choices=SlotState, default=SlotState.FREE)
    person = models.ForeignKey(User, models.CASCADE, null=True, blank=True, related_name="slots", db_index=False)
    # A returned foil is reserved for its author until then (null: not reserved).
    reserved_for = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    reserved_until = models.DateTimeField(null=True, blank=True)
    token = models.CharField(max_length=43, blank=True)
    leased_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    # Lower comes first: started tasks before fresh ones, then a seeded shuffle.
    priority = models.FloatField(default=1.0)
    personal_data = PersonalData(works=("project",))

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
    """How a lease ended; blank while it runs."""

    RUNNING = ""
    SUBMITTED = "submitted"
    SKIPPED = "skipped"
    EXPIRED = "expired"
    # The rules forbade the work at submit, or another submit made the task unnecessary.
    REFUSED = "refused"
    CANCELLED = "cancelled"


class SkipReason(models.TextChoices):
    """Why a task was skipped, as far as the person said; blank where they did not."""

    PLAYBACK = "playback", _("The video does not play")
    UNCLEAR = "unclear", _("A sentence is unclear")
    UNSURE = "unsure", _("I cannot decide")
    UNFAMILIAR = "unfamiliar", _("I do not know enough about the topic")
    OTHER = "other", _("Another reason")


class Lease(QuickRows):
    """A lease; all are stored, so that late work still finds its slot and person.

    `token` is known to the page; the slot contains it, too, while the lease runs. What the person sees is fixed at the
    claim: the order of the two texts and the version of the guidelines.
    """

    slot = models.ForeignKey(Slot, models.CASCADE, related_name="leases")
    task = models.ForeignKey(Task, models.CASCADE, related_name="leases", db_index=False)
    person = models.ForeignKey(User, models.CASCADE, related_name="leases", db_index=False)
    # The clip whose sentences were shown: another one than the slot's only for a mismatched gold pair. Null only in
    # rows by a process of the previous version. No constraint: it would lock the clip's row at each claim.
    caption_video = models.ForeignKey(
        Video, models.DO_NOTHING, null=True, blank=True, related_name="+", db_index=False, db_constraint=False
    )
    token = models.CharField(max_length=43, unique=True)
    caption_first = models.BooleanField(null=True, blank=True)
    # A choice among several: the texts in the order shown, each by its foil's id, the caption by 0.
    order_shown = models.JSONField(null=True, blank=True)
    # The slot offered next if it is still free, so that its clip can be loaded ahead. No foreign key: nothing is
    # reserved.
    upcoming_slot = models.BigIntegerField(null=True, blank=True)
    # The row that counts judgements under this lease, if the project has quality rules.
    standing = models.ForeignKey(Standing, models.SET_NULL, null=True, blank=True, related_name="+")
    guideline = models.ForeignKey(Guideline, models.SET_NULL, null=True, blank=True, related_name="+")
    leased_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    ending = models.CharField(max_length=9, choices=Ending, blank=True, default=Ending.RUNNING)
    skip_reason = models.CharField(max_length=10, choices=SkipReason, blank=True, default="", db_default="")

    class Meta:
        indexes = [
            models.Index(fields=["task", "person"], condition=Q(ending="skipped"), name="lease_skipped"),
            # Each claim checks for every slot: was a sentence of this clip shown to the person?
            models.Index(fields=["person", "caption_video"], name="lease_by_person_and_clip"),
        ]

    def __str__(self) -> str:
        return f"lease of slot {self.slot_id}"


class Draft(models.Model):
    """What a person has typed for a task and not submitted; a submit deletes it, a skip or an expiry does not."""

    person = models.ForeignKey(User, models.CASCADE, related_name="drafts", db_index=False)
    task = models.ForeignKey(Task, models.CASCADE, related_name="drafts")
    # {"base": the form as first shown, "values": {field: [text, …]}}: a changed form does not restore an old draft.
    payload = models.JSONField()
    updated_at = models.DateTimeField()
    personal_data = PersonalData(own_row=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "task"], name="one_draft_a_person_in_a_task")]

    def __str__(self) -> str:
        return f"draft of {self.person_id} for task {self.task_id}"
