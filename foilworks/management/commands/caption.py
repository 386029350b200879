"""`foilworks caption`: try a caption maker on sources; the lines can be imported as captions."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foilworks.management.base import FoilworksCommand, parse_set_options
from generation.caption_file import CaptionFile
from generation.captioning.registry import CAPTIONERS
from generation.captioning.trial import make_captions
from generation.errors import GenerationError
from generation.records import MODES, CaptionInput
from generation.trial import trial_services


class Command(FoilworksCommand):
    help = "make captions for sources without one: counts in templates, changes of state, pairs, existence"
    example = "foilworks caption --maker cos_caption --text 'a man folds a red shirt' --set template=action"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--maker", required=True, metavar="SLUG", help="one of: " + ", ".join(sorted(CAPTIONERS)))
        parser.add_argument(
            "--mode",
            choices=MODES,
            default="corrected",
            help="paper: as published; corrected: with known faults corrected",
        )
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--text", metavar="TEXT", help="one source: a sentence, a template or a label")
        source.add_argument("--file", type=Path, metavar="FILE", help='JSON Lines file with {"caption": "…"} per line')
        parser.add_argument("--out", type=Path, metavar="FILE", help="write a JSON Lines file for `import jsonl`")
        parser.add_argument("--seed", type=int, default=0, help="seed; the same seed makes the same captions")
        parser.add_argument("--set", action="append", metavar="NAME=VALUE", help="parameter of the maker; repeatable")

    def run(self, **options: Any) -> dict[str, Any]:
        sources: list[CaptionInput] | CaptionFile
        sources = CaptionFile(options["file"]) if options["file"] else [CaptionInput("text", options["text"])]
        result = make_captions(
            options["maker"],
            sources,
            mode=options["mode"],
            seed=options["seed"],
            raw_params=parse_set_options(options["set"]),
            serve=trial_services,
        )
        if options["out"]:
            _write(options["out"], result["captions"])
        return result

    def render(self, result: dict[str, Any]) -> str:
        lines = [f"{one['source']}\n  -> {one['caption']}" for one in result["captions"]]
        lines += [f"{one['source']}\n  skipped: {one['why']}" for one in result["skipped"]]
        return "\n".join(lines) or "no source given; add --text or --file"


def _write(path: Path, captions: list[dict[str, Any]]) -> None:
    """Write one line per caption, with an id from its position. Raises GenerationError if it cannot write."""
    try:
        with path.open("w", encoding="utf-8") as lines:
            for number, one in enumerate(captions, start=1):
                kept = {"id": f"{path.stem}-{number}", "caption": one["caption"], "facts": one["facts"]}
                video = {"video_key": one["video"]} if one["video"] else {}
                lines.write(json.dumps({**kept, **video}, ensure_ascii=False) + "\n")
    except OSError as error:
        raise GenerationError(f"{path}: cannot be written ({error.strerror}); check the folder") from error
