"""Read antonyms from WordNet with nltk: its own corpus, or the files of Debian's wordnet-base."""

from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

import nltk
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from foilworks.core.text.language.tagger_names import LanguageError

PARTS = {"VERB": "v", "NOUN": "n", "ADJ": "a", "ADV": "r"}
LEXNAMES, N_LEXNAMES = "lexnames", 45


class AntonymReader(WordNetCorpusReader):
    """nltk's reader, without the files that Debian does not install and antonyms do not need."""

    def open(self, file: str) -> Any:
        if file == LEXNAMES:
            return StringIO("".join(f"{index} {index} 0\n" for index in range(N_LEXNAMES)))
        return super().open(file)

    def map_wn(self, version: str = "wordnet") -> None:
        """Map no synsets to another version of WordNet: only other languages need it."""


class WordNet:
    """WordNet in a folder, or in nltk's zip of it. nltk reads the index at once, and synsets when they are needed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        root = path.resolve()
        # nltk refuses files outside the folders that it searches.
        nltk.data.path.append(str(root.parent if root.is_file() else root))
        pointer = nltk.data.ZipFilePathPointer(str(root), "wordnet/") if root.is_file() else str(root)
        try:
            # Not None, which warns: there is no reader of other languages.
            self._reader = AntonymReader(pointer, omw_reader=False)
        except OSError as error:
            # A missing file; a file that nltk does not trust: a link to elsewhere, or one that others may write.
            problem = f"{path}: nltk cannot read WordNet ({error})"
            raise LanguageError(f"{problem}; copy its files to ~/nltk_data/corpora/wordnet") from error

    @lru_cache(maxsize=10_000)  # noqa: B019 (one object a process, kept by the door)
    def antonyms(self, lemma: str, part_of_speech: str) -> tuple[str, ...]:
        """Return the antonyms of any sense of `lemma`, sorted; () for an unknown word or part of speech."""
        if part_of_speech not in PARTS:
            return ()
        rows = self._reader.lemmas(lemma.replace(" ", "_"), PARTS[part_of_speech])
        opposites = {opposite.name() for row in rows for opposite in row.antonyms()}
        return tuple(sorted({name.replace("_", " ").lower() for name in opposites}))
