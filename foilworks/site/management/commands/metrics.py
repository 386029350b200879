"""`foilworks metrics`: compute model metrics from score files; needs no database."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.metrics.registry import METRICS, TIES
from evaluation.score_files.arrays import AUTO_LAYOUT, LAYOUTS
from foilworks.library.metrics import HIDDEN, measure
from foilworks.site.management.base import FoilworksCommand, parse_set_options, sets_table, table, table_of
from foilworks.site.management.file_options import add_columns, ignored_line

TWO_CLIPS = ("n", "text", "text_ci", "video", "video_ci", "group", "group_ci", "ties")
OPEN = ("metric", "value", "ci", "n", "n_unread", "all_wrong", "constant", "released_code")
PAIRWISE = ("n", "T", "T_ci", "P", "P+T", "ties", "chance T", "T_all", "n_all")


class Command(FoilworksCommand):
    help = "compute model metrics from score files"
    example = (
        "foilworks metrics pairwise --file export/scores/clip.jsonl --json\n"
        "  foilworks metrics pairwise --file export/scores.jsonl --model clip\n"
        "  foilworks metrics pairwise --file clip.json --proficiency clip-proficiency.json --ties first\n"
        "  foilworks metrics rcad --file sim_mat_msrvtt.npy --ties optimistic\n"
        "  foilworks metrics mc --file predictions.json --column right=answer\n"
        "  foilworks metrics two-clips --file winoground-clip.jsonl --ties strict\n"
        "  foilworks metrics sets --file run_samples_mvp.jsonl\n"
        "  foilworks metrics open --file answers.jsonl --column right=ground_truth\n"
        "  foilworks metrics retrieval --file sim.npy"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=sorted(METRICS), help="\n".join(_kinds()))
        parser.add_argument(
            "--file",
            action="append",
            required=True,
            type=Path,
            dest="files",
            metavar="PATH",
            help="file of scores; repeatable for pairwise: one subtest per file, named after it",
        )
        parser.add_argument(
            "--proficiency",
            action="append",
            default=[],
            type=Path,
            metavar="PATH",
            help="pairwise: scores of the proficiency items, matched by id and subtest; one file, or one per --file",
        )
        parser.add_argument(
            "--items",
            action="append",
            default=[],
            type=Path,
            metavar="PATH",
            help="pairwise: count only items that are valid in this file of items with votes (ViLMA's "
            "JSON, JSON Lines); one per --file",
        )
        parser.add_argument(
            "--model",
            default="",
            metavar="NAME",
            help="pairwise: the model to read from a file with several models (scores.jsonl of an export)",
        )
        parser.add_argument(
            "--against",
            type=Path,
            metavar="PATH",
            help="file with the ids that the scores must have (JSON Lines, CSV with id, or .txt); "
            "differences are listed",
        )
        parser.add_argument(
            "--set", action="append", metavar="NAME=VALUE", help="parameter of a metric of a plug-in; repeatable"
        )
        self._add_shapes(parser)
        parser.add_argument("--ties", choices=TIES.choices, default=TIES.default, help=f"{TIES.help} (default half)")

    def _add_shapes(self, parser: CommandParser) -> None:
        add_columns(parser)
        parser.add_argument(
            "--names",
            default="",
            metavar="A,B,C",
            help="mc, rcad, classes: column names for a CSV file without a header",
        )
        parser.add_argument(
            "--beside",
            type=Path,
            metavar="PATH",
            help="mc, rcad, classes: CSV file with more columns for the same rows, in the same order",
        )
        parser.add_argument(
            "--layout",
            choices=list(LAYOUTS),
            default=AUTO_LAYOUT,
            help="rcad, mc: layout of an array; " + "; ".join(f"{name}: {what}" for name, what in LAYOUTS.items()),
        )

    def run(self, **options: Any) -> dict[str, Any]:
        result = measure(
            options["kind"],
            options["files"],
            proficiency=options["proficiency"],
            items=options["items"],
            against=options["against"],
            model=options["model"],
            ties=options["ties"],
            params=parse_set_options(options["set"]),
            columns=options["columns"],
            layout=options["layout"],
            names=[name.strip() for name in options["names"].split(",") if name.strip()],
            beside=options["beside"],
        )
        for warning in result["warnings"]:
            self.say(f"warning: {warning}")
        for what, names in result["unmatched"].items():
            if names:
                self.say(f"warning: {len(names)} {what.replace('_', ' ')}: {', '.join(names[:5])}")
        if result["ignored_columns"]:
            self.say(ignored_line(result["ignored_columns"]))
        return dict(result.document)

    def render(self, result: dict[str, Any]) -> str:
        if result["kind"] == "pairwise":
            return _pairwise(result)
        if result["kind"] == "retrieval":
            keys = ("R@1", "R@5", "R@10", "median_rank", "mean_rank")
            return table(("", *keys), [(side, *[result[side][key] for key in keys]) for side in ("t2v", "v2t")])
        if result["kind"] == "classes":
            return table_of(result["models"], ("model", "accuracy", "ci", "class_mean", "n"))
        if result["kind"] == "sets":
            return sets_table(result)
        if result["kind"] == "open":
            return table_of(result["groups"], OPEN)
        if result["kind"] == "two-clips":
            return _two_clips(result)
        return table(("", "value"), [(key, value) for key, value in result.items() if key not in HIDDEN])


def _kinds() -> list[str]:
    return [f"{slug}: {entry.summary.rstrip('.')}" for slug, entry in METRICS.items()]


def _two_clips(result: dict[str, Any]) -> str:
    groups = [*result["subtests"].items(), ("overall", result["overall"])]
    rows = [(name, *[group[key] for key in TWO_CLIPS]) for name, group in groups]
    chance = result["overall"]["chance"]
    return table(("", *TWO_CLIPS), [*rows, ("chance", *[chance.get(key) for key in TWO_CLIPS])])


def _pairwise(result: dict[str, Any]) -> str:
    groups = [("subtest " + name, group) for name, group in result["subtests"].items()]
    groups += [("test " + name, group) for name, group in result["tests"].items()]
    groups.append(("overall", result["overall"]))
    rows = [(name, *[{**group, "chance T": group["chance"]["T"]}[key] for key in PAIRWISE]) for name, group in groups]
    rows.append(("mean P+T over tests", *[result["avg_P+T"] if key == "P+T" else None for key in PAIRWISE]))
    return table(("", *PAIRWISE), rows)
