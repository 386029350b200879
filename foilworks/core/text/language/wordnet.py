"""Read antonyms from WordNet's own files (wndb(5)), the same in Debian's wordnet-base and nltk's corpus.

Without nltk, whose reader rejects Debian's folder (no lexnames file, symbolic links) and needs its own mappings.
"""

import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

FOLDERS = (
    Path.home() / "nltk_data/corpora/wordnet",
    Path(sys.prefix) / "nltk_data/corpora/wordnet",
    Path(sys.prefix) / "share/nltk_data/corpora/wordnet",
    Path("/usr/local/share/nltk_data/corpora/wordnet"),
    Path("/usr/share/nltk_data/corpora/wordnet"),
    Path("/usr/share/wordnet"),
)
FILES = {"VERB": "verb", "NOUN": "noun", "ADJ": "adj", "ADV": "adv"}
ANTONYM = "!"

Index = dict[str, tuple[int, ...]]


class WordNet:
    """WordNet in a folder. The index of a part of speech is cached (a few MB); synsets are read when needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._index: dict[str, Index] = {}

    @lru_cache(maxsize=10_000)  # noqa: B019 (one object a process, kept by the door)
    def antonyms(self, lemma: str, part: str) -> tuple[str, ...]:
        """Return the antonyms of any sense of `lemma`, sorted; () for an unknown word or part of speech."""
        name = FILES.get(part)
        if name is None:
            return ()
        key = lemma.lower().replace(" ", "_")
        found: set[str] = set()
        with (self.folder / f"data.{name}").open("rb") as data:
            for offset in self._offsets(name).get(key, ()):
                words, pointers = _synset(data, offset)
                for symbol, target, _, source_target in pointers:
                    source, to = int(source_target[:2], 16), int(source_target[2:], 16)
                    if symbol == ANTONYM and source and words[source - 1].lower() == key:
                        others, _ = _synset(data, int(target))
                        found.add(others[to - 1].partition("(")[0].replace("_", " ").lower())
        return tuple(sorted(found))

    def _offsets(self, name: str) -> Index:
        if name not in self._index:
            index: Index = {}
            with (self.folder / f"index.{name}").open(encoding="ascii") as lines:
                for line in lines:
                    fields = line.split()
                    # Lines that begin with blanks contain the licence.
                    if not line.startswith(" ") and len(fields) > 5:
                        index[fields[0]] = tuple(int(offset) for offset in fields[6 + int(fields[3]) :])
            self._index[name] = index
        return self._index[name]


def _synset(data: BinaryIO, offset: int) -> tuple[list[str], list[list[str]]]:
    """Return the words of the synset at a byte offset, and its pointers (symbol, offset, part, source and target)."""
    data.seek(offset)
    fields = data.readline().decode("ascii").split()
    count = int(fields[3], 16)
    words = fields[4 : 4 + 2 * count : 2]
    at = 4 + 2 * count
    pointers = [fields[at + 1 + 4 * n : at + 5 + 4 * n] for n in range(int(fields[at]))]
    return words, pointers


def find_wordnet(folders: Iterable[Path] = FOLDERS) -> WordNet | None:
    """Find the first folder that contains WordNet's verbs; None without one."""
    for folder in folders:
        if all((folder / f"{kind}.{part}").is_file() for kind in ("index", "data") for part in FILES.values()):
            return WordNet(folder)
    return None
