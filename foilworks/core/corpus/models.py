"""The rows of a benchmark: videos, captions, subtests, items with their foils, releases.

Nothing here changes state by itself; actions of the apps above do, through foilworks.core.corpus.rules.states.
"""

from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.personal_data import PersonalData
from foilworks.core.projects.sql.quick_rows import QuickRows


class MediaState(models.TextChoices):
    MISSING = "missing", _("missing")
    READY = "ready", _("ready")
    # It has no file, only an address on a host of MEDIA_HOSTS: people can watch it, models cannot.
    ELSEWHERE = "elsewhere", _("played from its URL")
    BROKEN = "broken", _("broken")
    # Its file and address are deleted, and no import restores them: see Takedown.
    TAKEN_DOWN = "taken_down", _("taken down")


# States of clips that people can watch.
WATCHABLE = (MediaState.READY, MediaState.ELSEWHERE)


class Split(models.TextChoices):
    NONE = "", _("none")
    TRAIN = "train", "train"
    VAL = "val", "val"
    TEST = "test", "test"


class Video(QuickRows):
    """A clip: a source (file, or URL that only the browser resolves) and the trim of it that is shown.

    Times are seconds of presentation time; facts about the file come from decoding it, never from a guess. Records
    import without a file: `media_state` is then missing, the clip is listed, and nobody can claim it,
    unless browsers may play it from its address.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="videos", db_index=False)
    key = models.CharField(max_length=200, help_text=_("The clip's ID in its source, including the trim."))
    # Of a clip whose file differs from that of a used clip: the key of the first version. "" for that one itself.
    version_of = models.CharField(max_length=200, blank=True, default="", db_default="")
    file = models.FileField(max_length=300, blank=True)
    url = models.URLField(max_length=1000, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    media_state = models.CharField(max_length=10, choices=MediaState, default=MediaState.MISSING)
    media_error = models.CharField(max_length=500, blank=True)
    start_time = models.FloatField(
        null=True, blank=True, help_text=_("In the time unit of the clip: seconds, pts or frames.")
    )
    end_time = models.FloatField(null=True, blank=True)
    time_unit = models.CharField(
        max_length=6, choices=[("sec", "sec"), ("pts", "pts"), ("frames", _("frames"))], default="sec"
    )
    duration = models.FloatField(null=True, blank=True, help_text=_("Of the whole file, in seconds."))
    fps = models.FloatField(null=True, blank=True)
    n_frames = models.PositiveIntegerField(null=True, blank=True)
    width = models.PositiveIntegerField(null=True, blank=True)
    height = models.PositiveIntegerField(null=True, blank=True)
    # When each frame of the file begins: foilworks.core.media.clock.Clock, packed. "" for files that were stored
    # before 0.3 and whose clock was not read yet.
    frame_times = models.TextField(blank=True, default="", db_default="")
    # How and why the stored file differs from the one that was imported; "" if it does not.
    conversion = models.CharField(max_length=500, blank=True, default="", db_default="")
    # Of the file beside the video (.srt, .vtt), as it is; "" if there was none.
    subtitles = models.TextField(blank=True, default="", db_default="")
    # A few frames side by side: foilworks.core.corpus.video_files.film_strips.
    film_strip = models.FileField(max_length=200, blank=True, default="", db_default="")
    source_dataset = models.CharField(max_length=100, blank=True)
    source_id = models.CharField(max_length=200, blank=True, help_text=_("The ID of the uncut video in its dataset."))
    split = models.CharField(max_length=5, choices=Split, blank=True)
    class_label = models.CharField(max_length=200, blank=True)
    category = models.CharField(max_length=200, blank=True)
    movie = models.CharField(max_length=200, blank=True)
    # Shown before the clip plays: what somebody may not want to see.
    content_warning = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="one_video_a_key")]
        indexes = [
            models.Index(fields=["project", "media_state"], name="video_media_state"),
            models.Index(fields=["project", "version_of"], name="video_version", condition=~models.Q(version_of="")),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def keys(self) -> set[str]:
        """Return the keys under which a file may name the clip: its own, and that of its first version."""
        return {self.key, self.version_of or self.key}


class Takedown(models.Model):
    """A clip that was taken down, and why. The row stays beside the releases that hold its items: what they froze is
    withheld from then on, their hashes stay what they were.
    """

    video = models.OneToOneField(Video, models.CASCADE, related_name="takedown")
    # Of the file that is gone, so that it is known again.
    sha256 = models.CharField(max_length=64, blank=True, db_index=True)
    reason = models.CharField(max_length=500)
    taken_down_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    taken_down_at = models.DateTimeField()
    personal_data = PersonalData(free_text=("reason",), archive="video__project")

    def __str__(self) -> str:
        return f"takedown of {self.video_id}"


class DoubtSettled(models.TextChoices):
    CORRECTED = "corrected", _("corrected")
    CONFIRMED = "confirmed", _("confirmed as true")
    DROPPED = "dropped", _("dropped with its video's items")


# Of captions that nothing more is made of.
GIVEN_UP = (DoubtSettled.CORRECTED, DoubtSettled.DROPPED)
# Of those that are no true captions of their video; what is dropped with one that was found false is true all the same.
FOUND_FALSE = Q(doubt_settled=DoubtSettled.CORRECTED) | Q(doubt_settled=DoubtSettled.DROPPED, flagged_false=True)
# Of those that nothing is learnt from or measured by: given up, or found false and not settled yet.
NOT_RELIED_ON = Q(doubt_settled__in=GIVEN_UP) | Q(doubt_settled="", flagged_false=True)


class Caption(QuickRows):
    """A sentence that is true of its video. `facts` holds what methods need: an annotated count, a template."""

    video = models.ForeignKey(Video, models.CASCADE, related_name="captions", db_index=False)
    key = models.CharField(max_length=200)
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64)
    facts = models.JSONField(default=dict, blank=True)
    # Most validators said "foil only" or "neither": the caption itself is in doubt (docs/workflow.md#rule-11).
    flagged_false = models.BooleanField(default=False)
    # The decision about the doubt; a later item with such votes reopens it.
    doubt_settled = models.CharField(max_length=9, choices=DoubtSettled, blank=True)
    # Of a corrected caption: the one that it takes the place of, with its items and their votes.
    revises = models.OneToOneField("self", models.SET_NULL, null=True, blank=True, related_name="revision")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["video", "text_sha256"], name="one_caption_a_video_text")]

    def __str__(self) -> str:
        return self.text[:80]


class Subtest(QuickRows):
    """A phenomenon that is tested, e.g. Change of State / Pre-State, and the rules its items live by."""

    class Kind(models.TextChoices):
        MAIN = "main", _("main")
        PROFICIENCY = "proficiency", _("proficiency")

    class ValidWhen(models.TextChoices):
        ALL = "all", _("all its caption-foil pairs are valid")
        ENOUGH = "enough", _("enough of its pairs are valid (invalid foils are dropped)")

    class Changes(models.TextChoices):
        ANYTHING = "", _("anything (depends on the method)")
        ACTION = "action", _("only the action, not the people and things (counterfactuals, Feint6K)")

    project = models.ForeignKey(Project, models.CASCADE, related_name="subtests", db_index=False)
    name = models.CharField(max_length=120)
    test = models.CharField(max_length=120, blank=True, help_text=_("The phenomenon that several subtests share."))
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.MAIN)
    # Items of this subtest look for their proficiency item (same video) in the named one.
    proficiency_subtest = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="mains")
    # What a person who writes a foil is to change: the edit page checks and marks accordingly.
    changes = models.CharField(max_length=6, choices=Changes, blank=True, default=Changes.ANYTHING)
    foils_per_item = models.PositiveSmallIntegerField(default=1)
    # 0 votes: an assembled item is valid at once. Proficiency items take one internal vote.
    votes_wanted = models.PositiveSmallIntegerField(default=3)
    votes_needed = models.PositiveSmallIntegerField(default=2)
    # Sequential stopping: a pair that no further vote can turn is decided, and its free places are cancelled.
    stop_early = models.BooleanField(default=False)
    # Share of items that are judged in full although votes stop early: what agreement is measured on.
    full_share = models.FloatField(
        default=0.0, db_default=0.0, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    # A pair whose votes decide nothing gets more, up to so many; 0: no more.
    votes_max = models.PositiveSmallIntegerField(default=0, db_default=0)
    # These votes are reserved for skilled validators for a day.
    skilled_first = models.BooleanField(default=False, db_default=False)
    valid_when = models.CharField(max_length=6, choices=ValidWhen, default=ValidWhen.ALL)
    foils_enough = models.PositiveSmallIntegerField(default=1)
    # None: the project's limit of the blind audit.
    blind_bar = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_subtest_a_name"),
            models.CheckConstraint(condition=Q(foils_per_item__gte=1), name="at_least_one_foil"),
            models.CheckConstraint(condition=Q(votes_needed__lte=F("votes_wanted")), name="needed_votes_exist"),
        ]

    def __str__(self) -> str:
        return self.name


class Item(QuickRows):
    """Video + caption + foils in a subtest. Several main items may share one proficiency item."""

    # Of the subtest; repeated here so that an index can sort the items of a project.
    project = models.ForeignKey(Project, models.CASCADE, related_name="items", db_index=False)
    subtest = models.ForeignKey(Subtest, models.CASCADE, related_name="items", db_index=False)
    # Of the caption; repeated here so that the leakage rule is one index look-up.
    video = models.ForeignKey(Video, models.CASCADE, related_name="items")
    caption = models.ForeignKey(Caption, models.CASCADE, related_name="items")
    proficiency_item = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="main_items")
    key = models.CharField(max_length=200)
    state = models.CharField(max_length=13, choices=[(s.value, s.value) for s in ItemState])
    # None until the votes are in (and always where votes stop early): 3 of 3 for every pair.
    unanimous = models.BooleanField(null=True, blank=True)
    # Unknown fields of an imported record, returned on export.
    extra = models.JSONField(default=dict, blank=True)
    # Name that this item shares with its other clip (docs/explanation/two-clip-items.md); "" for items of one clip.
    pair = models.CharField(max_length=200, blank=True, default="", db_default="")
    # Imported as published: valid until votes decide (on_publishers_word).
    as_published = models.BooleanField(default=False, db_default=False)
    # What an imported record says of its item; other records may share its caption. None: see `known_facts`.
    facts = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["subtest", "key"], name="one_item_a_key")]
        indexes = [
            models.Index(fields=["subtest", "state"], name="item_state"),
            models.Index(fields=["project", "id"], name="item_by_project"),
            models.Index(fields=["project", "state", "id"], name="item_by_project_and_state"),
            models.Index(fields=["project", "key", "id"], name="item_by_project_and_key"),
            # Few items have one; a query says `pair__gt=""` to use it.
            models.Index(fields=["subtest", "pair"], name="item_pair", condition=Q(pair__gt="")),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def known_facts(self) -> dict[str, Any]:
        """Its own facts, or its caption's where no record said any: it was made here, or stored before it could."""
        return self.caption.facts if self.facts is None else self.facts

    @property
    def is_on_publishers_word(self) -> bool:
        """Return the same as `on_publishers_word`, for this row."""
        undecided = self.decided_at is None and self.state in (ItemState.VALID, ItemState.IN_VALIDATION)
        return self.as_published and undecided


