"""Lay results out as the paper's tables 2 to 5 (contrast sets)."""

from collections.abc import Mapping, Sequence
from typing import Any

HUMAN = "Human (simulated)"
NOTHING = "-"
PAPER = {"msrvtt": "Table 2", "lsmdc": "Table 3"}


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
    """Table 2 or 3: a row per model, then people by the majority of three."""
    sets = found["sets"]
    head = ["Approach", "V→T R@1", *(f"{name} MC" for name in sets)]
    rows = [
        [model, percent(values["R@1"]), *(percent(values["accuracy"][name]) for name in sets)]
        for model, values in found["models"].items()
    ]
    rows.append([HUMAN, NOTHING, *(percent(found["human"]["majority"].get(name)) for name in sets)])
    sizes = ", ".join(f"{name} {n:,}" for name, n in sets.items())
    return layout(f"{PAPER[found['data set']]}: {found['title']}. Items: {sizes}.", head, rows)


def identities(found: Mapping[str, Any]) -> str:
    """Table 4: overall, rare, difference."""
    rows = [
        [model, *(percent(row[name]) for name in ("overall", "rare", "difference"))]
        for model, row in found["identities"].items()
    ]
    return layout("Table 4: ID MC in LSMDC-IDs.", ["", "Overall", "Rare", "Δ"], rows)


def proximity(found: Mapping[str, Any]) -> str:
    """Table 5: antonyms, then the highest and lowest 15 % of the others by each encoder."""
    groups = list(dict.fromkeys(group for row in found["proximity"].values() for group in row))
    head = ["", *(group[:1].upper() + group[1:] for group in groups)]
    rows = [[model, *(percent(row.get(group)) for group in groups)] for model, row in found["proximity"].items()]
    return layout("Table 5: VerbLM MC in MSR-VTT.", head, rows)


def show(results: Mapping[str, Any]) -> str:
    """Return all tables of the results."""
    parts = [accuracy(found) for found in results.values()]
    parts += [identities(found) for found in results.values() if "identities" in found]
    parts += [proximity(found) for found in results.values() if "proximity" in found]
    return "\n".join(parts)
