"""`foilworks utd bias`, `results` and `items`: measure the biases of a data set and of a project's items."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.utd.actions.biases import READINGS, check_shortcuts, measure_bias
from evaluation.utd.class_texts import read_class_texts
from evaluation.utd.instructions import CLASSIFICATION, TASKS
from evaluation.utd.models import BiasRun
from evaluation.utd.newest import check_measured
from evaluation.utd.procedure import AS_PUBLISHED, CHOICES
from evaluation.utd.requests import BiasRequest
from evaluation.utd.vector_formats import FLOAT32, SUFFIXES
from foilworks.core.text.registry import Entry, Param, parse_params
from foilworks.site.management.base import parse_set_options
from foilworks.site.management.projects import run_or_queue
from foilworks.site.management.utd.rows import (
    PlainCommand,
    add_descriptions,
    add_device_and_sync,
    add_name,
    add_run,
    descriptions_of,
    notes_of,
    row_of,
)
from foilworks.site.management.utd.text import bias_lines, queued_lines

# The first value of each choice is what the authors do.
CHOICE_HELP = {
    "texts": "texts as the authors publish them, or without repeated objects and with full stops",
    "empty_frames": "skip frames without a text, or embed “No activity is visible.”",
    "numbering": "“Frame #1:” as in the authors' code, or “Frame 1:” as in the paper",
    "captions": "mean of a video's captions in retrieval, or the first one",
    "ties": "videos that tie for the first rank in retrieval are wrong, or share it",
    "bootstrap": "bootstrap of the whole train split, or stratified by class",
}
MAX_READING = "max_reading"
PROCEDURE = Entry(
    label="utd bias",
    params=(
        *(Param(name, values[0], CHOICE_HELP[name], "choice", values) for name, values in CHOICES.items()),
        Param("c", AS_PUBLISHED.c, "scikit-learn's C of every regression", "float"),
        Param(MAX_READING, READINGS[0], "rule for the max-score frame", "choice", tuple(READINGS)),
    ),
)


def procedure_help() -> str:
    """Return names, values and meanings of the choices that `--set` takes; the first value is the default."""
    lines = []
    for param in PROCEDURE.params:
        values = ", ".join(param.choices) or f"a number, {param.default:g}"
        lines.append(f"{param.name} ({values}): {param.help}")
    return "; ".join(lines).replace("%", "%%")


class _ShowsBiases(PlainCommand):
    def render(self, result: dict[str, Any]) -> str:
        if result.get("state", "done") != "done":
            return "\n".join(queued_lines(result))
        if (result["result"] or {}).get("common"):
            return "\n".join(bias_lines(BiasRun.objects.get(pk=result["run"]), result.get("warnings", ())))
        return super().render(result)


class Bias(_ShowsBiases):
    help = "measure the 16 biases of a data set from its descriptions, and make debiased splits"
    example = "foilworks utd bias --project mine --task classification --sync"

    def add_arguments(self, parser: CommandParser) -> None:
        add_descriptions(parser)
        parser.add_argument("--task", choices=TASKS, default=CLASSIFICATION)
        parser.add_argument(
            "--labels", default="", metavar="L", help="field with the class: class_label, category or facts:NAME"
        )
        parser.add_argument("--encoder", default="", metavar="M", help="text encoder (default: the recipe's)")
        parser.add_argument(
            "--set",
            action="append",
            metavar="NAME=VALUE",
            help=f"choice of the procedure; the first value is the authors'; repeatable; {procedure_help()}",
        )
        parser.add_argument(
            "--class-texts", type=Path, metavar="FILE", help="CSV class_name,class_text: text to embed per class"
        )
        parser.add_argument(
            "--learning-curve", action="store_true", help="also measure smaller train splits, by videos per class"
        )
        parser.add_argument("--vectors", choices=list(SUFFIXES), default=FLOAT32, help="format of stored vectors")
        add_name(parser)
        add_device_and_sync(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        procedure = parse_params(PROCEDURE, parse_set_options(options["set"]))
        run = measure_bias(
            None,
            descriptions_of(options),
            BiasRequest(
                task=options["task"],
                labels=options["labels"],
                encoder=options["encoder"],
                max_reading=procedure.pop(MAX_READING),
                name=options["name"],
                device=options["device"],
                options=procedure,
                class_texts=read_class_texts(options["class_texts"]) if options["class_texts"] else {},
                learning_curve=options["learning_curve"],
                vectors=options["vectors"],
            ),
        )
        state = run_or_queue(self, run.job, options["sync"])
        run.refresh_from_db()
        return {"action": "bias", "run": run.pk, "result": run.result, **notes_of(run), **state}


class Results(_ShowsBiases):
    help = "print the biases and the splits of a run"
    example = "foilworks utd results --run 1"

    def add_arguments(self, parser: CommandParser) -> None:
        add_run(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        run = row_of(BiasRun, options["bias_run"])
        check_measured(run)
        return {"action": "results", "run": run.pk, "result": run.result, **notes_of(run)}


class Items(PlainCommand):
    help = "find accepted items that can be answered from descriptions alone"
    example = "foilworks utd items --project mine --sync"

    def add_arguments(self, parser: CommandParser) -> None:
        add_descriptions(parser)
        parser.add_argument("--encoder", default="", metavar="M", help="text encoder (default: the recipe's)")
        add_device_and_sync(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        descriptions = descriptions_of(options)
        check = check_shortcuts(None, descriptions, encoder=options["encoder"], device=options["device"])
        state = run_or_queue(self, check.job, options["sync"])
        flagged = [row.item.key for row in check.found.select_related("item") if row.by_objects]
        numbers = {"check": check.pk, "n_items": check.found.count(), "answered_by_objects": flagged}
        return {"action": "items", **numbers, **state}
