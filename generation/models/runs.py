"""Runs of foil methods and the candidates they made, with provenance and the reason of every rejection."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from corpus.models import Caption, Foil, Subtest
from corpus.rules.states import CandidateState
from jobs.models import Job
from projects.models import Project, User
from projects.models.requested_jobs import RequestedJob
from text.registry import MAX_VERSION_LENGTH

# The method of what people write: its groups come without a suggestion.
PERSON_METHOD = "person"


class GenerationRun(RequestedJob):
    """One method with its parameters over the captions of a project, making candidates for one subtest."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="generation_runs")
    subtest = models.ForeignKey(Subtest, models.CASCADE, related_name="generation_runs")
    method = models.CharField(max_length=40)
    method_version = models.CharField(max_length=MAX_VERSION_LENGTH)
    mode = models.CharField(max_length=10, default="corrected")
    params = models.JSONField(default=dict, blank=True)
    # [{"slug": …, "version": …, "params": {…}}, …] in the order they run.
    filters = models.JSONField(default=list, blank=True)
    seed = models.BigIntegerField(default=0)
    # Narrows the captions: {"split": "test"}, {"caption_keys": […]}; empty = all captions of ready or missing media.
    selection = models.JSONField(default=dict, blank=True)
    # Where a threshold was moved since: {filter: number}; what the filters said in the run stays in FilterScore.
    thresholds = models.JSONField(default=dict, blank=True)
    # Captions for which the method made nothing: {"why": count}.
    skipped = models.JSONField(default=dict, blank=True)
    # Foils that were asked for and are missing beside others of their caption: {"why": count}.
    missing = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return f"{self.method} for {self.subtest_id}"


class CandidateGroup(models.Model):
    """One caption in one run: what an edit task is about. Its k accepted foils become one item."""

    run = models.ForeignKey(GenerationRun, models.CASCADE, related_name="groups", db_index=False)
    caption = models.ForeignKey(Caption, models.CASCADE, related_name="candidate_groups")
    skipped_why = models.CharField(max_length=200, blank=True)
    # Why foils are missing though others are there: ["repeats the caption", …].
    missing = models.JSONField(default=list, blank=True)
    # A model was asked in vain, or not at all (its endpoint failed, the budget was spent): it can be asked again.
    unanswered = models.BooleanField(default=False)
    # Set when the k foils were accepted and the item assembled.
    item = models.OneToOneField("corpus.Item", models.SET_NULL, null=True, blank=True, related_name="candidate_group")
    # True once annotation has made the edit (or review) tasks of the group.
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
    """A foil that is not yet part of an item's accepted set. Nothing is deleted: rejected ones stay, with reasons."""

    group = models.ForeignKey(CandidateGroup, models.CASCADE, related_name="candidates", db_index=False)
    rank = models.PositiveSmallIntegerField(default=0)
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64)
    state = models.CharField(
        max_length=12, choices=[(s.value, s.value) for s in CandidateState], default=CandidateState.GENERATED
    )
    # Where an editing candidate goes back to when its lease ends: queued or returned.
    claimed_from = models.CharField(max_length=12, blank=True)
    # What made it, or who (docs/workflow.md#provenance).
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
    # The kind of selection that left it out (balance, frequency …); thresholds bring it back no more.
    held_back_by = models.CharField(max_length=20, blank=True)
    # Accepted by rule: it was not drawn into the share of its author's work that reviewers see.
    unreviewed = models.BooleanField(default=False)
    # The item's foil that this candidate became.
    foil = models.OneToOneField(Foil, models.SET_NULL, null=True, blank=True, related_name="candidate")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["group_id", "rank", "id"]
        indexes = [models.Index(fields=["group", "state"], name="candidate_state")]

    def __str__(self) -> str:
        return self.text[:80]


class Scorer(models.Model):
    """A filter's model with all that its measures depend on; thresholds are no part of it."""

    sha256 = models.CharField(max_length=64, unique=True)
    filter = models.CharField(max_length=40)
    filter_version = models.CharField(max_length=MAX_VERSION_LENGTH)
    # {"model": "classifier:…@revision", …}
    params = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.filter} {self.sha256[:8]}"


class Measure(models.Model):
    """What a scorer measured of one pair of texts: once, for every run and project that asks."""

    scorer = models.ForeignKey(Scorer, models.CASCADE, related_name="measures", db_index=False)
    # Of what the measure depends on: caption and foil.
    pair_sha256 = models.CharField(max_length=64)
    # {"entailment": 0.41, …}: the filter's own names.
    values = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["scorer", "pair_sha256"], name="one_measure_a_pair")]

    def __str__(self) -> str:
        return f"{self.scorer_id}: {self.values}"