def on_publishers_word(path: str = "") -> Q:
    """Items on which no vote has decided, so that what their publisher says of them holds
    (docs/workflow.md#as-published). `path`: where the item is found, as "item__"."""
    undecided = {f"{path}decided_at": None, f"{path}state__in": (ItemState.VALID, ItemState.IN_VALIDATION)}
    return Q(**{f"{path}as_published": True}, **undecided)


def counts_as_valid(path: str = "") -> Q:
    """Return items that were found valid, or count as valid as imported. `path`: as above."""
    return Q(**{f"{path}state": ItemState.VALID}) | on_publishers_word(path)


PUBLISHERS_WORD = on_publishers_word()
COUNTS_AS_VALID = counts_as_valid()


class Foil(QuickRows):
    """An accepted foil of an item; votes attach to it. Its provenance is the Candidate that points here."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="foils", db_index=False)
    position = models.PositiveSmallIntegerField()
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64)
    verdict = models.CharField(
        max_length=8, choices=[(v.value, v.value) for v in FoilVerdict], default=FoilVerdict.PENDING
    )

    class Meta:
        ordering = ["item_id", "position"]
        constraints = [models.UniqueConstraint(fields=["item", "position"], name="one_foil_a_position")]

    def __str__(self) -> str:
        return self.text[:80]


# Foils that are no longer their items': foilworks.core.corpus.rules.states.drops_out.
DROPPED_OUT = Q(verdict=FoilVerdict.INVALID) | Q(verdict=FoilVerdict.DISPUTED, item__state=ItemState.VALID)


def withdrawn_items(path: str = "") -> Q:
    """Items that no report and no export tells of: retracted ones, and those of a video that was taken down, whatever
    they were. `path`: where the item is found, as "item__"."""
    return Q(**{f"{path}state": ItemState.RETRACTED}) | Q(**{f"{path}video__media_state": MediaState.TAKEN_DOWN})


class Release(models.Model):
    """An immutable, content-addressed snapshot of accepted items. Evaluation names a release, never "what is now"."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="releases", db_index=False)
    name = models.CharField(max_length=120)
    content_hash = models.CharField(max_length=64)
    n_items = models.PositiveIntegerField()
    # How many of these counted as valid only because they were imported as published.
    n_as_published = models.PositiveIntegerField(default=0, db_default=0)
    # Items that nobody outside sees (docs/workflow.md#term-holdback), and the hash of the others; "" if all are public.
    n_private = models.PositiveIntegerField(default=0, db_default=0)
    public_hash = models.CharField(max_length=64, blank=True, default="", db_default="")
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_release_a_name"),
            models.UniqueConstraint(fields=["project", "content_hash"], name="one_release_a_content"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def n_public(self) -> int:
        return self.n_items - self.n_private

    @property
    def shown_hash(self) -> str:
        """Return the content hash of the public items, which anyone can compute from an export."""
        return self.public_hash or self.content_hash


class ReleaseItem(models.Model):
    """One item as it was when frozen; `record` alone says what a model is scored on."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="members", db_index=False)
    item = models.ForeignKey(Item, models.SET_NULL, null=True, related_name="released_as")
    video = models.ForeignKey(Video, models.SET_NULL, null=True, related_name="+")
    # Public items come first.
    position = models.PositiveIntegerField()
    record = models.JSONField()
    is_private = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["release_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["release", "position"], name="one_member_a_position"),
            models.UniqueConstraint(fields=["release", "item"], name="one_member_an_item"),
        ]

    def __str__(self) -> str:
        return f"{self.release_id}:{self.position}"
