"""Compare what a soak has stored with what people saw acknowledged. Raises AssertionError on a difference."""

import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.foilworks.soak.people import CAPTIONS_PER_RUN, CLIPS, Diary, Researcher, persistent


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
    return {**found, "generation": _generation(researcher), "scoring": _scoring(researcher), "jobs": _jobs()}


def _answers(diary: Diary) -> dict[str, dict[str, int]]:
    """Compare answers per stage, acknowledged and stored: the same keys, each once."""
    from annotation.models import Edit, Review, Stage, Vote

    stored = {
        # Without imported votes.
        "validation": Vote.objects.filter(stage=Stage.VALIDATION, person__isnull=False),
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
    """Check that every caption of a run has one group and one foil of its method, each with one row of the trail."""
    from foilworks.core.projects.models import AuditEvent
    from generation.models import Candidate, CandidateGroup, GenerationRun

    runs = GenerationRun.objects.filter(pk__in=researcher.generated)
    started = GenerationRun.objects.exclude(job=None).count()
    assert started == len(researcher.generated) == runs.count(), f"{started} runs of {len(researcher.generated)} asked"
    for run in runs:
        groups = CandidateGroup.objects.filter(run=run)
        made = Candidate.objects.filter(group__run=run, parent=None, author=None)
        assert groups.count() == made.count() == CAPTIONS_PER_RUN, f"run {run.pk}: {groups.count()}, {made.count()}"
        assert made.values("group").distinct().count() == CAPTIONS_PER_RUN, f"run {run.pk}: a caption has two foils"
        ids = [str(pk) for pk in made.values_list("pk", flat=True)]
        trail = AuditEvent.objects.filter(target_type="generation.candidate", target_id__in=ids, action="queue")
        assert trail.count() == CAPTIONS_PER_RUN, f"run {run.pk}: {trail.count()} rows of the trail"
    return {"runs": runs.count(), "foils": CAPTIONS_PER_RUN * runs.count()}


def _scoring(researcher: Researcher) -> dict[str, int]:
    """Check that every pair has one score, the model's; repeated requests were in progress when a process died."""
    from evaluation.scoring.models import Run, Score

    asked: Counter = Counter()
    texts = {hashlib.sha256(t.encode()).hexdigest(): t for n in range(CLIPS) for t in _texts(n)}
    for run in Run.objects.filter(pk__in=researcher.scored):
        rows = list(Score.objects.filter(model_key=run.model_key).values_list("clip_key", "text_sha256", "value"))
        pairs = {(clip, text) for clip, text, _ in rows}
        assert len(rows) == len(pairs) == 2 * CLIPS, f"run {run.pk}: {len(rows)} scores, {len(pairs)} pairs"
        log = researcher.models / run.spec.rpartition("/")[2] / "asked"
        keys = log.read_text().splitlines()
        values = {(key, text): _value(key, text) for key in set(keys) for text in texts.values()}
        wrong = [row for row in rows if row[2] not in {values.get((key, texts[row[1]])) for key in set(keys)}]
        assert not wrong, f"run {run.pk}: {wrong[:3]}"
        asked.update({f"{run.pk} {key}": n for key, n in Counter(keys).items()})
    again = sum(n - 1 for n in asked.values())
    return {"runs": len(researcher.scored), "clips": len(asked), "clips_asked_again": again}


def _texts(number: int) -> tuple[str, str]:
    return f"ball {number} rises", f"ball {number} falls"


def _value(key: str, text: str) -> float:
    return int(hashlib.sha256(f"{key} {text}".encode()).hexdigest()[:6], 16) / 2**24


def _jobs() -> dict[str, int]:
    from django.db.models import Count, Max

    from foilworks.core.jobs.models import Job

    states = dict(Job.objects.values_list("state").annotate(n=Count("pk")))
    assert set(states) == {"done"}, json.dumps(states)
    return {"done": states["done"], "most_attempts": Job.objects.aggregate(n=Max("attempts"))["n"]}


def check_now(when: str) -> None:
    """Run `foilworks check` in this process, as of one moment, while everybody continues to work."""
    from foilworks.site.management.commands.check import Command

    found = persistent(lambda: Command().run(files=False, no_media=False))
    assert found["ok"], f"{when}: {found['violations'][:5]}"


def check_by_command(*options: str) -> str:
    """Return the output of the command, as an operator runs it."""
    program = Path(sys.executable).with_name("foilworks")
    done = subprocess.run([program, "check", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
