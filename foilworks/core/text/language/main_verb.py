"""Find the main verb of a caption: "kicked" in "A man wearing jeans who smiles kicked a window".

Every word that can be finite gets points for its form, its agreement with the subject, and its neighbours. A verb of a
relative clause, a participle that describes a noun ("wearing", "dressed in") and an infinitive are not finite.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from foilworks.core.text.language._tag_lists import BE, NEVER_VERB, PLURAL_PRONOUNS, POSSESSIVES, word_set
from foilworks.core.text.language.appearance import COLOURS
from foilworks.core.text.language.inflection import lemmas, singular
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.verb_forms import verb_readings

NOMINAL = ("NOUN", "PROPN")
RELATIVE = frozenset({"who", "which", "that", "what", "whom", "whose"})
SUBJECTS = frozenset({"he", "she", "they", "we", "i"})
# They may end a noun phrase: "a shirt underneath grabs", "the man inside opens".
PLACES = word_set(
    "underneath inside outside up down off on behind out over around below above nearby along across past"
)
ENDS = frozenset(".;:!?")
# The head may be plural for the verb: "a group of people dance".
COLLECTIVE = word_set(
    "group couple crowd team pair police people family band audience bunch number herd flock pack lot class staff crew",
    "personnel cattle",
)
# Before a participle that describes a noun; a main verb rarely has them right behind it.
BEHIND_PARTICIPLE = frozenset({"in", "by", "with", "as", "on"})
# Participles about looks and posture; as main verbs they say no action.
LOOKS = word_set(
    "wear dress clothe clad attire garb adorn seat arm name call don sport title entitle locate position cover",
    "surround resemble outfit equip",
)
# In the lexicon as plain verbs too.
NEVER_FINITE = frozenset({"clad"})
NEVER_FINITE_PARTS = frozenset({"DET", "NUM", "ADP", "ADV", "PART", "X"})
# A main verb is near the start of its clause; keeps the time linear.
REACH, NEAR = 80, 12
ENOUGH, SURE, MARGIN = 2, 7, 1


@dataclass(frozen=True)
class VerbGroup:
    """A clause's verb: token `agrees` agrees with the subject, token `main` says what happens ("is being chased")."""

    agrees: int
    main: int
    tag: str
    passive: bool = False


@lru_cache(maxsize=20_000)
def readings_by_tag(word: str) -> dict[str, str]:
    """Return Penn tag -> lemma of what a verb form can be."""
    return {tag: lemma for lemma, tag in reversed(verb_readings(word))}


def subject_number(tokens: Sequence[Token], first: int = 0) -> str:
    """Return "singular", "plural" or "either" for the first noun phrase; "" if there is none."""
    for at in range(first, min(len(tokens), first + 24)):
        token = tokens[at]
        if token.part == "PRON" and token.lower not in POSSESSIVES:
            return "plural" if token.lower in PLURAL_PRONOUNS else "singular"
        if token.part in NOMINAL:
            if token.lower in COLLECTIVE:
                return "either"
            if not (at + 1 < len(tokens) and tokens[at + 1].part in NOMINAL):
                return _noun_number(tokens, at)
        if token.part == "ADP" and at > first:
            return ""
    return ""


def _noun_number(tokens: Sequence[Token], at: int) -> str:
    word = tokens[at].lower
    if at + 1 < len(tokens) and tokens[at + 1].lower in ("and", "or"):
        return "either"
    if at and tokens[at - 1].part in NOMINAL:
        # "an animated girl talks", "three boys dance": the last noun may be the verb.
        plural, forms = singular(tokens[at - 1].lower) is not None, readings_by_tag(word)
        if ("VB" if plural else "VBZ") in forms:
            return "plural" if plural else "singular"
    return "plural" if singular(word) is not None else "singular"


def main_verb(tokens: Sequence[Token], first: int = 0) -> tuple[int, str] | None:
    """Return the index and Penn tag ("" of an auxiliary) of the finite verb of the first clause from `first`."""
    if not first:
        for at, token in enumerate(tokens):
            if token.main:
                return at, token.tag
    first = _behind_opening_clause(tokens, first)
    number = subject_number(tokens, first)
    if not number:
        return None
    best, best_points, best_tag, relative, gerund = -1, ENOUGH - 1, "", False, False
    for at in range(first + 1, min(len(tokens), first + REACH)):
        token = tokens[at]
        part_of_speech = token.part
        if part_of_speech in NEVER_FINITE_PARTS:
            continue
        if part_of_speech == "PUNCT":
            if token.text in ENDS or (token.text == "," and best_points >= SURE):
                break
            continue
        if part_of_speech == "SCONJ":
            if best >= 0 or gerund or token.lower != "as":
                break
            continue
        if part_of_speech == "PRON":
            # "who drove", and "the car he drove".
            relative = relative or token.lower in RELATIVE or (token.lower in SUBJECTS and best < 0)
            continue
        if token.tag == "VBG":
            gerund = gerund or tokens[at - 1].part != "AUX"
            continue
        if best >= 0 and _is_coordinated(tokens, at):
            continue
        points, tag = _points(tokens, at, number, gerund=gerund)
        if points < ENOUGH:
            continue
        if relative:
            # The first finite verb behind "who" is that of its clause.
            relative = False
            continue
        if points > best_points + (MARGIN if best >= 0 else 0):
            best, best_points, best_tag = at, points, tag
    return None if best < 0 else (best, best_tag)


