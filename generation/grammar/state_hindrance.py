"""Tell why a verb of change in a natural caption is left alone: its opposite would not fit, or would be true.

Captions of the paper's templates need no such check: `is_template_caption`.
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
    BOUND,
    COOKED,
    DIRECTIONS,
    FLYERS,
    HOLDERS,
    HOLDING,
    KEEP_DIRECTION,
    LAST_WORDS,
    LEAVES_PLACE,
    NOT_LITERAL,
    NOTED_ONLY,
    ONLY,
    OPPOSITE_ACTS,
    PIECES,
    POURED,
    PUT_BACK,
    REACHES_IN,
    SHOWN,
    STATES_IF_PASSIVE,
    TAKING,
    UNWRITTEN,
    USES,
)

# "The wooden log falls over." and its mark.
MADE_TOKENS = 6
# The checks read the whole caption: longer ones would take quadratic time.
MAX_TOKENS = 400
# What may follow a particle behind its object: "puts the cup down on the table".
STOPS_BEHIND = ("PUNCT", "CCONJ", "SCONJ", "ADP", "ADV", "PART", "AUX")
ONE_DID = frozenset({"he", "she", "it", "someone", "somebody", "who"})
STATES_OF_DOORS = frozenset({"open", "opened", "closed", "close", "shut", "ajar", "opens", "closes"})
UNDRESSING = frozenset({"undress", "undresses", "undressing", "undressed", "removing", "removes"})
ALONE = frozenset({"alone", "leaving", "needs", "needed", "need"})
GOES = frozenset({"enter", "walk", "go", "come", "step", "run", "exit", "leave", "move", "head", "return", "rush"})
TUMBLES = frozenset(
    {"jump", "flip", "dance", "march", "skip", "bow", "climb", "kick", "spin", "follow", "do", "ride", "grab"}
)
DRIES = frozenset({"towel", "cloth", "wash", "washes", "rinse", "rinses", "hold", "blow", "blows"})
RESTS = frozenset({"rest", "sleep", "awaken", "wake", "lie", "lay", "fall", "yawn"})
CUTTING = frozenset({"cut", "chop", "slice", "peel", "dice", "grate", "mince", "crack"})
COOKERS = frozenset({"stove", "oven", "burner", "cooker", "hob", "heat", "gas", "tap", "faucet", "water"})
SERVES = frozenset({"scoop", "remove", "take", "serve", "pour", "spoon", "place", "eat", "put", "transfer", "dry"})
COVERED = frozenset({"cover", "fill", "dress"})
UNVEILING = frozenset({"open", "remove", "unwrap", "lift"})


@dataclass(frozen=True)
class _Case:
    """A found change in its caption, and the verb that would replace it."""

    tokens: Sequence[Token]
    found_change: FoundChange
    target: str

    @property
    def verb(self) -> Token:
        return self.tokens[self.found_change.verb]

    @property
    def change(self) -> StateChange:
        return self.found_change.change

    @property
    def before(self) -> Token | None:
        return self.tokens[self.found_change.verb - 1] if self.found_change.verb else None

    @property
    def noun_phrase(self) -> Sequence[Token]:
        phrase = self.found_change.what
        return self.tokens[phrase.first : phrase.last] if phrase else ()

    @property
    def head(self) -> str:
        return self.tokens[self.found_change.what.head].lemma if self.found_change.what else ""

    @property
    def behind(self) -> Sequence[Token]:
        return self.tokens[self.found_change.behind :]

    @property
    def misfit(self) -> str:
        return f"what follows '{self.change.verb}' does not fit '{self.target}'"


def is_template_caption(text: str, tokens: Sequence[Token], found_change: FoundChange) -> bool:
    """Return whether it is a caption of the paper's templates: "Someone folds the paper.", "The kite rises."."""
    if text.startswith("Someone ") and tokens[found_change.verb].tag == "VBZ":
        return True
    next_index = found_change.particle + 1 if found_change.particle == found_change.verb + 1 else found_change.verb + 1
    short = len(tokens) <= MADE_TOKENS and tokens[found_change.verb].tag in ("VBZ", "VB")
    return short and text.startswith("The ") and not found_change.transitive and not _has_more(tokens, next_index)


