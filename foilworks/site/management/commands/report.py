"""`foilworks report`: print a report on a project or on files: validation, agreement, blind audit and more."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.analyses.registry import REPORTS
from evaluation.errors import EvaluationError
from evaluation.reports.reports import project_report
from evaluation.score_files.analysis_files import READERS, read_edits
from evaluation.score_files.items import read_report_input
from foilworks.core.text.registry import load, parse_params
from foilworks.site.management.base import FoilworksCommand, cell, parse_set_options, table, table_of
from foilworks.site.management.projects import project_by_slug

MAX_WARNINGS = 20
COLUMNS = {
    "validation": (
        "name",
        "n_items",
        "n_valid",
        "n_unanimous",
        "n_valid_proficiency",
        "n_both",
        "n_lexical_items",
        "js_all",
        "js_valid",
        "alpha_all",
        "alpha_valid",
    ),
    "blind": ("name", "n_items", "solver_accuracy", "ci", "n_unjudged"),
}


class Command(FoilworksCommand):
    help = "make a report on a project or on files: validation, agreement, divergence, blind audit"
    example = (
        "foilworks report verbs --file lm.tsv --file human.tsv --format contrast --set people=human\n"
        "  foilworks report validation --file relations.json --file counting.json --json\n"
        "  foilworks report agreement --file votes.csv --set coding=shown\n"
        "  foilworks report validation --project my-benchmark --out validation.json"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        self.parser = parser
        parser.add_argument("kind", choices=sorted(REPORTS), help="; ".join(_kinds()))
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--project", metavar="SLUG", help="project to report on")
        source.add_argument(
            "--file",
            action="append",
            type=Path,
            dest="files",
            metavar="PATH",
            help="file to report on, without a database; repeatable",
        )
        parser.add_argument("--subtest", metavar="NAME", help="with --project: only this subtest")
        parser.add_argument(
            "--format", dest="file_format", metavar="F", help="with --file: format of the file (default: detected)"
        )
        parser.add_argument(
            "--scorer",
            action="append",
            default=[],
            metavar="SPEC",
            help="with blind and --file: a text-only model, such as lm:FOLDER",
        )
        parser.add_argument("--out", type=Path, metavar="FILE", help="also write the JSON to this file")
        parser.add_argument(
            "--set", action="append", metavar="NAME=VALUE", help=f"parameter of the report; repeatable. {_parameters()}"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        entry = REPORTS[options["kind"]]
        if options["scorer"] and (options["kind"] != "blind" or not options["files"]):
            self.parser.error("--scorer needs the blind report and --file; for a project, run models on its page")
        params = parse_params(entry, parse_set_options(options["set"]))
        result = self._of_files(params, **options) if options["files"] else self._of_project(params, **options)
        if options["out"]:
            _write(options["out"], result)
        return {"kind": options["kind"], **result}

    def _of_files(self, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        if options["subtest"]:
            self.parser.error("--subtest needs --project; with --file, give only the files you want")
        analysis = load(REPORTS[options["kind"]])
        if analysis.INPUT == "edits" and options["file_format"]:
            edits = read_edits(options["files"], options["file_format"])
            return {**analysis.compute(edits, **params), "warnings": []}
        if analysis.INPUT in READERS:
            if options["file_format"]:
                self.parser.error(
                    f"--format: the {options['kind']} report reads only its own JSON Lines; remove --format"
                )
            return {**analysis.compute(READERS[analysis.INPUT](options["files"]), **params), "warnings": []}
        if analysis.INPUT not in {"items", "texts", "votes"}:
            self.parser.error(f"the {options['kind']} report needs --project; it cannot be computed from a file")
        data, warnings = read_report_input(analysis.INPUT, options["files"], options["file_format"])
        for warning in warnings[:MAX_WARNINGS]:
            self.say(f"warning: {warning}")
        if len(warnings) > MAX_WARNINGS:
            self.say(f"… and {len(warnings) - MAX_WARNINGS} more warnings; --json lists all")
        found = {**analysis.compute(data, **params), "warnings": warnings}
        if not options["scorer"]:
            return found
        # Imported on request: it imports a model library.
        from evaluation.blind.scoring import preference_of_file

        return {**found, "preferences": {spec: preference_of_file(spec, data) for spec in options["scorer"]}}

    def _of_project(self, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        if options["file_format"]:
            self.parser.error("--format needs --file")
        project = project_by_slug(options["project"])
        return project_report(project, options["kind"], subtest=options["subtest"], params=params)

    def render(self, result: dict[str, Any]) -> str:
        if result["kind"] in COLUMNS:
            return table_of([*result["subtests"], result["overall"]], COLUMNS[result["kind"]])
        lists = [(key, value) for key, value in result.items() if isinstance(value, list) and value]
        plain = {key: value for key, value in result.items() if not isinstance(value, list | dict) and key != "kind"}
        plain |= {key: value for key, value in result.items() if key.endswith("ci")}
        parts = [table((result["kind"], ""), [(key, cell(value)) for key, value in plain.items()])]
        for key, value in lists:
            if isinstance(value[0], dict):
                parts.append(f"{key}\n{table_of(value, _flat(value[0]))}")
        return "\n\n".join(parts)


def _flat(record: dict[str, Any]) -> tuple[str, ...]:
    """Return the fields that fit a cell: no histograms and no objects."""
    return tuple(key for key, value in record.items() if not isinstance(value, dict | list) or key.endswith("ci"))


def _kinds() -> list[str]:
    return [f"{slug}: {entry.summary}" for slug, entry in REPORTS.items()]


def _parameters() -> str:
    """Return each parameter with its values and the reports that take it."""
    params = {param.name: param for entry in REPORTS.values() for param in entry.params}
    lines = []
    for name, param in params.items():
        values = ", ".join(param.choices) or f"default {'none' if param.default == '' else param.default}"
        kinds = ", ".join(kind for kind, entry in REPORTS.items() if name in {own.name for own in entry.params})
        lines.append(f"{name} ({values}; of {kinds}): {param.help}")
    return " ".join(lines).replace("%", "%%")


def _write(path: Path, result: dict[str, Any]) -> None:
    try:
        path.write_text(json.dumps(result, ensure_ascii=False, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise EvaluationError(f"{path}: file: cannot be written ({error.strerror}); choose another --out") from error
