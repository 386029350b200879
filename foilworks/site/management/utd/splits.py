"""`foilworks utd split`, `bring` and `export`: debiased splits from files, into projects, into files."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.utd.actions.import_splits import import_splits
from evaluation.utd.downloads import FILES
from evaluation.utd.instructions import TASKS
from evaluation.utd.models import BiasRun, Descriptions
from evaluation.utd.newest import check_measured
from evaluation.utd.predictions import read_predictions
from evaluation.utd.utd_files import described_videos_of, objects_lines, published_descriptions_of
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.file_options import add_columns, ignored_line
from foilworks.site.management.projects import project_by_slug
from foilworks.site.management.utd.rows import MAX_LISTED, PlainCommand, add_file, add_name, add_run, notes_of, row_of
from foilworks.site.management.utd.text import exported_lines


class Split(FoilworksCommand):
    help = (
        "make debiased splits from a file: remove samples that all nine models solve from objects alone, and the same "
        "number balanced by class"
    )
    example = "foilworks utd split --predictions nine-models.csv --json"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--predictions",
            type=Path,
            required=True,
            metavar="FILE",
            help="CSV: sample,class,correct_1..correct_9,confidence (retrieval: without class and confidence)",
        )
        add_columns(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        predictions = read_predictions(options["predictions"], options["columns"])
        split = predictions.split()
        if predictions.ignored_columns:
            self.say(ignored_line(predictions.ignored_columns))
        balanced = None if split.removed_balanced is None else predictions.ids_at(split.removed_balanced)
        return {
            "action": "split",
            "n": len(predictions.ids),
            "n_biased": len(split.removed),
            "share_biased": len(split.removed) / len(predictions.ids),
            "kappa": split.kappa,
            "removed": predictions.ids_at(split.removed),
            "removed_balanced": balanced,
            "ignored_columns": list(predictions.ignored_columns),
        }

    def render(self, result: dict[str, Any]) -> str:
        kappa = "undefined" if result["kappa"] is None else f"{100 * result['kappa']:.1f}"
        share = f"{result['n_biased']} of {result['n']} samples ({100 * result['share_biased']:.1f} %)"
        lines = [
            f"{share} are object-biased; Fleiss' kappa of the nine models × 100: {kappa}",
            f"removed from the split: {_listed(result['removed'])}",
        ]
        if result["removed_balanced"] is not None:
            lines.append(f"removed from the balanced split: {_listed(result['removed_balanced'])}")
        return "\n".join(lines)


class Bring(PlainCommand):
    help = "import predictions of nine models, or splits, as a run of a project"
    example = "foilworks utd bring --project mine --file splits.json"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        add_file(parser, "predictions (CSV) or splits (JSON)")
        parser.add_argument("--task", choices=TASKS, default="", help="override the task of the file")
        add_columns(parser)
        add_name(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        project, params = (
            project_by_slug(options["project"]),
            {name: options[name] for name in ("name", "columns", "task")},
        )
        run = import_splits(None, project, options["file"], **params)
        ignored_columns = run.params["ignored_columns"]
        if ignored_columns:
            self.say(ignored_line(ignored_columns))
        splits = {name: (run.result or {})[name] for name in ("split", "matched")}
        return {"action": "bring", "run": run.pk, "task": run.task, **splits, "ignored_columns": ignored_columns}


class Export(FoilworksCommand):
    help = "export splits, predictions, tables and descriptions of a run"
    example = "foilworks utd export --run 1 --out debiased/"

    def add_arguments(self, parser: CommandParser) -> None:
        add_run(parser)
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="output folder")

    def run(self, **options: Any) -> dict[str, Any]:
        run, folder = row_of(BiasRun, options["bias_run"]), options["out"]
        check_measured(run)
        folder.mkdir(parents=True, exist_ok=True)
        names = []
        for (name, extension), contents_of in FILES.items():
            if (contents := contents_of(run)) is not None:
                (folder / f"{name}.{extension}").write_bytes(contents[0])
                names.append(f"{name}.{extension}")
        if run.descriptions is not None:
            names += _write_descriptions(run.descriptions, folder)
        return {"action": "export", "run": run.pk, "out": str(folder), "files": names, **notes_of(run)}

    def render(self, result: dict[str, Any]) -> str:
        return "\n".join(exported_lines(result))


def _write_descriptions(descriptions: Descriptions, folder: Path) -> list[str]:
    names = []
    published = published_descriptions_of(descriptions)
    for name, videos in {"descriptions.json": described_videos_of(descriptions), **published}.items():
        with (folder / name).open("w", encoding="utf-8") as file:
            for text in json.JSONEncoder(ensure_ascii=False).iterencode(videos):
                file.write(text)
        names.append(name)
    (folder / "objects.jsonl").write_text("".join(objects_lines(descriptions)), encoding="utf-8")
    return [*names, "objects.jsonl"]


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:MAX_LISTED]) or "none"
    return shown + (f", and {len(names) - MAX_LISTED} more (--json lists all)" if len(names) > MAX_LISTED else "")
