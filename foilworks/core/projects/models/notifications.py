"""Notifications of people, what they chose about them, and how far the audit trail has been read for them."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.personal_data import PersonalData
from foilworks.core.projects.roles import Role


class Notification(models.Model):
    """Something that one person should know. Its words are made of `kind` and `facts` when it is read."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notifications", db_index=False)
    project = models.ForeignKey("projects.Project", models.CASCADE, related_name="+")
    # A key of NOTIFICATIONS, which the rooms declare (foilworks.core.projects.notifications.kind).
    kind = models.CharField(max_length=20)
    # The role for which the person gets it: without this role they do not see it any more.
    role = models.CharField(max_length=12, choices=Role)
    # What it is about, so that a second look at the same event stores nothing.
    key = models.CharField(max_length=80)
    # Numbers of rows and names of things; nothing about people.
    facts = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)
    read_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)
    personal_data = PersonalData(own_row=True, free_text=("facts",))

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "kind", "key"], name="one_notification_once")]
        indexes = [
            models.Index(fields=["person", "-id"], name="notification_of_a_person"),
            # Every page counts them.
            models.Index(fields=["person"], condition=Q(read_at=None), name="notification_unread"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.person_id}"


class MailFrequency(models.TextChoices):
    OFF = "off", _("Never")
    DAILY = "daily", _("Daily")


class NotificationSettings(models.Model):
    """What a person chose; without a row, every kind appears in the app and nothing is mailed."""

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="notification_settings"
    )
    mail = models.CharField(max_length=7, choices=MailFrequency, default=MailFrequency.OFF)
    # {kind: a foilworks.core.projects.notifications.kinds.Channel}; a kind that is missing has the default.
    channels = models.JSONField(default=dict)
    # Nothing older is mailed.
    changed_at = models.DateTimeField(default=timezone.now)
    # No mail before then; two supervisors cannot both move it.
    next_mail_at = models.DateTimeField(default=timezone.now)
    personal_data = PersonalData(own_row=True)

    def __str__(self) -> str:
        return f"notifications of {self.person_id}"


class NotificationCursor(models.Model):
    """One row: up to where events were read. What is younger is read again, because it may commit out of order."""

    event_id = models.BigIntegerField()
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"up to {self.event_id}"