def natural_target(found_change: FoundChange, tokens: Sequence[Token], target: str) -> str:
    """Return the reverse that people write without a place: one puts away what one takes out."""
    head = tokens[found_change.what.head].lemma if found_change.what else ""
    if found_change.preposition < 0 and (
        target == "put in" or (target == "push in" and head not in ("chair", "drawer"))
    ):
        return "put away"
    return "close" if target == "close up" else target


def hindrance(tokens: Sequence[Token], found_change: FoundChange, target: str) -> str:
    """Return why the verb of a natural caption is left alone, or ""."""
    if len(tokens) > MAX_TOKENS:
        return f"it has more than {MAX_TOKENS} words"
    case = _Case(tokens, found_change, target)
    return next((why for check in CHECKS if (why := check(case))), "")


def _description(case: _Case) -> str:
    """Return whether the verb says how a thing is: "a tree covered mountain", "a hall is filled"."""
    verb, found_change, before = case.verb, case.found_change, case.before
    past = verb.tag in ("VBD", "VBN") and not found_change.passive
    follows = before is not None and (before.part in ("NOUN", "PROPN", "PRON", "CCONJ") or before.text == ",")
    phrase = found_change.what
    bare = phrase is not None and phrase.last - phrase.first == 1 and phrase.head == found_change.verb + 1
    adjective = verb.tag == "VB" and before is not None and _is_one(before) and "ADJ" in lemmas(verb.lower)
    described = (
        (past and (verb.tag == "VBN" or not follows))
        or adjective
        or (before is not None and before.lower in ("with", "very", "so", "too"))
        or (found_change.passive and verb.lemma in STATES_IF_PASSIVE)
        or (verb.tag == "VBD" and bare and case.head == case.tokens[found_change.verb + 1].lower)
    )
    if described:
        return f"'{verb.lower}' describes a thing here"
    if case.change.verb == "wear" and verb.tag == "VBG" and (before is None or before.part != "AUX"):
        return "'wearing' describes a person here"
    return ""


def _meaning(case: _Case) -> str:
    """Return whether the verb means something else here: "opens fire", "lands on a bed"."""
    change, verb, found_change = case.change, case.verb, case.found_change
    refused = NOT_LITERAL.get(change.verb, frozenset())
    has_other_meaning = change.verb in NOTED_ONLY or any(token.lemma in refused for token in case.noun_phrase)
    has_other_meaning = has_other_meaning or case.target.partition(" ")[0] in UNWRITTEN
    if has_other_meaning or (change.verb in ONLY and case.head not in ONLY[change.verb]):
        return f"'{change.verb}' does not change a state here"
    if not found_change.transitive and change.verb in ("land", "take off") and case.head not in FLYERS:
        return f"'{change.verb}' is no flight here"
    if case.behind and case.behind[0].lower == "of" and found_change.preposition < 0:
        return f"'{verb.lower}' names a thing here"
    single = found_change.what is not None and found_change.what.last - found_change.what.first == 1
    before = case.before
    follows_noun = before is not None and before.part == "NOUN" and before.lemma not in AGENTS
    if follows_noun and single and verb.tag == "VBG" and found_change.transitive:
        return f"'{verb.lower}' may name a thing here"
    return ""


def _unclear_object(case: _Case) -> str:
    """Return whether the thing that changes is unclear, or is not changed by the opposite."""
    change, verb, found_change = case.change, case.verb, case.found_change
    if (
        found_change.transitive
        and found_change.what is None
        and case.behind
        and case.behind[0].part in ("DET", "NOUN", "NUM")
    ):
        return f"'{change.verb}' has two objects here"
    if found_change.passive and found_change.what is None:
        return f"what is '{verb.lower}' is not named"
    if found_change.particle == found_change.verb + 1 and change.verb in ("put in", "push in"):
        return f"'{change.verb}' may name a place here"
    if not found_change.transitive and verb.lemma in ("open", "close") and case.head in AGENTS:
        return f"'{change.verb}' has no object here"
    acting = case.tokens if found_change.passive else case.tokens[: found_change.verb]
    animals = any(token.lower in ANIMALS for token in acting)
    following = case.tokens[found_change.particle + 1 : found_change.particle + 2] if found_change.particle >= 0 else ()
    if found_change.particle > found_change.verb + 1 and following and following[0].part not in STOPS_BEHIND:
        return f"'{change.verb}' may name a place here"
    if animals and case.target in ("throw", "catch", "push", "pull"):
        return f"animals do not '{case.target}'"
    if any(token.lower in (change.pre, change.post) for token in case.noun_phrase):
        return "the thing is described by its state"
    return ""


