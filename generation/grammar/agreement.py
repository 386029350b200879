"""The edits that verbs and pronouns need if two participants change places."""

from collections.abc import Iterator, Sequence

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.inflection import plain_verb, third_person
from foilworks.core.text.language.numbers import match_case
from foilworks.core.text.language.structure import Clause
from foilworks.core.text.language.tokens import Token
from generation.grammar.actor import Actor
from generation.grammar.pronouns import fits, form_for, gender_of_pronoun

SINGULAR_AUX = {"is": "are", "was": "were", "has": "have", "does": "do", "'s": "are"}
PLURAL_AUX = {"are": "is", "were": "was", "have": "has", "do": "does"}


def verb_edits(
    tokens: Sequence[Token], clause: Clause, subject: Actor, counterpart: Actor, second: Clause | None
) -> Iterator[Edit]:
    """Yield the edits of verbs that agree with a new subject of another number."""
    if subject.plural == counterpart.plural:
        return
    end = counterpart.first if second is not None else len(tokens)
    verbs = [clause.verb.agrees, *_coordinated(tokens, clause, subject, counterpart, end)]
    for index in verbs:
        tag = clause.verb.tag if index == clause.verb.agrees else tokens[index].tag
        if edit := _agreement(tokens[index], tag, plural=counterpart.plural):
            yield edit
    if second is None:
        return
    if edit := _agreement(tokens[second.verb.agrees], second.verb.tag, plural=subject.plural):
        yield edit


def _coordinated(
    tokens: Sequence[Token], clause: Clause, subject: Actor, counterpart: Actor, end: int
) -> Iterator[int]:
    """Yield the further verbs of the subject: "emerges and sees"."""
    tag, after = tokens[clause.verb.agrees].tag or clause.verb.tag, False
    for index in range(clause.verb.main + 1, end):
        token = tokens[index]
        if token.part == "SCONJ" or (token.part == "PRON" and token.lower in ("who", "which", "that")):
            return
        if counterpart.first <= index < counterpart.last:
            continue
        if token.part == "CCONJ" or token.lower == "then":
            after = True
        elif after and token.part == "VERB" and token.tag == tag and tag in ("VB", "VBZ"):
            yield index
            after = False
        elif token.part != "ADV":
            after = False


def _agreement(verb: Token, tag: str, *, plural: bool) -> Edit | None:
    """Return the verb's edit for a subject of the other number."""
    word = verb.lower
    if verb.part == "AUX":
        new_form = (SINGULAR_AUX if plural else PLURAL_AUX).get(word)
    elif tag == "VBZ" and plural:
        new_form = plain_verb(word)
    elif tag == "VB" and not plural:
        new_form = third_person(word)
    else:
        return None
    return Edit(verb.start, verb.end, match_case(verb.text, new_form)) if new_form else None


def pronoun_edits(tokens: Sequence[Token], subject: Actor, counterpart: Actor) -> list[Edit] | None:
    """Return the edits of pronouns that refer to the role of a participant; None if one would not fit."""
    edits = []
    for index, token in enumerate(tokens):
        if token.part not in ("PRON", "DET"):
            continue
        pronoun = gender_of_pronoun(token)
        inside = subject.first <= index < subject.last or counterpart.first <= index < counterpart.last
        if not pronoun or inside:
            continue
        fits_subject, fits_counterpart = fits(pronoun, subject.gender), fits(pronoun, counterpart.gender)
        if fits_subject == fits_counterpart:
            # Of either, the new one has the pronoun too; of neither, it names somebody else.
            continue
        if token.lower == "her" and index + 1 < len(tokens) and tokens[index + 1].tag == "VBG":
            # "films her hitting a ball": the person or her act.
            return None
        new_pronoun = form_for(tokens, index, counterpart.gender if fits_subject else subject.gender)
        if new_pronoun is None:
            return None
        if new_pronoun != token.lower:
            edits.append(Edit(token.start, token.end, match_case(token.text, new_pronoun)))
    return edits
