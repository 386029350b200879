"""Whether two participants can change places: the swap must be false, and the new part must suit its new participant.

A look, a talk or an embrace may be mutual. A small child carries no adult, and who lies asleep does not run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from foilworks.core.text.language.appearance import MANNERS
from foilworks.core.text.language.living import COLLECTIVES
from foilworks.core.text.language.main_verb import LOOKS
from foilworks.core.text.language.structure import WHO
from foilworks.core.text.language.tokens import Token
from generation.grammar.actor import Actor
from generation.grammar.pronouns import fits, gender_of_pronoun
from generation.grammar.surface import word_set

GAZE = word_set("look stare gaze blink smile grin")
PERCEIVE = GAZE | word_set("see watch notice observe glance")
TALK = word_set("talk speak chat gossip")
TALKS = word_set("conversation conversations chat talk talks discussion dialogue debate argument")
EMBRACES = word_set("hug hugs embrace handshake")
# "looks down at", "gazes through a window at", "glances to the right at".
DIRECTIONS = word_set(
    "up down upward upwards downward downwards above below beneath behind back backward backwards through left",
    "right side sideways away past shoulder window mirror binoculars telescope camera keyhole hole crack afar",
)
LOW = word_set("down downward downwards below")
# "looks for a woman": a search.
SEARCHES = word_set("for after")
HOW = MANNERS | word_set("horror terror confusion awe sadness hope pain envy sorrow alarm")
SCREENS = word_set("screen tv television monitor video photo picture painting poster window mirror camera")
TO_MANY = word_set("microphone megaphone loudspeaker podium intercom radio crowd audience")
# "calmly" does not say that only one of them does it.
EVEN = word_set(
    "calmly casually directly quietly softly slowly suddenly silently intently briefly quickly only simply really",
    "seriously remotely curiously gently deeply closely fully politely normally",
)
BESIDE = word_set("beside next near alongside by side opposite across")
OPPOSITE = frozenset({("across", "from"), ("face", "to")})
HANDS = word_set("hand hands")
LIPS = word_set("lip lips mouth")

INFANTS = word_set("baby infant newborn toddler")
CHILDREN = INFANTS | word_set("child kid")
MAY_BE_CHILDREN = word_set("boy girl schoolboy schoolgirl")
SMALL = word_set("small young little tiny")
CARRY = word_set("carry lift hoist heave haul lug scoop cradle rock tow piggyback hold drag")
CARRY_WITH = {"pick": "up", "put": "down", "set": "down", "lay": "down", "raise": "up"}
SKILLED = word_set(
    "feed chase run walk shoot fire drive push pull punch kick throw dress bathe wash teach tackle fight arrest slap",
    "put place shove speak talk tell order hand pass lead",
)
# What one person cannot do to several.
ON_ONE = word_set("carry lift hoist haul lug grasp grip grab clutch hold seize restrain cradle drag surround encircle")
SURROUND = word_set("surround encircle")

BOUND = word_set("tie bind chain strap handcuff shoot stab injure wound")
STILL = BOUND | word_set("stand sit seat lie lay kneel crouch squat lean")
MOTION = word_set(
    "run walk stroll sprint jog march stride wander rush dash hurry race hop skip jump leap climb crawl dance step",
    "go come ride approach chase follow pursue sneak tiptoe charge sit stand kneel crouch",
)
DOWN = BOUND | word_set("lie lay sit seat kneel crouch squat")
HEAVE = word_set("carry lift hoist heave haul lug tow throw toss tackle")
LIFELESS = word_set("asleep sleeping dead unconscious lifeless hanging hanged killed passed-out comatose fainted")

FACING = "both may face each other, so a swap may stay true"
RETURNED = "a look may be returned, so a swap may stay true"
CONVERSATION = "both may speak, so a swap may stay true"
EMBRACE = "an embrace, a handshake or a kiss on the lips is mutual, so a swap stays true"
CONTRADICTION = "what a participant is or does (asleep, lying …) contradicts its new part"
OTHERS = "'another' or 'other' would not stay true"
OUTSIDE = "'it' or 'them' names something outside the sentence"

# In "another man" also somebody else than "a man".
ADULTS = {
    "man": "mn",
    "guy": "mn",
    "gentleman": "mn",
    "woman": "fn",
    "lady": "fn",
    "person": "mfn",
    "individual": "mfn",
}


@dataclass(frozen=True)
class Swap:
    """Two participants of the verb at `main`; `nearest`: the last verb before the second one.

    `second`: the second one is the subject of another clause.
    """

    tokens: Sequence[Token]
    main: int
    nearest: int
    passive: bool
    second: bool
    subject: Actor
    counterpart: Actor

    @property
    def lemma(self) -> str:
        return self.tokens[self.main].lemma

    @property
    def agent(self) -> Actor:
        """The participant that does it after the swap."""
        return self.subject if self.passive else self.counterpart

    @property
    def patient(self) -> Actor:
        return self.counterpart if self.passive else self.subject

    def between(self) -> Sequence[Token]:
        """Return the words behind the verb and before the second participant."""
        return self.tokens[self.main + 1 : self.counterpart.first]

    def behind(self) -> Sequence[Token]:
        """Return the words behind the second participant."""
        return self.tokens[self.counterpart.last :]


def refusal(swap: Swap) -> str:
    """Return why a swap may stay true or contradicts itself; "" if there is no reason."""
    return _mutual(swap) or _too_weak(swap) or _contradiction(swap) or _words_that_stay(swap)


def _mutual(swap: Swap) -> str:
    """Return why both may do it."""
    lemma, joined = swap.lemma, not swap.second and swap.nearest == swap.main and not swap.passive
    if swap.second:
        sides = any(token.lower in BESIDE for token in swap.behind())
        return RETURNED if sides and lemma in GAZE | TALK else ""
    if lemma in PERCEIVE and joined and (_face_to_face(swap) or (lemma in GAZE and not looks_one_way(swap))):
        return RETURNED
    if lemma in ("stand", "sit", "be") and joined and _is_before(swap):
        return FACING
    between = swap.between()
    if any(token.lower in TALKS and token.part == "NOUN" for token in between):
        return CONVERSATION
    if any(token.lower == "about" for token in between):
        return ""
    if lemma in TALK and (joined or any(token.lower in BESIDE for token in between)) and not speaks_one_way(swap):
        return CONVERSATION
    if _is_embrace(swap):
        return EMBRACE
    return ""


def _face_to_face(swap: Swap) -> bool:
    words = [token.lower for token in swap.tokens[swap.main + 1 :]]
    return any(pair in OPPOSITE for pair in pairwise(words))


def _is_before(swap: Swap) -> bool:
    """Return whether one only stands or sits in front of the other."""
    return _face_to_face(swap) or [token.lower for token in swap.between()[-3:]] == ["in", "front", "of"]


def looks_one_way(swap: Swap) -> bool:
    """Return whether the look goes one way: "down at", "through a window", "angrily", "at the man's shoes"."""
    tokens, counterpart = swap.tokens, swap.counterpart
    if tokens[swap.main + 1].lower in SEARCHES:
        return True
    if counterpart.owns:
        return tokens[counterpart.owns - 1].lower not in ("eyes", "eye", "face", "gaze")
    if any(token.lower in ("eyes", "face") for token in swap.between()):
        return False
    if any(token.lower in DIRECTIONS | SCREENS for token in swap.between()):
        return True
    if _has_manner(swap) or any(token.lower in SCREENS for token in swap.behind()):
        return True
    if any(token.lower in LIFELESS or token.lower == "shot" for token in swap.behind()):
        return True
    # "stares at the body of a woman"
    of = tokens[counterpart.first - 1].lower == "of" and tokens[counterpart.first - 2].part == "NOUN"
    return of or _is_busy(tokens, counterpart)


def _is_busy(tokens: Sequence[Token], actor: Actor) -> bool:
    """Return whether the participant does something: "a man playing the piano", "a woman sitting at a table"."""
    return any(token.tag == "VBG" and token.lemma not in LOOKS for token in tokens[actor.head + 1 : actor.last])


def _has_manner(swap: Swap) -> bool:
    """Return whether the caption says how it is done: "angrily", "with a stunned expression"."""
    tokens, counterpart = swap.tokens, swap.counterpart
    for index in (*range(swap.subject.last, counterpart.first), *range(counterpart.last, len(tokens))):
        token = tokens[index]
        if token.lower in HOW or (token.part == "ADV" and token.lower.endswith("ly") and token.lower not in EVEN):
            return True
    return False


def speaks_one_way(swap: Swap) -> bool:
    words = swap.tokens[swap.main + 1 :]
    return _has_manner(swap) or any(token.lower in TO_MANY for token in words)


def _is_embrace(swap: Swap) -> bool:
    behind = (*swap.between(), *swap.behind())
    words = {token.lower for token in behind}
    if not words.isdisjoint(EMBRACES) and any(token.lower in EMBRACES and token.part == "NOUN" for token in behind):
        return True
    if swap.lemma in ("hold", "shake") and not words.isdisjoint(HANDS):
        return True
    if swap.lemma == "hold":
        return "close" in words
    return (swap.lemma == "kiss" or not words.isdisjoint(("kiss", "kisses"))) and not words.isdisjoint(LIPS)


def _too_weak(swap: Swap) -> str:
    """Return why the new actor cannot do it: a small child to an adult, one person to several."""
    if swap.second:
        return ""
    tokens, agent, patient = swap.tokens, swap.agent, swap.patient
    if any(tokens[index].lemma in SURROUND for index in range(swap.main, len(tokens))) and not (
        agent.plural and patient.plural
    ):
        return "only several can surround somebody"
    lemma = tokens[swap.nearest].lemma
    if lemma in ON_ONE and not _is_several(tokens, agent) and _is_several(tokens, patient) and not agent.animal:
        return f"one person does not '{lemma}' several"
    if not _is_child(tokens, agent) or _is_child(tokens, patient) or patient.animal:
        return ""
    direct = not any(token.part == "NOUN" for token in tokens[swap.nearest + 1 : swap.counterpart.first])
    with_particle = lemma in CARRY_WITH and any(token.lower == CARRY_WITH[lemma] for token in tokens[swap.nearest :])
    if (lemma in CARRY or with_particle) and direct and not swap.counterpart.owns:
        return f"a small child does not '{lemma}' an adult"
    if tokens[agent.head].lower in INFANTS and lemma in SKILLED:
        return f"a baby does not '{lemma}'"
    return ""


def _is_several(tokens: Sequence[Token], actor: Actor) -> bool:
    return actor.plural or tokens[actor.head].lower in COLLECTIVES


def _is_child(tokens: Sequence[Token], actor: Actor) -> bool:
    """Return whether it is one child, or a boy or girl who is called small or young."""
    head = tokens[actor.head].lower
    if head in CHILDREN:
        return not actor.plural
    small = any(token.lower in SMALL for token in tokens[actor.first : actor.head])
    return head in MAY_BE_CHILDREN and small and not actor.plural


def _contradiction(swap: Swap) -> str:
    """Return whether the state of the new actor contradicts what it does: "a man lying on a bed runs"."""
    tokens, agent = swap.tokens, swap.agent
    if swap.second:
        return ""
    if any(token.lower in LIFELESS for token in tokens[agent.first : agent.head]) or state_of(swap, agent):
        return CONTRADICTION
    return ""


def state_of(swap: Swap, actor: Actor) -> int:
    """Return where the description begins that contradicts the verb's action; 0 if none does."""
    if lifeless_start := _lifeless(swap.tokens, actor):
        return lifeless_start
    states = _contradicted(swap)
    if not states:
        return 0
    return next((start for start, index in _states(swap.tokens, actor) if swap.tokens[index].lemma in states), 0)


