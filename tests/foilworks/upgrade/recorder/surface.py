"""Write what this version shows to people and programs: runs in the checkout of cc592f35.

`python surface.py OUT` writes OUT/surface.json: the names and patterns of all addresses, the API's document, every
command with its options, the variables of the environment, the jobs, the slugs that rows may contain, the API client.
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
from shared import queued_jobs

from foilworks.api.api import api
from foilworks.cli import own_commands

CHECKOUT = Path.cwd()
# Name -> location of its registry of slugs.
REGISTRIES = {
    "methods": "generation.methods.registry:METHODS",
    "filters": "generation.filters.registry:FILTERS",
    "caption makers": "generation.captioning.registry:CAPTIONERS",
    "importers": "corpus.importers.registry:IMPORTERS",
    "exporters": "corpus.exporters.registry:EXPORTERS",
    "reports": "evaluation.analyses.registry:REPORTS",
    "analyses": "evaluation.analyses.registry:OF_SCORES",
    "metrics": "evaluation.metrics.registry:METRICS",
    "adapters": "hub.adapters.registry:EVERY",
    "protocols": "evaluation.scoring.protocols:PROTOCOLS",
    "recipes of UTD": "evaluation.utd.recipes:RECIPES",
}


def main(out: Path) -> None:
    client = (CHECKOUT / "foilworks/client").glob("*.py")
    surface = {
        "addresses": dict(patterns(get_resolver())),
        "api": api.get_openapi_schema(path_prefix="/api/"),
        "commands": {name: command(name) for name in own_commands()},
        "settings": settings_of_the_page(),
        "jobs": sorted(queued_jobs()),
        "slugs": {name: sorted(slugs(location)) for name, location in REGISTRIES.items()},
        "client": {path.name: path.read_text(encoding="utf-8") for path in client},
    }
    (out / "surface.json").write_text(json.dumps(surface, sort_keys=True, default=str), encoding="utf-8")


def patterns(resolver: URLResolver, prefix: str = "", path: str = "/") -> Iterator[tuple[str, str]]:
    """Yield the full name of each pattern, and its path with placeholders."""
    for entry in resolver.url_patterns:
        pattern = path + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from patterns(entry, f"{prefix}{entry.namespace}:" if entry.namespace else prefix, pattern)
        else:
            yield f"{prefix}{entry.name}", pattern


def command(name: str) -> dict[str, Any]:
    parser = load_command_class("foilworks", name).create_parser("foilworks", name)
    options = [
        {
            "flags": action.option_strings,
            "name": action.dest,
            "required": action.required,
            "choices": None if action.choices is None else list(action.choices),
        }
        for action in parser._actions
    ]
    return {"options": options}


def settings_of_the_page() -> list[str]:
    """Return the settings of this version, without names of older ones."""
    page = (CHECKOUT / "docs/reference/environment.md").read_text(encoding="utf-8").partition("## Names before")[0]
    return sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))


def slugs(location: str) -> Iterator[str]:
    module, _, name = location.partition(":")
    yield from getattr(import_module(module), name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
