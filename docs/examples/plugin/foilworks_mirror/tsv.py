"""Write one line per foil: item, caption and foil, separated by tabs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.plugins import RecordContent, ReleaseContent, released_items

# The format needs records only, so a project without a release can be exported, too.
TAKES_RECORDS = True


def write(release: ReleaseContent | RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write `out`/items.tsv, and return its path."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "items.tsv"
    with path.open("w", encoding="utf-8") as file:
        for item in released_items(release):
            file.writelines(f"{item.id}\t{item.caption}\t{foil}\n" for foil in item.foils)
    return [path]