def _contradicted(swap: Swap) -> frozenset[str]:
    """Return the states that the verb's action contradicts: nobody runs sitting, or looks down lying on the ground."""
    verb = swap.tokens[swap.nearest].lemma
    if verb in MOTION:
        return STILL
    if verb in HEAVE:
        return DOWN
    if verb in GAZE and any(token.lower in LOW for token in swap.between()):
        return DOWN
    return frozenset()


def _lifeless(tokens: Sequence[Token], actor: Actor) -> int:
    for start, index in _states(tokens, actor):
        word = tokens[index].lower
        if word == "hanging" and index > actor.head + 1:
            # "a girl with a coat hanging"
            continue
        if word in LIFELESS or (word == "shot" and _in_the_head(tokens[index : actor.last])):
            return start
    return 0


def _in_the_head(tokens: Sequence[Token]) -> bool:
    return any(token.lower in ("head", "heart", "dead") for token in tokens)


def _states(tokens: Sequence[Token], actor: Actor) -> Iterator[tuple[int, int]]:
    """Yield (start of the description, its word) of what somebody is: "lying", "who was shot"."""
    if actor.last == actor.head + 1:
        return
    for start in range(actor.head + 1, actor.last):
        if start > actor.head + 1 and tokens[start].lower not in WHO and tokens[start].tag != "VBG":
            continue
        index = start
        while index < actor.last and (
            tokens[index].part in ("AUX", "ADV") or tokens[index].lower in WHO or tokens[index].text == ","
        ):
            if tokens[index].lower in LIFELESS:
                break
            index += 1
        if index < actor.last:
            yield (start - 1 if tokens[start - 1].text == "," else start), index