def _is_coordinated(tokens: Sequence[Token], at: int) -> bool:
    """Return whether "and" or "and then" stands before the word."""
    while at and tokens[at - 1].part == "ADV":
        at -= 1
    return at > 0 and tokens[at - 1].part == "CCONJ"


def _behind_opening_clause(tokens: Sequence[Token], first: int) -> int:
    """Return where the main clause begins: behind the comma of "As he falls, a woman laughs"."""
    if first < len(tokens) and tokens[first].part == "SCONJ":
        for at in range(first + 1, len(tokens)):
            if tokens[at].text == ",":
                return at + 1
    return first


def _points(tokens: Sequence[Token], at: int, number: str, *, gerund: bool) -> tuple[int, str]:
    """Return how likely the word is the finite verb, and its tag as such."""
    token, before = tokens[at], tokens[at - 1]
    if token.part == "AUX":
        return (0 if before.part in ("AUX", "PART") else 8), ""
    word = token.lower
    forms = readings_by_tag(word)
    if not forms:
        return 0, ""
    tag = _finite_tag(forms, number)
    if not tag:
        return 0, ""
    points = _form_points(token, forms, tag)
    points += _points_before(tokens, at)
    if points < ENOUGH - 2:
        return points, tag
    points += _points_behind(tokens, at, tag, forms)
    if before.part in NOMINAL and "NOUN" in lemmas(word):
        bare = _is_bare_object(tokens, at - 1)
        if gerund and _ends(tokens, at + 1) and (tag == "VB" or bare or "ADJ" in lemmas(before.lower)):
            # "a man playing video games", "people walking around a visitor center".
            points -= 5
        elif bare:
            points -= 2
    return points, tag


def _ends(tokens: Sequence[Token], at: int) -> bool:
    """Return whether nothing that follows a verb comes next."""
    return at == len(tokens) or tokens[at].part in ("PUNCT", "CCONJ", "SCONJ", "NOUN")


