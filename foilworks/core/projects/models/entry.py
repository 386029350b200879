"""Ways into a project: invitation links, and places in crowd studies."""

import secrets

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.personal_data import PersonalData

# Four weeks.
MAX_MINUTES = 28 * 24 * 60


def new_key() -> str:
    """Return 128 random bits for an address."""
    return secrets.token_urlsafe(16)


def new_secret() -> str:
    """Return 256 random bits that platform and project share."""
    return secrets.token_urlsafe(32)


class Invitation(models.Model):
    """A link that makes anyone who opens it a member with these roles: until it expires, is used up or withdrawn.

    The link carries the row's id and nonce under a signature (foilworks.core.projects.invitations); the roles are here
    alone.
    """

    project = models.ForeignKey("projects.Project", models.CASCADE, related_name="invitations")
    nonce = models.CharField(max_length=22, default=new_key, editable=False)
    roles = models.JSONField()
    note = models.CharField(max_length=120, blank=True)
    # Null: any number of people.
    most_uses = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    uses = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    personal_data = PersonalData(free_text=("note",))

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(most_uses=None) | Q(uses__lte=models.F("most_uses")), name="invitation_is_not_overused"
            )
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk}"


class InvitationUse(models.Model):
    invitation = models.ForeignKey(Invitation, models.CASCADE, related_name="used_by", db_index=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    personal_data = PersonalData(own_row=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["invitation", "person"], name="one_use_a_person")]

    def __str__(self) -> str:
        return f"{self.person_id} by invitation {self.invitation_id}"


class Platform(models.TextChoices):
    """How people arrive: with Prolific's three parameters, or with parameters signed by our secret."""

    PROLIFIC = "prolific", _("Prolific (PROLIFIC_PID, STUDY_ID, SESSION_ID)")
    SIGNED = "signed", _("another platform, with signed parameters")


class CrowdStudy(models.Model):
    """Places for people of a crowd platform, each for a number of tasks of one stage."""

    project = models.ForeignKey("projects.Project", models.CASCADE, related_name="crowd_studies", db_index=False)
    # Part of the entry link; `secret` never is.
    key = models.CharField(max_length=22, unique=True, default=new_key, editable=False)
    secret = models.CharField(max_length=43, default=new_secret, editable=False)
    name = models.CharField(_("name"), max_length=120)
    platform = models.CharField(_("platform"), max_length=8, choices=Platform, default=Platform.PROLIFIC)
    # The STUDY_ID that Prolific sends.
    platform_study = models.CharField(_("study ID on the platform"), max_length=64, blank=True)
    # A stage of annotation, and the role that it takes.
    stage = models.CharField(max_length=13)
    role = models.CharField(max_length=12)
    pieces = models.PositiveIntegerField(_("tasks per person"), validators=[MinValueValidator(1)])
    places = models.PositiveIntegerField(_("places"), validators=[MinValueValidator(1)])
    minutes = models.PositiveIntegerField(
        _("minutes until an unused place is released"),
        default=90,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_MINUTES)],
    )
    # Shown to people who have done the work; empty: each place has its own code.
    completion_code = models.CharField(_("completion code"), max_length=64, blank=True)
    completion_url = models.URLField(_("completion URL"), blank=True)
    # A share in 0..1; null: no check.
    least_approval = models.FloatField(
        _("min approval rate"), null=True, blank=True, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    is_open = models.BooleanField(default=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_crowd_study_a_name"),
            models.CheckConstraint(condition=Q(pieces__gte=1) & Q(places__gte=1), name="crowd_study_asks_something"),
        ]

    def __str__(self) -> str:
        return self.name


class CrowdWorker(models.Model):
    """The person behind a platform's worker id in a project: one account for all of its studies.

    Needed for the leakage rule (docs/workflow.md#rule-1).
    """

    project = models.ForeignKey("projects.Project", models.CASCADE, related_name="crowd_workers", db_index=False)
    platform = models.CharField(max_length=8, choices=Platform)
    # The platform's id of the person, as it was sent: with the places' sessions the only personal datum of a worker.
    worker = models.CharField(max_length=128)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="crowd_workers")
    # Set where the researchers have removed the person: no study lets them in until they are added or invited again.
    removed_at = models.DateTimeField(null=True, blank=True)
    personal_data = PersonalData(own_row=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "platform", "worker"], name="one_account_a_worker"),
            models.UniqueConstraint(fields=["project", "person"], name="one_worker_an_account"),
        ]

    def __str__(self) -> str:
        return f"worker {self.pk}"


class PlaceState(models.TextChoices):
    ACTIVE = "active", _("working")
    COMPLETED = "completed", _("completed")
    RETURNED = "returned", _("returned")
    TIMED_OUT = "timed_out", _("timed out")


class CrowdPlace(models.Model):
    """One person's place in a study. Returned and timed-out places are free for others; the rows stay."""

    study = models.ForeignKey(CrowdStudy, models.CASCADE, related_name="taken", db_index=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="crowd_places")
    # The platform's id of this visit; empty where it sends none.
    session = models.CharField(max_length=128, blank=True)
    state = models.CharField(max_length=9, choices=PlaceState, default=PlaceState.ACTIVE)
    entered_at = models.DateTimeField()
    deadline = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    # Why the researchers rejected a completed submission; empty: they did not.
    rejected_for = models.CharField(max_length=500, blank=True, default="", db_default="")
    personal_data = PersonalData(free_text=("rejected_for",))

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "person"],
                condition=Q(state__in=["active", "completed"]),
                name="one_place_a_person_in_a_study",
            ),
            models.UniqueConstraint(
                fields=["study", "session"], condition=~Q(session=""), name="one_place_a_session_in_a_study"
            ),
        ]
        indexes = [models.Index(fields=["study", "state", "deadline"], name="place_of_a_study")]

    def __str__(self) -> str:
        return f"place {self.pk} of study {self.study_id}"

    @property
    def shows_code(self) -> bool:
        """Return whether the completion code can be shown: the work is done."""
        return self.state == PlaceState.COMPLETED


class SpentEntry(models.Model):
    """A signed entry link that was used: its nonce (hashed) works no second time."""

    study = models.ForeignKey(CrowdStudy, models.CASCADE, related_name="spent", db_index=False)
    nonce_sha256 = models.CharField(max_length=64)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "nonce_sha256"], name="one_use_a_nonce")]

    def __str__(self) -> str:
        return f"spent entry {self.pk}"
