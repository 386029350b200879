"""Compute the readability of English sentences (ViLMA, Sec. C.3). Pure."""

import re
from collections.abc import Iterable

WORD, END, VOWELS = re.compile(r"[a-z']+"), re.compile(r"[.!?]+"), re.compile(r"[aeiouy]+")
# A last e that is not spoken, but in words such as table.
SILENT = re.compile(r"[^aeiouyl]e$")


def readability(texts: Iterable[str]) -> tuple[float, float]:
    """Return the Flesch-Kincaid grade and the Flesch reading ease of all texts together. ValueError: no words."""
    n_sentences = n_words = n_syllables = 0
    for text in texts:
        words = WORD.findall(text.lower())
        n_sentences += max(1, len(END.findall(text)))
        n_words += len(words)
        n_syllables += sum(map(count_syllables, words))
    if not n_words:
        raise ValueError("the texts have no words; give sentences")
    length, syllables = n_words / n_sentences, n_syllables / n_words
    return 0.39 * length + 11.8 * syllables - 15.59, 206.835 - 1.015 * length - 84.6 * syllables


def count_syllables(word: str) -> int:
    """Count the groups of vowels, without a silent e; at least one."""
    return max(1, len(VOWELS.findall(word)) - bool(SILENT.search(word)))
