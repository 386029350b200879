"""`foilworks export`: a release as a folder of files."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from corpus.exporters.table import EXPORTERS
from evaluation.exchange.collect import collect_release
from evaluation.queries import project_named, release_named
from foilworks.management.base import FoilworksCommand
from text.registry import load, lookup, parse_params


class Command(FoilworksCommand):
    help = "writes a release into a new folder: whole, or not at all"
    example = "foilworks export foilworks --project my-benchmark --release 1 --out my-benchmark-v1"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("format", choices=sorted(EXPORTERS), metavar="FORMAT", help=_formats())
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--release", required=True, metavar="ID", help="id, name or content hash of the release")
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="a folder that is new or empty")

    def run(self, **options: Any) -> dict[str, Any]:
        release = release_named(options["release"], project_named(options["project"]))
        entry = lookup(EXPORTERS, options["format"], "format")
        exporter, out = load(entry), options["out"].absolute()
        content = collect_release(release, tables=exporter.USES_TABLES)
        written = exporter.write(content, out, params=parse_params(entry, {}))
        return {
            "format": options["format"],
            "project": options["project"],
            "release": release.pk,
            "hash": release.content_hash,
            "out": str(out),
            "files": [path.relative_to(out).as_posix() for path in written],
        }

    def render(self, result: dict[str, Any]) -> str:
        return f"{result['hash']}  {result['out']} ({len(result['files'])} files)"


def _formats() -> str:
    return "; ".join(f"{slug}: {entry.summary}" for slug, entry in EXPORTERS.items()).replace("%", "%%")
