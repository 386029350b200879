"""Find the participants of an action: two noun phrases about persons with their descriptions, and their verb."""

from collections.abc import Sequence
from dataclasses import dataclass

from generation.grammar.preposition_words import COLOURS, WORN
from generation.grammar.surface import word_set
from text.diff import Edit
from text.language.inflection import lemmas, plain_verb, third_person
from text.language.numbers import match_case
from text.language.phrases import POSSESSIVE, NounPhrase, is_plural_noun, noun_phrases
from text.language.tokens import Token

PERSONS = word_set(
    "man men woman women person people boy boys girl girls child children kid kids baby babies toddler toddlers",
    "guy guys",
    "lady ladies gentleman gentlemen teenager teenagers adult adults couple friend friends player players team teams",
    "policeman policemen policewoman officer officers cop cops guard guards soldier soldiers fireman firemen",
    "thief thieves",
    "robber robbers doctor doctors nurse nurses patient patients teacher teachers student students pupil pupils coach",
    "coaches trainer trainers referee boxer boxers wrestler wrestlers fighter fighters athlete athletes gymnast",
    "gymnasts",
    "runner runners swimmer swimmers dancer dancers singer singers actor actors actress actresses musician musicians",
    "guitarist drummer chef chefs cook cooks waiter waiters waitress waitresses barber customer customers clown clowns",
    "mother father mom dad son daughter brother brothers sister sisters husband wife uncle aunt grandmother",
    "grandfather",
    "king queen prince princess knight knights judge lawyer farmer farmers worker workers driver drivers rider riders",
    "passenger passengers pilot reporter reporters photographer interviewer host guest guests bride groom",
    "priest pirate",
    "cowboy cowboys gunman attacker attackers enemy enemies opponent opponents stranger strangers crowd audience youth",
    "salesman businessman businesswoman cyclist goalkeeper pitcher batter lifeguard magician artist model bully zombie",
    "vampire monster robot robots alien superhero villain villains blonde brunette male female individual someone",
    "dog dogs cat cats puppy puppies kitten kittens horse horses cow cows bear bears lion lions tiger tigers",
    "wolf wolves",
    "monkey monkeys elephant elephants bull bulls goat goats sheep pig pigs rabbit rabbits bird birds parrot",
    "duck ducks",
    "goose geese chicken chickens rooster fox foxes mouse mice rat rats snake snakes shark sharks whale dolphin",
    "dolphins",
    "panda gorilla chimpanzee deer donkey camel cheetah leopard zebra squirrel turtle frog spider bee eagle",
    "hawk owl crab",
)


# Symmetric verbs (lemmas).
SYMMETRIC = word_set(
    "hug embrace meet kiss marry wed date resemble equal match cuddle snuggle wrestle duel spar collide intersect",
    "accompany encounter reconcile converse chat argue quarrel debate compete shake clash merge touch face high-five",
    "handshake join hold-hands slow-dance",
)


# "kisses her on the cheek" is not symmetric.
ONE_SIDED_BEHIND = {
    "kiss": word_set("cheek forehead hand neck head nose foot"),
    "touch": word_set("shoulder face hair head"),
}


TOGETHER = frozenset({"each other", "one another"})
# "dances with", "stands beside", "sits next to": symmetric.
SHARING = word_set("with beside alongside near next by like between among and or than against as opposite")
DESCRIBES = frozenset({"in", "with", "wearing", "dressed", "clad", "named", "called"})
FEATURES = word_set(
    "hair beard moustache mustache glasses sunglasses hat cap helmet ponytail ponytails braids tattoo tattoos",
    "bandana mask",
    "backpack crown scar scarf mohawk dreadlocks headphones headband goggles earrings makeup shirt jacket dress",
    "suit coat",
    "umbrella cane crutches wheelchair stroller briefcase purse apron tie wig wings horns tail mane spots stripes eyes",
)


# "A man pushes another man in red": these stay in place.
STAYING = frozenset({"another", "other"})
FINITE = ("VB", "VBZ", "VBD")
SINGULAR_AUX = {"is": "are", "was": "were", "has": "have", "does": "do"}
PLURAL_AUX = {plural: singular for singular, plural in SINGULAR_AUX.items()}
BOTH_WAYS = "both do it to each other, so a swap stays true"
# "each other" is near its verb; keeps the time linear for captions of 10^6 characters.
REACH = 12
NONE_FOUND = "it names no two participants of one verb"


