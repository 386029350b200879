"""`foilworks teacher …`: train dual encoders by LLM-teacher (Feint6K), or export its data for another trainer."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.errors import EvaluationError
from evaluation.scoring.queries import project_named, release_named
from evaluation.utd.subsets import keys_in
from foilworks.core.corpus.models import Split
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import run_now
from foilworks.site.management.base import FoilworksCommand, parse_set_options
from foilworks.site.management.text_tables import table_of
from foilworks.site.teacher.actions.trainings import (
    planned_teacher,
    read_release,
    resume_teacher,
    start_teacher,
)
from foilworks.site.teacher.mixtures import FORMS, PER_CAPTION, Mixture, mixture_of
from foilworks.site.teacher.models import StudentEvaluation, TeacherTraining
from foilworks.site.teacher.pages import before_and_after, last_parts
from foilworks.site.teacher.plan import TEACHING

ESTIMATED = (
    "{step_s:.2f} s per step and {read_s:.2f} s to read its clips, {seconds:.0f} s for {steps} steps, {gib:.1f} GiB "
    "of memory ({device}); evaluations and the teacher take more time"
)
CHOSEN = "chosen: step {step} of {stopped}, {measure} {value:.4f} on {captions} captions ({on})"
COLUMNS = ("measure", "before", "after", "value", "ci", "p", "n")


class Command(FoilworksCommand):
    help = "train a dual encoder to distinguish actions, and evaluate it before and after (LLM-teacher)"
    example = (
        "foilworks teacher train --project mine --student clip:openai/clip-vit-base-patch32 --action-run 4 \\\n"
        "      --release 3 --set steps=2000 --set lgt=1 --sync\n"
        "  foilworks teacher train --project mine --student tiny:start --action-run 4 --estimate\n"
        "  foilworks teacher evaluate --training 7 --release 3 --sync --json\n"
        "  foilworks teacher export --project mine --action-run 4 --split train,val --out set.jsonl\n"
        "  foilworks teacher export --project mine --negatives run:4=0.5 --negatives people=0.5 --out mixed.jsonl"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "act",
            choices=("train", "resume", "evaluate", "export", "rank"),
            help="train: start a training; resume: continue a failed or stopped one from its last "
            "checkpoint; evaluate: score a release before and after training; export: write the data for "
            "another trainer; rank: one of several processes (started by the training)",
        )
        parser.add_argument("--project", metavar="SLUG", help="project with the train captions")
        parser.add_argument("--student", metavar="SPEC", help="model to train: clip:…, video:…, xclip:… or tiny:FOLDER")
        parser.add_argument(
            "--action-run",
            type=int,
            action="append",
            default=[],
            metavar="ID",
            dest="action_runs",
            help="id of a generation run that changes actions; repeatable",
        )
        parser.add_argument(
            "--object-run",
            type=int,
            action="append",
            default=[],
            metavar="ID",
            dest="object_runs",
            help="id of a generation run that changes objects",
        )
        parser.add_argument("--release", metavar="ID", help="release to evaluate on before and after: id, hash or name")
        parser.add_argument(
            "--label", default="", help="name of the training in tables; trainings of the same name share a row"
        )
        parser.add_argument("--seed", type=int, default=0)
        names = ", ".join(param.name for param in TEACHING.params if param.name != "student")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            dest="settings_given",
            help=f"parameter: {names}",
        )
        _add_data(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        if options["act"] == "rank":
            # Imported on request, as below: these modules import a model library.
            from foilworks.site.teacher.teaching import train_rank

            train_rank(_training(options["training"]), self._line)
            return {}
        acts = {"train": self._train, "resume": self._resume, "evaluate": self._evaluate, "export": self._export}
        return acts[options["act"]](options)

    def _line(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()

    def _train(self, options: dict[str, Any]) -> dict[str, Any]:
        if not options["project"] or not options["student"]:
            raise EvaluationError("train needs --project and --student")
        project = project_named(options["project"])
        given = {
            "params": {**parse_set_options(options["settings_given"]), "student": options["student"]},
            "action_runs": tuple(options["action_runs"]),
            "object_runs": tuple(options["object_runs"]),
            "release": release_named(options["release"], project) if options["release"] else None,
            "seed": options["seed"],
            "split": options["split"],
            "videos": keys_in(options["videos"]) if options["videos"] else (),
            "mixture": _mixture(options),
        }
        if options["estimate"]:
            from foilworks.site.teacher.teaching import estimate_training

            return {"estimate": estimate_training(planned_teacher(None, project, **given))}
        training = start_teacher(None, project, label=options["label"], **given)
        self._warn(training.sources)
        return self._trained(training, options["sync"])

    def _export(self, options: dict[str, Any]) -> dict[str, Any]:
        if not options["project"] or not options["out"]:
            raise EvaluationError("export needs --project and --out")
        from foilworks.site.teacher.exporting import export_set

        found = export_set(
            project_named(options["project"]),
            options["out"],
            parse_set_options(options["settings_given"]),
            action_runs=options["action_runs"],
            object_runs=options["object_runs"],
            splits=(options["split"] or Split.TRAIN.value).split(","),
            videos=keys_in(options["videos"]) if options["videos"] else (),
            preference=options["preference"],
            mixture=_mixture(options),
        )
        for each in found["sources"].values():
            self._warn(each)
        return found

    def _warn(self, sources: dict[str, Any]) -> None:
        for warning in sources.get("mixture", {}).get("warnings", ()):
            self.say(f"warning: {warning}")

    def _resume(self, options: dict[str, Any]) -> dict[str, Any]:
        resume_teacher(None, _training(options["training"]))
        return self._trained(_training(options["training"]), options["sync"])

    def _trained(self, training: TeacherTraining, now: bool) -> dict[str, Any]:
        state = self._done(training.job, now)
        training.refresh_from_db()
        reading = training.readings.first()
        return {
            "training": training.pk,
            "label": training.label,
            "model": training.model_spec,
            **state,
            "sources": training.sources,
            "last_step": last_parts(training),
            "measures": before_and_after(reading) if reading else [],
        }

    def _evaluate(self, options: dict[str, Any]) -> dict[str, Any]:
        training = _training(options["training"])
        if not options["release"]:
            raise EvaluationError("evaluate needs --release")
        reading = read_release(None, training, release_named(options["release"], training.project))
        state = {"state": "done"}
        if reading.after is None:
            state = self._done(reading.job, options["sync"])
            reading = StudentEvaluation.objects.select_related("training").get(pk=reading.pk)
        return {
            "training": training.pk,
            "label": training.label,
            "model": training.model_spec,
            **state,
            "release": reading.release_id,
            "measures": before_and_after(reading),
        }

    def _done(self, job: Job | None, now: bool) -> dict[str, str]:
        assert job is not None  # the action has just queued it
        if now:
            job = run_now(job)
        else:
            self.say_if_no_worker()
        return {"job": str(job.pk), "state": job.state}

    def render(self, result: dict[str, Any]) -> str:
        if not result:
            return ""
        if "rows" in result:
            counts = ", ".join(f"{count} of the split {split}" for split, count in result["rows"].items())
            return f"{result['file']}: {counts}"
        if "estimate" in result:
            return ESTIMATED.format(**result["estimate"], gib=result["estimate"]["memory"] / 2**30)
        head = f"training {result['training']} ({result['label']}): {result['state']}"
        lines = [head] + ([f"model: {result['model']}"] if result["model"] else [])
        chosen = result.get("sources", {}).get("selection", {})
        lines += [CHOSEN.format(**chosen)] if "step" in chosen else []
        return "\n".join([*lines, *([table_of(result["measures"], COLUMNS)] if result["measures"] else [])])


def _add_data(parser: CommandParser) -> None:
    parser.add_argument(
        "--split",
        default="",
        help="train: learn from this split (default: train); export: one or more, such as train,val",
    )
    parser.add_argument(
        "--videos", type=Path, metavar="FILE", help="train, export: only these videos; one key per line"
    )
    parser.add_argument(
        "--negatives",
        action="append",
        default=[],
        metavar="SOURCE=SHARE",
        help=f"train, export: mix the negatives of several sources instead of runs; repeatable: {', '.join(FORMS)}",
    )
    parser.add_argument(
        "--per-caption", type=int, default=PER_CAPTION, metavar="N", help="with --negatives: negatives per caption"
    )
    parser.add_argument(
        "--negatives-seed",
        type=int,
        default=0,
        metavar="N",
        help="with --negatives: seed of the choice; trainings with other seeds then learn from the same texts",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="export: JSON Lines file to write")
    parser.add_argument(
        "--preference", action="store_true", help="export: pairs of caption and foil, for preference tuning"
    )
    parser.add_argument(
        "--estimate", action="store_true", help="train: measure time and memory by two steps, and start nothing"
    )
    parser.add_argument("--training", type=int, metavar="ID", help="resume, evaluate: id of the training")
    parser.add_argument("--sync", action="store_true", help="run now instead of queueing a job")


def _mixture(options: dict[str, Any]) -> Mixture | None:
    return mixture_of(options["negatives"], options["per_caption"], options["negatives_seed"])


def _training(pk: int | None) -> TeacherTraining:
    found = TeacherTraining.objects.select_related("project", "release", "job").filter(pk=pk or 0).first()
    if found is None:
        known = ", ".join(map(str, TeacherTraining.objects.values_list("pk", flat=True)[:20])) or "none yet"
        raise EvaluationError(f"training {pk} not found; give --training with one of: {known}")
    return found
