"""`foilworks teacher …`: train dual encoders by LLM-teacher (Feint6K), or export its data for another trainer."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.errors import EvaluationError
from evaluation.scoring.queries import release_named
from evaluation.utd.subsets import keys_in
from foilworks.core.corpus.models import Split
from foilworks.core.projects.models import Project
from foilworks.core.text.registry import Entry, Param, parse_params
from foilworks.site.management.base import CommandGroup, FoilworksCommand, parse_set_options, table_of
from foilworks.site.management.projects import project_by_slug, run_or_queue
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
from foilworks.site.teacher.training_request import TrainingRequest

ESTIMATED = (
    "{step_s:.2f} s per step and {read_s:.2f} s to read its clips, {seconds:.0f} s for {steps} steps, {gib:.1f} GiB "
    "of memory ({device}); evaluations and the teacher take more time"
)
CHOSEN = "chosen: step {step} of {stopped}, {measure} {value:.4f} on {captions} captions ({on})"
COLUMNS = ("measure", "before", "after", "value", "ci", "p", "n")
# `--set negatives.NAME=VALUE`.
NEGATIVES_PREFIX = "negatives."
NEGATIVES = Entry(
    label="negatives",
    params=(
        Param("per_caption", PER_CAPTION, "negatives per caption", "int"),
        Param(
            "seed",
            0,
            "seed of the choice of negatives; trainings with other seeds then learn from the same texts",
            "int",
        ),
    ),
)


class Train(FoilworksCommand):
    help = "start a training"
    example = (
        "foilworks teacher train --project mine --student clip:openai/clip-vit-base-patch32 --action-run 4 \\\n"
        "      --release 3 --set steps=2000 --set lgt=1 --sync"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        _add_student(parser)
        parser.add_argument(
            "--label", default="", help="name of the training in tables; trainings of the same name share a row"
        )
        parser.add_argument("--sync", action="store_true", help="run now instead of queueing a job")

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_by_slug(options["project"])
        training = start_teacher(None, project, _request(project, options, options["label"]))
        _warn(self, training.sources)
        return _trained(training, run_or_queue(self, training.job, options["sync"]))

    def render(self, result: dict[str, Any]) -> str:
        return _training_text(result)


class Estimate(FoilworksCommand):
    help = "measure time and memory of a training by two steps, and start nothing"
    example = "foilworks teacher estimate --project mine --student tiny:start --action-run 4"

    def add_arguments(self, parser: CommandParser) -> None:
        _add_student(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        # Imported on request, as below: these modules import a model library.
        from foilworks.site.teacher.teaching import estimate_training

        project = project_by_slug(options["project"])
        return {"estimate": estimate_training(planned_teacher(None, project, _request(project, options)))}

    def render(self, result: dict[str, Any]) -> str:
        return ESTIMATED.format(**result["estimate"], gib=result["estimate"]["memory"] / 2**30)


class Resume(FoilworksCommand):
    help = "continue a failed or stopped training from its last checkpoint"
    example = "foilworks teacher resume --training 7 --sync"

    def add_arguments(self, parser: CommandParser) -> None:
        _add_training(parser)
        parser.add_argument("--sync", action="store_true", help="run now instead of queueing a job")

    def run(self, **options: Any) -> dict[str, Any]:
        resume_teacher(None, _training(options["training"]))
        training = _training(options["training"])
        return _trained(training, run_or_queue(self, training.job, options["sync"]))

    def render(self, result: dict[str, Any]) -> str:
        return _training_text(result)


class Evaluate(FoilworksCommand):
    help = "score a release before and after training"
    example = "foilworks teacher evaluate --training 7 --release 3 --sync --json"

    def add_arguments(self, parser: CommandParser) -> None:
        _add_training(parser)
        parser.add_argument("--release", required=True, metavar="ID", help="release: id, hash or name")
        parser.add_argument("--sync", action="store_true", help="run now instead of queueing a job")

    def run(self, **options: Any) -> dict[str, Any]:
        training = _training(options["training"])
        evaluation = read_release(None, training, release_named(options["release"], training.project))
        state = {"state": "done"}
        if evaluation.after is None:
            state = run_or_queue(self, evaluation.job, options["sync"])
            evaluation = StudentEvaluation.objects.select_related("training").get(pk=evaluation.pk)
        return {
            "training": training.pk,
            "label": training.label,
            "model": training.model_spec,
            **state,
            "release": evaluation.release_id,
            "measures": before_and_after(evaluation),
        }

    def render(self, result: dict[str, Any]) -> str:
        return _training_text(result)


class Export(FoilworksCommand):
    help = "write the data for another trainer"
    example = (
        "foilworks teacher export --project mine --action-run 4 --split train,val --out set.jsonl\n"
        "  foilworks teacher export --project mine --negatives run:4=0.5 --negatives people=0.5 --out mixed.jsonl"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        _add_data(parser)
        parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON Lines file to write")
        parser.add_argument(
            "--preference", action="store_true", help="pairs of caption and foil, for preference tuning"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        from foilworks.site.teacher.exporting import export_set

        params, mixture = _params(options)
        written = export_set(
            project_by_slug(options["project"]),
            options["out"],
            params,
            action_runs=options["action_runs"],
            object_runs=options["object_runs"],
            splits=(options["split"] or Split.TRAIN.value).split(","),
            videos=keys_in(options["videos"]) if options["videos"] else (),
            preference=options["preference"],
            mixture=mixture,
        )
        for sources in written["sources"].values():
            _warn(self, sources)
        return written

    def render(self, result: dict[str, Any]) -> str:
        counts = ", ".join(f"{count} of the split {split}" for split, count in result["rows"].items())
        return f"{result['file']}: {counts}"


class Rank(FoilworksCommand):
    help = "one of several processes of a training, which starts them"

    def add_arguments(self, parser: CommandParser) -> None:
        _add_training(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        from foilworks.site.teacher.teaching import train_rank

        train_rank(_training(options["training"]), self._write_line)
        return {}

    def _write_line(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()

    def render(self, result: dict[str, Any]) -> str:
        return ""


class Command(CommandGroup):
    help = "train a dual encoder to distinguish actions, and evaluate it before and after (LLM-teacher)"
    subcommands = {
        "train": Train,
        "estimate": Estimate,
        "resume": Resume,
        "evaluate": Evaluate,
        "export": Export,
        "rank": Rank,
    }


def _add_student(parser: CommandParser) -> None:
    parser.add_argument(
        "--student", required=True, metavar="SPEC", help="model to train: clip:…, video:…, xclip:… or tiny:FOLDER"
    )
    parser.add_argument("--release", metavar="ID", help="release to evaluate on before and after: id, hash or name")
    parser.add_argument("--seed", type=int, default=0)
    _add_data(parser)


def _add_data(parser: CommandParser) -> None:
    parser.add_argument("--project", required=True, metavar="SLUG", help="project with the train captions")
    for kind in ("action", "object"):
        parser.add_argument(
            f"--{kind}-run",
            type=int,
            action="append",
            default=[],
            metavar="ID",
            dest=f"{kind}_runs",
            help=f"id of a generation run that changes {kind}s; repeatable",
        )
    parser.add_argument(
        "--split", default="", help="only captions of this split (default: train); export: one or more, train,val"
    )
    parser.add_argument("--videos", type=Path, metavar="FILE", help="only these videos; one key per line")
    parser.add_argument(
        "--negatives",
        action="append",
        default=[],
        metavar="SOURCE=SHARE",
        help=f"mix the negatives of several sources instead of runs; repeatable: {', '.join(FORMS)}",
    )
    names = [param.name for param in TEACHING.params if param.name != "student"]
    names += [f"{NEGATIVES_PREFIX}{param.name} ({param.help})" for param in NEGATIVES.params]
    parser.add_argument(
        "--set", action="append", metavar="NAME=VALUE", help=f"parameter; repeatable: {', '.join(names)}"
    )


def _add_training(parser: CommandParser) -> None:
    parser.add_argument("--training", type=int, required=True, metavar="ID", help="id of the training")


def _params(options: dict[str, Any]) -> tuple[dict[str, str], Mixture | None]:
    """Return the parameters of the training, and the mixture of negatives."""
    params = parse_set_options(options["set"])
    names = [name for name in params if name.startswith(NEGATIVES_PREFIX)]
    mixing = parse_params(NEGATIVES, {name.removeprefix(NEGATIVES_PREFIX): params.pop(name) for name in names})
    if names and not options["negatives"]:
        raise EvaluationError(f"--set {names[0]} needs --negatives SOURCE; add it")
    return params, mixture_of(options["negatives"], mixing["per_caption"], mixing["seed"])


def _request(project: Project, options: dict[str, Any], label: str = "") -> TrainingRequest:
    params, mixture = _params(options)
    return TrainingRequest(
        {**params, "student": options["student"]},
        action_runs=options["action_runs"],
        object_runs=options["object_runs"],
        release=release_named(options["release"], project) if options["release"] else None,
        label=label,
        seed=options["seed"],
        split=options["split"],
        videos=keys_in(options["videos"]) if options["videos"] else (),
        mixture=mixture,
    )


def _warn(command: FoilworksCommand, sources: dict[str, Any]) -> None:
    for warning in sources.get("mixture", {}).get("warnings", ()):
        command.say(f"warning: {warning}")


def _trained(training: TeacherTraining, state: dict[str, Any]) -> dict[str, Any]:
    training.refresh_from_db()
    evaluation = training.readings.first()
    return {
        "training": training.pk,
        "label": training.label,
        "model": training.model_spec,
        **state,
        "sources": training.sources,
        "last_step": last_parts(training),
        "measures": before_and_after(evaluation) if evaluation else [],
    }


def _training_text(result: dict[str, Any]) -> str:
    head = f"training {result['training']} ({result['label']}): {result['state']}"
    lines = [head] + ([f"model: {result['model']}"] if result["model"] else [])
    checkpoint = result.get("sources", {}).get("selection", {})
    lines += [CHOSEN.format(**checkpoint)] if "step" in checkpoint else []
    return "\n".join([*lines, *([table_of(result["measures"], COLUMNS)] if result["measures"] else [])])


def _training(pk: int) -> TeacherTraining:
    training = TeacherTraining.objects.select_related("project", "release", "job").filter(pk=pk).first()
    if training is None:
        ids = ", ".join(map(str, TeacherTraining.objects.values_list("pk", flat=True)[:20])) or "none yet"
        raise EvaluationError(f"training {pk} not found; give --training with one of: {ids}")
    return training
