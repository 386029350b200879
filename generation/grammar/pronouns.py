"""Pronouns of a caption whose participants change places: whom they refer to, and their form for the other one."""

from collections.abc import Sequence

from foilworks.core.text.language.inflection import can_be
from foilworks.core.text.language.tokens import Token

SUBJECT, OBJECT, POSSESSIVE, REFLEXIVE = range(4)
# Gender -> its forms, in this order: subject, object, possessive, reflexive. "p": several; "a": an animal.
FORMS = {
    "m": ("he", "him", "his", "himself"),
    "f": ("she", "her", "her", "herself"),
    "p": ("they", "them", "their", "themselves"),
    "a": ("it", "it", "its", "itself"),
}
GENDERS = {word: gender for gender, forms in FORMS.items() for word in forms}
# Whom a pronoun may refer to: "his" to a man, or to a soldier or a dog.
FITS = {"m": "mna", "f": "fna", "p": "pn", "a": "a"}


def gender_of_pronoun(token: Token) -> str:
    """Return "m", "f", "p" or "a" for a pronoun of the third person, else ""."""
    return GENDERS.get(token.lower, "") if token.part in ("PRON", "DET") else ""


def fits(pronoun: str, gender: str) -> bool:
    """Return whether a pronoun of one gender may refer to somebody of another."""
    return bool(pronoun) and gender in FITS[pronoun]


def role_of(tokens: Sequence[Token], index: int) -> int:
    """Return the role of a pronoun; "her" is possessive before a noun, and an object elsewhere."""
    word = tokens[index].lower
    if word == "her":
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        noun = after is not None and (
            after.part in ("NOUN", "PROPN", "ADJ", "NUM") or (after.part == "VERB" and can_be(after.lower, "NOUN"))
        )
        return POSSESSIVE if noun else OBJECT
    return FORMS[GENDERS[word]].index(word)


def form_for(tokens: Sequence[Token], index: int, gender: str) -> str | None:
    """Return the pronoun's form for another gender; None: the verb would have to agree.

    A person whose gender is unknown keeps the pronoun.
    """
    word, old = tokens[index].lower, GENDERS[tokens[index].lower]
    new = old if gender == "n" and old != "a" else "p" if gender == "n" else gender
    role = role_of(tokens, index)
    if role == SUBJECT and (old == "p") != (new == "p"):
        return None
    if role == SUBJECT and word == "it" and index and _is_object(tokens, index):
        role = OBJECT
    return FORMS[new][role]


def _is_object(tokens: Sequence[Token], index: int) -> bool:
    """Return whether "it" is an object: behind a verb or preposition, or before none."""
    after = tokens[index + 1].part if index + 1 < len(tokens) else "PUNCT"
    return tokens[index - 1].part in ("VERB", "ADP") or after not in ("VERB", "AUX", "ADV")
