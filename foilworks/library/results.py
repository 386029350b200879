"""Show a result: one line in a terminal, a table with bars in a notebook, JSON as of the command, data frames."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from evaluation.errors import EvaluationError
from evaluation.number_text import share

if TYPE_CHECKING:
    import pandas
    import wandb

Row = Mapping[str, Any]
MAX_ROWS = 20
BAR_WIDTH, BAR_HEIGHT = 240, 14
TABLE = "<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
BAR = (
    '<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">'
    '<rect width="{value:.1f}" height="{height}" fill="currentColor" fill-opacity="0.35"/>{interval}{chance}</svg>'
)
LINE = '<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1}" y2="{y2}" stroke="currentColor" stroke-width="2"{dash}/>'


@dataclass(frozen=True)
class Bar:
    """A share of 0..1 with its interval and what chance gives, also 0..1.

    >>> import foilworks
    >>> foilworks.Bar("T", 0.75, interval=(0.6, 0.9), chance=0.5).value
    0.75
    """

    name: str
    value: float
    interval: Sequence[float] | None = None
    chance: float | None = None


@dataclass(frozen=True, repr=False)
class Result:
    """A result. `document`: values of JSON, with the fields that the command prints with `--json`.

    `result["name"]` is a field. KeyError: there is none of this name.

    >>> import foilworks
    >>> result = foilworks.metrics.mc([{"id": "a", "scores": [0.9, 0.1]}])
    >>> isinstance(result, foilworks.Result), result["accuracy"]
    (True, 1.0)
    """

    document: Mapping[str, Any]
    # Columns that the table of a notebook leaves out.
    HIDDEN: ClassVar[frozenset[str]] = frozenset()

    def __getitem__(self, name: str) -> Any:
        return self.document[name]

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.summary()}"

    def summary(self) -> str:
        """Return what the result says, in one line: here, its numbers."""
        numbers = [f"{name} {value:.4g}" for name, value in self.document.items() if isinstance(value, int | float)]
        return ", ".join(numbers)

    def tables(self) -> Mapping[str, Sequence[Row]]:
        """Return the tables of the result, the most important first: name -> rows. Here, one row of all values."""
        return {"values": [self.document]}

    def bars(self) -> Sequence[Bar]:
        """Return the shares that a notebook draws."""
        return ()

    def to_json(self) -> str:
        """Return the JSON that the command prints with `--json`, in one line."""
        return json.dumps(self.document, ensure_ascii=False, allow_nan=False)

    def to_pandas(self, table: str = "") -> "pandas.DataFrame":
        """Return one of the `tables` as a data frame; "": the first. EvaluationError: no such table, or no pandas."""
        tables = self.tables()
        name = table or next(iter(tables))
        if name not in tables:
            raise EvaluationError(f"table: there is no {name}; choose one of: {', '.join(tables)}")
        try:
            import pandas
        except ImportError as error:
            raise EvaluationError("pandas: is not installed; install it with `pip install pandas`") from error
        return pandas.DataFrame([dict(row) for row in tables[name]])

    def log_to(self, run: "wandb.Run", name: str = "") -> None:
        """Log the numbers and tables to a run of Weights & Biases, under `name` ("": that of the class, such as audit).

        `run`: what `wandb.init` returns. Numbers and words are in its summary, lists as JSON in its tables.

        EvaluationError: wandb is not installed.
        """
        try:
            import wandb
        except ImportError as error:
            raise EvaluationError("wandb: is not installed; install it with `pip install wandb`") from error
        name = name or type(self).__name__.lower()
        run.summary.update(dict(_numbers(self.document, name)))
        for table, rows in self.tables().items():
            columns = list(dict.fromkeys(column for row in rows for column in row))
            cells = [[_plain(row.get(column)) for column in columns] for row in rows]
            run.log({f"{name}/tables/{table}": wandb.Table(columns=columns, data=cells, allow_mixed_types=True)})

    def _repr_html_(self) -> str:
        rows = next(iter(self.tables().values()), ())
        texts = [f"<p>{escape(self.summary())}</p>", _bars_html(self.bars()), _table_html(rows[:MAX_ROWS], self.HIDDEN)]
        if len(rows) > MAX_ROWS:
            texts.append(f"<p>{len(rows) - MAX_ROWS:,} more rows: <code>.to_pandas()</code></p>")
        return "".join(texts)


def _numbers(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield numbers and words of a document with their paths; lists have no path that stays."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(inner, f"{name}/{key}")
    elif isinstance(value, int | float | str):
        yield name, value


def _plain(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping | list | tuple) else value


def _bars_html(bars: Sequence[Bar]) -> str:
    cells = [[escape(bar.name), _svg(bar), escape(share(bar.value))] for bar in bars]
    return _html(("", "", ""), cells) if bars else ""


def _svg(bar: Bar) -> str:
    middle = BAR_HEIGHT // 2
    interval = chance = ""
    if bar.interval:
        low, high = (BAR_WIDTH * bound for bound in bar.interval)
        interval = LINE.format(x1=low, x2=high, y1=middle, y2=middle, dash="")
    if bar.chance is not None:
        at = BAR_WIDTH * bar.chance
        chance = LINE.format(x1=at, x2=at, y1=0, y2=BAR_HEIGHT, dash=' stroke-dasharray="2 2"')
    label = f"{bar.name}: {share(bar.value)}" + (f", chance {share(bar.chance)}" if bar.chance is not None else "")
    value = BAR_WIDTH * min(1.0, max(0.0, bar.value))
    label = escape(label, quote=True)
    return BAR.format(width=BAR_WIDTH, height=BAR_HEIGHT, value=value, label=label, interval=interval, chance=chance)


def _table_html(rows: Sequence[Row], hidden: frozenset[str]) -> str:
    first = rows[0] if rows else {}
    names = [name for name in first if name not in hidden and not isinstance(first[name], Mapping)]
    return _html([escape(name) for name in names], [[escape(_cell(row.get(name))) for name in names] for row in rows])


def _html(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return TABLE.format(head="".join(f"<th>{name}</th>" for name in head), body=body)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value))
    return str(value)
