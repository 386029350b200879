"""Write one line per foil: item, caption and foil, separated by tabs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foilworks.plugins import RecordContent


def write(release: RecordContent, out: Path, *, params: Mapping[str, Any]) -> list[Path]:
    """Write the new folder `out`, and return the paths of its files."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "items.tsv"
    with path.open("w", encoding="utf-8") as file:
        if params["header"]:
            file.write("id\tcaption\tfoil\n")
        for item in release.items:
            file.writelines(f"{item.id}\t{item.caption}\t{foil}\n" for foil in item.foils)
    return [path]
