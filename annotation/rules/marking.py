"""Which words of a caption a counterfactual keeps, and which say what happens (Feint6K: entities stay). Pure.

Uses closed word classes of English: the words after an article, a number or a possessive are a person or thing, up to
the first word that looks like a verb. It only warns and marks, so an error costs little; taggers are for jobs
(foilworks.core.text.language).
"""

import re
from dataclasses import dataclass

from foilworks.core.text.tokens import is_unspaced

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def _words(lines: str) -> frozenset[str]:
    return frozenset(lines.split())


OPENS = _words(
    """
    a an the this that these those each every some any no another both all my your his her its our their several many
    few one two three four five six seven eight nine ten
    """
)
CLOSED = _words(
    """
    is are was were be been being am has have had do does did will would can could may might must shall should and or
    but nor while when as because if of in on at to into onto from with without within over under up down off out across
    along around through by for near beside between behind before after against toward towards past above below inside
    outside about until i you he she it we they me him us them himself herself itself themselves who which then there
    here again not very
    """
)
VERBAL = ("ing", "ed", "es", "s")
PLURALS = frozenset({"children", "people", "men", "women", "feet", "teeth", "mice", "geese", "police", "cattle"})


@dataclass(frozen=True)
class Marks:
    """`stay`: words for people and things. `change`: words of which a counterfactual changes at least one.

    `span`: the position of the first of those in the caption, None if there is none.
    """

    stay: tuple[str, ...] = ()
    change: tuple[str, ...] = ()
    span: tuple[int, int] | None = None


def marks_of(caption: str, target: tuple[int, int] | None = None) -> Marks:
    """The marks of a caption; `target` is the span that its suggestions change, which then is the action.

    >>> marks_of("a little girl is folding the shirt")
    Marks(stay=('little', 'girl', 'shirt'), change=('folding',), span=(17, 24))
    """
    stay: list[str] = []
    change: list[re.Match[str]] = []
    run, before = True, ""
    if is_unspaced(caption):
        # A clause of these scripts has no blank, so all of it would be one word.
        return Marks()
    for match in WORD.finditer(caption):
        word = match.group().lower()
        if target and target[0] <= match.start() < target[1]:
            run = False
            change.append(match)
        elif word in OPENS:
            run, before = True, ""
        elif word in CLOSED:
            run = False
        elif run and not (before and _looks_verbal(word, before)):
            stay.append(match.group())
            before = word
        elif match.group()[0].isupper():
            stay.append(match.group())
        else:
            run = False
            if target is None:
                change.append(match)
    words = tuple(dict.fromkeys(match.group() for match in change))
    return Marks(tuple(dict.fromkeys(stay)), words, change[0].span() if change else None)


def _looks_verbal(word: str, before: str) -> bool:
    """Return whether the word after a noun looks like a verb.

    It has a verb's ending, or the noun is a plural ("two dogs run").
    """
    plural = before in PLURALS or (before.endswith("s") and not before.endswith("ss"))
    return plural or (word.endswith(VERBAL) and not word.endswith("ss") and len(word) > 3)
