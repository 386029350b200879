"""What a datasheet says by the evidence ladder: what the benchmark measures, and how its items were selected."""

from collections.abc import Mapping
from typing import Any

from foilworks.core.corpus.export_formats.parts.markdown import cell, table

NEEDS = {
    "clip": "their clip",
    "frames": "several frames of their clip",
    "order": "the order of the frames of their clip",
}
RUNGS = {"no_clip": "no clip", "best_frame": "one frame", "shuffled": "shuffled frames", "full": "full clip"}
LUCK = (
    "Each cell is the share of items that one of the models or more solve, with its 95 % interval over source videos. "
    "Luck is the share that one of them would solve if all guessed independently."
)


def selection_line(chosen: Mapping[str, Any]) -> str:
    """Return how the items were selected, and whose scores are too high for it."""
    names = list(dict.fromkeys(model["label"] for model in chosen["models"]))
    whose = "its score here is" if len(names) == 1 else "their scores here are"
    kept, n = (sum(row[name] for row in chosen["subtests"].values()) for name in ("n_kept", "n"))
    said = (
        f"Only items that need {NEEDS[chosen['needs']]} were released, {kept} of {n} valid ones, by the evidence ladder"
    )
    unknown = sum(row["n_unknown"] for row in chosen["subtests"].values())
    rest = f" {unknown} items without scores were left out." if unknown else ""
    return f"{said}. Items were selected with the scores of {cell(', '.join(names))}: {whose} too high.{rest}"


def measures(found: Mapping[str, Any] | None) -> list[str]:
    """Return the section about what the benchmark measures; nothing without a ladder."""
    if not found or not found["overall"]["n"]:
        return []
    rungs = [rung for rung in RUNGS if rung in found["overall"]["rungs"]]
    groups = [*found["subtests"].items(), ("overall", found["overall"])]
    rows = [
        [name, *(_share(group["rungs"].get(rung)) for rung in rungs), _percent(group["luck"]), group["n"]]
        for name, group in groups
    ]
    models = ", ".join(dict.fromkeys(model["model"] for model in found["models"]))
    return [
        "## What this benchmark measures",
        "",
        f"By the evidence ladder of {cell(models)}. {LUCK}",
        "",
        *table(["subtest", *(RUNGS[rung] for rung in rungs), "luck", "items"], rows),
        "",
    ]


def _share(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "-"
    ends = f" [{', '.join(f'{100 * end:.1f}' for end in row['ci'])}]" if row["ci"] else ""
    return f"{_percent(row['share'])}{ends}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"