@dataclass(frozen=True)
class Actor:
    """A participant: tokens `first:last` (end exclusive), of which the first `determiner` tokens are determiners."""

    first: int
    last: int
    head: int
    plural: bool
    determiner: int


@dataclass(frozen=True)
class Participants:
    subject: Actor
    object: Actor
    verb: str
    passive: bool
    agreement: Edit | None


@dataclass(frozen=True)
class _Verb:
    """The token that agrees with the subject, and the main verb."""

    agrees: int
    main: int
    passive: bool


def find_participants(tokens: Sequence[Token], mode: str) -> Participants | str:
    """Find the first two participants of the caption's first verb, or the reason why they cannot be swapped."""
    phrases = {phrase.first: phrase for phrase in noun_phrases(tokens)}
    subject = _subject(tokens, phrases)
    verb = _verb(tokens, subject.last) if subject else None
    if subject is None or verb is None:
        return NONE_FOUND
    subject = _widened(tokens, subject, verb)
    if subject is None:
        return "a clause describes the subject"
    other = _object(tokens, phrases, verb.main + 1)
    if other is None:
        behind = " ".join(token.lower for token in tokens[verb.main + 1 : verb.main + 1 + REACH])
        return BOTH_WAYS if any(words in behind for words in TOGETHER) else NONE_FOUND
    why = _same(tokens, subject, other) or ("" if mode == "paper" else _refused(tokens, subject, other, verb))
    if why:
        return why
    agreement = _agreement(tokens[verb.agrees], subject, other)
    return Participants(subject, other, tokens[verb.main].lemma, verb.passive, agreement)


def _is_person(tokens: Sequence[Token], phrase: NounPhrase) -> bool:
    head = tokens[phrase.head]
    if head.part == "PROPN" or head.lower in PERSONS:
        return True
    # A name at the start of the caption: capitalized, and not in the lexicon.
    return phrase.head == 0 and head.text[:1].isupper() and "NOUN" not in lemmas(head.lower)


def _actor(tokens: Sequence[Token], phrase: NounPhrase) -> Actor:
    lead = 0
    while tokens[phrase.first + lead].part == "DET" or tokens[phrase.first + lead].lower in STAYING:
        lead += 1
    return Actor(phrase.first, phrase.last, phrase.head, is_plural_noun(tokens[phrase.head].text), lead)


def _joined(tokens: Sequence[Token], phrases: dict[int, NounPhrase], actor: Actor) -> Actor:
    """Extend with "and" and another person after it: "a man and a woman"."""
    following = phrases.get(actor.last + 1)
    if actor.last < len(tokens) and tokens[actor.last].lower == "and" and following and _is_person(tokens, following):
        return Actor(actor.first, following.last, actor.head, True, actor.determiner)
    return actor


def _subject(tokens: Sequence[Token], phrases: dict[int, NounPhrase]) -> Actor | None:
    for phrase in phrases.values():
        if _is_person(tokens, phrase):
            before = tokens[phrase.first - 1].part if phrase.first else "PUNCT"
            return _joined(tokens, phrases, _actor(tokens, phrase)) if before in ("PUNCT", "SCONJ", "ADV") else None
    return None


def _verb(tokens: Sequence[Token], start: int) -> _Verb | None:
    """Return the subject's finite verb ("a boy sitting in a car waves"), else its first gerund ("a boy waving")."""
    first_gerund = None
    for at in range(start, len(tokens)):
        token = tokens[at]
        if token.text in ".;:!?" or token.part == "SCONJ":
            break
        if token.part == "AUX" or (token.part == "VERB" and token.tag in FINITE):
            return _full_verb(tokens, at)
        if token.part == "VERB" and token.tag == "VBG" and token.lower not in DESCRIBES and first_gerund is None:
            first_gerund = at
    return None if first_gerund is None else _Verb(first_gerund, first_gerund, passive=False)


def _full_verb(tokens: Sequence[Token], at: int) -> _Verb | None:
    main = at
    while main < len(tokens) and tokens[main].part in ("AUX", "ADV", "PART"):
        main += 1
    if main == len(tokens) or tokens[main].part != "VERB":
        return None
    be = any(token.lower in ("is", "are", "was", "were", "being", "been", "be") for token in tokens[at:main])
    return _Verb(at, main, passive=be and tokens[main].tag == "VBN")


