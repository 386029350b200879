"""Why a swap of two participants would stay true, or become unclear."""

from collections.abc import Sequence

from foilworks.core.text.language.appearance import CLOTHES, MANNERS
from foilworks.core.text.language.phrases import POSSESSIVE
from foilworks.core.text.language.tokens import Token
from generation.grammar.actor import Actor
from generation.grammar.exclusive_acts import unsure
from generation.grammar.one_way import Swap, refusal
from generation.grammar.pronouns import gender_of_pronoun
from generation.grammar.surface import word_set
from generation.grammar.swap_participants import unfit_participants

# Symmetric verbs (lemmas).
SYMMETRIC = word_set(
    "hug embrace meet kiss marry wed date resemble equal match cuddle snuggle wrestle duel spar collide intersect",
    "accompany encounter reconcile converse chat argue quarrel debate compete shake clash merge touch face high-five",
    "handshake join hold-hands slow-dance fight battle divorce befriend near oppose",
)
# "kisses her on the cheek" is not symmetric.
ONE_SIDED_BEHIND = {
    "kiss": word_set("cheek forehead hand neck head nose foot"),
    "touch": word_set("shoulder face hair head"),
    "face": frozenset[str](),
}
TOGETHER = frozenset({("each", "other"), ("one", "another")})
# "dances with", "stands beside", "sits next to": symmetric, if no word is between them and the person.
SHARING = word_set("with beside alongside near next by like between among than against opposite")
# "surrounds the coach": only several can.
BY_SEVERAL = word_set("surround gather encircle assemble outnumber")
# "becomes a clown": not two participants.
SAMENESS = word_set("include contain feature involve be become seem remain resemble impersonate play portray")
# What an animal can do to a person ("a horse rides a man" is nonsense), and what it can do at or behind one.
ANIMALS_DO = word_set(
    "attack bite chase follow watch see notice approach push pull knock lick sniff smell hear ignore touch kick drag",
    "scratch pass avoid scare frighten startle guard protect wake hit trip kill eat surround threaten stalk hunt",
    "circle trample",
)
ANIMALS_ACT = ANIMALS_DO | word_set(
    "look stare gaze glare run walk jump leap charge growl bark hiss roar snarl lunge climb move turn head flee escape",
    "hide pounce fight fly swim dive crawl hop sit stand lie wait sleep play come go rush sneak wander listen",
)
GENITIVES = frozenset({"'s", "’s", "'", "’"})
BOTH_WAYS = "both do it to each other, so a swap stays true"
IDENTITY = "the caption says who somebody is, so a swap stays true"
OWNED = "a possessive (his, her …) names a participant, so a swap changes the person"
UNCLEAR_SENTENCE = "it is not clear where the participant ends"
UNCLEAR = "its pronouns would not fit the swapped participants"
BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "'s"})


def refused(swap: Swap) -> str:
    """Return why the swap would stay true or become unclear."""
    tokens, main, subject, counterpart, nearest = swap.tokens, swap.main, swap.subject, swap.counterpart, swap.nearest
    if subject.owns and subject.plural != counterpart.plural:
        return "a possessive describes the subject"
    if broken := _broken_subject(tokens, subject):
        return broken
    if together(tokens[main + 1 :]):
        return BOTH_WAYS
    if not swap.second and nearest != main and _is_identity(tokens, nearest, counterpart):
        return IDENTITY
    if not swap.second and nearest == main:
        why = _shared(tokens, main, counterpart, passive=swap.passive)
        if why:
            return why
    if _names_pronoun_in_clause(tokens, counterpart):
        return UNCLEAR
    if any(tokens[actor.first].lower in POSSESSIVE for actor in (subject, counterpart)):
        return OWNED
    if not swap.second and not swap.passive and not subject.animal and counterpart.animal:
        able = ANIMALS_ACT if _link(tokens, nearest, counterpart.first) else ANIMALS_DO
        if tokens[nearest].lemma not in able or tokens[main].lemma not in ANIMALS_ACT:
            return f"an animal does not '{tokens[nearest].lemma}'"
    if tokens[main].lemma in BY_SEVERAL and not (subject.plural and counterpart.plural):
        return f"only several can '{tokens[main].lemma}' somebody"
    if why := refusal(swap):
        return why
    if _doubled(tokens, subject, counterpart) or _repeats_description(tokens, subject, counterpart):
        return UNCLEAR_SENTENCE
    if subject.plural != counterpart.plural and any(_stays(tokens, actor) for actor in (subject, counterpart)):
        return UNCLEAR
    return unfit_participants(swap) or unsure(swap)