def _contradicting_verb(case: _Case) -> str:
    """Return whether another act of the caption contradicts the opposite: "opens a box and reveals a ring"."""
    verb, found_change = case.verb, case.found_change
    reverse = case.target.partition(" ")[0]
    other_verbs = {
        "turn" if token.lower in ("turn", "turns") else token.lemma
        for index, token in enumerate(case.tokens)
        if (token.part == "VERB" or token.lower in ("turn", "turns")) and index != found_change.verb
    }
    if not other_verbs.isdisjoint((reverse, verb.lemma)):
        return f"the caption also says '{reverse if reverse in other_verbs else verb.lemma}'"
    later = {token.lemma for token in case.behind}
    if "reveal" in later or (verb.lemma == "reveal" and not UNVEILING.isdisjoint(other_verbs)):
        return "what is revealed depends on another act"
    if "use" in other_verbs:
        return "the tool does not fit the opposite"
    if verb.lemma == "open" and not SHOWN.isdisjoint(later):
        return "what follows needs the opened thing"
    return ""


def _later_acts(case: _Case) -> str:
    """Return whether a later act needs the change: "picks up a cup and drinks", "enters the room and sits"."""
    verb, later = case.change.verb, []
    for token in case.behind:
        if token.text in ".;!?":
            break
        if token.part == "VERB":
            later.append(token.lemma)
    opposite = OPPOSITE_ACTS.get(verb, frozenset())
    others = {
        token.lemma
        for index, token in enumerate(case.tokens)
        if token.part == "VERB" and index != case.found_change.verb
    }
    if not opposite.isdisjoint(others):
        return f"the caption also says '{min(opposite & others)}'"
    if why := _held_or_open(case, others):
        return why
    acts_there = {token.lemma for token in case.tokens[: case.found_change.verb] if token.part == "VERB"}
    if verb in ("leave", "exit") and (later or acts_there):
        return f"what follows happens after '{verb}'"
    if verb in TAKING and not USES.isdisjoint(later):
        return "a later act needs the thing in hand"
    if verb in LEAVES_PLACE and later:
        return f"what follows happens after '{verb}'"
    return ""


def _held_or_open(case: _Case, others: set[str]) -> str:
    """Return whether other acts tell that the thing is in hand already, or that the door is open."""
    what, before = case.found_change.what, case.tokens[: case.found_change.verb]
    if what and {case.change.verb, case.target} & {"put down", "pick up", "lift"}:
        named = case.head in {token.lemma for token in case.tokens[: what.first]}
        if named or not HOLDING.isdisjoint(others):
            return "the caption tells who holds it"
    if case.target in ("push", "pull"):
        return "one may push and pull it"
    if (case.change.verb, case.target) == ("put back", "remove"):
        return "what is removed may be put away"
    if any(token.lower == "nearby" for token in case.noun_phrase):
        return case.misfit
    acts = {token.lemma for token in before if token.part == "VERB"}
    return "it was open before" if case.change.verb in ("close", "shut") and not REACHES_IN.isdisjoint(acts) else ""


def _other_word(case: _Case) -> str:
    """Return whether the word is rather an adjective, a noun or part of a compound: "snow covered", "doors open"."""
    verb, before, lower = case.verb, case.before, case.verb.lower
    base = verb.tag in ("VB", "VBP", "")
    after = case.tokens[case.found_change.verb + 1 : case.found_change.verb + 2]
    non_agent = before is not None and before.part == "NOUN" and before.lemma not in AGENTS
    if non_agent and (base or (verb.tag in ("VBD", "VBN") and not case.found_change.passive)):
        return f"'{lower}' describes a thing here"
    third = any(token.tag == "VBZ" for token in case.tokens[: case.found_change.verb])
    if base and before is not None and (before.lower in (",", "the", "a") or (before.lower == "and" and third)):
        return f"'{lower}' describes a thing here"
    if lower in ("put", "set", "cut", "shut") and before is not None and (_is_one(before) or before.lower in ONE_DID):
        return f"the form of '{lower}' is unclear"
    if after and (after[0].lower in ("and", "together", "or") or after[0].tag == "VBZ" or after[0].lower == "turns"):
        return case.misfit
    return ""


