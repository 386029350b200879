"""How the classes are represented in the full set and its splits (UTD, Fig. A.1), as SVG."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.charts.of_reports import (
    HATCHES,
    INK,
    QUIET,
    SHADES,
    beside,
    legend_below,
    new_figure,
    row_names,
    short,
    svg_of,
)

# More classes than this are shown by those that lost most.
MAX_CLASSES = 60
FORMS = (("n", "full"), ("split", "UTD-split"), ("balanced", "UTD-split, balanced"))


def class_distribution(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """`rows`: {"class", "n", "split", "balanced"}: three bars a class, the largest class first."""
    by_loss = sorted(rows, key=lambda row: (row["split"] - row["n"], row["class"]))[:MAX_CLASSES]
    chosen = sorted(by_loss, key=lambda row: (-row["n"], row["class"]))
    figure, axes = new_figure(2 * len(chosen), "", legend=True)
    for column, (key, label) in enumerate(FORMS):
        places = [place + (column - 1) * 0.27 for place in range(len(chosen))]
        counts = [row[key] for row in chosen]
        axes.barh(
            places, counts, height=0.25, color=SHADES[column], hatch=HATCHES[column], edgecolor="white", label=label
        )
        for place, count in zip(places, counts, strict=True):
            beside(axes, count, place, f"{count:,}", color=INK)
    row_names(axes, [short(row["class"]) for row in chosen])
    axes.set_xlim(0, 1.12 * max((row["n"] for row in chosen), default=1))
    axes.set_xlabel("videos of the class", color=QUIET, fontsize=9)
    axes.tick_params(axis="x", colors=QUIET, labelsize=8.5)
    legend_below(axes)
    return svg_of(figure)
