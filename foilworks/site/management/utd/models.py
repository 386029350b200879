"""`foilworks utd train`, `zero-shot` and `benchmark`: evaluate models on the full, debiased and balanced split."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.errors import EvaluationError
from evaluation.utd.actions.biases import predict_samples
from evaluation.utd.actions.import_benchmark import import_benchmark
from evaluation.utd.models import BiasRun
from evaluation.utd.pages import benchmark_of
from evaluation.utd.reliability import certificate_of
from evaluation.utd.requests import PredictionRequest
from foilworks.site.management.file_options import add_columns, ignored_line
from foilworks.site.management.projects import run_or_queue
from foilworks.site.management.utd.rows import PlainCommand, add_device_and_sync, add_name, add_run, row_of

EPOCHS = 50


class _PredictsSamples(PlainCommand):
    action = ""

    def _predict(self, options: dict[str, Any], **settings: Any) -> dict[str, Any]:
        row = predict_samples(
            None,
            row_of(BiasRun, options["bias_run"]),
            PredictionRequest(options["model"], label=options["name"], device=options["device"], **settings),
        )
        return {"action": self.action, "model": row.label, **run_or_queue(self, row.job, options["sync"])}


class Train(_PredictsSamples):
    help = "train a classifier on a frozen backbone, and evaluate it on the splits"
    example = "foilworks utd train --run 1 --model backbone:MCG-NJU/videomae-base --sync"
    action = "train"

    def add_arguments(self, parser: CommandParser) -> None:
        add_run(parser)
        parser.add_argument("--model", required=True, metavar="M", help="backbone, such as backbone:ID")
        parser.add_argument("--epochs", type=int, default=EPOCHS)
        add_name(parser)
        add_device_and_sync(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        return self._predict(options, zero_shot=False, epochs=options["epochs"], rerank="")


class ZeroShot(_PredictsSamples):
    help = "evaluate an image-text model on the same samples"
    example = "foilworks utd zero-shot --run 1 --model clip:openai/clip-vit-base-patch32 --sync"
    action = "zero-shot"

    def add_arguments(self, parser: CommandParser) -> None:
        add_run(parser)
        parser.add_argument("--model", required=True, metavar="M", help="model, such as clip:ID")
        parser.add_argument(
            "--rerank", default="", metavar="M", help="model that ranks the first 128 videos again, in retrieval"
        )
        add_name(parser)
        add_device_and_sync(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        return self._predict(options, zero_shot=True, epochs=EPOCHS, rerank=options["rerank"])


class Benchmark(PlainCommand):
    help = "evaluate model answers on the full set, the debiased split and the balanced split"
    example = "foilworks utd benchmark --run 1 --file answers.csv"

    def add_arguments(self, parser: CommandParser) -> None:
        add_run(parser)
        parser.add_argument(
            "--file",
            type=Path,
            action="append",
            default=[],
            metavar="FILE",
            dest="files",
            help="import answers of a model; repeatable",
        )
        add_columns(parser)
        add_name(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        run = row_of(BiasRun, options["bias_run"])
        ignored_columns: list[str] = []
        for path in options["files"]:
            rows = import_benchmark(None, run, path, label=options["name"], columns=options["columns"])
            ignored_columns += rows[0].details["ignored_columns"]
        if ignored_columns:
            self.say(ignored_line(ignored_columns))
        benchmark = benchmark_of(run)
        if benchmark is None:
            raise EvaluationError("the run has no split or no model; give --file with a model's answers")
        certificate = certificate_of(run.result)
        return {
            "action": "benchmark",
            "run": run.pk,
            **benchmark,
            "certificate": certificate,
            "ignored_columns": ignored_columns,
        }
