"""Drop a foil in which a noun changes from singular to plural or back, or a verb between third person and base form."""

from collections.abc import Sequence
from typing import Any

from foilworks.core.text.language.phrases import is_plural_noun
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import tagger
from generation.filters._changes import changes, replaced
from generation.records import CaptionInput, Verdict

VERSION = "2"
COSTLY = False
PRESENT = ("VB", "VBZ")


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score a foil by the number of replaced words that change between singular and plural; it passes at 0."""
    del others
    wrong = [
        f"'{word.text}' and '{replacement.text}' differ in number"
        for word, replacement in replaced(changes(caption.text, foil, tagger(params["tagger"])))
        if _differ(word, replacement)
    ]
    return Verdict(not wrong, float(len(wrong)), "; ".join(wrong[:3]))


def _differ(word: Token, replacement: Token) -> bool:
    if word.part in ("NOUN", "PROPN") and replacement.part in ("NOUN", "PROPN"):
        return is_plural_noun(word.text) != is_plural_noun(replacement.text)
    return word.tag in PRESENT and replacement.tag in PRESENT and word.tag != replacement.tag
