"""`foilworks prune`: select items of a benchmark whose texts do not tell the answers. Needs no project, no database."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from foilworks import library
from foilworks.core.projects.templatetags.wording import in_words
from foilworks.site.management.base import FoilworksCommand, parse_set_options, table
from foilworks.site.management.file_options import add_benchmark_options, read_options, whole_number

REPAIRS = {
    "normalize": "give all options one form",
    "redraw": "draw the order of the options again",
    "separate": "keep one of two items that give each other away",
    "pair": "pair it with the item for whose clip the other text is true",
    "exchange": "exchange foils with another item",
    "replace": "make its foils by another method",
}


class Command(FoilworksCommand):
    help = "select items of a benchmark whose texts do not tell the answers; without --apply only lists them"
    example = (
        "foilworks prune test.jsonl --lists review\n"
        "  foilworks prune test.jsonl --apply --out test-fair.jsonl\n"
        "  foilworks prune test.jsonl --predictions a.jsonl --predictions b.jsonl"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        self.parser = parser
        add_benchmark_options(
            parser, "parameter of the selection or of the format; repeatable. seed: of the selection (default 0)"
        )
        parser.add_argument(
            "--lists",
            type=Path,
            metavar="FOLDER",
            help="folder for review.csv and removed_ids.txt (default: the folder FILE-review beside the file)",
        )
        parser.add_argument("--apply", action="store_true", help="also write the selected items, in the same format")
        parser.add_argument("--out", type=Path, metavar="PATH", help="new file, or a folder to write in, for --apply")
        parser.add_argument(
            "--predictions",
            action="append",
            default=[],
            type=Path,
            metavar="FILE",
            help="predictions of one model; from two models on, compare their ranks on the kept items with random sets",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        if options["apply"] != bool(options["out"]):
            self.parser.error("--apply and --out need each other")
        params = parse_set_options(options["set"])
        seed = whole_number(self.parser, params, "seed", 0)
        first = Path(options["files"][0])
        result = library.prune(
            options["files"],
            seed=seed,
            predictions=options["predictions"],
            lists=options["lists"] or first.with_name(f"{first.name}-review"),
            out=options["out"],
            **read_options(self.parser, params, **options),
        )
        self.summary = result.summary()
        return dict(result.document)

    def render(self, result: dict[str, Any]) -> str:
        n, before, after = result["n"], result["before"], result["after"]
        rows = [("all", n, before["value"], before["interval"], before["chance"], in_words(before["verdict"]))]
        if after:
            kept = result["n_kept"]
            chosen = result["after_by_chosen"]
            rows += [
                (name, kept, row["value"], row["interval"], row["chance"], in_words(row["verdict"]))
                for name, row in (
                    ("kept, by probes that did not choose", after),
                    ("kept, by probes that chose", chosen),
                )
            ]
        parts = [
            self.summary,
            table(("items", "n", "without video", "95 % interval", "chance", "verdict"), rows),
            table(
                ("step", "items", "without video", "chance"),
                [(step, row["n"], row["value"], row["chance"]) for step, row in enumerate(result["curve"])],
            ),
        ]
        if result["overlap"] is not None:
            parts.append(f"Five seeds keep sets with a mean overlap (Jaccard) of {result['overlap']:.2f}.")
        parts.append(
            "Items that contradict another item: "
            + ", ".join(f"{name} {_share(value)}" for name, value in result["contradicting"].items())
        )
        if correlation := result.get("rank_correlation"):
            parts.append(
                f"Ranks of the models on all items and on the kept items: Spearman {correlation['kept']:.2f}; "
                f"random sets of the same size: {correlation['random']:.2f}. The kept items are a selection."
            )
        if result["repairs"]:
            lines = [f"{n_items:,} x {REPAIRS[kind]}" for kind, n_items in sorted(result["repairs"].items())]
            parts.append("Repairs instead of removal: " + "; ".join(lines))
        parts += [f"{name}: {result[name]}" for name in ("lists", "out") if result[name]]
        return "\n\n".join(parts)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
