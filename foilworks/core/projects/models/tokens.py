"""API tokens, and what is stored of their requests."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.personal_data import PersonalData
from foilworks.core.projects.sql.quick_rows import QuickRows


class ApiToken(QuickRows):
    """A person's key for programs. Only its digest is stored, so it is shown once.

    It never reaches further than its person does: `scope`, `project` and `role` narrow what it may do.
    """

    class Scope(models.TextChoices):
        """Each holds what is before it."""

        READ = "read", _("read")
        WORK = "work", _("read, claim and submit work")
        MANAGE = "manage", _("everything you can do")

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    # Differs from `person` where it was told together with a new account, as a temporary password is.
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    name = models.CharField(_("name"), max_length=80)
    # SHA-256 of the token, which is 256 random bits: nothing to guess, so no slow hash.
    digest = models.CharField(max_length=64, unique=True)
    # Its first characters, by which its owner knows it again.
    hint = models.CharField(max_length=12)
    scope = models.CharField(_("scope"), max_length=6, choices=Scope, default=Scope.READ)
    project = models.ForeignKey("projects.Project", models.CASCADE, null=True, blank=True, related_name="+")
    # One of Role; empty: all roles of the person.
    role = models.CharField(max_length=12, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    # Written once an hour at most.
    last_used_at = models.DateTimeField(null=True, blank=True)
    personal_data = PersonalData(free_text=("name",), own_row=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"


class IdempotentAnswer(models.Model):
    """The first answer to a write that carried an Idempotency-Key, stored in the transaction of the write."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    key = models.CharField(max_length=64)
    # SHA-256 of method, path and body: the same key with another request is an error.
    request = models.CharField(max_length=64)
    # 0 until the write is done.
    status = models.PositiveSmallIntegerField(default=0)
    body = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    personal_data = PersonalData(json_text=("body",), own_row=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "key"], name="one_answer_a_key")]

    def __str__(self) -> str:
        return f"answer to {self.key}"


class RequestCount(models.Model):
    """A token's requests in the minute that began at `window`, where no Redis counts them."""

    token = models.OneToOneField(ApiToken, models.CASCADE, related_name="+", primary_key=True)
    window = models.BigIntegerField()
    requests = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.requests} requests of {self.token_id}"
