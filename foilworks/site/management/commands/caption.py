"""`foilworks caption`: try a caption maker on sources, or make captions for a project."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foilworks.core.jobs.runner import run_now
from foilworks.site.management.base import FoilworksCommand, parse_set_options
from foilworks.site.management.projects import project_by_slug
from generation.actions.runs import make_captions as make_captions_of_project
from generation.actions.runs import preview_captions
from generation.caption_file import CaptionFile
from generation.captioning.registry import CAPTIONERS
from generation.captioning.trial import make_captions
from generation.errors import GenerationError
from generation.models.side_work import CaptionRun, CaptionSources
from generation.records import MODES, CaptionInput
from generation.trial import trial_services


class Command(FoilworksCommand):
    help = "make captions for sources without one: counts in templates, changes of state, pairs, existence"
    example = (
        "foilworks caption --maker cos_caption --text 'a man folds a red shirt' --set template=action\n"
        "  foilworks caption --maker cos_caption --project mine --set template=action"
    )

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
        source.add_argument("--project", metavar="SLUG", help="sources of this project; the captions are stored there")
        parser.add_argument(
            "--sources",
            choices=CaptionSources.values,
            default=CaptionSources.CAPTIONS.value,
            help="with --project: existing captions, or the classes of videos without a caption",
        )
        parser.add_argument("--split", default="", help="with --project: only videos in this split: train, val or test")
        parser.add_argument("--out", type=Path, metavar="FILE", help="write a JSON Lines file for `import jsonl`")
        parser.add_argument("--seed", type=int, default=0, help="seed; the same seed makes the same captions")
        parser.add_argument("--set", action="append", metavar="NAME=VALUE", help="parameter of the maker; repeatable")

    def run(self, **options: Any) -> dict[str, Any]:
        if options["project"]:
            return _stored(options)
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
        if "stored" in result:
            lines = [f"run {result['run']}: {result['stored']} new captions, {result['known']} existing"]
            return "\n".join([*lines, *(f"  skipped, {count}: {why}" for why, count in result["skipped"].items())])
        lines = [f"{one['source']}\n  -> {one['caption']}" for one in result["captions"]]
        lines += [f"{one['source']}\n  skipped: {one['why']}" for one in result["skipped"]]
        return "\n".join(lines) or "no source given; add --text or --file"


def _stored(options: dict[str, Any]) -> dict[str, Any]:
    """Make captions from the sources of a project, and store them."""
    if options["out"]:
        raise GenerationError("--out: the captions of a project are stored in it; leave the option out")
    run = preview_captions(
        None,
        project_by_slug(options["project"]),
        maker=options["maker"],
        mode=options["mode"],
        params=parse_set_options(options["set"]),
        sources=options["sources"],
        split=options["split"],
        seed=options["seed"],
    )
    _run_now(run)
    make_captions_of_project(None, run)
    _run_now(run)
    return {"run": run.pk, "stored": run.stored, "known": run.known, "skipped": run.skipped}


def _run_now(run: CaptionRun) -> None:
    assert run.job is not None
    run_now(run.job)
    run.refresh_from_db()


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
