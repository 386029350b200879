"""Lay results out as four tables of the paper (contrast sets, Table 2 and Table 3 and Table 4 and Table 5)."""

from collections.abc import Mapping, Sequence
from typing import Any

HUMAN = "Human (simulated)"
NOTHING = "-"
PAPER = {"msrvtt": "(contrast sets, Table 2)", "lsmdc": "(contrast sets, Table 3)"}


def percent(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.1f}"


def layout(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in columns of equal width, with its title below, as in the paper."""
    widths = [max(len(row[0]) for row in [head, *rows]), *(max(6, len(cell)) for cell in head[1:])]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in [head, *rows]
    ]
    return "\n".join([*lines, title, ""])


def accuracy(found: Mapping[str, Any]) -> str:
    """Return accuracies: a row per model, then people by the majority of three."""
    sets = found["sets"]
    head = ["Approach", "V→T R@1", *(f"{name} MC" for name in sets)]
    rows = [
        [model, percent(values["R@1"]), *(percent(values["accuracy"][name]) for name in sets)]
        for model, values in found["models"].items()
    ]
    rows.append([HUMAN, NOTHING, *(percent(found["human"]["majority"].get(name)) for name in sets)])
    sizes = ", ".join(f"{name} {n:,}" for name, n in sets.items())
    return layout(f"Accuracy on {found['title']} {PAPER[found['data set']]}. Items: {sizes}.", head, rows)


def identities(found: Mapping[str, Any]) -> str:
    """Return overall and rare accuracy, and their difference (contrast sets, Table 4)."""
    rows = [
        [model, *(percent(row[name]) for name in ("overall", "rare", "difference"))]
        for model, row in found["identities"].items()
    ]
    return layout("Rare identities in LSMDC-IDs (contrast sets, Table 4).", ["", "Overall", "Rare", "Δ"], rows)


def proximity(found: Mapping[str, Any]) -> str:
    """Return accuracy on antonyms, and on the highest and lowest 15 % of the others (contrast sets, Table 5)."""
    groups = list(dict.fromkeys(group for row in found["proximity"].values() for group in row))
    head = ["", *(group[:1].upper() + group[1:] for group in groups)]
    rows = [[model, *(percent(row.get(group)) for group in groups)] for model, row in found["proximity"].items()]
    return layout("Semantic proximity in VerbLM of MSR-VTT (contrast sets, Table 5).", head, rows)


def show(results: Mapping[str, Any]) -> str:
    """Return all tables of the results."""
    parts = [accuracy(found) for found in results.values()]
    parts += [identities(found) for found in results.values() if "identities" in found]
    parts += [proximity(found) for found in results.values() if "proximity" in found]
    return "\n".join(parts)
