"""Webhooks of a project, and their deliveries."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.personal_data import PersonalData


class Webhook(models.Model):
    project = models.ForeignKey("projects.Project", models.CASCADE, related_name="webhooks", db_index=False)
    url = models.CharField(max_length=500)
    # Names of EVENTS, which the rooms declare (foilworks.core.projects.webhooks.event_type).
    events = models.JSONField(default=list)
    # What its secret is made of, together with the installation's own: the table alone signs nothing.
    salt = models.CharField(max_length=64)
    # Of the secret before the last rotation, which signs as well until then.
    old_salt = models.CharField(max_length=64, blank=True, default="", db_default="")
    old_salt_until = models.DateTimeField(null=True, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    # An attempt is open until then, unless its process died: one at a time.
    busy_until = models.DateTimeField(null=True, blank=True)
    # Failed attempts since the last success, timeouts included, and when the first of them was.
    failures = models.PositiveIntegerField(default=0, db_default=0)
    failing_since = models.DateTimeField(null=True, blank=True)
    # No attempt before then.
    paused_until = models.DateTimeField(null=True, blank=True)
    # Set after too many failures in a row; nothing more is sent.
    stopped_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "url"], name="one_webhook_an_address")]

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """One event for one address: the outbox, written in the transaction of what it tells of."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        DELIVERED = "delivered", _("delivered")
        FAILED = "failed", _("failed")

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=40)
    payload = models.JSONField()
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField()
    # Of the last attempt.
    answer_status = models.PositiveSmallIntegerField(null=True, blank=True)
    problem = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    personal_data = PersonalData(free_text=("payload",))

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["next_at"], condition=models.Q(state="waiting"), name="delivery_due")]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}"

    @property
    def can_be_sent_again(self) -> bool:
        """Whether an attempt has failed: it is the last one, or the next one is still to come."""
        return self.state == self.State.FAILED or (self.state == self.State.WAITING and self.attempts > 0)
