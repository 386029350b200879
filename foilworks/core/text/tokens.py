"""Split texts of any script into words. Pure; offsets are Python string offsets (code points).

The only tokenizer of captions for metrics: lexical divergence, blind audit, gate, balance, lengths and cues.
Decision 67 has the reasons.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

import regex
from icu4py.breakers import CharacterBreaker, WordBreaker

# Words of ASCII texts in all published results (docs/reference/formulas.md#metric-js); a change would change results.
ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
NO_UNDERSCORE = re.compile("[^_]+")
# Word boundaries do not depend on this locale: ICU chooses its dictionaries by script.
LOCALE = "root"
# Scripts without spaces between words. foilworks/core/text/diff.py and static/annotation/writing.js use the same list.
UNSPACED_SCRIPTS = (
    "Han",
    "Hiragana",
    "Katakana",
    "Thai",
    "Lao",
    "Khmer",
    "Myanmar",
    "Tai_Le",
    "New_Tai_Lue",
    "Tai_Tham",
    "Tai_Viet",
    "Javanese",
    "Balinese",
)
# The long-vowel marks belong to both Japanese scripts, so the property has neither.
UNSPACED = "".join(rf"\p{{Script={name}}}" for name in UNSPACED_SCRIPTS) + r"\u30fc\uff70"
_UNSPACED = regex.compile(f"[{UNSPACED}]")
# Segments with a letter or a digit are words.
_SAYS = regex.compile(r"[\p{L}\p{N}]")
MAX_GRAM = 2

WordSpan = tuple[int, int, str]


def words(text: str) -> list[str]:
    """List the lower-cased words in order, by ICU's word boundaries (UAX #29, with dictionaries for unspaced scripts).

    A word in ASCII is `[a-z0-9]+(?:'[a-z]+)?` in every text. Other words are in Unicode form NFC; a typographic
    apostrophe equals the plain one.
    """
    if text.isascii():
        return ASCII_WORD.findall(text.lower())
    return [word for _, _, word in _spans(text)]


def word_spans(text: str) -> list[WordSpan]:
    """List `(start, end, word)` of each of `words(text)`, with offsets into `text` as it was given."""
    return _ascii_spans(text) if text.isascii() else _spans(text)


def word_features(text: str) -> list[str]:
    """List the words and, of words in unspaced scripts, their shorter character n-grams (n up to 2).

    A dictionary may cut one phrase differently in two texts; the characters stay the same. Every n-gram is inside a
    word, so texts that are balanced over words are balanced over features.
    """
    all_words = words(text)
    return all_words if text.isascii() else [*all_words, *(gram for word in all_words for gram in _grams(word))]


def unseen_by_words(a: str, b: str) -> bool:
    """Return whether words cannot distinguish the pair: a text has no word, or both have the same words in order."""
    words_a, words_b = words(a), words(b)
    return not words_a or not words_b or (words_a == words_b and a != b)


def is_unspaced(word: str) -> bool:
    """Return whether the word has a character of a script without spaces between words."""
    return _UNSPACED.search(word) is not None


def whole_words(phrases: Iterable[str]) -> regex.Pattern[str]:
    """Compile a pattern that finds phrases as whole words, in any case; at the same position the first one wins.

    Scripts without spaces do not mark the end of a word: their phrases are found anywhere, next to any character.
    """
    letter = rf"[\w--[{UNSPACED}]]"
    patterns = []
    for phrase in phrases:
        before = "" if is_unspaced(phrase[:1]) else f"(?<!{letter})"
        after = "" if is_unspaced(phrase[-1:]) else f"(?!{letter})"
        patterns.append(f"{before}{regex.escape(phrase)}{after}")
    return regex.compile("|".join(patterns), regex.IGNORECASE | regex.VERSION1)


def normal_form(text: str) -> str:
    """Normalize a text: folded case, one blank between words, no punctuation, compatible characters unified.

    Symbols (emoji too) and combining marks stay; a text of punctuation only stays as it is.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    spaced = "".join(" " if unicodedata.category(char)[0] in "PZC" else char for char in folded)
    # Joined, not blank-separated: "push-up", "push up" and "pushup" are one text.
    return "".join(spaced.split()) or folded


def _spans(text: str) -> list[WordSpan]:
    # ICU does not accept a lone surrogate. Both replacements keep all offsets.
    plain_text = text.encode("utf-8", "replace").decode().replace("\u2019", "'")
    spans: list[WordSpan] = []
    start = at = 0
    for piece in WordBreaker(plain_text, LOCALE):
        end = at + len(piece)
        if not piece.isascii():
            spans += _ascii_spans(plain_text[start:at], start)
            spans += _whole(piece, at)
            start = end
        at = end
    return spans + _ascii_spans(plain_text[start:], start)


def _ascii_spans(text: str, at: int = 0) -> list[WordSpan]:
    """Return the words of an ASCII part without ICU: UAX #29 splits "90's", which published results do not."""
    return [(at + match.start(), at + match.end(), match.group()) for match in ASCII_WORD.finditer(text.lower())]


def _whole(piece: str, at: int) -> list[WordSpan]:
    """Return the words of a non-ASCII part, split at underscores, which UAX #29 joins but published results do not."""
    return [
        (at + match.start(), at + match.end(), unicodedata.normalize("NFC", match.group().lower()))
        for match in NO_UNDERSCORE.finditer(piece)
        if match.group().isalnum() or _SAYS.search(match.group())
    ]


def _grams(word: str) -> Iterator[str]:
    if not is_unspaced(word):
        return
    characters = list(CharacterBreaker(word, LOCALE))
    for n in range(1, min(MAX_GRAM, len(characters) - 1) + 1):
        yield from ("".join(characters[at : at + n]) for at in range(len(characters) - n + 1))