def without_contradicted_state(swap: Swap) -> Actor:
    """Return the second participant without a state that its new part contradicts; the state stays in place.

    "A boy runs to a man sitting by a tree" becomes "A man runs to a boy sitting by a tree".
    """
    counterpart, tokens = swap.counterpart, swap.tokens
    start = 0 if swap.passive or swap.second or counterpart.owns else state_of(swap, counterpart)
    if not start or swap.subject.plural != counterpart.plural or _ends_in_clause(tokens, swap.subject):
        return counterpart
    return replace(counterpart, last=start)


def _ends_in_clause(tokens: Sequence[Token], actor: Actor) -> bool:
    inside = tokens[actor.head + 1 : actor.last]
    return any((token.tag in ("VBG", "VBN") and token.lemma not in LOOKS) or token.lower in WHO for token in inside)


def _words_that_stay(swap: Swap) -> str:
    """Return why words that refer to somebody or something would not be true behind a swap."""
    if _is_outside(swap):
        return OUTSIDE
    tokens, subject, counterpart = swap.tokens, swap.subject, swap.counterpart
    for stays, comes, first in ((counterpart, subject, counterpart), (subject, counterpart, subject)):
        words = {token.lower for token in tokens[stays.first : stays.first + stays.determiner]}
        if not words.isdisjoint(("another", "other")) and not _may_be_another(tokens, comes, first):
            return OTHERS
    return ""


def _may_be_another(tokens: Sequence[Token], comes: Actor, first: Actor) -> bool:
    """Return whether "another" fits who comes behind it: "another man" if the first one is a man too."""
    if comes.head != comes.first + comes.determiner:
        return False
    word, before = tokens[comes.head].lower, tokens[first.head].lower
    child = before in CHILDREN | MAY_BE_CHILDREN
    return word == before or (first.gender in ADULTS.get(word, "") and not child)


def _is_outside(swap: Swap) -> bool:
    """Return whether "it" or "them" before the second participant names no thing of the sentence: "throws it at"."""
    has_noun = False
    for token in swap.between():
        if token.lower in ("it", "them") and token.part == "PRON":
            return not has_noun and not fits(gender_of_pronoun(token), swap.subject.gender)
        has_noun = has_noun or token.part == "NOUN"
    return False
