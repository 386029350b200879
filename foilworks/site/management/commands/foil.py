"""`foilworks foil`: try a foil method on captions."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foilworks import library
from foilworks.site.management.base import FoilworksCommand, parse_set_options
from generation.errors import GenerationError
from generation.methods.registry import METHODS
from generation.records import MODES


class Command(FoilworksCommand):
    help = "try a foil method on captions, without a project; show its foils, and why it skips captions"
    example = 'foilworks foil --method number --caption "A man claps exactly three times." --seed 1'

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--method", required=True, metavar="SLUG", help="one of: " + ", ".join(sorted(METHODS)))
        parser.add_argument(
            "--mode",
            choices=MODES,
            default="corrected",
            help="paper: as published; corrected: with known faults corrected",
        )
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--caption", metavar="TEXT", help="one caption")
        source.add_argument("--file", type=Path, metavar="FILE", help='JSON Lines file with {"caption": "…"} per line')
        parser.add_argument("--seed", type=int, default=0, help="seed; the same seed makes the same foils")
        parser.add_argument("--set", action="append", metavar="NAME=VALUE", help="parameter of the method; repeatable")
        parser.add_argument(
            "--no-draw",
            action="store_true",
            help="with --file, show all foils; default: those that a balanced run would draw",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        captions = options["file"] or [_text(options["caption"])]
        result = library.foils(
            captions,
            method=options["method"],
            mode=options["mode"],
            seed=options["seed"],
            draw=options["file"] is not None and not options["no_draw"],
            **parse_set_options(options["set"]),
        )
        return dict(result.document)

    def render(self, result: dict[str, Any]) -> str:
        lines = [f"{one['caption']}\n  {_outcome(one)}" for one in result["candidates"]]
        lines += [
            f"{one['caption']}\n  foils for people to write: {one['count']}"
            for one in result["blanks"]
            if "count" in one
        ]
        lines += [f"{one['caption']}\n  skipped: {one['why']}" for one in result["skipped"]]
        lines += [f"left out by the balanced draw, {count}: {why}" for why, count in result.get("draw", {}).items()]
        return "\n".join(lines) or "no caption given; add --caption or --file"


def _outcome(candidate: dict[str, Any]) -> str:
    if candidate["foil"] == candidate["caption"]:
        return "equal to the caption: the filter `identical` would reject it"
    return f"-> {candidate['foil']}"


def _text(caption: str) -> str:
    try:
        caption.encode()
    except UnicodeEncodeError as error:
        raise GenerationError("--caption is not UTF-8; set the terminal to UTF-8, or use --file") from error
    return caption
