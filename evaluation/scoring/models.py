"""Store scoring runs, their scores, and what is known and permitted about the models."""

from pathlib import PurePath

from django.db import models
from django.utils.translation import gettext_lazy as _

from foilworks.core.corpus.models import Release
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.models.requested_jobs import RequestedJob
from foilworks.core.projects.personal_data import PersonalData
from generation.models import PricedUsage

# Items that the run's model cannot see (`scoring.unseen_time`): a kind of its problems that is no failure.
UNSEEN_TIME = "cannot_see_it"
# Kinds of a run's problems: items with a truncated text; pairs whose caption and foil are equal after truncation; a
# model that does not report truncation.
TRUNCATED, EQUAL_AFTER_CUT, UNKNOWN_CUTS = "truncated_texts", "equal_after_truncation", "truncation_unknown"


# Adapters for trials: pages mark their models, and call none of them the best.
TOYS = frozenset({"fake", "tiny"})


class Run(RequestedJob):
    """One model on one release under one protocol. Metrics are computed from stored scores, never stored here."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="runs")
    # As typed: "tiny:/path", "clip:openai/clip-vit-base-patch32", "file:scores.json", "fake:".
    spec = models.CharField(max_length=500)
    label = models.CharField(max_length=120)
    # Model id + revision (the hash of a folder's weights, of a score file): the key of its scores.
    model_key = models.CharField(max_length=300, blank=True)
    protocol = models.CharField(max_length=40, default="foilworks")
    device = models.CharField(max_length=12, default="auto")
    params = models.JSONField(default=dict, blank=True)
    # Clips with missing or broken media, ids of a score file that the release lacks: {"problem": [ids]}.
    problems = models.JSONField(default=dict, blank=True)
    # When the run's job stored its last score; results are cached by it.
    scored_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.label} on {self.release_id}"

    @property
    def project(self) -> Project:
        return self.release.project

    @property
    def n_truncated(self) -> int:
        """Count the items with a text that the model truncates."""
        return len(self.problems.get(TRUNCATED, ()))

    @property
    def n_equal_after_cut(self) -> int:
        """Count the pairs without a score, because caption and foil are equal after truncation."""
        return len(self.problems.get(EQUAL_AFTER_CUT, ()))

    @property
    def n_unseen(self) -> int:
        """Count the items without a score, because the model gets no times of the frames."""
        return len(self.problems.get(UNSEEN_TIME, ()))

    @property
    def served_as(self) -> str:
        """Return which version of a served model answered, when, and how it was queried; else nothing."""
        facts = self.params.get("served")
        if not facts:
            return ""
        versions = ", ".join(facts.get("versions", ())) or facts["version"]
        dates = " – ".join(dict.fromkeys(facts[name] for name in ("first", "last") if name in facts))
        how = f"{facts['mode']} by {facts['samples'] or ''} {facts['by']}".replace("  ", " ")
        texts = [versions, dates and f"asked {dates}", how, f"prompts {facts['prompts']}"]
        return "; ".join(text for text in texts if text)

    @property
    def is_toy(self) -> bool:
        """Report whether the model is for trials: it scores by hashes, or the sample project trained it."""
        return self.spec.partition(":")[0] in TOYS

    @property
    def asked(self) -> str:
        """Return the model's name on pages: of a score file only its name, because its folder is private."""
        slug, _, argument = self.spec.partition(":")
        return f"{slug}:{PurePath(argument).name}" if slug == "file" else self.spec


class ModelCard(models.Model):
    """What a reader of a leaderboard needs to know about a model; one card for all its runs in a project."""

    class Category(models.TextChoices):
        UNKNOWN = "", _("not stated")
        TEXT = "text", _("text only")
        IMAGE = "image", _("image and text")
        VIDEO = "video", _("video and text")

    class Adaptation(models.TextChoices):
        UNKNOWN = "", _("not stated")
        ZERO_SHOT = "zero_shot", _("zero-shot")
        FINE_TUNED = "fine_tuned", _("fine-tuned")

    project = models.ForeignKey(Project, models.CASCADE, related_name="model_cards", db_index=False)
    # The key of its scores: model id + revision, or the hash of a score file.
    model_key = models.CharField(max_length=300)
    category = models.CharField(_("category"), max_length=5, choices=Category, blank=True)
    adaptation = models.CharField(_("adaptation"), max_length=10, choices=Adaptation, blank=True)
    size = models.CharField(_("size"), max_length=60, blank=True, help_text=_("Number of parameters, such as 151 M."))
    pretraining_data = models.CharField(_("pretraining data"), max_length=500, blank=True)
    objectives = models.CharField(
        _("objectives"), max_length=500, blank=True, help_text=_("For example contrastive, matching, captioning.")
    )
    url = models.URLField(_("URL"), max_length=500, blank=True, help_text=_("A page that describes the model."))
    notes = models.TextField(_("notes"), max_length=2000, blank=True)
    updated_at = models.DateTimeField(auto_now=True)
    personal_data = PersonalData(free_text=("notes",), archive="project")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "model_key"], name="one_card_a_model")]

    def __str__(self) -> str:
        return self.model_key


