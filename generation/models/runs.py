"""Tables of runs, and of their candidates with provenance and the reasons of each rejection."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from foilworks.core.corpus.models import Caption, Foil, Subtest
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.jobs.models import Job
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.models.requested_jobs import RequestedJob
from foilworks.core.text.registry import MAX_VERSION_LENGTH

# The method for foils written by people: its groups have no suggestions.
PERSON_METHOD = "person"


class GenerationRun(RequestedJob):
    """A run of a method with its parameters over the captions of a project, for one subtest."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="generation_runs")
    subtest = models.ForeignKey(Subtest, models.CASCADE, related_name="generation_runs")
    method = models.CharField(max_length=40)
    method_version = models.CharField(max_length=MAX_VERSION_LENGTH)
    mode = models.CharField(max_length=10, default="corrected")
    params = models.JSONField(default=dict, blank=True)
    # [{"slug": …, "version": …, "params": {…}}, …] in the order they run.
    filters = models.JSONField(default=list, blank=True)
    seed = models.BigIntegerField(default=0)
    # Selects captions: {"split": "test"}, {"caption_keys": […]}; empty = all captions of ready or missing media.
    selection = models.JSONField(default=dict, blank=True)
    # Thresholds changed since: {filter: number}; the original verdicts stay in FilterScore.
    thresholds = models.JSONField(default=dict, blank=True)
    # Captions without foils: {"why": count}.
    skipped = models.JSONField(default=dict, blank=True)
    # Missing foils of captions that have others: {"why": count}.
    missing = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return f"{self.method} for {self.subtest_id}"


class CandidateGroup(models.Model):
    """One caption in one run, the subject of an edit task. Its k accepted foils become one item."""

    run = models.ForeignKey(GenerationRun, models.CASCADE, related_name="groups", db_index=False)
    caption = models.ForeignKey(Caption, models.CASCADE, related_name="candidate_groups")
    skipped_why = models.CharField(max_length=200, blank=True)
    # Why some of its foils are missing: ["repeats the caption", …].
    missing = models.JSONField(default=list, blank=True)
    # A model did not answer (its endpoint failed, the budget was spent); it can be retried.
    unanswered = models.BooleanField(default=False)
    # Set when the k foils are accepted and the item is created.
    item = models.OneToOneField("corpus.Item", models.SET_NULL, null=True, blank=True, related_name="candidate_group")
    # True once annotation has created the edit (or review) tasks of the group.
    tasked = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "caption"], name="one_group_a_caption_in_a_run")]
        indexes = [
            models.Index(fields=["run"], condition=Q(tasked=False), name="group_without_tasks"),
            models.Index(fields=["run"], condition=Q(unanswered=True), name="group_without_answer"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}:{self.caption_id}"


class Candidate(models.Model):
    """A proposed foil. Candidates are never deleted: rejected ones stay, with reasons."""

    group = models.ForeignKey(CandidateGroup, models.CASCADE, related_name="candidates", db_index=False)
    rank = models.PositiveSmallIntegerField(default=0)
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64)
    state = models.CharField(
        max_length=12, choices=[(s.value, s.value) for s in CandidateState], default=CandidateState.GENERATED
    )
    # The state to restore when the lease of an editing candidate ends: queued or returned.
    claimed_from = models.CharField(max_length=12, blank=True)
    # The method or person that made it (docs/workflow.md#provenance).
    method = models.CharField(max_length=40)
    method_version = models.CharField(max_length=MAX_VERSION_LENGTH)
    mode = models.CharField(max_length=10, blank=True)
    model_id = models.CharField(max_length=200, blank=True)
    model_revision = models.CharField(max_length=64, blank=True)
    prompt_template = models.CharField(max_length=100, blank=True)
    prompt_hash = models.CharField(max_length=64, blank=True)
    seed = models.BigIntegerField(null=True, blank=True)
    author = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="candidates")
    parent = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="children")
    # Offsets into the caption: [[start, end, target], …]; span covers them all.
    edits = models.JSONField(default=list)
    span_start = models.PositiveIntegerField()
    span_end = models.PositiveIntegerField()
    source = models.TextField(blank=True)
    target = models.TextField(blank=True)
    facts = models.JSONField(default=dict, blank=True)
    rejected_by = models.JSONField(default=list, blank=True)
    # The kind of selection that left it out (balance, frequency …); thresholds do not restore it.
    held_back_by = models.CharField(max_length=20, blank=True)
    # Accepted by rule: review sampling did not draw it from its author's work.
    unreviewed = models.BooleanField(default=False)
    # The foil of an item made from this candidate.
    foil = models.OneToOneField(Foil, models.SET_NULL, null=True, blank=True, related_name="candidate")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["group_id", "rank", "id"]
        indexes = [models.Index(fields=["group", "state"], name="candidate_state")]

    def __str__(self) -> str:
        return self.text[:80]


class Scorer(models.Model):
    """A filter's model with everything that its measures depend on, except thresholds."""

    sha256 = models.CharField(max_length=64, unique=True)
    filter = models.CharField(max_length=40)
    filter_version = models.CharField(max_length=MAX_VERSION_LENGTH)
    # {"model": "classifier:…@revision", …}
    params = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.filter} {self.sha256[:8]}"


