"""The small made files of `foilworks reproduce vilma --sample`: four records in each of three of the eleven files."""

import shutil
from pathlib import Path

from foilworks.site.reproduction.registry import SAMPLES


def write_files(folder: Path) -> None:
    """Write three of the eleven files."""
    shutil.copytree(SAMPLES / "vilma", folder)
