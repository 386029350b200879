"""Tell why a verb of change in a natural caption is left alone: its opposite would not fit, or would be true.

Captions of the paper's templates need no such check: `is_made`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from foilworks.core.text.language.change_finding import REACH, FoundChange
from foilworks.core.text.language.change_of_state import StateChange
from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.phrases import is_plural_noun
from foilworks.core.text.language.tokens import Token
from generation.grammar.state_words import (
    AGENTS,
    ANIMALS,
    DIRECTIONS,
    FLYERS,
    KEEP_DIRECTION,
    LAST_WORDS,
    NOT_LITERAL,
    NOTED_ONLY,
    ONLY,
    PIECES,
    SHOWN,
    STATES_IF_PASSIVE,
)

# "The wooden log falls over." and its mark.
MADE_TOKENS = 6
# The checks read the whole caption: longer ones would take quadratic time.
MAX_TOKENS = 400
# Behind these verbs the preposition says more than a place.
BOUND = {
    "in": frozenset({"throw", "catch", "drop", "clean", "wash", "rinse", "soak", "wipe", "park"}),
    "at": frozenset({"throw", "catch", "drop"}),
    "on": frozenset({"throw", "catch", "drop", "lift"}),
}
COVERED = frozenset({"cover", "fill", "dress"})
UNVEILING = frozenset({"open", "remove", "unwrap", "lift"})


@dataclass(frozen=True)
class _Case:
    """A found change in its caption, and the verb that would replace it."""

    tokens: Sequence[Token]
    found: FoundChange
    target: str

    @property
    def verb(self) -> Token:
        return self.tokens[self.found.verb]

    @property
    def change(self) -> StateChange:
        return self.found.change

    @property
    def before(self) -> Token | None:
        return self.tokens[self.found.verb - 1] if self.found.verb else None

    @property
    def thing(self) -> Sequence[Token]:
        what = self.found.what
        return self.tokens[what.first : what.last] if what else ()

    @property
    def head(self) -> str:
        return self.tokens[self.found.what.head].lemma if self.found.what else ""

    @property
    def behind(self) -> Sequence[Token]:
        return self.tokens[self.found.behind :]

    @property
    def misfit(self) -> str:
        return f"what follows '{self.change.verb}' does not fit '{self.target}'"


def is_made(text: str, tokens: Sequence[Token], found: FoundChange) -> bool:
    """Return whether it is a caption of the paper's templates: "Someone folds the paper.", "The kite rises."."""
    if text.startswith("Someone ") and tokens[found.verb].tag == "VBZ":
        return True
    rest = found.particle + 1 if found.particle == found.verb + 1 else found.verb + 1
    short = len(tokens) <= MADE_TOKENS and tokens[found.verb].tag in ("VBZ", "VB")
    return short and text.startswith("The ") and not found.transitive and not _has_more(tokens, rest)


def hindrance(tokens: Sequence[Token], found: FoundChange, target: str) -> str:
    """Return why the verb of a natural caption is left alone, or ""."""
    if len(tokens) > MAX_TOKENS:
        return f"it has more than {MAX_TOKENS} words"
    case = _Case(tokens, found, target)
    return next((why for check in CHECKS if (why := check(case))), "")


def _description(case: _Case) -> str:
    """Return whether the verb says how a thing is: "a tree covered mountain", "a hall is filled"."""
    verb, found, before = case.verb, case.found, case.before
    past = verb.tag in ("VBD", "VBN") and not found.passive
    follows = before is not None and (before.part in ("NOUN", "PROPN", "PRON", "CCONJ") or before.text == ",")
    what = found.what
    bare = what is not None and what.last - what.first == 1 and what.head == found.verb + 1
    adjective = verb.tag == "VB" and before is not None and _is_one(before) and "ADJ" in lemmas(verb.lower)
    described = (
        (past and (verb.tag == "VBN" or not follows))
        or adjective
        or (before is not None and before.lower == "with")
        or (found.passive and verb.lemma in STATES_IF_PASSIVE)
        or (verb.tag == "VBD" and bare and case.head == case.tokens[found.verb + 1].lower)
    )
    if described:
        return f"'{verb.lower}' describes a thing here"
    if case.change.verb == "wear" and verb.tag == "VBG" and (before is None or before.part != "AUX"):
        return "'wearing' describes a person here"
    return ""


