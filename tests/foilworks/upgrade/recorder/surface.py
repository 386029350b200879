"""Writes what this version shows to people and programs: runs in the checkout of 4fafc4b.

`python surface.py OUT` writes OUT/surface.json: the names and patterns of all addresses, the API's document, every
command with its options, the variables of the environment, the jobs, the slugs that rows may hold, the API client.
"""

import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import django

django.setup()

from django.core.management import load_command_class
from django.urls import URLResolver, get_resolver
from lent import queued_jobs

from foilworks.api.api import api
from foilworks.cli import own_commands

CHECKOUT = Path.cwd()
# Name -> where its table of slugs is.
TABLES = {
    "methods": "generation.methods.table:METHODS",
    "filters": "generation.filters.table:FILTERS",
    "caption makers": "generation.captioning.table:CAPTIONERS",
    "importers": "corpus.importers.table:IMPORTERS",
    "exporters": "corpus.exporters.table:EXPORTERS",
    "reports": "evaluation.analyses.table:REPORTS",
    "analyses": "evaluation.analyses.table:OF_SCORES",
    "metrics": "evaluation.metrics.table:METRICS",
    "adapters": "hub.table:EVERY",
    "protocols": "evaluation.scoring.protocols:PROTOCOLS",
    "recipes of UTD": "evaluation.bias.recipes:RECIPES",
}


def main(out: Path) -> None:
    found = {
        "addresses": dict(patterns(get_resolver())),
        "api": api.get_openapi_schema(path_prefix="/api/"),
        "commands": {name: command(name) for name in own_commands()},
        "settings": variables(),
        "jobs": sorted(queued_jobs()),
        "slugs": {name: sorted(slugs(place)) for name, place in TABLES.items()},
        "client": {path.name: path.read_text(encoding="utf-8")
                   for path in (CHECKOUT / "foilworks/client").glob("*.py")},
    }
    (out / "surface.json").write_text(json.dumps(found, sort_keys=True, default=str), encoding="utf-8")


def patterns(resolver: URLResolver, prefix: str = "", path: str = "/") -> Iterator[tuple[str, str]]:
    """Full name -> its path with placeholders."""
    for entry in resolver.url_patterns:
        place = path + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from patterns(entry, f"{prefix}{entry.namespace}:" if entry.namespace else prefix, place)
        else:
            yield f"{prefix}{entry.name}", place


def command(name: str) -> dict[str, Any]:
    parser = load_command_class("foilworks", name).create_parser("foilworks", name)
    options = [{"flags": one.option_strings, "name": one.dest, "required": one.required,
                "choices": None if one.choices is None else list(one.choices)}
               for one in parser._actions]  # fmt: skip
    return {"help": parser.format_help(), "options": options}


def variables() -> list[str]:
    """Those that scripts/environment.py tells of."""
    page = (CHECKOUT / "docs/reference/environment.md").read_text(encoding="utf-8")
    return sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))


def slugs(place: str) -> Iterator[str]:
    module, _, name = place.partition(":")
    yield from getattr(import_module(module), name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
