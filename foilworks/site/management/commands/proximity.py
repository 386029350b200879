"""`foilworks proximity`: measure how near a release's foils are to their captions in meaning."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.proximity.actions.measure_proximity import measure_proximity
from evaluation.scoring.queries import release_named
from foilworks.core.jobs.runner import run_now
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.projects import project_by_slug


class Command(FoilworksCommand):
    help = "measure the semantic proximity of foils to captions"
    example = (
        "foilworks proximity --release 3 --model sentence-transformers/all-MiniLM-L6-v2 --name SBERT\n"
        "  foilworks proximity --release 3 --model clip:openai/clip-vit-base-patch32 --name CLIP-text --sync"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--release", required=True, metavar="ID", help="id, hash or name of the release")
        parser.add_argument("--project", metavar="SLUG", help="project, if several have a release of this name")
        parser.add_argument("--model", required=True, metavar="M", help="id or folder of a sentence encoder, or clip:…")
        parser.add_argument("--name", default="", help="name of the measure in tables")
        parser.add_argument("--device", default="auto", metavar="D", help="device: auto, cpu, cuda or cuda:N")
        parser.add_argument("--sync", action="store_true", help="measure now instead of queueing a job")

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_by_slug(options["project"]) if options["project"] else None
        release = release_named(options["release"], project)
        run = measure_proximity(None, release, options["model"], name=options["name"], device=options["device"])
        assert run.job is not None
        job = run_now(run.job) if options["sync"] else run.job
        if not options["sync"]:
            self.say_if_no_worker()
        return {"measurement": run.pk, "release": release.pk, "name": run.name, "job": str(job.pk), "state": job.state}

    def render(self, result: dict[str, Any]) -> str:
        return f"measurement {result['measurement']} by {result['name']}: {result['state']} (job {result['job']})"