def _meaning(case: _Case) -> str:
    """Return whether the verb means something else here: "opens fire", "lands on a bed"."""
    change, verb, found = case.change, case.verb, case.found
    refused = NOT_LITERAL.get(change.verb, frozenset())
    other = change.verb in NOTED_ONLY or any(token.lemma in refused for token in case.thing)
    if other or (change.verb in ONLY and case.head not in ONLY[change.verb]):
        return f"'{change.verb}' does not change a state here"
    if not found.transitive and change.verb in ("land", "take off") and case.head not in FLYERS:
        return f"'{change.verb}' is no flight here"
    if case.behind and case.behind[0].lower == "of" and found.preposition < 0:
        return f"'{verb.lower}' names a thing here"
    single = found.what is not None and found.what.last - found.what.first == 1
    before = case.before
    named = before is not None and before.part == "NOUN" and before.lemma not in AGENTS
    if named and single and verb.tag == "VBG" and found.transitive:
        return f"'{verb.lower}' may name a thing here"
    return ""


def _things(case: _Case) -> str:
    """Return whether the thing that changes is unclear, or is not changed by the opposite."""
    change, verb, found = case.change, case.verb, case.found
    if found.transitive and found.what is None and case.behind and case.behind[0].part in ("DET", "NOUN", "NUM"):
        return f"'{change.verb}' has two objects here"
    if found.passive and found.what is None:
        return f"what is '{verb.lower}' is not named"
    if found.particle == found.verb + 1 and change.verb in ("put in", "push in"):
        return f"'{change.verb}' may name a place here"
    if not found.transitive and verb.lemma in ("open", "close") and case.head in AGENTS:
        return f"'{change.verb}' has no object here"
    animals = any(token.lower in ANIMALS for token in case.tokens[: found.verb])
    if animals and case.target in ("throw", "catch", "push"):
        return f"animals do not '{case.target}'"
    if any(token.lower in (change.pre, change.post) for token in case.thing):
        return "the thing is described by its state"
    return ""


def _other_acts(case: _Case) -> str:
    """Return whether another act of the caption contradicts the opposite: "opens a box and reveals a ring"."""
    verb, found = case.verb, case.found
    reverse = case.target.partition(" ")[0]
    others = {token.lemma for at, token in enumerate(case.tokens) if token.part == "VERB" and at != found.verb}
    if not others.isdisjoint((reverse, verb.lemma)):
        return f"the caption also says '{reverse if reverse in others else verb.lemma}'"
    later = {token.lemma for token in case.behind}
    if "reveal" in later or (verb.lemma == "reveal" and not UNVEILING.isdisjoint(others)):
        return "what is revealed depends on another act"
    if "use" in others:
        return "the tool does not fit the opposite"
    if verb.lemma == "open" and not SHOWN.isdisjoint(later):
        return "what follows needs the opened thing"
    return ""


def _rest(case: _Case) -> str:
    """Return why the words behind the object do not fit the opposite verb, or ""."""
    tokens, found = case.tokens, case.found
    if not found.transitive and case.verb.lemma in LAST_WORDS and _has_more(tokens, found.verb + 1):
        return case.misfit
    kept = KEEP_DIRECTION.get(case.change.verb, frozenset())
    for at in range(found.behind, min(len(tokens), found.behind + REACH)):
        token = tokens[at]
        if token.part in ("PUNCT", "SCONJ", "CCONJ", "AUX") or token.tag in ("VBZ", "VBD"):
            break
        if at in (found.preposition, found.particle) or token.lower in kept:
            continue
        why = _word_behind(case, at)
        if why:
            return why
    return ""


def _word_behind(case: _Case, at: int) -> str:
    token, verb = case.tokens[at], case.verb.lemma
    following = [one.lower for one in case.tokens[at + 1 : at + 3]]
    if token.lower in ("with", "using"):
        return "the tool or thing behind 'with' does not fit the opposite"
    if token.lower == "to" and token.part == "PART":
        return "the purpose behind 'to' does not fit the opposite"
    direction = token.lower in DIRECTIONS and token.part in ("ADP", "ADV", "PART") and not _is_linked(case, at)
    pieces = token.lower in ("in", "into") and (not following or following[0] in PIECES or "air" in following)
    worn = token.lower == "on" and case.target == "take off" and case.found.preposition < 0
    passive = case.found.passive and (token.lower == "of" or (token.lower == "in" and verb in COVERED))
    bound = token.lower == "for" or verb in BOUND.get(token.lower, ())
    return case.misfit if direction or pieces or worn or passive or bound else ""


def _is_linked(case: _Case, at: int) -> bool:
    """Return whether the token is the second word of the linked preposition "out of"."""
    linked = case.found.preposition
    return linked >= 0 and at == linked + 1 and case.tokens[at].lower == "of"


def _is_one(token: Token) -> bool:
    return token.part == "NOUN" and not is_plural_noun(token.text)


def _has_more(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].part not in ("PUNCT", "SCONJ")


CHECKS: tuple[Callable[[_Case], str], ...] = (_description, _meaning, _things, _other_acts, _rest)
