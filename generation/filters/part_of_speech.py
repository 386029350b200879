"""Drop a foil whose new words have another part of speech than the words they replace (Feint6K, Sec. 4.2).

A new verb may have other prepositions and particles than the old one: "climb up a ladder" -> "carry a ladder".
"""

from collections.abc import Sequence
from typing import Any

from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import tagger
from generation.filters._changes import changes
from generation.records import CaptionInput, Verdict

VERSION = "2"
COSTLY = False
# A name that replaces a thing is a noun, too.
SAME = {"PROPN": "NOUN"}
# What a verb takes beside it.
BESIDE_VERBS = frozenset({"ADP", "ADV", "PART"})


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score a foil by the number of edits that change parts of speech; it passes at 0."""
    del others
    text_changes = changes(caption.text, foil, tagger(params["tagger"]))
    new_verb = any(_has_verb(change.before) and _has_verb(change.after) for change in text_changes)
    pairs = [(_word_classes(change.before), _word_classes(change.after)) for change in text_changes]
    wrong = [
        f"{' '.join(before) or 'nothing'} became {' '.join(after) or 'nothing'}"
        for before, after in pairs
        if _fixed_classes(before, new_verb=new_verb) != _fixed_classes(after, new_verb=new_verb)
    ]
    return Verdict(not wrong, float(len(wrong)), "; ".join(wrong[:3]))


def _has_verb(tokens: Sequence[Token]) -> bool:
    return any(token.part == "VERB" for token in tokens)


def _word_classes(tokens: Sequence[Token]) -> list[str]:
    return [SAME.get(token.part, token.part) for token in tokens]


def _fixed_classes(word_classes: Sequence[str], *, new_verb: bool) -> list[str]:
    """Return the parts that must stay: without prepositions beside a new verb; any of them for another of them."""
    if new_verb:
        return [word_class for word_class in word_classes if word_class not in BESIDE_VERBS]
    return (
        ["ADP"]
        if word_classes and BESIDE_VERBS.issuperset(word_classes) and "ADP" in word_classes
        else list(word_classes)
    )