def _unnatural(case: _Case) -> str:
    """Return whether the opposite is not written of this thing, or another act of the caption needs the change."""
    verb, head_verb, tokens = case.found_change.verb, case.verb.lemma, case.tokens
    earlier = {token.lemma for token in tokens[:verb]}
    target = case.target.partition(" ")[0]
    others = any(token.part == "VERB" and index != verb for index, token in enumerate(tokens))
    instruction = "VERB" in lemmas(tokens[0].lower) and tokens[0].lemma == tokens[0].lower not in AGENTS
    joined = any(token.lower in ("and", "then", ",") for token in tokens)
    if instruction and joined and head_verb in COOKED:
        return "another step needs this one"
    if case.found_change.transitive and case.found_change.what is None and others and not case.found_change.passive:
        return "another act needs this one"
    if head_verb == "cover" and verb and AGENTS.isdisjoint(token.lower for token in tokens[:verb]):
        return "nobody covers it"
    if case.target == "put away" and "open" in earlier:
        return "one puts away what one took out"
    if target == "attach" and case.head not in PUT_BACK:
        return f"one does not attach '{case.head}' again"
    if any(token.lower in ("new", "newly") for token in tokens[:verb]) and target.startswith("un"):
        return "what is new is not undone"
    if head_verb in ("push", "pull") and any(token.lower in ("to", "too", "center") for token in case.behind[:2]):
        return case.misfit
    return ""


def _poured(case: _Case) -> str:
    """Return whether a liquid or powder would be taken out again, or a place would follow "stands up"."""
    if (
        case.found_change.preposition >= 0
        and case.target.partition(" ")[0] in ("take", "remove")
        and any(token.lemma in POURED for token in case.noun_phrase)
    ):
        return f"one does not take '{case.head}' out again"
    behind = next(iter(case.behind), None)
    if case.change.verb in ("sit down", "stand up") and behind is not None and behind.part == "ADP":
        return case.misfit
    if case.change.verb == "remove" and case.target == "put back":
        place = case.tokens[case.found_change.preposition + 1 :][:4] if case.found_change.preposition >= 0 else ()
        held = any(token.lemma in HOLDERS for token in place) if place else case.head in PUT_BACK
        if not held:
            return f"one does not put '{case.head}' back"
    if case.found_change.preposition >= 0 and not _has_more(case.tokens, case.found_change.preposition + 1):
        return case.misfit
    if case.change.verb == "fix" and case.found_change.preposition >= 0:
        return "'fix' may mean to adjust here"
    after = case.tokens[case.found_change.verb + 1 : case.found_change.verb + 2]
    if after and after[0].lower in ("up", "back") and case.found_change.particle != case.found_change.verb + 1:
        return case.misfit
    if case.target == "remove" and any(token.lower == "on" for token in case.behind):
        return case.misfit
    if case.found_change.preposition >= 0 and any(
        token.lower in ("top", "mouth", "each") for token in case.tokens[case.found_change.preposition :][:4]
    ):
        return case.misfit
    return ""


def _unfit_words_behind(case: _Case) -> str:
    """Return why the words behind the object do not fit the opposite verb, or ""."""
    tokens, found_change = case.tokens, case.found_change
    if not found_change.transitive and case.verb.lemma in LAST_WORDS and _has_more(tokens, found_change.verb + 1):
        return case.misfit
    direction_words = KEEP_DIRECTION.get(case.change.verb, frozenset())
    for index in range(found_change.behind, min(len(tokens), found_change.behind + REACH)):
        token = tokens[index]
        if token.part in ("PUNCT", "SCONJ", "CCONJ", "AUX") or token.tag in ("VBZ", "VBD"):
            break
        if index in (found_change.preposition, found_change.particle) or token.lower in direction_words:
            continue
        why = _word_behind(case, index)
        if why:
            return why
    return ""