class FilterScore(models.Model):
    """What one filter of one run said of one candidate, by the thresholds of that run."""

    # The candidate's run, kept here for the index below: spreads and thresholds are asked for by run and filter.
    run = models.ForeignKey(GenerationRun, models.CASCADE, related_name="filter_scores", db_index=False)
    candidate = models.ForeignKey(Candidate, models.CASCADE, related_name="filter_scores", db_index=False)
    filter = models.CharField(max_length=40)
    filter_version = models.CharField(max_length=MAX_VERSION_LENGTH)
    # Of a filter with a model; empty for the others, and for scores of before measures were kept.
    measure = models.ForeignKey(Measure, models.SET_NULL, null=True, blank=True, related_name="+")
    score = models.FloatField(null=True, blank=True)
    passed = models.BooleanField()
    detail = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["candidate", "filter"], name="one_score_a_filter")]
        indexes = [models.Index(fields=["run", "filter", "score", "passed"], name="scores_of_a_run")]

    def __str__(self) -> str:
        return f"{self.filter}: {self.passed}"


class PromptTemplate(models.Model):
    """A project's own prompt for an instruction model, beside those that come with Foilworks.

    A row is never changed: another wording is another version.
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
    """What an instruction model answered to a request: asked for once, whichever run wants it."""

    # Of the model and everything it was told.
    sha256 = models.CharField(max_length=64, unique=True)
    text = models.TextField()
    cut = models.BooleanField(default=False)
    # What the model or its filter said when it declined, and why the server says that the answer ended.
    refusal = models.CharField(max_length=200, blank=True, default="", db_default="")
    finish_reason = models.CharField(max_length=30, blank=True, default="", db_default="")
    # [[["Yes", -0.1], …], …]: alternatives of the first tokens with their log-probabilities, where they were asked for.
    logprobs = models.JSONField(null=True, blank=True)
    model_id = models.CharField(max_length=200)
    model_revision = models.CharField(max_length=64, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.text[:80]


class Usage(models.Model):
    """What a run has spent at an instruction model so far, failures included."""

    requests = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    # Answers that were there already and cost nothing.
    reused = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True


class PricedUsage(Usage):
    """The same with its price at the time when the answers came."""

    # Of the prompt tokens, those that the server had computed before.
    cached_tokens = models.PositiveBigIntegerField(default=0)
    cost = models.FloatField(default=0)
    currency = models.CharField(max_length=20, blank=True)
    # Of all requests together.
    answer_seconds = models.FloatField(default=0)

    class Meta:
        abstract = True


class RunCost(Usage):
    """The usage of a run of foils."""

    run = models.OneToOneField(GenerationRun, models.CASCADE, related_name="cost")

    def __str__(self) -> str:
        return f"{self.run_id}: {self.requests}"


class Selection(models.Model):
    """A choice among the candidates of a run, or of all runs of a subtest, so that text alone tells less.

    A job works it out, a researcher looks at it and applies it: those in `lost` that still wait are held back.
    """

    class Kind(models.TextChoices):
        BALANCE = "balance", _("balanced selection")
        FREQUENCY = "frequency", _("frequency matching")
        ADVERSARIAL = "adversarial", _("adversarial refinement")

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
    # Ids of the candidates that it leaves out.
    lost = models.JSONField(default=list, blank=True)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    applied_at = models.DateTimeField(null=True, blank=True)
    applied_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    # How many were held back and came back, how many stayed since somebody had begun meanwhile, and how many are out
    # since thresholds moved meanwhile: {"held_back": n, "came_back": n, "begun": n, "rejected": n}.
    moved = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.kind} for {self.subtest_id}"


class HintModel(models.Model):
    """The model that a project's annotators may ask about what they type; no row, or a disabled one: nobody asks."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="hint_model")
    # As typed: "lm:/path", "tiny:/path", "clip:openai/clip-vit-base-patch32".
    spec = models.CharField(max_length=500)
    enabled = models.BooleanField(default=True)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.spec


class Hint(models.Model):
    """What the model said of one typed text beside its caption; `value` and `of_caption` are None until it has."""

    caption = models.ForeignKey(Caption, models.CASCADE, related_name="hints", db_index=False)
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64)
    spec = models.CharField(max_length=500)
    # Model id + revision, the key of its scores: what says that an evaluated model helped to write.
    model_key = models.CharField(max_length=300, blank=True)
    value = models.FloatField(null=True, blank=True)
    of_caption = models.FloatField(null=True, blank=True)
    kind = models.CharField(max_length=20, blank=True)
    higher_is_better = models.BooleanField(default=True)
    problem = models.CharField(max_length=300, blank=True)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["caption", "text_sha256", "spec"], name="one_hint_a_text"),
        ]

    def __str__(self) -> str:
        return f"{self.spec}: {self.value}"


class HintShown(models.Model):
    """A person asked about a text: whoever has a model's word in mind writes otherwise."""

    hint = models.ForeignKey(Hint, models.CASCADE, related_name="shown", db_index=False)
    person = models.ForeignKey(User, models.CASCADE, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["hint", "person"], name="one_hint_a_person")]

    def __str__(self) -> str:
        return f"{self.hint_id} to {self.person_id}"
