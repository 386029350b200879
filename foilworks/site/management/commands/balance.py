"""`foilworks balance`: select items of files that text alone cannot solve; needs no database."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.analyses.analysis_inputs import CHOICES3, ItemFacts
from evaluation.score_files.items import read_items
from foilworks.core.projects.templatetags.wording import in_words
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.text_tables import table_of
from generation.balance.balanced_pairs import Pair, PairSelection
from generation.balance.frequency import match
from generation.balance.selection import select

COLUMNS = (
    "name",
    "n",
    "n_kept",
    "share",
    "feasible",
    "words_before",
    "words_after",
    "solver_before",
    "ci_before",
    "solver_after",
    "ci_after",
    "verdict_after",
)


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
            choices=("balance", "draw", "frequency"),
            default="balance",
            help="balance: every word exactly; draw: by fair coins between opposites, so that counts are random; "
            "frequency: limit foils to the word frequencies of captions",
        )
        parser.add_argument(
            "--foils",
            choices=("whole", "each"),
            default="whole",
            help="whole: keep or drop an item with all its foils; each: keep one foil per item",
        )
        parser.add_argument("--valid", action="store_true", help="only items that are valid by their votes")
        parser.add_argument("--seed", type=int, default=0, help="seed of --kind draw and frequency")
        parser.add_argument(
            "--out",
            type=Path,
            metavar="FILE",
            help="write the selected items and their fields, one JSON object per line",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        # Imported here: the solver's library takes seconds to load, and listing the commands must not wait.
        from evaluation.analyses import blind
        from foilworks.core.solver.pairs import OVERALL, UNSOLVED
        from generation.balance.outcome import outcome

        items, warnings = read_items(options["files"], options["file_format"])
        for warning in warnings:
            self.say(f"warning: {warning}")
        if options["valid"]:
            items = [item for item in items if item.valid]
        names = dict.fromkeys(item.subtest for item in items)
        selections: dict[str, tuple[list[Pair], PairSelection]] = {}
        selected_items: list[ItemFacts] = []
        for name in names:
            subtest_items = [item for item in items if item.subtest == name]
            pairs = _pairs(subtest_items)
            selections[name] = pairs, _selection(pairs, options)
            selected_items += _selected_items(subtest_items, selections[name][1])
        before, after = blind.solve(items), blind.solve(selected_items)
        rows = [
            {"name": name, **outcome(pairs, selection, solved=(before.get(name), after.get(name)))}
            for name, (pairs, selection) in selections.items()
        ]
        if options["out"]:
            records = [_record(item) for item in selected_items]
            options["out"].write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in records))
        overall = {name: solved.get(OVERALL, UNSOLVED) for name, solved in (("before", before), ("after", after))}
        return {"subtests": rows, OVERALL: overall, "warnings": warnings}

    def render(self, result: dict[str, Any]) -> str:
        rows = [_table_row(row) for row in result["subtests"]]
        reasons = [f"{row['name']}: {row['reason']}" for row in result["subtests"] if row["reason"]]
        still_solved = [_still_solved(row) for row in result["subtests"] if row["is_still_solved"]]
        return "\n".join([table_of(rows, COLUMNS), *reasons, *still_solved])


def _table_row(row: dict[str, Any]) -> dict[str, Any]:
    before, after = row["before"], row["after"]
    return {
        **row,
        "words_before": before["fitted"],
        "words_after": after["fitted"],
        "solver_before": before["solver_accuracy"],
        "ci_before": before["ci"],
        "solver_after": after["solver_accuracy"],
        "ci_after": after["ci"],
        "verdict_after": after["verdict"] and in_words(after["verdict"]),
    }


def _still_solved(row: dict[str, Any]) -> str:
    state = "balanced in words; " if row["is_balanced"] else ""
    value = row["after"]["solver_accuracy"]
    return f"{row['name']}: {state}at least {100 * value:.1f} % of the pairs are still answered without the video"


def _pairs(items: Sequence[ItemFacts]) -> list[Pair]:
    return [
        Pair(f"{row}/{position}", str(row), item.caption, foil, item.video)
        for row, item in enumerate(items)
        for position, foil in enumerate(item.foils)
    ]


def _selection(pairs: Sequence[Pair], options: dict[str, Any]) -> PairSelection:
    if options["kind"] == "draw":
        # Imported here: it loads the solver.
        from generation.balance.draw import draw

        return draw(pairs, seed=options["seed"])
    if options["kind"] == "frequency":
        return match(pairs, seed=options["seed"])
    return select(pairs, per_group=None if options["foils"] == "whole" else 1)


def _selected_items(items: Sequence[ItemFacts], selection: PairSelection) -> list[ItemFacts]:
    """Return the items with a selected foil, with their selected foils alone."""
    selected_ids = set(selection.selected)
    remaining = [
        replace(item, foils=tuple(foil for n, foil in enumerate(item.foils) if f"{row}/{n}" in selected_ids))
        for row, item in enumerate(items)
    ]
    return [item for item in remaining if item.foils]


def _record(item: ItemFacts) -> dict[str, Any]:
    """Return the fields of the item's record with its selected foils, as `read_items` reads them."""
    fields = dict(item.record_fields)
    foils_field = "foil" if "foil" in fields and "foils" not in fields else "foils"
    # A file may spell a list of one as a text.
    if fields.get(foils_field) != item.foils[0]:
        fields[foils_field] = list(item.foils)
    defaults: dict[str, Any] = {"id": item.id, "subtest": item.subtest, "test": item.test, "caption": item.caption}
    defaults[foils_field] = fields[foils_field]
    if item.video:
        defaults["video"] = item.video
    if item.tallies:
        defaults["votes"] = dict(zip(CHOICES3, item.tallies[0], strict=True))
    if item.proficiency:
        defaults["proficiency"] = {"caption": item.proficiency.caption, "foils": list(item.proficiency.foils)}
    return {**defaults, **fields}
