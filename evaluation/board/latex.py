"""Write a board as a table for papers and spreadsheets: LaTeX (booktabs), Markdown, CSV, JSON.

Cells are percentages with one decimal and their interval; the best values of the ranked column are bold.
"""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.board.leaderboard import Board, BoardRow
from evaluation.metrics.comparison import ALPHA
from evaluation.scoring.involvement import ModelInvolvement
from evaluation.text_tables import escaped
from foilworks.core.corpus.release_records import as_published_facts
from foilworks.core.text.storable import safe_row

METRICS = ("P", "T", "P+T")
CSV_COLUMNS = (
    "place",
    "group",
    "model",
    "model_key",
    "protocol",
    "category",
    "adaptation",
    "size",
    "pretraining_data",
    "objectives",
    "n",
    "P",
    "P_low",
    "P_high",
    "T",
    "T_low",
    "T_high",
    "P+T",
    "P+T_low",
    "P+T_high",
    "ties",
    "chance_P",
    "chance_T",
    "chance_P+T",
    "p_best_holm",
    "n_missing",
    "n_unread",
    *(f"{name}_all_wrong" for name in METRICS),
    "sent_by",
    "n_truncated",
    "n_equal_after_truncation",
    "served_versions",
    "served_first",
    "served_last",
    "served_mode",
    "served_by",
    "served_prompts",
)


def _shown(board: Board) -> list[str]:
    """Return the metrics that some model has."""
    names = [name for name in METRICS if any(row.group and row.group[name] is not None for row in board.rows)] or ["T"]
    return [*names, *board.unranked]


def _cell(row: BoardRow, name: str, dash: str) -> str:
    group = row.group
    if group is None or group.get(name) is None:
        return "--"
    interval = group[f"{name}_ci"]
    bounds = f" [{100 * interval[0]:.1f}{dash}{100 * interval[1]:.1f}]" if interval else ""
    return f"{100 * group[name]:.1f}{bounds}"


SCREENING_MARKS = {
    ModelInvolvement.SCREENED: "screened the foils",
    ModelInvolvement.FAMILY: "a model of its family screened the foils",
}


def _label(row: BoardRow) -> str:
    """Return the model's name, marked if it was submitted by others or if it truncated texts."""
    marks = ["external submission"] if row.run.params.get("sent_by") else []
    marks += [row.run.served_as] if row.run.served_as else []
    marks += [f"texts truncated in {row.run.n_truncated} items"] if row.run.n_truncated else []
    marks += [f"cannot see {row.run.n_unseen} items"] if row.run.n_unseen else []
    marks += [SCREENING_MARKS[row.screening.involvement]] if row.screening else []
    return f"{row.run.label} ({', '.join(marks)})" if marks else row.run.label


def _note(board: Board) -> str:
    notes = [f"{board.n_items} items, {board.scope}", "95 % intervals by bootstrap over source videos"]
    notes.append(
        f"bold: not significantly different from the best in {board.column} (paired cluster t, Holm over all pairs, "
        ".05)"
    )
    if board.n_as_published:
        notes.append(
            f"{board.n_as_published} items of the release count as valid because they were imported as published"
        )
    if any(row.screening for row in board.rows):
        notes.append("scores of models that screened foils, or of their families, are not independent of the benchmark")
    if board.uneven:
        notes.append("a model without P has no scores of the proficiency items; its T is over all items that it scored")
    return "; ".join(notes) + "."


def _chance(board: Board) -> dict[str, Any]:
    best = next((row.group for row in board.rows if row.group), None)
    return dict(best["chance"]) if best else {}


def markdown(board: Board) -> str:
    """Write a pipe table; pipes in names are escaped."""
    names = _shown(board)
    lines = ["| # | Model | Protocol | " + " | ".join(names) + " | n |", "|--:|---|---|" + "--:|" * (len(names) + 1)]
    for row in board.rows:
        cells = [_bold(_cell(row, name, "–"), row, name, board, "**{}**") for name in names]
        label = _label(row).replace("\\", "\\\\").replace("|", "\\|")
        n = row.group["n"] if row.group else 0
        lines.append(f"| {row.rank or '–'} | {label} | {row.run.protocol} | " + " | ".join(cells) + f" | {n} |")
    for label, cells, n in _lines(board, names):
        lines.append(f"| | *{label}* | | " + " | ".join(cells) + (f" | {n} |" if n else " | |"))
    return "\n".join([*lines, "", _note(board), ""])


def latex(board: Board) -> str:
    """Write a `tabular` for the booktabs package; the caption's text is a comment."""
    names = _shown(board)
    head = " & ".join(["\\#", "Model", "Protocol", *names, "$n$"])
    lines = [f"% {_note(board)}", "\\begin{tabular}{rll" + "r" * (len(names) + 1) + "}", "\\toprule"]
    lines += [head + r" \\", "\\midrule"]
    for row in board.rows:
        cells = [_bold(_cell(row, name, "--"), row, name, board, r"\textbf{{{}}}") for name in names]
        n = row.group["n"] if row.group else 0
        start = [str(row.rank or "--"), escaped(_label(row)), escaped(row.run.protocol)]
        lines.append(" & ".join([*start, *cells, str(n)]) + r" \\")
    extra = [
        " & ".join(["", rf"\emph{{{label}}}", "", *cells, str(n)]) + r" \\" for label, cells, n in _lines(board, names)
    ]
    return "\n".join([*lines, *(["\\midrule", *extra] if extra else []), "\\bottomrule", "\\end{tabular}", ""])


