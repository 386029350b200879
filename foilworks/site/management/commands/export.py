"""`foilworks export`: write a release as a folder of files."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.scoring.queries import release_named
from foilworks.core.corpus.export_formats.parts.folder import manifest_hash
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.text.registry import load, lookup, parse_params
from foilworks.site.exports.collect import export_content, write_export
from foilworks.site.exports.signature import public_key
from foilworks.site.management.base import FoilworksCommand, listed, parse_set_options
from foilworks.site.management.projects import project_by_slug


class Command(FoilworksCommand):
    help = "export a release, or the current records of a project, to a new folder, all or nothing"
    example = "foilworks export foilworks --project my-benchmark --release 1 --out my-benchmark-v1"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("format", choices=sorted(EXPORTERS), metavar="FORMAT", help=listed(EXPORTERS))
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--release",
            metavar="ID",
            help="id, name or content hash of the release (default: the current records of the project)",
        )
        parser.add_argument("--set", action="append", metavar="NAME=VALUE", help="parameter of the format; repeatable")
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="new or empty folder")

    def run(self, **options: Any) -> dict[str, Any]:
        project = project_by_slug(options["project"])
        release = release_named(options["release"], project) if options["release"] else None
        entry = lookup(EXPORTERS, options["format"], "format")
        params = parse_params(entry, parse_set_options(options["set"]))
        exporter, out = load(entry), options["out"].absolute()
        content = export_content(exporter, project, release, self.progress)
        written = write_export(options["format"], exporter, content, out, params)
        return {
            "format": options["format"],
            **({"plugin": entry.origin} if entry.origin else {}),
            "project": options["project"],
            "release": release and release.pk,
            "hash": release.content_hash if release else "",
            "manifest": manifest_hash(out),
            "public_key": public_key(),
            "out": str(out),
            "files": [path.relative_to(out).as_posix() for path in written],
        }

    def render(self, result: dict[str, Any]) -> str:
        told = f"{result['hash'] or 'current records'}  {result['out']} ({len(result['files'])} files)"
        note = "publish this hash, so that others can run `foilworks verify DIR --expect HASH`"
        return f"{told}\nmanifest {result['manifest']}: {note}\nsigned by {result['public_key']}"
