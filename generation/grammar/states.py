"""Parse the four change-of-state templates, and replace a verb of change by its reverse.

`hindrance` says why the verb of a caption without a template cannot be replaced: the rest of the sentence would not fit.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from text.diff import Edit
from generation.grammar.surface import word_set
from text.language.change_finding import REACH, FoundChange, find_changes
from text.language.change_of_state import NOUNS, TUPLES, StateChange
from text.language.inflection import lemmas
from text.language.numbers import match_case
from text.language.phrases import is_plural_noun
from text.language.tokens import Token
from text.language.tools import Tagger
from text.language.verb_forms import inflect_like

ACTION, PRE, POST, REVERSE = "action", "pre_state", "post_state", "reverse"
SUBTESTS = (ACTION, PRE, POST, REVERSE)
MAX_CAPTION_LENGTH = 400

_STATES = "|".join(
    sorted(
        {re.escape(state) for entry in TUPLES for state in (entry.pre, entry.post)}, key=lambda one: (-len(one), one)
    )
)
# Blanks are not part of a word, and no run of either is split twice: a search takes linear time.
_WORD = r"[^\s.,;:!?]++"
_SAYS = rf"{_WORD}(?:\s++{_WORD})*?\s++(?:is|are)\s++(?P<{{name}}>{_STATES})"
_STOPS = r"\s*+(?:[.!]\s*+)?$"
_BEFORE = r"(?ai:initially),?\s++" + _SAYS.format(name="pre")
_AFTER = r"(?ai:at\s+the\s+end),?\s++" + _SAYS.format(name="post")
TEMPLATES = {
    PRE: re.compile(rf"^\s*+{_BEFORE}{_STOPS}"),
    POST: re.compile(rf"^\s*+{_AFTER}{_STOPS}"),
    REVERSE: re.compile(rf"^\s*+{_BEFORE}\.\s++(?ai:then),?\s++(?P<middle>[^.]++)\.\s++{_AFTER}{_STOPS}"),
}


# Prepositions of a direction belong to their verb; others say where or when.
DIRECTIONS = word_set(
    "into onto from out off around over through against to towards toward away back between together apart at up down"
)
# One puts things back on these, and in others.
ON_THESE = word_set(
    "head face body wall shelf table floor desk counter stove plate tray rack finger neck arm hand bed roof eyelid eye",
    "eyebrow cheek lip nose hair slice bread pizza toast cake back",
)
# Verbs that may keep a direction: "pushes a car down a road", "pulls a car down a road".
KEEP_DIRECTION = {"push": word_set("down up along across"), "pull": word_set("down up along across")}
# Without an object these end their sentence: nothing descends over a bar.
LAST_WORDS = word_set(
    "jump climb ski ascend descend rise fall expand shrink start stop sink surface widen narrow warm cool burn boil"
)
PIECES = word_set("half two three four pieces halves slices circles strips shape form line circle")
SHOWN = word_set("reveal display show unveil present see look eat drink read use find take pull get remove")
# Things that these verbs do not change, or that their opposites do not fit.
NOT_LITERAL = {
    "stand up": word_set("hair"),
    "clean": word_set("up shrimp fish crab"),
    "take down": word_set("man woman boy girl person opponent player people guy wrestler note picture"),
    "turn on": word_set("grass road street corner side stage way path track highway man woman"),
    "turn off": word_set("road street corner side stage way path track highway"),
    "put in": word_set("goal effort time fire"),
    "put on": word_set("performance show display play concert weight music fire"),
    "push": word_set("issue limit boundary idea agenda product button law key pedal"),
    "pull": word_set("prank trick trigger face muscle leg stunt"),
    "throw": word_set("party fit tantrum shade punch fish light"),
    "catch": word_set("fish fire attention cold eye glimpse play wave breath air bit"),
    "cover": word_set("topic song news story subject event mouth face tune"),
    "open": word_set("fire mouth eye show concert account discussion presentation event"),
    "close": word_set("deal gap eye show"),
    "raise": word_set("money awareness question child kid issue concern fund baby puppy kitten rabbit cub animal"),
    "break": word_set("news record law rule dance bad silence leg ankle arm nose bone egg ice bread tackle cement block board brick concrete wood stick pencil plank tile"),
    "fix": word_set("hair makeup meal food drink problem dinner lunch breakfast tire tyre flat imperfection mistake error leak bug"),
    "enter": word_set("contest competition code name datum number information password"),
    "leave": word_set("message comment impression trace mark note leaf"),
    "form": word_set("circle line band team group pyramid shape part square"),
    "drop": word_set("beat hint bomb"),
    "lift": word_set("mood spirit ban"),
    "divide": word_set("people opinion"),
    "lock": word_set("eye gaze lip"),
    "load": word_set("fight game level screen website page"),
    "light": word_set("room"),
    "sort": word_set("problem"),
    "hang": word_set("himself herself"),
    "stick": word_set("tongue"),
    "connect": word_set("people dot"),
    "release": word_set("album song video single film movie"),
    "climb": word_set("mountain wall rock ladder rope tree hill stair"),
    "expand": word_set("mind knowledge"),
    "spread": word_set("word news rumor love awareness disease"),
}
# Only these things are started, reduced or dug like that.
ONLY = {
    "start": NOUNS["device"] | word_set("game music video race timer fire"),
    "stop": NOUNS["device"] | word_set("game music video race timer"),
    "reduce": word_set("heat volume speed temperature size flame light"),
    "increase": word_set("heat volume speed temperature size flame light"),
    "dig": word_set("hole pit trench grave ditch tunnel"),
    "fill in": word_set("hole pit trench grave ditch tunnel"),
    "wear": NOUNS["garment"],
    "light": word_set(
        "candle fire grill stove match cigarette lamp torch firework fireworks lantern burner bonfire wood charcoal cigar "
        "fuse incense sparkler"
    ),
    "enter": NOUNS["structure"],
    "leave": NOUNS["structure"],
}
# These are changes in made captions only: one takes a walk, and puts things anywhere.
NOTED_ONLY = word_set("take form fall rise melt ski jump sink surface") | {"mix up", "wipe off"}
# Who acts: "a guy folding paper", but not "a home lighting product".
AGENTS = word_set(
    "man woman guy girl boy child kid person people lady player character baby men women children someone somebody he",
    "she they chef cook worker student teacher actor singer mechanic hand group couple family team adult teenager dude",
    "gentleman officer soldier doctor nurse farmer artist gamer magician dog cat monkey animal bird machine robot",
)
# These describe how a thing is, not what happens to it: "a family is gathered".
STATES_IF_PASSIVE = word_set("gather scatter catch throw hide fill light attach connect dress bury")
FLYERS = word_set("plane airplane aeroplane aircraft airliner jet helicopter chopper drone bird bee insect butterfly rocket")
ANIMALS = word_set("dog dogs puppy cat cats kitten animal animals bird horse")


# "The wooden log falls over." and its mark.
MADE_TOKENS = 6


@dataclass(frozen=True)
class Sentence:
    """The template of a caption, and the positions of its states; a caption without a template is an action."""

    subtest: str
    pre: tuple[int, int] | None = None
    post: tuple[int, int] | None = None
    middle: tuple[int, int] | None = None


def read_sentence(text: str) -> Sentence:
    """Find the template of a caption."""
    for subtest, pattern in TEMPLATES.items():
        match = pattern.match(text) if len(text) <= MAX_CAPTION_LENGTH else None
        if match:
            spans = {name: match.span(name) for name in ("pre", "post", "middle") if name in match.re.groupindex}
            return Sentence(subtest, **spans)
    return Sentence(ACTION)


def changes_in(text: str, span: tuple[int, int], tags: Tagger) -> tuple[Sequence[Token], list[FoundChange]]:
    """Find the changes in a part of the caption, with token offsets in the whole caption."""
    start, end = span
    tokens = [
        Token(token.start + start, token.end + start, token.text, token.part, token.lemma, token.tag)
        for token in tags.tag(text[start:end])
    ]
    return tokens, find_changes(tokens)


def is_made(text: str, tokens: Sequence[Token], found: FoundChange) -> bool:
    """Return whether it is a caption of the paper's templates: "Someone folds the paper.", "The kite rises."."""
    if text.startswith("Someone ") and tokens[found.verb].tag == "VBZ":
        return True
    rest = found.particle + 1 if found.particle == found.verb + 1 else found.verb + 1
    short = len(tokens) <= MADE_TOKENS and tokens[found.verb].tag in ("VBZ", "VB")
    return short and text.startswith("The ") and not found.transitive and not _has_more(tokens, rest)


