"""Find WordNet's files without nltk, whose import takes seconds."""

import sys
from collections.abc import Iterable
from pathlib import Path

FOLDERS = (
    Path.home() / "nltk_data/corpora/wordnet",
    Path(sys.prefix) / "nltk_data/corpora/wordnet",
    Path(sys.prefix) / "share/nltk_data/corpora/wordnet",
    Path("/usr/local/share/nltk_data/corpora/wordnet"),
    Path("/usr/share/nltk_data/corpora/wordnet"),
    Path("/usr/share/wordnet"),
)
FILES = [f"{kind}.{suffix}" for kind in ("index", "data") for suffix in ("verb", "noun", "adj", "adv")]


def find_wordnet_files(folders: Iterable[Path] = FOLDERS) -> Path | None:
    """Return the first folder with WordNet's files, or the zip that nltk downloads; None without one."""
    for folder in folders:
        if all((folder / name).is_file() for name in FILES):
            return folder
        archive = folder.with_suffix(".zip")
        if archive.is_file():
            return archive
    return None