def together(tokens: Sequence[Token]) -> bool:
    """Return whether "each other" or "one another" is among the words."""
    before = ""
    for token in tokens:
        if (before, token.lower) in TOGETHER:
            return True
        before = token.lower
    return False


def _broken_subject(tokens: Sequence[Token], subject: Actor) -> str:
    for index in range(subject.first, subject.last):
        text = tokens[index].lower
        if text in GENITIVES:
            return "a possessive describes the subject"
        if text == "," and index + 1 < subject.last:
            after = tokens[index + 1]
            if after.tag == "VBG" and after.lemma not in ("wear", "sport", "don", "hold", "carry"):
                return "a clause describes the subject"
    return ""


def _stays(tokens: Sequence[Token], actor: Actor) -> bool:
    return any(token.lower == "other" for token in tokens[actor.first : actor.first + actor.determiner])


def _repeats_description(tokens: Sequence[Token], subject: Actor, counterpart: Actor) -> bool:
    """Return whether the rest of the caption has a participant's whole description again."""
    text = ""
    for actor in (subject, counterpart):
        words = [token.lower for token in tokens[actor.first + actor.determiner : actor.last]]
        if len(words) < 3:
            continue
        if not text:
            outside_words = [
                token.lower for token in (*tokens[subject.last : counterpart.first], *tokens[counterpart.last :])
            ]
            text = f" {' '.join(outside_words)} "
        if f" {' '.join(words)} " in text:
            return True
    return False


def _doubled(tokens: Sequence[Token], subject: Actor, counterpart: Actor) -> bool:
    """Return whether the swap puts two descriptions of one kind in a row: "a man with a scarf with a rifle"."""
    clothed = tokens[counterpart.last : counterpart.last + 5]
    if clothed and clothed[0].lower in ("in", "wearing") and any(token.lower in CLOTHES for token in clothed):
        return True
    after = [token.lower for token in tokens[counterpart.last : counterpart.last + 3]]
    inside = {token.lower for token in tokens[subject.head + 1 : subject.last]}
    how = not MANNERS.isdisjoint(after) or counterpart.owns
    return len(after) == 3 and after[0] == "with" and after[1] in ("a", "an", "the") and "with" in inside and not how


def _names_pronoun_in_clause(tokens: Sequence[Token], actor: Actor) -> bool:
    """Return whether a relative clause has a pronoun whose person is unclear: "a man who gave her a cup"."""
    if actor.last < actor.head + 3:
        return False
    inside = tokens[actor.first : actor.last]
    relative = any(token.lower in ("who", "whom", "which", "that") and token.part == "PRON" for token in inside)
    return relative and any(gender_of_pronoun(token) for token in inside)


def _shared(tokens: Sequence[Token], main: int, counterpart: Actor, *, passive: bool) -> str:
    """Return why both take the same part in the action."""
    lemma = tokens[main].lemma
    link = _link(tokens, main, counterpart.first)
    if not passive and not {token.lower for token in link}.isdisjoint(SHARING):
        return "both take part equally (with, beside …), so a swap stays true"
    if _is_identity(tokens, main, counterpart):
        return IDENTITY
    if any(token.lower == "into" for token in link) and lemma in ("turn", "transform", "change", "morph"):
        return IDENTITY
    one_sided = ONE_SIDED_BEHIND.get(lemma, frozenset()) & {token.lower for token in tokens[counterpart.last :]}
    direct = not any(token.part == "NOUN" for token in tokens[main + 1 : counterpart.first]) and not counterpart.owns
    if lemma in SYMMETRIC and direct and not one_sided:
        return f"'{lemma}' is symmetric, so a swap stays true"
    return ""


def _is_identity(tokens: Sequence[Token], verb: int, counterpart: Actor) -> bool:
    """Return whether the other participant says who somebody is: "is a doctor", "pretends to be a child"."""
    copula = tokens[verb].lemma in SAMENESS or tokens[verb].lower in BE
    return copula and not _link(tokens, verb, counterpart.first)


def _link(tokens: Sequence[Token], main: int, first: int) -> Sequence[Token]:
    """Return the prepositions and particles right before a participant: "next to"."""
    start = first
    while start > main + 1 and (tokens[start - 1].part in ("ADP", "ADV", "PART") or tokens[start - 1].lower == "front"):
        start -= 1
    return [token for token in tokens[start:first] if token.part in ("ADP", "PART") or token.lower == "next"]