class Score(models.Model):
    """One raw value for one text of one clip (docs/reference/formulas.md#stored-scores)."""

    model_key = models.CharField(max_length=300)
    protocol = models.CharField(max_length=40)
    # Video sha256 (source + id without a file) with the trim, and a hash of the texts if a score depends on the
    # texts that were scored with it; empty for text-only models.
    clip_key = models.CharField(max_length=200, blank=True)
    text_sha256 = models.CharField(max_length=64)
    value = models.FloatField()
    kind = models.CharField(max_length=20)
    higher_is_better = models.BooleanField(default=True)
    # {name: number}: what it was computed from, such as tokens and the mass of the options.
    parts = models.JSONField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["model_key", "protocol", "clip_key", "text_sha256"], name="one_score_a_text"
            )
        ]

    def __str__(self) -> str:
        return f"{self.model_key}: {self.value}"


class RunUsage(PricedUsage):
    """What a scoring run has spent at an endpoint so far, failures included."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="usage")
    # Wall-clock seconds of the run.
    seconds = models.FloatField(default=0)

    def __str__(self) -> str:
        return f"{self.run_id}: {self.requests}"


class ServedAnswer(models.Model):
    """The outcome of one question that a run asked a served model about an item of its release.

    It belongs to the release, like the scores that follow from it: another run of the model repeats no question.
    """

    class Outcome(models.TextChoices):
        ANSWERED = "answered", _("answered")
        REFUSED = "refused", _("refused")
        UNPARSABLE = "unparsable", _("unparsable")
        FAILED = "failed", _("no answer")

    release = models.ForeignKey(Release, models.CASCADE, related_name="served_answers", db_index=False)
    model_key = models.CharField(max_length=300)
    protocol = models.CharField(max_length=40)
    clip_key = models.CharField(max_length=200)
    # The position of the item in the release.
    position = models.PositiveIntegerField()
    # SHA-256 of the texts in the order in which they were shown.
    texts = models.JSONField()
    # Number of options of the question.
    options = models.PositiveSmallIntegerField()
    # The number of the sample or the order, from 1.
    number = models.PositiveSmallIntegerField()
    outcome = models.CharField(max_length=10, choices=Outcome)
    # The chosen option (yes, no, A, B …), and its probability among the options.
    answer = models.CharField(max_length=10, blank=True)
    share = models.FloatField(null=True, blank=True)
    why = models.CharField(max_length=300, blank=True)
    # The server's name of the model that answered.
    version = models.CharField(max_length=64, blank=True)
    # The key of the stored answer (`ModelAnswer.sha256`).
    request_sha256 = models.CharField(max_length=64)
    asked_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["release", "model_key", "protocol", "clip_key", "request_sha256"], name="one_outcome_a_question"
            )
        ]
        indexes = [
            models.Index(fields=["release", "model_key", "protocol", "outcome"], name="outcomes_of_a_model"),
        ]

    def __str__(self) -> str:
        return f"{self.model_key}: {self.outcome}"


class ModelTrust(models.Model):
    """What a project's owner permits for one model: its authors' code, weights that are not safetensors."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="trusted_models", db_index=False)
    # foilworks.core.hub.catalogue.specs.trusted_name of its spec: "vlm:someone/their-model".
    name = models.CharField(max_length=500)
    remote_code = models.BooleanField(default=False)
    other_weights = models.BooleanField(default=False)
    changed_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_trust_a_model")]

    def __str__(self) -> str:
        return self.name
