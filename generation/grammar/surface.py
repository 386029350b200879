"""Correct the surface of a caption around a replacement: capitals and the article before it."""

import re
from collections.abc import Sequence

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.inflection import article, lemmas
from foilworks.core.text.language.numbers import match_case
from foilworks.core.text.language.word_lists import word_set as word_set

# A word is separate: "left-to-right", "sit-ups", "circle's" and a letter with an accent on it are other words.
WORD_STARTS = r"(?<!\w)(?<!\w['’-])"
WORD_ENDS = r"(?!\w|['’-]\w|[\u0300-\u036f\u200d\ufe0f])"
WORD = re.compile(r"[^\W_]+")
ARTICLE_BEFORE = re.compile(WORD_STARTS + r"(an?)\s+$", re.IGNORECASE)


def replace_phrase(text: str, start: int, end: int, target: str) -> list[Edit]:
    """Return the edits that replace `text[start:end]` by `target`, keeping capitals and correcting "a"/"an"."""
    edits = [Edit(start, end, match_case(text[start:end], target))]
    before = ARTICLE_BEFORE.search(text, max(0, start - 20), start)
    if before:
        new_article = match_case(before.group(1), article(target))
        # "A" alone is not evidence of all capitals; "AN" is.
        if before.group(1) == "A" and text[start:end].isupper() and len(text[start:end]) > 1:
            new_article = new_article.upper()
        if new_article != before.group(1):
            edits.insert(0, Edit(before.start(1), before.end(1), new_article))
    return edits


def phrase_pattern(phrases: list[str]) -> re.Pattern[str]:
    """Compile a pattern of whole phrases, the longest first, with any white space; hyphenated words do not match."""
    ordered = sorted(phrases, key=lambda phrase: (-len(phrase.split()), -len(phrase), phrase))
    inner = "|".join(r"\s+".join(re.escape(word) for word in phrase.split()) for phrase in ordered)
    # Ignore only ASCII case: otherwise a long s would match an s, and the found phrase would not be in the list.
    return re.compile(rf"{WORD_STARTS}(?ai:{inner}){WORD_ENDS}")


def is_mentioned(phrase: str, text: str, replaced: Sequence[tuple[int, int]]) -> bool:
    """Return whether `text` has the phrase, or another form of its single word, outside the spans `replaced`.

    "right-hand" has "right", and "opened" is a form of "opens". "leaves" is not a form of "left", a word by itself.
    """
    unreplaced, last = [], 0
    for start, end in sorted(replaced):
        unreplaced.append(text[last:start])
        last = end
    remaining_text = " | ".join([*unreplaced, text[last:]])
    if " " in phrase:
        return phrase_pattern([phrase]).search(remaining_text) is not None
    word = phrase.lower()
    bases = _bases(word)
    bases = frozenset({word}) if word in bases else bases | {word}
    return any(
        text_word == word or not bases.isdisjoint(_bases(text_word))
        for text_word in map(str.lower, WORD.findall(remaining_text))
    )


def _bases(word: str) -> frozenset[str]:
    return frozenset(base for several in lemmas(word).values() for base in several)
