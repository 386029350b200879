"""Runs of foil methods and the candidates they made, with provenance and the reason of every rejection."""

from django.db import models
from django.db.models import Q

from corpus.models import Caption, Foil, Subtest
from corpus.rules.states import CandidateState
from jobs.models import Job
from projects.models import Project, User


class GenerationRun(models.Model):
    """One method with its parameters over the captions of a project, making candidates for one subtest."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="generation_runs")
    subtest = models.ForeignKey(Subtest, models.CASCADE, related_name="generation_runs")
    method = models.CharField(max_length=40)
    method_version = models.CharField(max_length=20)
    mode = models.CharField(max_length=10, default="corrected")
    params = models.JSONField(default=dict, blank=True)
    # [{"slug": …, "version": …, "params": {…}}, …] in the order they run.
    filters = models.JSONField(default=list, blank=True)
    seed = models.BigIntegerField(default=0)
    # Narrows the captions: {"split": "test"}, {"caption_keys": […]}; empty = all captions of ready or missing media.
    selection = models.JSONField(default=dict, blank=True)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+")
    # Captions for which the method made nothing: {"why": count}.
    skipped = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.method} for {self.subtest_id}"


class CandidateGroup(models.Model):
    """One caption in one run: what an edit task is about. Its k accepted foils become one item."""

    run = models.ForeignKey(GenerationRun, models.CASCADE, related_name="groups")
    caption = models.ForeignKey(Caption, models.CASCADE, related_name="candidate_groups")
    skipped_why = models.CharField(max_length=200, blank=True)
    # Set when the k foils were accepted and the item assembled.
    item = models.OneToOneField("corpus.Item", models.SET_NULL, null=True, blank=True, related_name="candidate_group")
    # True once annotation has made the edit (or review) tasks of the group.
    tasked = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "caption"], name="one_group_a_caption_in_a_run")]
        indexes = [models.Index(fields=["run"], condition=Q(tasked=False), name="group_without_tasks")]

    def __str__(self) -> str:
        return f"{self.run_id}:{self.caption_id}"


class Candidate(models.Model):
    """A foil that is not yet part of an item's accepted set. Nothing is deleted: rejected ones stay, with reasons."""

    group = models.ForeignKey(CandidateGroup, models.CASCADE, related_name="candidates")
    rank = models.PositiveSmallIntegerField(default=0)
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64)
    state = models.CharField(
        max_length=12, choices=[(s.value, s.value) for s in CandidateState], default=CandidateState.GENERATED
    )
    # Where an editing candidate goes back to when its lease ends: queued or returned.
    claimed_from = models.CharField(max_length=12, blank=True)
    # Provenance (workflow.md): what made it, or who.
    method = models.CharField(max_length=40)
    method_version = models.CharField(max_length=20)
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
    # The item's foil that this candidate became.
    foil = models.OneToOneField(Foil, models.SET_NULL, null=True, blank=True, related_name="candidate")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["group_id", "rank", "id"]
        indexes = [models.Index(fields=["group", "state"], name="candidate_state")]

    def __str__(self) -> str:
        return self.text[:80]


class FilterScore(models.Model):
    """What one filter said of one candidate; thresholds can move without asking it again."""

    candidate = models.ForeignKey(Candidate, models.CASCADE, related_name="filter_scores")
    filter = models.CharField(max_length=40)
    filter_version = models.CharField(max_length=20)
    score = models.FloatField(null=True, blank=True)
    passed = models.BooleanField()
    detail = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["candidate", "filter"], name="one_score_a_filter")]

    def __str__(self) -> str:
        return f"{self.filter}: {self.passed}"
