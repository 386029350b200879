"""Find the landmark of a caption of space: the last noun of its first clause, as ViLMA's proficiency test masks it."""

from collections.abc import Sequence

from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.phrases import is_plural_noun
from foilworks.core.text.language.tokens import Token
from generation.grammar.blanks import PLAIN_WORD, Spot

# These begin what follows from the relation: "onto a ramp so it slides down", "into a cup, but the cup is empty".
CLAUSE_STARTS = frozenset({"so", "but", "until", "without", "while", "that", "because", "when", "who", "which"})
# "from left to right": the side is the landmark.
SIDES = frozenset({"left", "right"})
BEFORE_NOUN = ("DET", "ADJ", "ADP", "NOUN", "NUM")
OUTSIDE_WORDS = ("ADP", "DET", "PUNCT", "PRON", "AUX", "CCONJ", "SCONJ", "ADV", "PART", "NUM")


def landmark(tokens: Sequence[Token]) -> Spot | None:
    """Return the last noun of the first clause; None if there is none."""
    ends = next((index for index, token in enumerate(tokens) if index and token.lower in CLAUSE_STARTS), len(tokens))
    for index in range(ends - 1, 0, -1):
        token = tokens[index]
        if not PLAIN_WORD.fullmatch(token.text):
            continue
        if token.lower in SIDES or _may_be_noun(
            token, last=index == ends - 1 and tokens[index - 1].part in BEFORE_NOUN
        ):
            lemma = lemmas(token.lower).get("NOUN", (token.lower,))[0]
            return Spot(token.start, token.end, token.lower, lemma, "NNS" if is_plural_noun(token.text) else "NN")
    return None


def _may_be_noun(token: Token, *, last: bool) -> bool:
    """Return whether it is a noun, also where the tagger takes a last word for a verb: "on a flat surface"."""
    if token.part in OUTSIDE_WORDS or (token.part == "VERB" and not last):
        return False
    lemmas_by_class = lemmas(token.lower)
    return token.part in ("NOUN", "PROPN") or not lemmas_by_class or "NOUN" in lemmas_by_class
