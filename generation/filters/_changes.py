"""List the tagged words on both sides of each edit of a foil."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foilworks.core.text.diff import diff_edits
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import Tagger

CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV", "ADP", "NUM", "PRON"})


@dataclass(frozen=True)
class Change:
    """The content words of one edit, in the caption and in the foil, without articles and punctuation."""

    before: tuple[Token, ...]
    after: tuple[Token, ...]


def changes(caption: str, foil: str, tags: Tagger) -> list[Change]:
    """Return one Change per edit, in order, without edits of only articles and punctuation."""
    source, target = tags.tag(caption), tags.tag(foil)
    text_changes, shift = [], 0
    for edit in diff_edits(caption, foil):
        start = edit.start + shift
        before = _inside(source, edit.start, edit.end)
        after = _inside(target, start, start + len(edit.target))
        shift += len(edit.target) - (edit.end - edit.start)
        if before or after:
            text_changes.append(Change(before, after))
    return text_changes


def replaced(text_changes: Sequence[Change]) -> Iterator[tuple[Token, Token]]:
    """Return (word, replacement): word by word if an edit keeps the parts of speech, or has one word for one; else
    verbs with verbs, whatever is beside them ("jumps over" -> "leaps").
    """
    old: list[Token] = []
    new: list[Token] = []
    for change in text_changes:
        word_classes, new_word_classes = ([token.part for token in side] for side in (change.before, change.after))
        if (
            word_classes == new_word_classes
            or (len(word_classes) == len(new_word_classes) and "VERB" not in (*word_classes, *new_word_classes))
            or len(word_classes) == 1 == len(new_word_classes)
        ):
            yield from zip(change.before, change.after, strict=True)
            continue
        verbs, new_verbs = _verbs(change.before), _verbs(change.after)
        yield from zip(verbs, new_verbs, strict=False)
        old += verbs[len(new_verbs) :]
        new += new_verbs[len(verbs) :]
    # Moved: the old verb in one edit, the new one in another.
    yield from zip(old, new, strict=False)


def _verbs(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.part == "VERB"]


def _inside(tokens: Sequence[Token], start: int, end: int) -> tuple[Token, ...]:
    return tuple(token for token in tokens if token.part in CONTENT and token.start < end and start < token.end)