def hindrance(tokens: Sequence[Token], found: FoundChange, target: str) -> str:
    """Return why the verb of a natural caption is left alone, or ""."""
    verb, change = tokens[found.verb], found.change
    head = tokens[found.what.head].lemma if found.what else ""
    before = tokens[found.verb - 1] if found.verb else None
    attribute = verb.tag in ("VBD", "VBN") and not found.passive and not _has_subject(before)
    attribute = attribute or (verb.tag == "VB" and before is not None and _is_one(before) and "ADJ" in lemmas(verb.lower))
    if (verb.tag == "VBN" and not found.passive) or attribute or (before is not None and before.lower == "with"):
        return f"'{verb.lower}' describes a thing here"
    if change.verb == "wear" and verb.tag == "VBG" and tokens[found.verb - 1].part != "AUX":
        return "'wearing' describes a person here"
    described = tokens[found.what.first : found.what.last] if found.what else ()
    refused = NOT_LITERAL.get(change.verb, frozenset())
    if change.verb in NOTED_ONLY or any(token.lemma in refused for token in described):
        return f"'{change.verb}' is no change of state here"
    if found.passive and verb.lemma in STATES_IF_PASSIVE:
        return f"'{verb.lower}' describes a thing here"
    bare = found.what is not None and found.what.last - found.what.first == 1 and found.what.head == found.verb + 1
    if verb.tag == "VBD" and bare and head == tokens[found.verb + 1].lower:
        return f"'{verb.lower}' describes a thing here"
    if found.transitive and found.what is None and _opens_noun(tokens, found.behind):
        return f"'{change.verb}' has two objects here"
    if found.passive and found.what is None:
        return f"what is '{verb.lower}' is not named"
    if found.particle == found.verb + 1 and change.verb in ("put in", "push in"):
        return f"'{change.verb}' may name a place here"
    if not found.transitive and change.verb in ("land", "take off") and head not in FLYERS:
        return f"'{change.verb}' is no flight here"
    if target in ("throw", "catch", "push") and any(token.lower in ANIMALS for token in tokens[: found.verb]):
        return f"animals do not '{target}'"
    if found.behind < len(tokens) and tokens[found.behind].lower == "of" and found.preposition < 0:
        return f"'{verb.lower}' names a thing here"
    if change.verb in ONLY and head not in ONLY[change.verb]:
        return f"'{change.verb}' is no change of state here"
    if not found.transitive and verb.lemma in LAST_WORDS and _has_more(tokens, found.verb + 1):
        return f"what follows '{change.verb}' does not fit '{target}'"
    if any(token.lower in (change.pre, change.post) for token in described):
        return "the thing is described by its state"
    reverse = target.partition(" ")[0]
    others = {token.lemma for at, token in enumerate(tokens) if token.part == "VERB" and at != found.verb}
    if not others.isdisjoint((reverse, verb.lemma)):
        return f"the caption also says '{reverse if reverse in others else verb.lemma}'"
    if before is not None and before.part == "NOUN" and verb.tag == "VBG" and before.lemma not in AGENTS:
        if found.transitive and found.what is not None and found.what.last - found.what.first == 1:
            return f"'{verb.lower}' may name a thing here"
    if not found.transitive and verb.lemma in ("open", "close") and head in AGENTS:
        return f"'{change.verb}' has no object here"
    if any(token.lemma == "reveal" for token in tokens[found.behind :]):
        return "what is revealed depends on another act"
    if any(token.lemma == "use" and token.part == "VERB" for token in tokens):
        return "the tool does not fit the opposite"
    if verb.lemma == "open" and any(token.lemma in SHOWN for token in tokens[found.behind :]):
        return "what follows needs the opened thing"
    if verb.lemma == "reveal" and any(token.lemma in ("open", "remove", "unwrap", "lift") for token in tokens):
        return "what is revealed depends on another act"
    return _tail(tokens, found, target)