def _widened(tokens: Sequence[Token], subject: Actor, verb: _Verb) -> Actor | None:
    """Extend the subject with its description up to the verb; adverbs before the verb are not part of it."""
    last = verb.agrees
    while last > subject.last and tokens[last - 1].part == "ADV":
        last -= 1
    between = tokens[subject.last : last]
    if not between:
        return subject
    opens = between[0].lower in DESCRIBES or between[0].part == "ADP" or between[0].tag in ("VBG", "VBN")
    if not opens or any(
        token.part in ("PUNCT", "SCONJ") or token.lower in ("who", "that", "which") for token in between
    ):
        return None
    return Actor(subject.first, last, subject.head, subject.plural, subject.determiner)


def _object(tokens: Sequence[Token], phrases: dict[int, NounPhrase], start: int) -> Actor | None:
    """Return the next person after the verb in its clause, with the description."""
    at = start
    while at < len(tokens):
        phrase = phrases.get(at)
        if phrase and _is_person(tokens, phrase):
            return _described(tokens, phrases, _joined(tokens, phrases, _actor(tokens, phrase)))
        token = tokens[at]
        if token.part in ("VERB", "AUX", "CCONJ", "SCONJ", "PUNCT") and not (phrase and phrase.first == at):
            return None
        at = phrase.last if phrase else at + 1
    return None


def _described(tokens: Sequence[Token], phrases: dict[int, NounPhrase], actor: Actor) -> Actor:
    """Extend the object with "in a green shirt", "with glasses", "wearing a hat"; other places belong to the verb."""
    last = actor.last
    while last < len(tokens) and tokens[last].lower in DESCRIBES:
        word = tokens[last].lower
        step = 2 if word in ("dressed", "clad") and last + 1 < len(tokens) and tokens[last + 1].lower == "in" else 1
        phrase = phrases.get(last + step)
        if phrase is None or not _fits(tokens, word, phrase):
            break
        last = phrase.last
        while last + 1 < len(tokens) and tokens[last].lower == "and" and (more := phrases.get(last + 1)):
            if not _fits(tokens, word, more):
                break
            last = more.last
    return Actor(actor.first, last, actor.head, actor.plural, actor.determiner)


def _fits(tokens: Sequence[Token], word: str, phrase: NounPhrase) -> bool:
    if word in ("wearing", "dressed", "clad", "named", "called"):
        return True
    things = {token.lower for token in tokens[phrase.first : phrase.last]}
    return bool(things & (WORN | COLOURS)) if word == "in" else tokens[phrase.head].lower in FEATURES


def _same(tokens: Sequence[Token], subject: Actor, other: Actor) -> str:
    """Return whether both have the same description: "a man hits another man"."""

    def description(actor: Actor) -> list[str]:
        return [token.lower for token in tokens[actor.first + actor.determiner : actor.last]]

    if description(subject) == description(other):
        return "both participants have the same description"
    return ""


def _refused(tokens: Sequence[Token], subject: Actor, other: Actor, verb: _Verb) -> str:
    """Return why the swap would stay true or become unclear."""
    behind = " ".join(token.lower for token in tokens[verb.main + 1 :])
    if any(words in behind for words in TOGETHER):
        return BOTH_WAYS
    link = {token.lower for token in tokens[verb.main + 1 : other.first]}
    if not verb.passive and link & SHARING:
        return "both take part equally (with, beside …), so a swap stays true"
    lemma = tokens[verb.main].lemma
    one_sided = ONE_SIDED_BEHIND.get(lemma, frozenset()) & {token.lower for token in tokens[other.last :]}
    if lemma in SYMMETRIC and not one_sided:
        return f"'{lemma}' is symmetric, so a swap stays true"
    inside = [*tokens[subject.first : subject.last], *tokens[other.first : other.last]]
    if any(token.lower in POSSESSIVE for token in inside):
        return "a possessive (his, her …) names a participant, so a swap changes the person"
    return ""


def _agreement(verb: Token, subject: Actor, other: Actor) -> Edit | None:
    """Return the verb's edit if the new subject has another number than the old one."""
    if subject.plural == other.plural:
        return None
    word = verb.lower
    if verb.part == "AUX":
        changed = (SINGULAR_AUX if other.plural else PLURAL_AUX).get(word)
    elif verb.tag == "VBZ" and other.plural:
        changed = plain_verb(word)
    elif verb.tag == "VB" and not other.plural:
        changed = third_person(word)
    else:
        return None
    return Edit(verb.start, verb.end, match_case(verb.text, changed)) if changed else None
