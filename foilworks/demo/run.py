"""The demo as a whole: the sample project made or found again, its numbers, its export."""

import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from corpus.exporters.registry import EXPORTERS
from corpus.models import Release
from evaluation.exports.collect import collect_release
from evaluation.reports.reports import project_report
from evaluation.scoring.models import Run
from evaluation.scoring.queries import run_results
from foilworks.demo import plan
from foilworks.demo.build import build
from foilworks.demo.footage import Progress
from foilworks.demo.plan import Sizes
from foilworks.supervisor.services import services
from generation.models import GenerationRun
from jobs.models import Job, JobState
from jobs.queue import cancel
from projects import audit
from projects.models import Project
from text.registry import load

WORKERS = 2
SCORES = ("T", "P", "P+T", "n")


def make_demo(seed: int, progress: Progress, *, sizes: Sizes = plan.FULL, fresh: bool = False) -> dict[str, Any]:
    """The sample project of this seed, made where it is not there (or `fresh` asks for another), with its numbers.

    A sample project of another seed, or an unfinished one, stays under another short name: nothing in it is lost.
    """
    began = time.monotonic()
    found = None if fresh else finished(seed)
    if found is None:
        _set_aside()
        with services(workers=WORKERS):
            found = build(seed, sizes, progress)
    return {**numbers(*found), "seconds": time.monotonic() - began}


def finished(seed: int) -> tuple[Project, Release, list[Run]] | None:
    """The sample project of this seed with its release and its two models' runs; None unless all of it is there."""
    project = Project.objects.filter(slug=plan.SLUG, is_simulated=True).first()
    if project is None or not GenerationRun.objects.filter(project=project).exists() or plan.seed_of(project) != seed:
        return None
    release = Release.objects.filter(project=project).order_by("pk").first()
    done = Run.objects.filter(release=release, label__in=plan.ARCHITECTURES, job__state=JobState.DONE)
    runs = list(done.order_by("pk"))
    return None if release is None or len(runs) < len(plan.ARCHITECTURES) else (project, release, runs)


@transaction.atomic
def _set_aside() -> None:
    """Free the sample project's short name. Its accounts are the new one's too, so that it offers none any more."""
    project = Project.objects.filter(slug=plan.SLUG).first()
    if project is None:
        return
    for job in Job.objects.filter(project_id=project.pk):
        cancel(job)
    before, project.slug = project.slug, f"{plan.SLUG}-{project.pk}"
    project.name, project.sign_in_hint = f"{project.name} ({project.pk})", {}
    project.save(update_fields=["slug", "name", "sign_in_hint"])
    audit.record(audit.event(project, None, "foilworks.demo.set_aside", project, from_state=before))


def numbers(project: Project, release: Release, runs: list[Run]) -> dict[str, Any]:
    """What `demo --json` prints: the overall validation report, the models on the direction subtest, the export."""
    overall = project_report(project, "validation")["overall"]
    models = {run.label: run_results(run)["subtests"][plan.DIRECTION_SUBTEST] for run in runs}
    return {
        "project": project.slug,
        "items": overall["n_items"],
        "valid": overall["n_valid"],
        "unanimous": overall["n_unanimous"],
        "alpha": overall["alpha_all"],
        "js_all": overall["js_all"],
        "js_valid": overall["js_valid"],
        "models": {name: {key: found[key] for key in SCORES} for name, found in models.items()},
        "release": release.pk,
        "export": str(_export(release)),
    }


def _export(release: Release) -> Path:
    out = Path(settings.EXPORT_ROOT) / f"{plan.SLUG}-{release.pk}"
    out.parent.mkdir(parents=True, exist_ok=True)
    load(EXPORTERS["foilworks"]).write(collect_release(release), out, params={})
    return out
