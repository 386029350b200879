"""`foilworks tune`: tune a text-to-text model on the train captions of a project."""

from typing import Any

from django.core.management.base import CommandParser

from foilworks.core.jobs.runner import run_now
from foilworks.site.management.base import FoilworksCommand, parse_set_options
from foilworks.site.management.projects import project_by_slug
from generation.actions.runs import start_tuning
from generation.models import Tuning
from generation.tuning.parameters import TUNING


class Command(FoilworksCommand):
    help = "tune a text-to-text model on the train captions of a project; span_infill then makes verb foils with it"
    example = (
        "foilworks tune --project mine --set model=google-t5/t5-base --sync\n"
        "  foilworks generate --project mine --subtest verbs --recipe contrast-verb-lm --set model=FOLDER"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        names = ", ".join(param.name for param in TUNING.params)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--set", action="append", metavar="NAME=VALUE", help=f"parameter, one of: {names}; repeatable"
        )
        parser.add_argument("--seed", type=int, default=0, help="seed; the same seed and captions make the same model")
        parser.add_argument("--sync", action="store_true", help="run it now instead of queueing a job")

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_by_slug(options["project"])
        tuning = start_tuning(None, project, params=parse_set_options(options["set"]), seed=options["seed"])
        assert tuning.job is not None
        if options["sync"]:
            run_now(tuning.job)
            tuning.refresh_from_db()
        else:
            self.say_if_no_worker()
        return _result(tuning)

    def render(self, result: dict[str, Any]) -> str:
        line = f"tuning {result['tuning']}: {result['state']}"
        if not result["folder"]:
            return line
        facts = f"captions: {result['captions']}; steps: {result['steps']}; last loss: {result['loss']}"
        return f"{line}; {facts}\n  model: {result['folder']}"


def _result(tuning: Tuning) -> dict[str, Any]:
    assert tuning.job is not None
    return {
        "tuning": tuning.pk,
        "state": tuning.job.state,
        "base_model": tuning.base_model,
        "params": tuning.params,
        "seed": tuning.seed,
        "captions": tuning.captions,
        "steps": tuning.steps,
        "loss": tuning.losses[-1][1] if tuning.losses else None,
        "folder": str(tuning.path or ""),
    }
