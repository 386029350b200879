"""How the analyses of a release are shown: their table, their chart and what a reader has to know, one row each."""

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
    # What stands below the chart; a second one by its name, with what stands below it.
    caption: str | Promise = ""
    second: tuple[str, Callable[[Data], bytes], str | Promise] | None = None

    def table(self, data: Data) -> list[list[tuple[Any, str, Any]]]:
        """(value, how to print it, interval) of each cell."""
        return [
            [
                (row.get(key), how, row.get(f"{key}_ci", row.get("ci") if key in MAIN else None))
                for key, _heading, how in self.columns
            ]
            for row in data["rows"]
        ]

    def shown_rows(self, data: Data) -> list[Row]:
        """The table as the page shows it, header first, with its intervals, for papers."""
        header: Row = [str(heading) for _key, heading, _how in self.columns]
        return [header, *([_printed(*cell) for cell in row] for row in self.table(data))]

    def csv_rows(self, data: Data) -> list[Row]:
        """Every plain field of the rows, unrounded; intervals as two columns."""
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


RIGHT = "share of items that are right, with 95 % interval"


def _bars(data: Data) -> bytes:
    """Accuracy by group, a bar a model; more models than shades are told apart by hatching."""
    groups = list(dict.fromkeys(row["group"] for row in data["rows"]))
    rows = [
        (str(name), {row["model"]: (row["accuracy"], row["ci"]) for row in data["rows"] if row["group"] == name})
        for name in groups
    ]
    guesses = {round(row["chance"], 9) for row in data["rows"] if row["chance"] is not None}
    return of_models.grouped(rows, chance=guesses.pop() if len(guesses) == 1 else None, label=RIGHT)


def _by_category(data: Data) -> bytes:
    """Mean over the models of a category and one standard deviation to both sides (ViLMA, Fig. 11)."""
    found = data["categories"]
    bars = {(row["category"], row["group"]): row for row in found}
    groups = list(dict.fromkeys(row["group"] for row in found))
    names = {row["category"]: f"{row['category']} (n = {row['n_models']})" for row in found}
    rows = []
    for group in groups:
        series = {}
        for category, shown in names.items():
            row = bars.get((category, group))
            if row is not None:
                spread = row["sd"] or 0.0
                around = (max(0.0, row["mean"] - spread), min(1.0, row["mean"] + spread)) if spread else None
                series[shown] = (row["mean"], around)
        rows.append((str(group), series))
    return of_models.grouped(rows, label="mean accuracy of the models, with one standard deviation to both sides")


def _lengths(data: Data) -> bytes:
    """How many items have clips of which length, on a logarithmic axis (ViLMA, Fig. 23)."""
    found = data["histogram"]
    return of_models.histogram(
        [10.0**edge for edge in found["log10_edges"]], found["counts"], label="length of the clip in seconds"
    )


def _outlines(data: Data) -> bytes:
    """A panel a model, an outline a kind of edit."""
    models = dict.fromkeys(row["model"] for row in data["rows"])
    shown = [row for row in data["rows"] if row["n"] and row["group"] != "all"]
    panels = [
        (name, [(row["group"], row["edges"], row["shares"]) for row in shown if row["model"] == name])
        for name in models
    ]
    return of_models.distributions(panels, label="score of the foil minus score of the caption")


ACCURACY = (
    ("model", _("Model"), "text"),
    ("group", _("Which items"), "text"),
    ("accuracy", _("Accuracy"), "share"),
    ("chance", _("Chance"), "share"),
    ("n", _("Items"), "count"),
)
TIED = _(
    "Accuracy is the share of items whose caption scores above every foil; a tie among n best counts 1/n unless "
    "another policy is chosen. Intervals are 95 %, by drawing source videos with replacement."
)

PAGES: dict[str, AnalysisPage] = {
    page.slug: page
    for page in (
        AnalysisPage(
            "delta",
            _("Change of the score by edit"),
            _("How far a model's score falls when the caption becomes its foil, by what was changed."),
            (
                _(
                    "The change is s(video, foil) minus s(video, caption): below zero is right. The mean "
                    "magnitude says how sensitive the model is to this kind of edit; the share above zero is how "
                    "often it prefers the foil (Feint6K, Fig. 5)."
                ),
                _(
                    "Scores are in each model's own unit, so magnitudes compare kinds of edit within a model, not"
                    " models with each other, unless all give cosines."
                ),
                _("What was changed is what the foils' facts name as “edited”, else the method that made them."),
            ),
            (
                ("model", _("Model"), "text"),
                ("group", _("What was changed"), "text"),
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
            _("Do models fail more often where the foil means nearly the same as the caption?"),
            (
                _(
                    "High: the 15 % of items whose foil is nearest to the caption by the cosine under a sentence "
                    "encoder; low: the 15 % farthest. Antonyms stand apart, since encoders take them for near "
                    "(contrast sets, Table 5). A model that reads no more than the gist does worse on high."
                ),
                TIED,
            ),
            ACCURACY,
            _bars,
        ),
        AnalysisPage(
            "identity",
            _("Rare identities"),
            _("Do models fail on people whom training rarely showed?"),
            (
                _(
                    "Rare: the caption's own identity is less frequent in the train captions than the one swapped"
                    " in. A large drop means that the model knows names by how often it met them (contrast sets, "
                    "Table 4)."
                ),
                TIED,
            ),
            ACCURACY,
            _bars,
        ),
        AnalysisPage(
            "counts",
            _("Accuracy by count"),
            _("Which numbers do models count right?"),
            (
                _(
                    "Items by the count that their caption states (ViLMA, Fig. 11). Small numbers are frequent in"
                    " pretraining: a model that is right on them alone may prefer the number and not see it."
                ),
                TIED,
            ),
            ACCURACY,
            _bars,
            second=(
                "categories",
                _by_category,
                _("Mean over the models of a category, as their cards state it, with one standard deviation."),
            ),
        ),
        AnalysisPage(
            "length",
            _("Accuracy by video length"),
            _("Do models fail more often on long videos?"),
            (
                _(
                    "Six groups by length of the clip (ViLMA, Fig. 23), of equal numbers of items or of equal "
                    "width in log seconds. Models that see a fixed number of frames see less of a long clip."
                ),
                TIED,
            ),
            ACCURACY,
            _bars,
            second=("lengths", _lengths, _("Items by the length of their clip; the axis is logarithmic.")),
        ),
    )
}
