"""`foilworks utd`: unbias through textual descriptions, on a project or from files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.errors import EvaluationError
from evaluation.scoring.queries import project_named
from evaluation.utd.actions.biases import READINGS, check_shortcuts, measure_bias, predict_samples
from evaluation.utd.actions.descriptions import describe_videos, import_descriptions
from evaluation.utd.actions.import_benchmark import import_benchmark
from evaluation.utd.actions.import_splits import import_splits
from evaluation.utd.class_texts import read_class_texts
from evaluation.utd.downloads import FILES
from evaluation.utd.instructions import CLASSIFICATION, TASKS
from evaluation.utd.models import BiasRun, Descriptions
from evaluation.utd.needs import told
from evaluation.utd.newest import check_measured, newest_descriptions
from evaluation.utd.pages import benchmark_of
from evaluation.utd.predictions import read_predictions
from evaluation.utd.procedure import AS_PUBLISHED, CHOICES
from evaluation.utd.prompt_sets import PLACEMENTS, read_prompts
from evaluation.utd.recipes import DEMO_ONLY, PAPER, RECIPES
from evaluation.utd.reliability import certificate_of
from evaluation.utd.subsets import keys_in
from evaluation.utd.utd_files import described_videos_of, objects_lines, published_descriptions_of
from evaluation.utd.vector_formats import FLOAT32, SUFFIXES
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import run_now
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.columns import add_columns, ignored_line
from foilworks.site.management.utd_text import (
    NO_SPLIT,
    bias_lines,
    described_lines,
    exported_lines,
    is_demo,
    queued_lines,
)

ACTIONS = {
    "describe": "describe frames of a project's videos, and extract concepts from the descriptions",
    "import": "import descriptions of frames (JSON)",
    "bias": "measure the 16 biases of a data set from its descriptions, and make debiased splits",
    "split": "make debiased splits from a file: remove samples that all nine models solve from objects "
    "alone, and the same number balanced by class",
    "bring": "import predictions of nine models, or splits, as a run of a project",
    "benchmark": "evaluate model answers on the full set, the debiased split and the balanced split",
    "train": "train a classifier on a frozen backbone, and evaluate it on the splits",
    "zero-shot": "evaluate an image-text model on the same samples",
    "items": "find accepted items that can be answered from descriptions alone",
    "export": "export splits, predictions, tables and descriptions of a run",
}
SHOWN = 20


class Command(FoilworksCommand):
    help = "measure representation bias of a data set, and make debiased splits (UTD)"
    example = (
        "foilworks utd describe --project mine --sync\n"
        "  foilworks utd bias --project mine --task classification --sync\n"
        "  foilworks utd export --run 1 --out debiased/\n"
        "  foilworks utd split --predictions nine-models.csv --json"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=sorted(ACTIONS), help="; ".join(f"{k}: {v}" for k, v in ACTIONS.items()))
        parser.add_argument(
            "--predictions",
            type=Path,
            metavar="FILE",
            help="CSV: sample,class,correct_1..correct_9,confidence (retrieval: without class and confidence)",
        )
        parser.add_argument(
            "--project", metavar="SLUG", help="describe, import, bring: project; bias, items: its newest descriptions"
        )
        parser.add_argument(
            "--file", type=Path, action="append", default=[], metavar="FILE", help="what the file contains"
        )
        add_columns(parser)
        parser.add_argument("--recipe", choices=sorted(RECIPES), default=PAPER, help="describe: recipe with the models")
        parser.add_argument("--describer", default="", metavar="M", help="describing model: vlm:ID or endpoint:NAME")
        parser.add_argument("--extractor", default="", metavar="M", help="extracting model: chat:ID or endpoint:NAME")
        parser.add_argument("--max-requests", type=int, metavar="N", help="describe: max requests to endpoints")
        parser.add_argument(
            "--max-tokens", type=int, metavar="N", help="describe: max input and output tokens at endpoints"
        )
        parser.add_argument(
            "--frames", type=int, default=0, metavar="N", help="frames per video (default: the recipe's)"
        )
        parser.add_argument("--descriptions", type=int, metavar="ID", help="bias, items: id of the descriptions")
        parser.add_argument(
            "--task", choices=TASKS, default="", help="bias, bring: task (bias: classification unless given)"
        )
        parser.add_argument(
            "--labels", default="", metavar="L", help="field with the class: class_label, category or facts:NAME"
        )
        parser.add_argument("--encoder", default="", metavar="M", help="text encoder (default: the recipe's)")
        parser.add_argument("--max-reading", choices=READINGS, default=READINGS[0], help="rule for the max-score frame")
        add_procedure(parser)
        parser.add_argument("--vectors", choices=list(SUFFIXES), default=FLOAT32, help="bias: format of stored vectors")
        parser.add_argument(
            "--run", type=int, metavar="ID", dest="bias_run", help="id of a run; bias: print its results"
        )
        parser.add_argument(
            "--model", default="", metavar="M", help="train: backbone; zero-shot: model, such as clip:ID"
        )
        parser.add_argument("--epochs", type=int, default=50)
        parser.add_argument("--name", default="", help="name on pages")
        parser.add_argument("--out", type=Path, metavar="DIR", help="export: output folder")
        parser.add_argument("--device", default="auto", metavar="D", help="device: auto, cpu, cuda or cuda:N")
        parser.add_argument("--split", default="", help="describe: only videos of this split")
        parser.add_argument("--videos", type=Path, metavar="FILE", help="describe: only these videos; one key per line")
        parser.add_argument("--sync", action="store_true", help="run now instead of queueing a job")

    def run(self, **options: Any) -> dict[str, Any]:
        doing: Callable[[dict[str, Any]], dict[str, Any]] = getattr(self, f"_{options['action'].replace('-', '_')}")
        result = {"action": options["action"], **doing(options)}
        if result.get("ignored_columns"):
            self.say(ignored_line(result["ignored_columns"]))
        return result

    def _describe(self, given: dict[str, Any]) -> dict[str, Any]:
        made = describe_videos(
            None,
            project_named(_needed(given, "project")),
            recipe=given["recipe"],
            describer=given["describer"],
            extractor=given["extractor"],
            frames=given["frames"],
            name=given["name"],
            device=given["device"],
            budget={name: value for name in ("requests", "tokens") if (value := given[f"max_{name}"]) is not None},
            **_subset(given),
            prompts=read_prompts(given["prompts"]) if given["prompts"] else {},
            placement=given["placement"],
        )
        return {"descriptions": made.pk, **self._done(made.job, given)}

    def _import(self, given: dict[str, Any]) -> dict[str, Any]:
        project = project_named(_needed(given, "project"))
        files, extractor = _needed(given, "file"), given["extractor"]
        made = import_descriptions(None, project, files, name=given["name"], extractor=extractor)
        return {"descriptions": made.pk, "problems": made.problems, **self._done(made.job, given)}

    def _bias(self, given: dict[str, Any]) -> dict[str, Any]:
        if given["bias_run"]:
            shown = _row(BiasRun, given["bias_run"])
            check_measured(shown)
            return {"run": shown.pk, "result": shown.result, **notes_of(shown)}
        made = measure_bias(
            None,
            _described(given),
            task=given["task"] or CLASSIFICATION,
            labels=given["labels"],
            encoder=given["encoder"],
            max_reading=given["max_reading"],
            name=given["name"],
            device=given["device"],
            options={name: given[name] for name in (*CHOICES, "c")},
            class_texts=read_class_texts(given["class_texts"]) if given["class_texts"] else {},
            learning_curve=given["learning_curve"],
            vectors=given["vectors"],
        )
        done = self._done(made.job, given)
        made.refresh_from_db()
        return {"run": made.pk, "result": made.result, **notes_of(made), **done}

    def _split(self, given: dict[str, Any]) -> dict[str, Any]:
        found = read_predictions(_needed(given, "predictions"), given["columns"])
        made = found.split()
        balanced = None if made.removed_balanced is None else found.ids_at(made.removed_balanced)
        return {
            "n": len(found.ids),
            "n_biased": len(made.removed),
            "share_biased": len(made.removed) / len(found.ids),
            "kappa": made.kappa,
            "removed": found.ids_at(made.removed),
            "removed_balanced": balanced,
            "ignored_columns": list(found.ignored_columns),
        }

    def _bring(self, given: dict[str, Any]) -> dict[str, Any]:
        project = project_named(_needed(given, "project"))
        (path,) = _one(_needed(given, "file"))
        made = import_splits(None, project, path, name=given["name"], columns=given["columns"], task=given["task"])
        result, ignored = made.result or {}, made.params["ignored_columns"]
        found = {name: result[name] for name in ("split", "matched")}
        return {"run": made.pk, "task": made.task, **found, "ignored_columns": ignored}

    def _benchmark(self, given: dict[str, Any]) -> dict[str, Any]:
        run = _row(BiasRun, _needed(given, "bias_run"))
        ignored: list[str] = []
        for path in given["file"]:
            rows = import_benchmark(None, run, path, label=given["name"], columns=given["columns"])
            ignored += rows[0].details["ignored_columns"]
        found = benchmark_of(run)
        if found is None:
            raise EvaluationError("the run has no split or no model; give --file with a model's answers")
        return {"run": run.pk, **found, "certificate": certificate_of(run.result), "ignored_columns": ignored}

    def _train(self, given: dict[str, Any]) -> dict[str, Any]:
        return self._answered(given, zero_shot=False)

    def _zero_shot(self, given: dict[str, Any]) -> dict[str, Any]:
        return self._answered(given, zero_shot=True)

    def _answered(self, given: dict[str, Any], zero_shot: bool) -> dict[str, Any]:
        run, model = _row(BiasRun, _needed(given, "bias_run")), _needed(given, "model")
        row = predict_samples(
            None,
            run,
            model,
            zero_shot=zero_shot,
            label=given["name"],
            epochs=given["epochs"],
            device=given["device"],
            rerank=given["rerank"],
        )
        return {"model": row.label, **self._done(row.job, given)}

    def _items(self, given: dict[str, Any]) -> dict[str, Any]:
        told = _described(given)
        check = check_shortcuts(None, told, encoder=given["encoder"], device=given["device"])
        done = self._done(check.job, given)
        flagged = [row.item.key for row in check.found.select_related("item") if row.by_objects]
        return {"check": check.pk, "n_items": check.found.count(), "answered_by_objects": flagged, **done}

    def _export(self, given: dict[str, Any]) -> dict[str, Any]:
        run, out = _row(BiasRun, _needed(given, "bias_run")), _needed(given, "out")
        check_measured(run)
        out.mkdir(parents=True, exist_ok=True)
        written = []
        for (what, extension), make in FILES.items():
            if (found := make(run)) is not None:
                (out / f"{what}.{extension}").write_bytes(found[0])
                written.append(f"{what}.{extension}")
        if run.descriptions is not None:
            published = published_descriptions_of(run.descriptions)
            for name, videos in {"descriptions.json": described_videos_of(run.descriptions), **published}.items():
                with (out / name).open("w", encoding="utf-8") as file:
                    for piece in json.JSONEncoder(ensure_ascii=False).iterencode(videos):
                        file.write(piece)
                written.append(name)
            (out / "objects.jsonl").write_text("".join(objects_lines(run.descriptions)), encoding="utf-8")
            written.append("objects.jsonl")
        return {"run": run.pk, "out": str(out), "files": written, **notes_of(run)}

    def _done(self, job: Job | None, given: dict[str, Any]) -> dict[str, Any]:
        if job is None:
            return {}
        if given["sync"]:
            return {"job": str(job.pk), "state": run_now(job).state}
        self.say_if_no_worker()
        return {"job": str(job.pk), "state": job.state}

    def render(self, result: dict[str, Any]) -> str:
        action = result["action"]
        if action == "split":
            return _split_text(result)
        if action in {"describe", "import", "bias"} and result.get("state", "done") != "done":
            return "\n".join(queued_lines(result))
        if action in {"describe", "import"}:
            return "\n".join(described_lines(Descriptions.objects.get(pk=result["descriptions"])))
        if action == "bias" and (result["result"] or {}).get("common"):
            return "\n".join(bias_lines(BiasRun.objects.get(pk=result["run"]), result.get("warnings", ())))
        if action == "export":
            return "\n".join(exported_lines(result))
        shown = {key: value for key, value in result.items() if key not in {"action", "result"}}
        return json.dumps(shown, ensure_ascii=False, indent=2)


# The help of each choice; its first value is what the authors do.
CHOICE_HELP = {
    "texts": "bias: texts as the authors publish them, or without repeated objects and with full stops",
    "empty_frames": "bias: skip frames without a text, or embed “No activity is visible.”",
    "numbering": "bias: “Frame #1:” as in the authors' code, or “Frame 1:” as in the paper",
    "captions": "bias: mean of a video's captions in retrieval, or the first one",
    "ties": "bias: videos that tie for the first rank in retrieval are wrong, or share it",
    "bootstrap": "bias: bootstrap of the whole train split, or stratified by class",
}


def add_procedure(parser: CommandParser) -> None:
    """Add own prompts, the named choices of the procedure, and re-ranking."""
    parser.add_argument("--prompts", type=Path, metavar="FILE", help="describe: own prompts and examples (JSON)")
    parser.add_argument(
        "--placement",
        choices=PLACEMENTS,
        default="",
        help="describe: start of the answer after the question (default of local models) or at its end",
    )
    for name, values in CHOICES.items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(
            option, choices=values, default=values[0], help=f"{CHOICE_HELP[name]} (default: {values[0]})"
        )
    parser.add_argument(
        "--c", type=float, default=AS_PUBLISHED.c, metavar="C", help="bias: scikit-learn's C of every regression"
    )
    parser.add_argument(
        "--class-texts", type=Path, metavar="FILE", help="bias: CSV class_name,class_text: text to embed per class"
    )
    parser.add_argument(
        "--rerank", default="", metavar="M", help="zero-shot: model that ranks the first 128 videos again, in retrieval"
    )
    parser.add_argument(
        "--learning-curve", action="store_true", help="bias: also measure smaller train splits, by videos per class"
    )


def notes_of(run: BiasRun) -> dict[str, Any]:
    """Return the warnings about a run: texts that are missing, and nine models that are too weak."""
    result = run.result or {}
    nine = (result.get("split") or {}).get("nine") or {}
    no_split = [NO_SPLIT] if result.get("common") and not result.get("split") else []
    demo = [DEMO_ONLY] if is_demo(run.descriptions) else []
    found = [*demo, *told(result.get("missing") or []), *nine.get("warnings", []), *no_split]
    return {"warnings": found} if found else {}


def _subset(given: dict[str, Any]) -> dict[str, Any]:
    return {"split": given["split"], "videos": keys_in(given["videos"]) if given["videos"] else ()}


def _needed(given: dict[str, Any], name: str) -> Any:
    if not given[name]:
        option = "--run" if name == "bias_run" else f"--{name}"
        raise EvaluationError(f"utd {given['action']}: {option} is missing; add it, see `foilworks utd --help`")
    return given[name]


def _described(given: dict[str, Any]) -> Descriptions:
    """Return the descriptions with the given id, or the newest ones of the given project."""
    if given["descriptions"] or not given["project"]:
        if not given["descriptions"]:
            raise EvaluationError(
                f"utd {given['action']}: --project is missing; add it to use its newest descriptions, or give their id "
                "with --descriptions"
            )
        return _row(Descriptions, given["descriptions"])
    return newest_descriptions(project_named(given["project"]))


def _one(files: list[Path]) -> list[Path]:
    if len(files) != 1:
        raise EvaluationError("give exactly one --file")
    return files


def _row(table: Any, pk: int) -> Any:
    found = table.objects.filter(pk=pk).select_related("project").first()
    if found is None:
        known = ", ".join(map(str, table.objects.order_by("-pk").values_list("pk", flat=True)[:SHOWN])) or "none yet"
        raise EvaluationError(f"id {pk} not found; choose one of: {known}")
    return found


def _split_text(result: dict[str, Any]) -> str:
    kappa = "undefined" if result["kappa"] is None else f"{100 * result['kappa']:.1f}"
    share = f"{result['n_biased']} of {result['n']} samples ({100 * result['share_biased']:.1f} %)"
    lines = [
        f"{share} are object-biased; Fleiss' kappa of the nine models × 100: {kappa}",
        f"removed from the split: {_some(result['removed'])}",
    ]
    if result["removed_balanced"] is not None:
        lines.append(f"removed from the balanced split: {_some(result['removed_balanced'])}")
    return "\n".join(lines)


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:SHOWN]) or "none"
    return shown + (f", and {len(names) - SHOWN} more (--json lists all)" if len(names) > SHOWN else "")
