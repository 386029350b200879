"""Keep only foils that replace a word by its opposite (contrast sets, Sec. 3.2).

Opposites come from WordNet where it is installed, and from a list of our own.
"""

from collections.abc import Sequence
from typing import Any

from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import antonyms, tagger
from generation.filters._changes import changes, replaced
from generation.records import CaptionInput, Verdict

VERSION = "3"
COSTLY = False


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score a foil by the number of words replaced by their opposite; it passes from 1 on."""
    del others
    antonym_pairs = [
        pair for pair in replaced(changes(caption.text, foil, tagger(params["tagger"]))) if are_opposites(*pair)
    ]
    return Verdict(
        bool(antonym_pairs), float(len(antonym_pairs)), "" if antonym_pairs else "no word is replaced by its opposite"
    )


def are_opposites(word: Token, replacement: Token) -> bool:
    """Return whether one word lists the other as an antonym, by lemma or form."""
    forward = {*antonyms(word.lemma, word.part), *antonyms(word.lower, word.part)}
    backward = {*antonyms(replacement.lemma, replacement.part), *antonyms(replacement.lower, replacement.part)}
    return bool(forward & {replacement.lemma, replacement.lower} or backward & {word.lemma, word.lower})
