"""Readability of English: Reading Ease (Flesch 1948) and Flesch-Kincaid grade (Kincaid et al. 1975). Pure.

Syllables are counted by rule, with a list of the exceptions that captions hold: no dictionary has to be fetched.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+")
SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)")
VOWELS = re.compile(r"[aeiouy]+")
# The last e of "smiled", "handled", "makes", "handles", "knife"; not of "painted", "boxes", "table".
SILENT_END = re.compile(
    r"(?:.[^aeiouytdl]ed|[aeiouylrw]led|.(?:[^sxzcghlaeiouy]|(?<![cs])h)es|[aeiouylr]les|(?:[^laeiouy]|[aeiouylr]l)e)$"
)
# Vowels side by side that are two: "radiator", "video", "graduate", "seeing".
TWO_VOWELS = re.compile(r"(?<![tscg])i[ao](?!n$|ns$|us)|eo(?!p|n$|ns$|us)|[^qg]u[ao]|ually|uity|[aeiou]ing$")
# "basement", "carefully", "lonely": an e before an ending is as silent as at the end.
SILENT_WITHIN = re.compile(r"[^aeiouy]e(?:ment|ments|ful|fully|ly|less|ness)$")
# What the rules counts wrong and captions say often.
EXCEPTIONS = {
    "area": 3,
    "being": 2,
    "business": 2,
    "camera": 3,
    "created": 3,
    "creating": 3,
    "doing": 2,
    "every": 2,
    "evening": 2,
    "family": 3,
    "going": 2,
    "idea": 3,
    "lion": 2,
    "people": 2,
    "piano": 3,
    "poem": 2,
    "quiet": 2,
    "radio": 3,
    "science": 2,
    "seeing": 2,
    "several": 3,
    "someone": 2,
    "something": 2,
    "somewhere": 2,
    "sometimes": 2,
    "stadium": 3,
    "studio": 3,
    "video": 3,
    "violin": 3,
    "wednesday": 2,
    "giant": 2,
    "diet": 2,
    "lying": 2,
    "dying": 2,
    "drying": 2,
    "flying": 2,
    "trying": 2,
    "crying": 2,
    "frying": 2,
    "carrying": 3,
    "playing": 2,
    "fire": 1,
    "baseball": 2,
    "homework": 2,
    "household": 2,
    "meanwhile": 2,
    "once": 1,
    "are": 1,
    "were": 1,
    "shoe": 1,
    "shoes": 1,
    "the": 1,
    "nineteen": 2,
    "ninety": 2,
    "sidewalk": 2,
    "skateboard": 2,
    "cheeseboard": 2,
    "horseback": 2,
    "policeman": 3,
    "policemen": 3,
    "reality": 4,
    "fireplace": 2,
    "lifeguard": 2,
    "housewife": 2,
    "placemat": 2,
    "snowboarder": 3,
    "basketball": 3,
}


@dataclass(frozen=True)
class Readability:
    """Counts of a text or of many texts together; the scores are None where there is no word."""

    sentences: int = 0
    words: int = 0
    syllables: int = 0

    @property
    def ease(self) -> float | None:
        """206.835 - 1.015 words per sentence - 84.6 syllables per word; 100 is very easy, below 30 very hard."""
        if not self.words:
            return None
        return 206.835 - 1.015 * self.words / self.sentences - 84.6 * self.syllables / self.words

    @property
    def grade(self) -> float | None:
        """.39 words per sentence + 11.8 syllables per word - 15.59: the school grade of the United States."""
        if not self.words:
            return None
        return 0.39 * self.words / self.sentences + 11.8 * self.syllables / self.words - 15.59

    def __add__(self, other: "Readability") -> "Readability":
        return Readability(self.sentences + other.sentences, self.words + other.words, self.syllables + other.syllables)


def readability(text: str) -> Readability:
    """Of one text; a text without a full stop is one sentence."""
    found = WORD.findall(text)
    if not found:
        return Readability()
    ends = len(SENTENCE_END.findall(text.strip()))
    open_end = not SENTENCE_END.search(text.strip()[-1:])
    return Readability(max(1, ends + open_end), len(found), sum(map(syllables, found)))


def readability_of(texts: Iterable[str]) -> Readability:
    """Of many texts together, as if they were one after the other."""
    return sum((readability(text) for text in texts), Readability())


def syllables(word: str) -> int:
    """Of an English word, by its letters; at least 1. A number counts as one."""
    plain = word.lower().replace("’", "'").removesuffix("'s")
    if plain in EXCEPTIONS:
        return EXCEPTIONS[plain]
    letters = re.sub(r"[^a-z]", "", plain)
    if not letters:
        return 1
    count = len(VOWELS.findall(letters)) - bool(SILENT_END.search(letters)) + len(TWO_VOWELS.findall(letters))
    if count > 2:
        count -= bool(SILENT_WITHIN.search(letters))
    return max(1, count)
