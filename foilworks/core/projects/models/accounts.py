"""What belongs to an account: consent, second factor, counted attempts."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.personal_data import PersonalData


class OnWithdrawal(models.TextChoices):
    """What happens to the work of the person who withdraws."""

    KEEP = "keep", _("kept under a pseudonym")
    REMOVE = "remove", _("removed")
    CHOOSE = "choose", _("each person chooses")


class ConsentText(models.Model):
    """A version of what people of a project agree to; the newest counts, who agreed to an older one is asked again."""

    project = models.ForeignKey("projects.Project", models.CASCADE, related_name="consent_texts", db_index=False)
    version = models.PositiveIntegerField()
    text = models.TextField(_("consent text"))
    on_withdrawal = models.CharField(
        _("work of people who withdraw"), max_length=6, choices=OnWithdrawal, default=OnWithdrawal.KEEP
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(fields=["project", "version"], name="one_consent_text_a_version")]

    def __str__(self) -> str:
        return f"consent v{self.version} of {self.project_id}"


class ConsentState(models.TextChoices):
    """A person's answer to the newest consent text of a project."""

    NEVER_ASKED = "never_asked", _("never asked")
    UNANSWERED = "unanswered", _("asked, not answered")
    REFUSED = "refused", _("refused")
    GIVEN = "given", _("given")
    WITHDRAWN = "withdrawn", _("withdrawn")


class Consent(models.Model):
    """A person's answer to a version: agreed, and withdrew it or not, or refused.

    Memberships repeat the version that holds now. A refusal counts as withdrawn when it was given.
    """

    text = models.ForeignKey(ConsentText, models.CASCADE, related_name="given")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="consents")
    given_at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    refused = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["text", "person"], condition=models.Q(withdrawn_at=None), name="one_standing_consent_a_version"
            )
        ]

    def __str__(self) -> str:
        return f"{self.person_id} to {self.text_id}"


class SecondFactor(models.Model):
    """A secret shared with the person's authenticator app (TOTP, RFC 6238); it counts once a code of it was given."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="second_factor")
    secret = models.CharField(max_length=64)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    # The time step of the last code that was taken: no code is taken twice.
    last_step = models.BigIntegerField(default=0)
    personal_data = PersonalData(own_row=True)

    def __str__(self) -> str:
        return f"second factor of {self.person_id}"


class RecoveryCode(models.Model):
    """A code for the person who has lost the app; kept as a keyed hash, gone once used."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="recovery_codes", db_index=False)
    digest = models.CharField(max_length=64)
    personal_data = PersonalData(own_row=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "digest"], name="one_recovery_code_once")]

    def __str__(self) -> str:
        return f"recovery code of {self.person_id}"


class RateLimitCounter(models.Model):
    """How often something was tried in a stretch of time. `key` is a keyed hash: it names nobody."""

    key = models.CharField(max_length=64, unique=True)
    count = models.PositiveIntegerField(default=0)
    ends_at = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "projects_tries"

    def __str__(self) -> str:
        return f"{self.count} tries"
