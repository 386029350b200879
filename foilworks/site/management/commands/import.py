# ruff: noqa: N999 - the command is called import
"""`foilworks import`: import a file of videos, captions and items into a project."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.site.imports.batch import ImportResult
from foilworks.site.imports.hub_files import local_records
from foilworks.site.imports.recipes import save_recipe
from foilworks.site.imports.store import analyze_after_bulk_import, import_records
from foilworks.site.management.base import FoilworksCommand, listed, one_line, parse_set_options, table
from foilworks.site.management.projects import project_to_fill
from foilworks.site.management.table_options import add_table_options, set_help, table_params

SHOWN = 20


class Command(FoilworksCommand):
    help = "import a file into a project; store valid records, list invalid ones, skip unchanged ones"
    example = (
        "foilworks import vilma relations.json --project my-benchmark --media clips/\n"
        "  foilworks import table pairs.csv --project mine --create --column video=clip "
        "--column caption=sentence --column foils=wrong --dry-run"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("format", choices=sorted(IMPORTERS), metavar="FORMAT", help=listed(IMPORTERS))
        parser.add_argument(
            "path", metavar="PATH", help="file to import, or an address hf://datasets/OWNER/NAME@REVISION/PATH"
        )
        parser.add_argument("--project", required=True, metavar="SLUG", help="project to import into")
        parser.add_argument("--create", action="store_true", help="create the project if it does not exist")
        parser.add_argument("--media", type=Path, metavar="DIR", help="folder of the video files, found by name or id")
        parser.add_argument(
            "--set",
            action="append",
            metavar="NAME=VALUE",
            help=f"parameter of the format; repeatable; table: one text for all records (split=test), or {set_help()}",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="preview what is new, unchanged or different; store nothing"
        )
        parser.add_argument(
            "--update",
            action="store_true",
            help="change stored records that differ to the file's values, unless somebody has worked on them",
        )
        parser.add_argument(
            "--as-published",
            action="store_true",
            help="count items as valid on the publisher's word, unless the file has votes; releases state this",
        )
        parser.add_argument("--strict", action="store_true", help="store nothing if a record is invalid; exit status 1")
        add_table_options(parser)

    def run(self, **options: Any) -> dict[str, Any]:
        options["path"], origin, _subtest = local_records(options["path"])
        project = project_to_fill(options["project"], create=options["create"])
        params = table_params(options["format"], project, options, parse_set_options(options["set"]))

        def stored(result: ImportResult) -> None:
            if options["save_recipe"]:
                save_recipe(project, params["mapping"], options["path"], result)

        result = import_records(
            project,
            None,
            options["format"],
            options["path"],
            media_dir=options["media"],
            dry_run=options["dry_run"],
            strict=options["strict"],
            update=options["update"],
            as_published=options["as_published"],
            params=params,
            progress=self.progress,
            stored=stored,
        )
        if not result.dry_run:
            analyze_after_bulk_import(result)
        return {**result.as_json(), "origin": dict(origin)}

    def render(self, result: dict[str, Any]) -> str:
        if origin := result["origin"]:
            self.say(
                one_line(f"{origin['address']}: revision {origin['revision']}, licence {origin['licence'] or '-'}")
            )
        if result["columns"]:
            self.say(one_line(f"columns: {result['columns']}"))
        for kind in ("errors", "warnings"):
            self._list(kind, result[kind])
        if named := result["missing"]:
            left = result["media"]["missing"] - len(named)
            told = ", ".join(_missing(key, result["similar"]) for key in named)
            have = _counted(result["media"]["missing"], "video has", "videos have")
            self.say(one_line(f"{have} no file yet: {told}{_more(left)}; {_how_to_attach(result)}"))
        self._list("broken", [f"{clip['video']}: {clip['error']}" for clip in result["broken"]])
        self._list("converted", _conversions(result["converted"]))
        self._list("changed", [_change(change) for change in result["changes"]])
        rows = [(kind, count, result["unchanged"].get(kind)) for kind, count in result["created"].items()]
        if result["without_captions"] == result["records"] - len(result["errors"]) > 0:
            rows = [row for row in rows if row[0] == "videos"]
        media = ", ".join(f"{count} {state}" for state, count in result["media"].items())
        bad = f"{len(result['errors'])} of {result['records']} records are invalid, {len(result['warnings'])} warnings"
        diff = ", ".join(f"{result[kind]} {kind}" for kind in ("new", "same", "changed", "updated"))
        tail = "nothing was stored (--dry-run)" if result["dry_run"] else f"stored in {result['project']}"
        if n := result["as_published"]:
            diff += f"; {n} new items count as valid on the publisher's word"
        if n := result["without_captions"]:
            classes = _counted(result["n_classes"], "class", "classes")
            media += f"\n{_counted(n, 'video', 'videos')}, no captions; {classes}; {_splits(result['splits'])}"
        if n := result["pairs"]:
            diff += f"; {n} pairs of two clips"
        return f"{table(('', 'created', 'unchanged'), rows)}\nvideos: {media}\n{diff}\n{bad}; {tail}{_next(result)}"

    def _list(self, kind: str, lines: list[str]) -> None:
        for line in lines[:SHOWN]:
            self.say(one_line(f"{kind.removesuffix('s')}: {line}"))
        if len(lines) > SHOWN:
            self.say(f"… and {len(lines) - SHOWN} more {kind}; --json lists all")


def _conversions(converted: list[dict[str, str]]) -> list[str]:
    """Return one line per conversion, with the first clips that it was applied to."""
    found: dict[str, list[str]] = {}
    for clip in converted:
        found.setdefault(clip["conversion"], []).append(clip["video"])
    return [f"{', '.join(keys[:3])}{_more(len(keys) - 3)}: {conversion}" for conversion, keys in found.items()]


def _more(n: int) -> str:
    return f" and {n} more" if n > 0 else ""


def _counted(n: int, one: str, several: str) -> str:
    return f"{n} {one if n == 1 else several}"


def _splits(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {split or 'without a split'}" for split, count in counts.items())


def _next(result: dict[str, Any]) -> str:
    """Return the next command for a list of videos with classes: nothing else uses videos without captions."""
    if result["dry_run"] or not result["n_classes"] or result["media"]["missing"]:
        return ""
    return f"\nnext: `foilworks utd describe --project {result['project']}` (bias of the classes)"


def _missing(key: str, similar: dict[str, str]) -> str:
    return f"{key} (did you mean {similar[key]}?)" if key in similar else key


def _change(change: dict[str, Any]) -> str:
    fields = "; ".join(f"{name}: {both['stored']!r} -> {both['file']!r}" for name, both in change["fields"].items())
    tail = "" if change["updated"] else " (not changed; give --update to take the file's value)"
    return f"{change['record']}: {change['id']}: {fields}{tail}"


def _how_to_attach(result: dict[str, Any]) -> str:
    if result["dry_run"]:
        return "name their folder with --media, or attach them later with `foilworks attach`"
    return f"attach them with `foilworks attach --project {result['project']} --media DIR`"
