"""What is stored after a soak, against what people were told; an AssertionError names what does not hold."""

import json
from collections import Counter

from _soak_people import CAPTIONS_A_RUN, Diary, Researcher


def account(diary: Diary, researcher: Researcher | None) -> dict[str, object]:
    assert not diary.findings, diary.findings
    found = {
        "requests": diary.requests,
        "errors_seen_by_clients": dict(diary.errors.most_common()),
        "refused": dict(diary.refused),
        "answers": _answers(diary),
        **_votes(),
    }
    if researcher is None:
        return found
    return {**found, "generation": _generation(researcher), "jobs": _jobs()}


def _answers(diary: Diary) -> dict[str, dict[str, int]]:
    """By stage: acknowledged to people, and stored; the keys are the same, and each is there once."""
    from annotation.models import Edit, Review, Stage, Vote

    stored = {
        "validation": Vote.objects.filter(stage=Stage.VALIDATION),
        "edit": Edit.objects.all(),
        "review": Review.objects.all(),
    }
    found = {}
    for stage, rows in stored.items():
        keys, told = Counter(rows.values_list("idempotency_key", flat=True)), diary.acknowledged[stage]
        found[stage] = {"acknowledged": len(told), "stored": keys.total()}
        assert not told - set(keys), f"{stage}: acknowledged and not stored: {sorted(told - set(keys))[:5]}"
        unsaid = sorted(set(keys) - told)
        assert not unsaid, f"{stage}: stored and never acknowledged: {unsaid[:5]}; refused: {dict(diary.refused)}"
        assert keys.total() == len(told), f"{stage}: stored twice: {keys.most_common(3)}"
    return found


def _votes() -> dict[str, object]:
    from django.db.models import Count, F

    from annotation.models import Task, Vote

    counted = Vote.objects.filter(state="counted", slot__isnull=False)
    over = counted.values("slot__task").annotate(n=Count("pk")).filter(n__gt=F("slot__task__overlap"))
    found = {
        "votes_by_state": dict(Vote.objects.values_list("state").annotate(n=Count("pk"))),
        "late": Vote.objects.filter(late=True).count(),
        "tasks": Task.objects.count(),
        "collected_too_much": over.count(),
    }
    assert found["collected_too_much"] == 0, found
    return found


def _generation(researcher: Researcher) -> dict[str, int]:
    """Every caption of a run has one group and one foil of its method; each came by one row of the trail."""
    from generation.models import Candidate, CandidateGroup, GenerationRun
    from projects.models import AuditEvent

    runs = GenerationRun.objects.filter(pk__in=researcher.generated)
    started = GenerationRun.objects.exclude(job=None).count()
    assert started == len(researcher.generated) == runs.count(), f"{started} runs of {len(researcher.generated)} asked"
    for run in runs:
        groups = CandidateGroup.objects.filter(run=run)
        made = Candidate.objects.filter(group__run=run, parent=None, author=None)
        assert groups.count() == made.count() == CAPTIONS_A_RUN, f"run {run.pk}: {groups.count()}, {made.count()}"
        assert made.values("group").distinct().count() == CAPTIONS_A_RUN, f"run {run.pk}: a caption has two foils"
        ids = [str(pk) for pk in made.values_list("pk", flat=True)]
        trail = AuditEvent.objects.filter(target_type="generation.candidate", target_id__in=ids, action="queue")
        assert trail.count() == CAPTIONS_A_RUN, f"run {run.pk}: {trail.count()} rows of the trail"
    return {"runs": runs.count(), "foils": CAPTIONS_A_RUN * runs.count()}


def _jobs() -> dict[str, int]:
    from django.db.models import Count, Max

    from jobs.models import Job

    states = dict(Job.objects.values_list("state").annotate(n=Count("pk")))
    assert set(states) == {"done"}, json.dumps(states)
    return {"done": states["done"], "most_attempts": Job.objects.aggregate(n=Max("attempts"))["n"]}
