"""`foilworks utd`: unbiasing through textual descriptions, from files."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.bias.predictions import read_predictions
from foilworks.management.base import FoilworksCommand

ACTIONS = {"split": "the samples that all nine models solve by objects alone leave, and as many by equal class shares"}
SHOWN = 20


class Command(FoilworksCommand):
    help = "finds what objects alone give away of a data set, and makes debiased splits"
    example = "foilworks utd split --predictions nine-models.csv --json"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=sorted(ACTIONS), help="; ".join(f"{k}: {v}" for k, v in ACTIONS.items()))
        parser.add_argument(
            "--predictions", type=Path, required=True, metavar="FILE",
            help="CSV: sample,class,correct_1..correct_9,confidence (retrieval: without class and confidence)",
        )  # fmt: skip

    def run(self, **options: Any) -> dict[str, Any]:
        found = read_predictions(options["predictions"])
        made = found.split()
        balanced = None if made.removed_balanced is None else found.named(made.removed_balanced)
        return {
            "n": len(found.ids),
            "n_biased": len(made.removed),
            "share_biased": len(made.removed) / len(found.ids),
            "kappa": made.kappa,
            "removed": found.named(made.removed),
            "removed_balanced": balanced,
        }

    def render(self, result: dict[str, Any]) -> str:
        kappa = "undefined" if result["kappa"] is None else f"{100 * result['kappa']:.1f}"
        share = f"{result['n_biased']} of {result['n']} samples ({100 * result['share_biased']:.1f} %)"
        lines = [
            f"{share} are object-biased; Fleiss' kappa of the nine models x 100: {kappa}",
            f"leave the split: {_some(result['removed'])}",
        ]
        if result["removed_balanced"] is not None:
            lines.append(f"leave the balanced split: {_some(result['removed_balanced'])}")
        return "\n".join(lines)


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:SHOWN]) or "none"
    return shown + (f", and {len(names) - SHOWN} more (--json lists all)" if len(names) > SHOWN else "")