def _is_one(token: Token) -> bool:
    return token.part == "NOUN" and not is_plural_noun(token.text)


def _has_subject(before: Token | None) -> bool:
    return before is not None and (before.part in ("NOUN", "PROPN", "PRON", "CCONJ") or before.text == ",")


def _opens_noun(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].part in ("DET", "NOUN", "NUM")


def _has_more(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].part not in ("PUNCT", "SCONJ")


def _tail(tokens: Sequence[Token], found: FoundChange, target: str) -> str:
    """Return why the words behind the object do not fit the opposite verb, or ""."""
    kept = KEEP_DIRECTION.get(found.change.verb, frozenset())
    verb_lemma = tokens[found.verb].lemma
    misfit = f"what follows '{found.change.verb}' does not fit '{target}'"
    for at in range(found.behind, min(len(tokens), found.behind + REACH)):
        token = tokens[at]
        if token.part in ("PUNCT", "SCONJ", "CCONJ", "AUX") or token.tag in ("VBZ", "VBD"):
            break
        if at in (found.preposition, found.particle) or token.lower in kept:
            continue
        after = tokens[at + 1].lower if at + 1 < len(tokens) else ""
        if token.lower in ("with", "using"):
            return "the tool or thing behind 'with' does not fit the opposite"
        if token.lower == "to" and token.part == "PART":
            return "the purpose behind 'to' does not fit the opposite"
        if token.lower in DIRECTIONS and token.part in ("ADP", "ADV", "PART") and not _starts_linked(tokens, found, at):
            return misfit
        if token.lower in ("in", "at", "on") and verb_lemma in ("throw", "catch", "drop"):
            return misfit
        if token.lower == "in" and verb_lemma in ("clean", "wash", "rinse", "soak", "wipe"):
            return misfit
        if token.lower == "on" and target == "take off" and found.preposition < 0:
            return misfit
        if token.lower == "for" or (token.lower == "on" and verb_lemma == "lift"):
            return misfit
        if token.lower == "in" and any(one.lower == "air" for one in tokens[at + 1 : at + 3]):
            return misfit
        if token.lower in ("in", "into") and (after in PIECES or token.lower == "into"):
            return misfit
        if found.passive and (token.lower == "of" or (token.lower == "in" and verb_lemma in ("cover", "fill", "dress"))):
            return misfit
    return ""


