"""`foilworks balance`: select items of files that text alone cannot solve; needs no database."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.analyses.analysis_inputs import ItemFacts
from evaluation.score_files.items import read_items
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.text_tables import table_of
from generation.balance.balanced_pairs import Pair, PairSelection
from generation.balance.frequency import match
from generation.balance.selection import select

COLUMNS = ("name", "n", "n_kept", "share", "feasible", "before", "after")


class Command(FoilworksCommand):
    help = "select items so that each replaced word is as frequent in captions as in foils"
    example = "foilworks balance --file relations.json --out kept.jsonl --json"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--file",
            action="append",
            type=Path,
            dest="files",
            metavar="PATH",
            required=True,
            help="items, as for `report`; repeatable",
        )
        parser.add_argument("--format", dest="file_format", metavar="F", help="format of the files (default: detected)")
        parser.add_argument(
            "--kind",
            choices=("balance", "frequency"),
            default="balance",
            help="exact: balance every word; frequency: limit foils to the word frequencies of captions",
        )
        parser.add_argument(
            "--foils",
            choices=("whole", "each"),
            default="whole",
            help="whole: keep or drop an item with all its foils; each: keep one foil per item",
        )
        parser.add_argument("--valid", action="store_true", help="only items that are valid by their votes")
        parser.add_argument("--seed", type=int, default=0, help="seed of --kind frequency")
        parser.add_argument(
            "--out", type=Path, metavar="FILE", help="write the selected items to this file, one JSON object per line"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        # Imported here: the classifier's library takes seconds to load, and listing the commands must not wait.
        from generation.balance.outcome import outcome

        items, warnings = read_items(options["files"], options["file_format"])
        for warning in warnings:
            self.say(f"warning: {warning}")
        if options["valid"]:
            items = [item for item in items if item.valid]
        names = dict.fromkeys(item.subtest for item in items)
        kept: list[dict[str, Any]] = []
        rows = []
        for name in names:
            of_name = [item for item in items if item.subtest == name]
            pairs = _pairs(of_name)
            chosen = _chosen(pairs, options)
            rows.append({"name": name, **outcome(pairs, chosen)})
            kept += _records(of_name, chosen)
        if options["out"]:
            options["out"].write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept))
        return {"subtests": rows, "warnings": warnings}

    def render(self, result: dict[str, Any]) -> str:
        shown = [
            {**row, "before": row["before"]["fitted"], "after": row["after"]["fitted"]} for row in result["subtests"]
        ]
        reasons = [f"{row['name']}: {row['reason']}" for row in result["subtests"] if row["reason"]]
        return "\n".join([table_of(shown, COLUMNS), *reasons])


def _pairs(items: Sequence[ItemFacts]) -> list[Pair]:
    return [
        Pair(f"{row}/{position}", str(row), item.caption, foil)
        for row, item in enumerate(items)
        for position, foil in enumerate(item.foils)
    ]


def _chosen(pairs: Sequence[Pair], options: dict[str, Any]) -> PairSelection:
    if options["kind"] == "frequency":
        return match(pairs, seed=options["seed"])
    return select(pairs, per_group=None if options["foils"] == "whole" else 1)


def _records(items: Sequence[ItemFacts], chosen: PairSelection) -> list[dict[str, Any]]:
    kept = {pair.partition("/")[::2] for pair in chosen.selected}
    found = []
    for row, item in enumerate(items):
        foils = [foil for position, foil in enumerate(item.foils) if (str(row), str(position)) in kept]
        if foils:
            found.append({"id": item.id, "subtest": item.subtest, "caption": item.caption, "foils": foils})
    return found
