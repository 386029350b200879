"""Define the pages of a release's analyses: table, chart and explanation, one row each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluation.charts import of_models

Data = Mapping[str, Any]
Row = list[Any]


@dataclass(frozen=True)
class AnalysisPage:
    """One analysis. `columns`: (key of a row, heading, filter: share, decimal, count or text); `chart` gives SVG."""

    slug: str
    title: str | Promise
    lede: str | Promise
    explained: tuple[str | Promise, ...]
    columns: tuple[tuple[str, str | Promise, str], ...]
    chart: Callable[[Data], bytes]
    # The text below the chart; a second chart by name, with its text.
    caption: str | Promise = ""
    second: tuple[str, Callable[[Data], bytes], str | Promise] | None = None

    def table(self, data: Data) -> list[list[tuple[Any, str, Any]]]:
        """Return (value, format, interval) of each cell."""
        return [
            [
                (row.get(key), how, row.get(f"{key}_ci", row.get("ci") if key in MAIN else None))
                for key, _heading, how in self.columns
            ]
            for row in data["rows"]
        ]

    def shown_rows(self, data: Data) -> list[Row]:
        """Return the table as the page shows it, header first, with intervals, for papers."""
        header: Row = [str(heading) for _key, heading, _how in self.columns]
        return [header, *([_printed(*cell) for cell in row] for row in self.table(data))]

    def csv_rows(self, data: Data) -> list[Row]:
        """Return every plain field of the rows, unrounded; intervals as two columns."""
        keys = list(dict.fromkeys(key for row in data["rows"] for key, value in row.items() if not _wide(value)))
        header: Row = []
        for key in keys:
            header += [f"{key}_low", f"{key}_high"] if key.endswith("ci") else [key]
        rows: list[Row] = [header]
        for row in data["rows"]:
            cells: Row = []
            for key in keys:
                value = row.get(key)
                cells += list(value or (None, None)) if key.endswith("ci") else [value]
            rows.append(cells)
        return rows


# The column that a row's `ci` belongs to.
MAIN = frozenset({"accuracy", "mean"})


def _printed(value: Any, how: str, interval: Any) -> Any:
    if value is None or how not in {"share", "decimal"}:
        return value
    scale, digits, unit = (100, 1, " %") if how == "share" else (1, 3, "")
    bounds = f" [{scale * interval[0]:.{digits}f}, {scale * interval[1]:.{digits}f}]" if interval else ""
    return f"{scale * value:.{digits}f}{unit}{bounds}"


def _wide(value: Any) -> bool:
    return isinstance(value, list | dict) and not (isinstance(value, list) and len(value) == 2)


RIGHT = "share of correct items, with 95 % interval"


def _bars(data: Data) -> bytes:
    """Draw accuracy by group, one bar per model; models beyond the number of shades differ in hatching."""
    groups = list(dict.fromkeys(row["group"] for row in data["rows"]))
    rows = [
        (str(name), {row["model"]: (row["accuracy"], row["ci"]) for row in data["rows"] if row["group"] == name})
        for name in groups
    ]
    guesses = {round(row["chance"], 9) for row in data["rows"] if row["chance"] is not None}
    return of_models.grouped(rows, chance=guesses.pop() if len(guesses) == 1 else None, label=RIGHT)


def _by_category(data: Data) -> bytes:
    """Draw the mean over the models of a category and one standard deviation to both sides (ViLMA, Fig. 11)."""
    category_rows = data["categories"]
    bars = {(row["category"], row["group"]): row for row in category_rows}
    groups = list(dict.fromkeys(row["group"] for row in category_rows))
    names = {row["category"]: f"{row['category']} (n = {row['n_models']})" for row in category_rows}
    rows = []
    for group in groups:
        series = {}
        for category, series_name in names.items():
            row = bars.get((category, group))
            if row is not None:
                spread = row["sd"] or 0.0
                around = (max(0.0, row["mean"] - spread), min(1.0, row["mean"] + spread)) if spread else None
                series[series_name] = (row["mean"], around)
        rows.append((str(group), series))
    return of_models.grouped(rows, label="mean accuracy of the models, ± one standard deviation")


def _lengths(data: Data) -> bytes:
    """Draw the number of items by clip length, on a logarithmic axis (ViLMA, Fig. 23)."""
    histogram = data["histogram"]
    return of_models.histogram(
        [10.0**edge for edge in histogram["log10_edges"]], histogram["counts"], label="length of the clip in seconds"
    )


def _outlines(data: Data) -> bytes:
    """Draw a panel per model, with an outline per type of edit."""
    models = dict.fromkeys(row["model"] for row in data["rows"])
    drawn_rows = [row for row in data["rows"] if row["n"] and row["group"] != "all"]
    panels = [
        (name, [(row["group"], row["edges"], row["shares"]) for row in drawn_rows if row["model"] == name])
        for name in models
    ]
    return of_models.distributions(panels, label="score of the foil minus score of the caption")


ACCURACY = (
    ("model", _("Model"), "text"),
    ("group", _("Item group"), "text"),
    ("accuracy", _("Accuracy"), "share"),
    ("chance", _("Chance"), "share"),
    ("n", _("Items"), "count"),
)
TIED = _(
    "Accuracy is the share of items whose caption scores above every foil. A tie among n best texts counts "
    "1/n, unless you choose another policy. The 95 % intervals are a bootstrap over source videos."
)

PAGES: dict[str, AnalysisPage] = {
    page.slug: page
    for page in (
        AnalysisPage(
            "delta",
            _("Score change by edit"),
            _("How much the score of a model falls when the foil replaces the caption, by type of edit."),
            (
                _(
                    "The change is the score of the foil minus the score of the caption. A change below zero is "
                    "correct. The mean magnitude shows how sensitive the model is to this type of edit. The share "
                    "above zero shows how often the model prefers the foil (Feint6K, Fig. 5)."
                ),
                _(
                    "Each model has its own unit of score. Compare magnitudes between edits of one model. "
                    "Compare models only if all of them return cosines."
                ),
                _(
                    "The type of edit is the action if the subtest's foils change the action. Otherwise it comes from "
                    "the foil's fact “edited”, or from the method that made the foil. If an item has a hard foil "
                    "among captions of other videos, only the hard foil counts."
                ),
            ),
            (
                ("model", _("Model"), "text"),
                ("group", _("Type of edit"), "text"),
                ("mean", _("Mean change"), "decimal"),
                ("magnitude", _("Mean magnitude"), "decimal"),
                ("above_zero", _("Above zero"), "share"),
                ("n", _("Foils"), "count"),
            ),
            _outlines,
        ),
        AnalysisPage(
            "proximity",
            _("Semantic proximity"),
            _("Do models fail more often if the foil is close in meaning to the caption?"),
            (
                _(
                    "High: the 15 % of items whose foil is closest to the caption, by cosine of a sentence "
                    "encoder. Low: the 15 % of items whose foil is farthest from it. Antonyms are a separate "
                    "group, because encoders place them close together (contrast sets, Table 5). A model that "
                    "understands only the gist scores lower in the group “high”."
                ),
                _(
                    "If an item has a hard foil among captions of other videos, only the hard foil is measured. "
                    "Accuracy is still that of choosing among all texts of the item."
                ),
                TIED,
            ),
            ACCURACY,
            _bars,
        ),
        AnalysisPage(
            "identity",
            _("Rare identities"),
            _("Do models fail on people who are rare in the training data?"),
            (
                _(
                    "Rare: the identity in the caption is less frequent in the training captions than the identity "
                    "in the foil. If accuracy is much lower on rare identities, the model relies on how often it "
                    "saw a name (contrast sets, Table 4). Frequent: all other items. The bins sort the items by log2 "
                    "of the ratio of both frequencies, each plus 1."
                ),
                TIED,
            ),
            ACCURACY,
            _bars,
        ),
        AnalysisPage(
            "counts",
            _("Accuracy by count"),
            _("Which numbers do models count correctly?"),
            (
                _(
                    "Items by the number in their caption (ViLMA, Fig. 11). Small numbers are frequent in "
                    "pretraining data. A model that is correct only on small numbers may simply prefer frequent "
                    "number words, without counting."
                ),
                TIED,
            ),
            ACCURACY,
            _bars,
            second=(
                "categories",
                _by_category,
                _(
                    "Mean over the models of each category, with one standard deviation. Categories come "
                    "from the model cards."
                ),
            ),
        ),
        AnalysisPage(
            "length",
            _("Accuracy by video length"),
            _("Do models fail more often on long videos?"),
            (
                _(
                    "Six groups by clip length (ViLMA, Fig. 23), either with equal numbers of items or "
                    "with equal width in log seconds. Models with a fixed number of frames see a smaller "
                    "part of a long clip."
                ),
                TIED,
            ),
            ACCURACY,
            _bars,
            second=("lengths", _lengths, _("Items by clip length, on a logarithmic axis.")),
        ),
    )
}