def _starts_linked(tokens: Sequence[Token], found: FoundChange, at: int) -> bool:
    """Return whether the token is the second word of the linked preposition "out of"."""
    return found.preposition >= 0 and at == found.preposition + 1 and tokens[at].lower == "of"


def undone(tokens: Sequence[Token], found: FoundChange, target: str, *, link: bool) -> list[Edit] | None:
    """Return the edits that replace the found verb by `target`, with its particle; None if no form fits.

    `link`: the preposition of the place changes with it ("attaches it to" -> "detaches it from").
    """
    verb = tokens[found.verb]
    head, _, particle = target.partition(" ")
    form = inflect_like(verb.text, verb.lemma, head, participle=verb.tag == "VBN")
    if form is None:
        return None
    places = link and found.preposition >= 0
    edits = [Edit(verb.start, verb.end, form)] if form != verb.text else []
    if found.particle >= 0:
        old = tokens[found.particle]
        before = tokens[found.particle - 1].end
        if particle:
            edits.append(Edit(old.start, old.end, match_case(old.text, particle)))
        else:
            edits.append(Edit(before, old.end, ""))
    elif particle and (not places or not found.transitive or particle not in ("in", "out", "on", "off")):
        at = tokens[found.verb + 1].end if _is_pronoun_behind(tokens, found) else verb.end
        edits.append(Edit(at, at, f" {particle}"))
    if places:
        edits.append(_linked(tokens, found))
    return [edit for edit in edits if edit.start != edit.end or edit.target]


def _is_pronoun_behind(tokens: Sequence[Token], found: FoundChange) -> bool:
    """Return whether a pronoun is after the verb: "rolls it up", not "rolls up it"."""
    return found.transitive and not found.passive and found.what is None and found.verb + 1 < len(tokens)


def _linked(tokens: Sequence[Token], found: FoundChange) -> Edit:
    first = tokens[found.preposition].lower
    if first == "out" and tokens[found.preposition + 1].lower == "of":
        first = "out of"
    other = found.change.links[first]
    if other == "in" and any(token.lemma in ON_THESE for token in tokens[found.preposition : found.preposition + 4]):
        other = "on"
    last = found.preposition + len(first.split()) - 1
    return Edit(tokens[found.preposition].start, tokens[last].end, match_case(tokens[found.preposition].text, other))


def opposite_states(state: str, *, of_pre: bool, verb: str) -> list[StateChange]:
    """Return the changes that begin (or, for a post-state, end) with the state; of one verb if it is known."""
    changes = [entry for entry in TUPLES if (entry.pre if of_pre else entry.post) == state]
    return [entry for entry in changes if entry.verb == verb] or changes
