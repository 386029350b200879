"""`foilworks foil`: tries a foil method on captions."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foilworks.management.base import FoilworksCommand, parse_set_options
from generation.caption_file import CaptionFile
from generation.errors import GenerationError
from generation.methods.registry import METHODS
from generation.records import MODES, CaptionInput
from generation.trial import try_method


class Command(FoilworksCommand):
    help = "Tries a foil method on captions, without a project: what it makes, what it skips and why."
    example = 'foilworks foil --method number --caption "A man claps exactly three times." --seed 1'

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--method", required=True, metavar="SLUG", help="one of: " + ", ".join(sorted(METHODS)))
        parser.add_argument("--mode", choices=MODES, default="corrected", help="as published, or with its traps mended")
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--caption", metavar="TEXT", help="one caption")
        source.add_argument("--file", type=Path, metavar="FILE", help='JSON Lines: {"caption": "…"} a line')
        parser.add_argument("--seed", type=int, default=0, help="the same seed makes the same foils")
        parser.add_argument("--set", action="append", metavar="NAME=VALUE", help="a parameter of the method")

    def run(self, **options: Any) -> dict[str, Any]:
        captions: list[CaptionInput] | CaptionFile
        if options["file"] is not None:
            captions = CaptionFile(options["file"])
        else:
            captions = [CaptionInput(options["caption"], _text(options["caption"]))]
        return try_method(
            options["method"],
            captions,
            mode=options["mode"],
            seed=options["seed"],
            raw_params=parse_set_options(options["set"]),
        )

    def render(self, result: dict[str, Any]) -> str:
        lines = [f"{one['caption']}\n  {_outcome(one)}" for one in result["candidates"]]
        lines += [f"{one['caption']}\n  left for people: {one['count']}" for one in result["blanks"]]
        lines += [f"{one['caption']}\n  skipped: {one['why']}" for one in result["skipped"]]
        return "\n".join(lines) or "there was no caption"


def _outcome(candidate: dict[str, Any]) -> str:
    if candidate["foil"] == candidate["caption"]:
        return "unchanged: the filter `identical` would drop it"
    return f"-> {candidate['foil']}"


def _text(caption: str) -> str:
    try:
        caption.encode()
    except UnicodeEncodeError as error:
        raise GenerationError(
            "--caption: holds bytes that are no UTF-8; set the terminal to UTF-8 or use --file"
        ) from error
    return caption
