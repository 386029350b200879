"""People, projects, permissions, and the record of every write."""

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.personal_data import PersonalData
from foilworks.core.projects.roles import Role
from foilworks.core.projects.sql.quick_rows import QuickRows


class User(AbstractUser, QuickRows):
    # Simulated people exist for the demo; their data is marked as such on every page and in every export.
    is_simulated = models.BooleanField(_("simulated"), default=False)
    # Created by a researcher and shown once: at sign-in, the person must choose their own.
    password_is_temporary = models.BooleanField(_("temporary password"), default=False)
    # The row no longer identifies the person; their work may remain under its id.
    erased_at = models.DateTimeField(null=True, blank=True)


# What an invitation says of each role.
WORK_OF_ROLES = {
    Role.ANNOTATOR: _(
        "You will be an annotator: you watch clips and make small changes to captions so that they are false."
    ),
    Role.REVIEWER: _("You will be a reviewer: you check the changes that others made to captions."),
    Role.VALIDATOR: _("You will be a validator: you watch clips and choose which of two sentences is true."),
    Role.RESEARCHER: _("You will be a researcher: you see all work and can change the project."),
}


class LeakageScope(models.TextChoices):
    VIDEO = "video", _("the whole video")
    ITEM = "item", _("the item only")


class Project(QuickRows):
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    is_simulated = models.BooleanField(default=False, help_text=_("Its people and judgements are simulated."))
    # {"accounts": [{"username": …, "role": …, "password": …}, …]}: published accounts that the sign-in page offers.
    # Only read where is_simulated, so that a real project cannot publish one by accident.
    sign_in_hint = models.JSONField(default=dict, blank=True)
    edit_stage = models.BooleanField(
        default=True,
        help_text=_("Annotators edit candidates before review. Without this stage, candidates go straight to review."),
    )
    leakage_scope = models.CharField(max_length=8, choices=LeakageScope, default=LeakageScope.VIDEO)
    # Of the pairs that share a sentence of a clip a person judges one: the sentence that comes back is the caption.
    judge_caption_once = models.BooleanField(default=True, db_default=False)
    lease_seconds = models.PositiveIntegerField(default=1800, validators=[MinValueValidator(30)])
    undo_seconds = models.PositiveIntegerField(default=30, validators=[MaxValueValidator(600)])
    # A returned foil is reserved for its author for this long; then anyone can take it.
    returned_hours = models.PositiveIntegerField(default=24)
    # A release is stopped if a model that reads only the words is right more often than this.
    blind_bar = models.FloatField(default=0.6, validators=[MinValueValidator(0.5), MaxValueValidator(1.0)])
    # The newest version of what members agree to before they work; 0: there is none.
    consent_version = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    # Nobody gets a new task or a place in a crowd study; everything stays readable.
    archived_at = models.DateTimeField(null=True, blank=True)
    # The project does not exist for anybody (foilworks/core/projects/access.py). Its researchers can restore it for a
    # while.
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships", db_index=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role)
    # Stated error rates of a simulated person; empty for everybody else.
    simulated_traits = models.JSONField(default=dict, blank=True)
    # The version that the person agreed to, repeated from Consent so that a page asks for it with the roles.
    consent_version = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "person", "role"], name="one_role_once")]

    def __str__(self) -> str:
        return f"{self.person_id} {self.role} in {self.project_id}"


class AuditEvent(models.Model):
    """Who did what to which row, when, from which state to which, and why. Rows are only ever added."""

    project = models.ForeignKey(Project, models.CASCADE, null=True, related_name="audit_events", db_index=False)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    action = models.CharField(max_length=60)
    target_type = models.CharField(max_length=40)
    target_id = models.CharField(max_length=64)
    from_state = models.CharField(max_length=20, blank=True)
    to_state = models.CharField(max_length=20, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    details = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(auto_now_add=True)
    personal_data = PersonalData(free_text=("reason", "details"))

    class Meta:
        indexes = [
            models.Index(fields=["target_type", "target_id", "id"], name="audit_of_a_row"),
            models.Index(fields=["project", "-id"], name="audit_of_a_project"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.target_type}:{self.target_id}"


class AuditSeal(models.Model):
    """One batch of sealed audit rows (foilworks.core.projects.audit_trail.sealing). Rows are only ever added."""

    # [first, last] numbers of audit rows, and the highest number that this seal or an earlier one has.
    ranges = models.JSONField()
    last_event = models.BigIntegerField()
    # 32 bytes per row: the salt of its texts or, of an erased row, the commitment that the salt gave.
    openings = models.BinaryField()
    erased = models.JSONField(default=list)
    # Hexadecimal SHA-256. Two processes cannot continue the same root.
    previous = models.CharField(max_length=64, blank=True, unique=True)
    root = models.CharField(max_length=64)
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"audit rows to {self.last_event}: {self.root}"