def _bold(cell: str, row: BoardRow, name: str, board: Board, form: str) -> str:
    # A model of a later rank may differ from the best of its group and not from the first model.
    best = row.rank == 1 or (row.p_best is not None and row.p_best >= ALPHA)
    return form.format(cell) if name == board.column and best else cell


def _lines(board: Board, names: Sequence[str]) -> list[tuple[str, list[str], int | str]]:
    """Return chance and people, for below the models: label, cells, number of items."""
    chance, human = _chance(board), board.human
    lines: list[tuple[str, list[str], int | str]] = []
    if chance:
        values = [chance.get(name) for name in names]
        lines.append(("chance", ["--" if value is None else f"{100 * value:.1f}" for value in values], ""))
    if human:
        lines.append(("people", [f"{100 * human['T']:.1f}" if name == "T" else "--" for name in names], human["n"]))
    return lines


def as_csv(board: Board) -> str:
    """Write unrounded numbers, one line per model."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    # After the others, so that their places do not change.
    columns = [*CSV_COLUMNS, *(column for name in board.unranked for column in _columns_of(name))]
    columns += [f"luck_{name}" for name in board.of_sets]
    writer.writerow(columns)
    for row in _plain(board):
        writer.writerow(safe_row([row[column] for column in columns]))
    return out.getvalue()


def _columns_of(name: str) -> tuple[str, ...]:
    return name, f"{name}_low", f"{name}_high", f"chance_{name}"


def _unranked(board: Board, group: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scores of items of two clips, of sets and of hard foils; nothing if the release has no such items."""
    columns: dict[str, Any] = {"n_pairs": group.get("n_pairs")} if board.of_two_clips else {}
    columns |= {f"luck_{name}": group.get("luck", {}).get(name) for name in board.of_sets}
    columns |= {"n_sets": group.get("n_sets")} if board.of_sets else {}
    columns |= {"n_hard": group.get("n_hard")} if board.hard_sources else {}
    for name in board.unranked:
        low, high = group.get(f"{name}_ci") or (None, None)
        values = (group.get(name), low, high, group.get("chance", {}).get(name))
        columns |= dict(zip(_columns_of(name), values, strict=True))
    return columns


def _plain(board: Board) -> list[dict[str, Any]]:
    rows = []
    for row in board.rows:
        group: dict[str, Any] = dict(row.group or {})
        bounds = {name: group.get(f"{name}_ci") or (None, None) for name in METRICS}
        chance = group.get("chance", {})
        rows.append(
            {
                "place": row.rank,
                "group": row.tied,
                "model": row.run.label,
                "model_key": row.run.model_key,
                "protocol": row.run.protocol,
                **{
                    name: getattr(row.card, name) if row.card else ""
                    for name in ("category", "adaptation", "size", "pretraining_data", "objectives")
                },
                "n": group.get("n"),
                **{name: group.get(name) for name in METRICS},
                **{f"{name}_low": bounds[name][0] for name in METRICS},
                **{f"{name}_high": bounds[name][1] for name in METRICS},
                "ties": group.get("ties"),
                **{f"chance_{name}": chance.get(name) for name in METRICS},
                **_unranked(board, group),
                "p_best_holm": row.p_best,
                "n_missing": row.n_missing,
                "n_unread": group.get("n_unread", 0),
                **{f"{name}_all_wrong": group.get("all_wrong", {}).get(name) for name in METRICS},
                # Who submitted the scores on the public page.
                "sent_by": row.run.params.get("sent_by", ""),
                "n_truncated": row.run.n_truncated,
                "n_equal_after_truncation": row.run.n_equal_after_cut,
                **_served(row),
            }
        )
    return rows


def _served(row: BoardRow) -> dict[str, Any]:
    """Return which version of a served model answered, when, and how it was queried."""
    facts = row.run.params.get("served", {})
    names = ("first", "last", "mode", "by", "prompts")
    return {
        "served_versions": " ".join(facts.get("versions", ())),
        **{f"served_{name}": facts.get(name, "") for name in names},
    }


def as_json(board: Board) -> str:
    document = {
        "column": board.column,
        "scope": board.scope,
        "n_items": board.n_items,
        **as_published_facts(board.n_as_published),
        "models": _plain(board),
        "human": board.human,
        "n_tests": board.n_tests,
        "items_to_separate": board.items_to_separate,
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


WRITERS: dict[str, tuple[str, Callable[[Board], str]]] = {
    "csv": ("text/csv", as_csv),
    "json": ("application/json", as_json),
    "md": ("text/markdown", markdown),
    "tex": ("application/x-tex", latex),
}
