"""Steps that every paper shares: a new project, a job in this process, the release as a verified folder."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.ladder.ladders import ladder_of_release
from evaluation.ladder.wording import benchmark_sentences
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.models import Release
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.actions.creation import create_project_by_operator
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import load
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.verify import verify

# The gate stops subtests that words alone solve, as in the published sets; the release says why it is frozen anyway.
OVERRIDE = "made again as the paper made it"
SLUG = "{}-{}"
LADDER = "Evidence ladder of the models that were scored ({}): {}"


def new_project(slug: str, name: str, *, is_simulated: bool) -> Project:
    """Create a project under the first free short name: `slug`, `slug`-2, …"""
    taken_slugs = set(Project.objects.filter(slug__startswith=slug).values_list("slug", flat=True))
    names = [slug, *(SLUG.format(slug, number) for number in range(2, len(taken_slugs) + 2))]
    project = create_project_by_operator(next(candidate for candidate in names if candidate not in taken_slugs), name)
    project.is_simulated = is_simulated
    # One person judges several versions of a caption.
    project.judge_caption_once = False
    project.save(update_fields=["is_simulated", "judge_caption_once"])
    return project


def check_weights(weights: Mapping[str, str], models: Collection[str]) -> None:
    """Raise EvaluationError for a name that is neither a row of the paper nor a model that makes foils."""
    if unknown := sorted(weights.keys() - set(models)):
        raise EvaluationError(
            f"--weights: {quoted(unknown[0])} is not a model here; choose one of: {', '.join(models)}"
        )


def done(job: Job | None) -> None:
    """Run a queued job in this process. EvaluationError: it failed."""
    assert job is not None  # it was just queued
    finished = run_now(job)
    if finished.state != JobState.DONE:
        raise EvaluationError(f"{finished.title}: {finished.error}")


def score(release: Release, spec: str, label: str, **options: Any) -> Run:
    """Score a release with one model and return the finished run."""
    run = start_run(None, release, RunRequest(spec, label=label, **options))
    done(run.job)
    return Run.objects.get(pk=run.pk)


def write_ladder(release: Release, path: Path) -> tuple[str, ...]:
    """Write the evidence ladder of the release's models, and return its sentences; nothing without a ladder."""
    ladder = ladder_of_release(release)
    if not ladder:
        return ()
    path.write_text(json.dumps(ladder, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return tuple(LADDER.format(path.name, sentence) for sentence in benchmark_sentences(ladder))


def export(release: Release, folder: Path) -> str:
    """Write the release to `folder`, verify it, and say so in one sentence."""
    load(EXPORTERS["foilworks"]).write(collect_release(release), folder, params={})
    verification = verify(folder)
    if not verification["ok"]:
        raise EvaluationError(f"{folder}: {verification['difference']}")
    return f"The release is in {folder.name}/ and `foilworks verify` finds it unchanged ({verification['hash'][:12]})."