def _word_behind(case: _Case, index: int) -> str:
    token, verb = case.tokens[index], case.verb.lemma
    following = [next_token.lower for next_token in case.tokens[index + 1 : index + 3]]
    if token.lower in ("with", "using"):
        return "the tool or thing behind 'with' does not fit the opposite"
    if token.lower == "to" and token.part == "PART":
        return "the purpose behind 'to' does not fit the opposite"
    direction = token.lower in DIRECTIONS and token.part in ("ADP", "ADV", "PART") and not _is_linked(case, index)
    pieces = token.lower in ("in", "into") and (not following or following[0] in PIECES or "air" in following)
    worn = token.lower == "on" and case.target == "take off" and case.found_change.preposition < 0
    passive = case.found_change.passive and (token.lower == "of" or (token.lower == "in" and verb in COVERED))
    bound = token.lower == "for" or verb in BOUND.get(token.lower, ())
    return case.misfit if direction or pieces or worn or passive or bound else ""


def _told_again(case: _Case) -> str:
    """Return whether other words of the caption tell the state or its order: "first", "undresses", "holds open"."""
    tokens, verb, lemma = case.tokens, case.found_change.verb, case.verb.lemma
    others = [token.lower for index, token in enumerate(tokens) if index != verb]
    reverse = case.target.partition(" ")[0]
    before = case.before.lower if case.before else ""
    if before == "first" and tokens[verb].tag in ("VBZ", "VBP", "VBD"):
        return "the opposite may follow later"
    if {lemma, reverse} <= {"open", "close"} and not STATES_OF_DOORS.isdisjoint(others):
        return "the caption tells the state, too"
    dressing = case.found_change.transitive and case.target in ("put on", "take off", "remove")
    earlier = {token.lemma for token in tokens[:verb]}
    if dressing and (not UNDRESSING.isdisjoint(others) or (case.head and case.head in earlier)):
        return "the caption tells how somebody is dressed"
    if not ALONE.isdisjoint(token.lower for token in case.behind):
        return "what follows is the outcome of the change"
    if lemma == "dry" and not DRIES.isdisjoint(others):
        return "the caption tells how it is dried"
    if lemma == "catch" and before == "to":
        return "the purpose behind 'to' does not fit the opposite"
    if case.target == "put back" and case.head in POURED:
        return f"one does not put '{case.head}' back"
    return _passed(case)


def _passed(case: _Case) -> str:
    """Return whether somebody goes through the door, or to the seat: "opens the door and enters"."""
    tokens, verb, lemma = case.tokens, case.found_change.verb, case.verb.lemma
    later = {token.lemma for token in case.behind if token.part == "VERB"}
    earlier = {token.lemma for token in tokens[:verb] if token.part == "VERB"}
    if case.head in ("door", "gate", "doorway"):
        participle = case.verb.tag == "VBG" and (case.before is None or case.before.part != "AUX")
        if (lemma == "open" and not GOES.isdisjoint(later)) or (participle and not GOES.isdisjoint(earlier)):
            return "somebody goes through the door"
    if case.target.partition(" ")[0] in ("take", "remove") and not CUTTING.isdisjoint(earlier):
        return "one puts what one has cut"
    if lemma == "pull" and "open" in {token.lower for token in case.behind[:2]}:
        return case.misfit
    if case.change.verb == "stand up" and not ((GOES | TUMBLES).isdisjoint(later) and RESTS.isdisjoint(earlier)):
        return "what follows is done standing"
    if case.change.verb == "sit down" and not GOES.isdisjoint(earlier):
        return "one goes to a seat to sit down"
    if case.change.verb == "turn off" and case.head in COOKERS and not SERVES.isdisjoint(later | earlier):
        return "one turns it off before serving"
    return ""


def _is_linked(case: _Case, index: int) -> bool:
    """Return whether the token is the second word of the linked preposition "out of"."""
    linked = case.found_change.preposition
    return linked >= 0 and index == linked + 1 and case.tokens[index].lower == "of"


def _is_one(token: Token) -> bool:
    return token.part == "NOUN" and not is_plural_noun(token.text)


def _has_more(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].part not in ("PUNCT", "SCONJ")


CHECKS: tuple[Callable[[_Case], str], ...] = (
    _description,
    _other_word,
    _meaning,
    _unclear_object,
    _unnatural,
    _contradicting_verb,
    _later_acts,
    _poured,
    _told_again,
    _unfit_words_behind,
)
