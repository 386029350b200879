"""The object check: people say which of a frame's extracted objects are visible (UTD, Secs. 4.2 and C.3)."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.work import WorkRecord
from foilworks.core.corpus.models import Video
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.personal_data import PersonalData


class FrameObjects(models.Model):
    """The objects that one source names in one frame of a video, or without a time in the whole clip."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="frame_objects", db_index=False)
    video = models.ForeignKey(Video, models.CASCADE, related_name="frame_objects")
    # Seconds of presentation time in the file, like start_time and end_time.
    time = models.FloatField(null=True, blank=True)
    objects_named = models.JSONField()
    # The source: as the file names it, or "captions" for the nouns of the captions.
    source = models.CharField(max_length=100)

    class Meta:
        indexes = [models.Index(fields=["project", "source", "video"], name="objects_of_a_source")]

    def __str__(self) -> str:
        return f"{self.source}: {self.video_id} at {self.time}"


class ObjectCheck(models.Model):
    """A sample of frames of distinct videos, opened by a researcher: drawn by the seed and then fixed."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="object_checks")
    source = models.CharField(max_length=100)
    seed = models.PositiveIntegerField(default=0)
    overlap = models.PositiveSmallIntegerField(default=1)
    opened_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    opened_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"object check {self.pk}"


class FrameState(models.TextChoices):
    WAITING = "waiting", _("waiting for its image")
    READY = "ready", _("ready")
    BROKEN = "broken", _("broken")


class CheckedFrame(models.Model):
    """One frame of a check with its extracted objects; a job makes the image."""

    check_of = models.ForeignKey(ObjectCheck, models.CASCADE, related_name="frames", db_index=False)
    video = models.ForeignKey(Video, models.CASCADE, related_name="+")
    time = models.FloatField()
    objects_named = models.JSONField()
    image = models.FileField(max_length=300, blank=True)
    state = models.CharField(max_length=7, choices=FrameState, default=FrameState.WAITING)
    error = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["check_of", "video"], name="one_frame_a_video_in_a_check")]

    def __str__(self) -> str:
        return f"frame of {self.video_id} at {self.time:g} s"


class ObjectAnswer(WorkRecord):
    """One person's answer: for each object of the frame, in order, whether it is visible."""

    frame = models.ForeignKey(CheckedFrame, models.CASCADE, related_name="answers")
    person = models.ForeignKey(User, models.CASCADE, related_name="object_answers", db_index=False)
    visible = models.JSONField()
    undone_at = models.DateTimeField(null=True, blank=True)
    personal_data = PersonalData(works=("frame__check_of__project",))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "idempotency_key"], name="one_object_answer_a_key"),
            models.UniqueConstraint(
                fields=["frame", "person"],
                condition=models.Q(undone_at=None),
                name="one_object_answer_a_person_in_a_frame",
            ),
            models.UniqueConstraint(
                fields=["slot"],
                condition=models.Q(undone_at=None, slot__isnull=False),
                name="one_object_answer_a_slot",
            ),
        ]

    def __str__(self) -> str:
        return f"answer on frame {self.frame_id}"


class ObjectErrorClass(models.TextChoices):
    """Why people did not see an extracted object (UTD, Sec. 4.2)."""

    ATTRIBUTE = "attribute", _("attribute error")
    MISCLASSIFICATION = "misclassification", _("misclassification")
    HALLUCINATION = "hallucination", _("hallucination")
    ANNOTATION_MISTAKE = "mistake", _("annotation mistake: it is visible")
    OTHER = "other", _("other")


class ObjectError(models.Model):
    """A researcher's class for one object that people did not see, by its place in the frame's list."""

    frame = models.ForeignKey(CheckedFrame, models.CASCADE, related_name="errors_classed", db_index=False)
    place = models.PositiveSmallIntegerField()
    error_class = models.CharField(max_length=17, choices=ObjectErrorClass)
    classed_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    classed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["frame", "place"], name="one_class_an_object")]

    def __str__(self) -> str:
        return f"{self.error_class}: object {self.place} of frame {self.frame_id}"