def _is_bare_object(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a noun without an article is behind a participle or a preposition: "playing video (games)"."""
    if singular(tokens[at].lower) is not None or "ADJ" in lemmas(tokens[at].lower):
        return False
    start = max(0, at - NEAR)
    while at > start and tokens[at - 1].part in ("NOUN", "ADJ"):
        at -= 1
    return at > 0 and (tokens[at - 1].part == "ADP" or tokens[at - 1].tag == "VBG")


def as_main_verb(tokens: list[Token]) -> None:
    """Tag the main verb as a verb, and words before it that were taken for one as nouns."""
    finite_verb = main_verb(tokens)
    if finite_verb is None:
        return
    at, tag = finite_verb
    token = tokens[at]
    if not tag or (token.part == "VERB" and token.tag in (tag, "VB")):
        tokens[at] = Token(token.start, token.end, token.text, token.part, token.lemma, token.tag, main=True)
    else:
        lemma = readings_by_tag(token.lower)[tag]
        tokens[at] = Token(token.start, token.end, token.text, "VERB", lemma, tag, main=True)
    relative = False
    for before in range(1, at):
        token = tokens[before]
        part_of_speech = token.part
        if part_of_speech in ("SCONJ", "AUX") or (part_of_speech == "PRON" and token.lower in RELATIVE):
            relative = True
        elif (
            part_of_speech == "VERB"
            and not relative
            and token.tag in ("VB", "VBZ")
            and tokens[before - 1].part != "PART"
        ):
            nouns = lemmas(token.lower).get("NOUN", ())
            if nouns:
                tokens[before] = replace(token, part="NOUN", tag="", lemma=nouns[0])


def _finite_tag(forms: dict[str, str], number: str) -> str:
    if "VBZ" in forms and number != "plural":
        return "VBZ"
    if "VBD" in forms:
        return "VBD"
    return "VB" if "VB" in forms and number != "singular" else ""


def _form_points(token: Token, forms: dict[str, str], tag: str) -> int:
    lemmas_by_part = lemmas(token.lower)
    points = 3 if tag == "VBZ" or "VBN" not in forms else 2
    if token.part == "VERB":
        points += 1 if token.tag == "VBN" else 2
    elif token.part == "ADJ":
        points -= 1
    if "NOUN" not in lemmas_by_part and "ADJ" not in lemmas_by_part:
        points += 2
    if token.lower in NEVER_VERB:
        points -= 3
    if (tag == "VBD" and forms[tag] in LOOKS) or token.lower in NEVER_FINITE:
        points -= 3
    return points


def _points_before(tokens: Sequence[Token], at: int) -> int:
    before = tokens[at - 1]
    if before.part in ("DET", "NUM", "PART", "AUX") or before.lower in POSSESSIVES:
        return -9
    if before.part == "ADJ":
        # "dressed in all black"
        coloured = at > 1 and (tokens[at - 2].part == "ADP" or tokens[at - 2].lower == "all")
        return -1 if coloured and before.lower in COLOURS else -3
    if before.part == "ADP":
        return -2 if before.lower in PLACES else -5
    if before.part in ("CCONJ", "SCONJ"):
        return -3
    if before.part == "VERB":
        # Behind "whose dress is torn" the main verb may come.
        return {"VBG": -5, "VBN": -1}.get(before.tag, 0 if _has_object(tokens, at) else -3)
    if before.part == "ADV":
        return 2
    if at > 1 and tokens[at - 2].part in ("ADP", "VERB", "CCONJ") and "ADJ" in lemmas(before.lower):
        # "in red pants": the colour describes what follows.
        return -1
    return 1


def _has_object(tokens: Sequence[Token], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1].part in ("DET", "PRON")


def _points_behind(tokens: Sequence[Token], at: int, tag: str, forms: dict[str, str]) -> int:
    if at + 1 == len(tokens):
        return 0
    after = tokens[at + 1]
    if _has_object(tokens, at + 1) and tag in readings_by_tag(after.lower):
        # "in blue scrubs lifts the man": the second of two verb forms has the object.
        return -3
    if tag == "VBD" and "VBN" in forms and after.lower in BEHIND_PARTICIPLE:
        return -3 if forms[tag] in LOOKS else -1
    if after.lower == "of" and tokens[at].part == "NOUN":
        return -3
    if after.part in ("DET", "PRON", "NUM"):
        return 2
    if tag == "VBD" and forms[tag] in LOOKS:
        return -3
    if after.part in ("ADP", "ADV", "PART"):
        return 1
    if after.part == "AUX":
        return -4
    if after.part == "VERB":
        return 0 if after.tag in ("VBG", "VBN") else -2
    if after.part == "NOUN" and tokens[at].part == "NOUN":
        return -1
    return 0


def verb_group(tokens: Sequence[Token], first: int = 0) -> VerbGroup | None:
    """Return the verb of the main clause; without a finite verb, the first participle that says an action ("a man
    folding a shirt"). The copula and "has" may be without a main verb: "a man is behind a woman".
    """
    finite_verb = main_verb(tokens, first)
    return _whole(tokens, *finite_verb) if finite_verb is not None else _acting(tokens, first)


def action_verb(tokens: Sequence[Token]) -> VerbGroup | None:
    """Return the verb that says what happens: the main verb; in "there is a man folding a shirt" the participle."""
    group = verb_group(tokens)
    if group is None or group.tag:
        return group
    return _acting(tokens, group.main) or _acting(tokens, 0)


def _acting(tokens: Sequence[Token], first: int) -> VerbGroup | None:
    last = min(len(tokens), first + REACH)
    verbs = [at for at in range(first, last) if tokens[at].part == "VERB" and not _leads_noun(tokens, at)]
    acting = [at for at in verbs if tokens[at].lemma not in LOOKS]
    at = next(iter(acting or verbs), -1)
    return None if at < 0 else VerbGroup(at, at, tokens[at].tag)


def _leads_noun(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a participle stands before its noun: "an animated horse"."""
    opened = at > 0 and (tokens[at - 1].part in ("DET", "ADJ", "NUM") or tokens[at - 1].lower in POSSESSIVES)
    return opened and at + 1 < len(tokens) and tokens[at + 1].part in (*NOMINAL, "ADJ")


def _whole(tokens: Sequence[Token], at: int, tag: str) -> VerbGroup:
    """Return the group from its finite verb: "is quickly being chased"; the copula stands alone ("is on a bed")."""
    if tag:
        return VerbGroup(at, at, tag)
    main = at + 1
    while main < len(tokens) and tokens[main].part in ("AUX", "ADV", "PART"):
        main += 1
    if main == len(tokens) or tokens[main].part != "VERB":
        return VerbGroup(at, at, "")
    be = any(tokens[index].lower in BE for index in range(at, main))
    return VerbGroup(at, main, tokens[main].tag, passive=be and tokens[main].tag == "VBN")