class Measure(models.Model):
    """A scorer's measurements of one pair of texts, shared by all runs and projects."""

    scorer = models.ForeignKey(Scorer, models.CASCADE, related_name="measures", db_index=False)
    # Hash of the measure's input: caption and foil.
    pair_sha256 = models.CharField(max_length=64)
    # {"entailment": 0.41, …}: the filter's own names.
    values = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["scorer", "pair_sha256"], name="one_measure_a_pair")]

    def __str__(self) -> str:
        return f"{self.scorer_id}: {self.values}"


class FilterScore(models.Model):
    """A filter's verdict on a candidate, with the thresholds of its run."""

    # The candidate's run, stored for the index below: histograms and thresholds query by run and filter.
    run = models.ForeignKey(GenerationRun, models.CASCADE, related_name="filter_scores", db_index=False)
    candidate = models.ForeignKey(Candidate, models.CASCADE, related_name="filter_scores", db_index=False)
    filter = models.CharField(max_length=40)
    filter_version = models.CharField(max_length=MAX_VERSION_LENGTH)
    # For filters with a model; empty for scores older than stored measures.
    measure = models.ForeignKey(Measure, models.SET_NULL, null=True, blank=True, related_name="+")
    score = models.FloatField(null=True, blank=True)
    passed = models.BooleanField()
    detail = models.CharField(max_length=300, blank=True)
    # Drawn at random to pass whatever its score: people judge some of the foils that a model rejects.
    sampled = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["candidate", "filter"], name="one_score_a_filter")]
        indexes = [models.Index(fields=["run", "filter", "score", "passed"], name="scores_of_a_run")]

    def __str__(self) -> str:
        return f"{self.filter}: {self.passed}"


class PromptTemplate(models.Model):
    """A project's own prompt for an instruction model, in addition to the built-in ones.

    A row never changes: a new text is a new version.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="prompt_templates", db_index=False)
    slug = models.SlugField(max_length=40)
    version = models.PositiveIntegerField()
    system = models.TextField(blank=True)
    question = models.TextField()
    # [["caption", ["foil", …]], …]
    examples = models.JSONField(default=list, blank=True)
    sha256 = models.CharField(max_length=64)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["project", "slug", "version"], name="one_prompt_a_version"),
        ]

    def __str__(self) -> str:
        return f"{self.slug}@{self.version}"


class ModelAnswer(models.Model):
    """An instruction model's answer to a request, shared by all runs."""

    # Hash of the model and its whole input.
    sha256 = models.CharField(max_length=64, unique=True)
    text = models.TextField()
    cut = models.BooleanField(default=False)
    # The refusal of the model or its filter, and the server's reason for the end of the answer.
    refusal = models.CharField(max_length=200, blank=True, default="", db_default="")
    finish_reason = models.CharField(max_length=30, blank=True, default="", db_default="")
    # [[["Yes", -0.1], …], …]: alternatives of the first tokens with their log-probabilities, if requested.
    logprobs = models.JSONField(null=True, blank=True)
    model_id = models.CharField(max_length=200)
    model_revision = models.CharField(max_length=64, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    # Those of the pictures and of the thought, as far as the server reports them.
    clip_tokens = models.PositiveIntegerField(default=0, db_default=0)
    thought_tokens = models.PositiveIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.text[:80]


class Usage(models.Model):
    """A run's spending at an instruction model, including failures."""

    requests = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    # Answers that were stored already, at no cost.
    reused = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True


class PricedUsage(Usage):
    """The spending with the price at the time of the answers."""

    # Prompt tokens from the server's cache.
    cached_tokens = models.PositiveBigIntegerField(default=0)
    cost = models.FloatField(default=0)
    currency = models.CharField(max_length=20, blank=True)
    # Sum over all requests.
    answer_seconds = models.FloatField(default=0)

    class Meta:
        abstract = True


class RunCost(Usage):
    """The spending of a generation run."""

    run = models.OneToOneField(GenerationRun, models.CASCADE, related_name="cost")

    def __str__(self) -> str:
        return f"{self.run_id}: {self.requests}"


class Selection(models.Model):
    """A choice among the candidates of a run, or of all runs of a subtest, that reduces text-only cues.

    A job computes it, and a researcher reviews and applies it: waiting candidates in `lost` are held back.
    """

    class Kind(models.TextChoices):
        BALANCE = "balance", _("balanced selection")
        FREQUENCY = "frequency", _("frequency matching")
        ADVERSARIAL = "adversarial", _("adversarial refinement")
        DRAW = "draw", _("balanced draw")

    project = models.ForeignKey(Project, models.CASCADE, related_name="selections")
    subtest = models.ForeignKey(Subtest, models.CASCADE, related_name="selections")
    # None: all runs of the subtest.
    run = models.ForeignKey(GenerationRun, models.CASCADE, null=True, blank=True, related_name="selections")
    kind = models.CharField(max_length=12, choices=Kind)
    params = models.JSONField(default=dict, blank=True)
    seed = models.BigIntegerField(default=0)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+")
    # generation.balance.outcome.outcome; None until the job is done.
    result = models.JSONField(null=True, blank=True)
    # Ids of the candidates to hold back.
    lost = models.JSONField(default=list, blank=True)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    applied_at = models.DateTimeField(null=True, blank=True)
    applied_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    # How many were held back and restored, how many stayed because people had started on them, and how many are out
    # because thresholds changed since: {"held_back": n, "came_back": n, "begun": n, "rejected": n}.
    moved = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.kind} for {self.subtest_id}"
