"""Swaps that are surely false: one living participant does a one-way act to another of a different kind or look."""

from collections.abc import Sequence
from itertools import pairwise

from foilworks.core.text.language.appearance import BODY, CLOTHES
from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.living import COLLECTIVES, gender_of_name, kind_of
from foilworks.core.text.language.phrases import POSSESSIVE
from foilworks.core.text.language.structure import WHO
from foilworks.core.text.language.tokens import Token
from generation.grammar.actor import Actor
from generation.grammar.one_way import (
    DIRECTIONS,
    MOTION,
    PERCEIVE,
    SMALL,
    STILL,
    TALK,
    Swap,
    looks_one_way,
    speaks_one_way,
)
from generation.grammar.pronouns import gender_of_pronoun
from generation.grammar.surface import word_set

# One may return these in the same moment.
RETURNED = word_set(
    "bump crash collide reciprocate accompany",
    "pass pan zoom smile grin wave coo shake shiver face laugh meet greet join pose dance play sit stand lie lay be",
    "stay hunch gather live pet feel like enjoy check have love miss know recognize want need become remain",
)
SHARED_LINKS = word_set("with as toward towards near beside alongside next like among between against by opposite away")
FRONT = word_set("front lap back hands arm arms")
CARRIED = word_set("lap laps back shoulders shoulder")
ON_ANOTHER = word_set("sit seat ride carry hold lie lay stand climb be perch put")
FRONT_OF = ["front", "of"]
BEHIND = word_set("behind above below under")
UNLIKELY = word_set("hunch report protest hike use have wear")
DRESSED = word_set("wear hold carry sport don dress attire")
MOVES = word_set("be go come get head step turn approach lean move face") | MOTION
# Either of a person and an animal does these to the other.
BEASTS_TOO = word_set("chase follow attack push knock hit bite scare")
BEASTS = BEASTS_TOO | word_set("kick pull lick sniff scratch startle pursue grab fight")
SMALL_BEASTS = word_set(
    "bird rabbit bunny hare mouse rat hamster chick chicken duckling squirrel frog toad lizard gecko spider scorpion",
    "deer sheep lamb",
    "bee wasp pigeon dove raven crow robin sparrow duck goose parrot eagle hawk owl fish crab lobster turtle tortoise",
)
LARGE_BEASTS = word_set(
    "shark whale elephant giraffe hippo hippopotamus rhino rhinoceros lion lioness tiger bear crocodile alligator",
    "buffalo bull cow horse camel ox bison moose zebra dinosaur wildebeest",
)
# Lists of persons have them, too.
FEMALE_BEASTS = word_set("cow bull hen mare rooster stallion cock dragon")
# Words that make a toy or a picture of a living being.
LIFELIKE = word_set(
    "toy stuffed plush plastic cartoon animated fake wooden paper lego doll statue model robot mannequin puppet",
    "inflatable robotic figurine teddy rubber virtual dead",
)
# It is not clear what they are.
UNSURE = word_set(
    "creature beast being entity character figure model star celebrity avatar guru angel minion monster alien zombie",
    "ghost robot android skeleton snowman player team camp scout drunk champion member fan leader follower supporter",
    "artist catcher pitcher batter goalkeeper goalie quarterback conductor star driver cleaner vlogger blogger",
    "tourist couple",
    "speaker",
    "crowd audience family lot band homeless enemy protagonist twin pair folk seal bat crane bug mouse mule ram kid's",
)
# These do to others what the others never do to them.
BY_PROFESSION = (
    (
        word_set("teach instruct train guide lead lecture help assist show throw"),
        word_set("mother father mom dad parent chef teacher instructor coach trainer professor guide student pupil"),
    ),
    (word_set("treat examine inject vaccinate"), word_set("doctor surgeon nurse patient dentist vet")),
    (word_set("interview question interrogate"), word_set("interviewer suspect")),
    (word_set("film record capture photograph"), word_set("cameraman cameramen photographer reporter")),
    (word_set("tattoo massage"), word_set("tattooist masseuse customer client")),
)
PERSONS = word_set("person individual human someone somebody people")
# A noun -> the nouns that it includes.
INCLUDES = {
    "adult": word_set("man woman guy gentleman lady dude bloke gent lad"),
    "child": word_set("boy girl kid baby toddler infant newborn youngster"),
    "kid": word_set("boy girl child baby toddler youngster"),
    "teenager": word_set("boy girl teen youth"),
    "man": word_set("guy gentleman dude bloke gent lad"),
    "guy": word_set("man gentleman dude bloke gent lad"),
    "woman": word_set("lady gal"),
    "lady": word_set("woman gal"),
    "baby": word_set("toddler infant newborn child"),
}
EMPTY = word_set(
    "a an the another other second third one two three some young old little small tall this that few several"
)
PLURALS = {"men": "man", "women": "woman", "children": "child", "people": "person", "ladies": "lady", "babies": "baby"}
PRONOUNS = word_set("he she they him them we us you i")
# Of two clauses these may hold for both.
SHARED_BY_BOTH = (
    PERCEIVE
    | TALK
    | MOTION
    | word_set(
        "wrestle fight compete start begin continue finish complete wear be stay lie lay wait rest smile hold",
        "gather listen",
    )
)
STRONG = word_set(
    "lift pull carry toss throw swing flip hold hoist pick help assist drag hang teach instruct take put raise tow",
    "spin twirl bounce rock cradle",
)
YOUNG = word_set("child kid baby toddler infant newborn")
# What holds one of the two: nobody in a wheelchair pushes who walks.
AIDS = word_set("wheelchair wheelchairs highchair stretcher crutches crib cradle stroller pram buggy gurney leash")
AIDS_OF = frozenset({("high", "chair"), ("hospital", "bed"), ("wheel", "chair"), ("lying", "on")})
UNSURE_KIND = "it is not clear that both are persons, or animals that can do this"
UNSURE_ACT = "both may do it, or only one of them can"
LOOKING = word_set("look looks looking stare staring glance glances gaze glaring glares")
CLAUSES = frozenset({"while", "after", "before", "until", "when", "because", "since", "as"})
UNSURE_END = "it is not clear where a description ends"
INCLUDED = "one participant may be the other, so a swap may stay true"
REFERRED = "a pronoun takes up a participant"


def unsure(swap: Swap) -> str:
    """Return why a swap of the participants is not surely false and natural, or ""."""
    tokens, actors = swap.tokens, (swap.subject, swap.counterpart)
    if not all(_is_living(tokens, *pair) for pair in (actors, actors[::-1])):
        return UNSURE_KIND
    if _unclear_end(swap):
        return UNSURE_END
    words = [token.lower for token in tokens]
    aided = not AIDS.isdisjoint(words) or not AIDS_OF.isdisjoint(pairwise(words))
    if aided and tokens[swap.nearest].lemma in STRONG | {"push", "feed", "attend", "care", "help", "treat"}:
        return UNSURE_ACT
    if _of_third(swap):
        return REFERRED
    if any(_refers(tokens, index) for index in range(len(tokens))):
        return REFERRED
    if _may_include(tokens, *actors) or _may_include(tokens, *reversed(actors)):
        return INCLUDED
    return "" if (_apart(swap) if swap.second else _is_one_way(swap)) else UNSURE_ACT


def _of_third(swap: Swap) -> bool:
    """Return whether a pronoun may be a third person's: "next to a girl sticking out her tongue"."""
    actors, third = (swap.subject, swap.counterpart), False
    for index, token in enumerate(swap.tokens):
        if any(actor.first <= index < max(actor.last, actor.owns) for actor in actors):
            continue
        if third and gender_of_pronoun(token):
            return True
        third = third or bool(kind_of(token.lower))
    return False


def _noun(token: Token) -> str:
    return PLURALS.get(token.lower, token.lemma if kind_of(token.lemma) else token.lower)


def _is_living(tokens: Sequence[Token], actor: Actor, other: Actor) -> bool:
    """Return whether the head is a person or animal of the lists, and no toy, picture, place or organization."""
    head = tokens[actor.head]
    inside = tokens[actor.first : actor.last]
    if any(token.lower in LIFELIKE for token in inside) or inside[-1].tag == "VBG":
        return False
    if any(token.lower.endswith("ing") for token in tokens[actor.first : actor.head]):
        # "a kneeling boy" does not run.
        return False
    if head.lemma in COLLECTIVES and head.lemma != head.lower:
        return False
    if actor.owns and tokens[actor.owns - 1].lower not in BODY | CLOTHES:
        return False
    if head.lower in ("group", "bunch"):
        return len(inside) > 2 and bool(kind_of(tokens[min(actor.head + 2, len(tokens) - 1)].lower))
    if _noun(head) in UNSURE or (head.lower in COLLECTIVES and head.lower not in ("people", "police")):
        return False
    # An unknown name may be a place: "a vlogger in India"; two names in an act are persons.
    names = head.part == tokens[other.head].part == "PROPN" and not kind_of(tokens[other.head].lower)
    return bool(kind_of(head.lower) or gender_of_name(head.lower) or (names and len(inside) == 1))


# Words that open a clause about the noun before them.
OPENERS = frozenset({"that", "which", "who", "depicting", "showing", "featuring", "getting"})


def _unclear_end(swap: Swap) -> bool:
    """Return whether a description may go on behind a participant, or whether both have a clause."""
    tokens, subject, counterpart = swap.tokens, swap.subject, swap.counterpart
    after = tokens[counterpart.last] if counterpart.last < len(tokens) else None
    goes_on = after is not None and after.part in ("NOUN", "PROPN", "VERB", "AUX") and after.lemma not in STILL
    if goes_on and not counterpart.owns and not swap.second:
        return True
    if _has_clause(tokens, subject) and _has_clause(tokens, counterpart, besides=DRESSED):
        return True
    following = [token.lower for token in tokens[counterpart.last : counterpart.last + 7]]
    stays = after is not None and (after.lower in ("with", "seen") or after.lemma in STILL)
    if stays and not POSSESSIVE.isdisjoint(following):
        return True
    one_thing = any(token.lower in ("a", "an") for token in swap.between())
    if swap.second and subject.plural != counterpart.plural and one_thing:
        return True
    if any(token.lower in ("seen", "shown") for token in tokens[subject.last : counterpart.first]):
        return True
    if any(token.lower in WHO and token.part == "PRON" for token in tokens[subject.last : swap.main]):
        return True
    opening = tokens[counterpart.first]
    before = tokens[counterpart.first - 1].lower
    if tokens[swap.main - 1].lower == "while" or (
        before in CLAUSES and not swap.second and any(token.tag in ("VBD", "VBZ") for token in swap.behind())
    ):
        return True
    if not counterpart.owns and any(token.lower in ("'s", "’s") for token in swap.between()):
        return True
    if any(token.lower in OPENERS for token in swap.between()):
        return True
    if _has_clause(tokens, counterpart) and any(token.lower == "and" for token in swap.between()):
        # "takes a bite and salutes the man who bows"
        return True
    named = {token.lower for token in tokens[counterpart.first : counterpart.last]} - EMPTY
    if tokens[subject.head].lower in named and counterpart.plural != subject.plural:
        return True
    if counterpart.owns and subject.plural != counterpart.plural:
        return True
    if swap.second and tokens[counterpart.first - 1].part == "CCONJ":
        # "completes her piece and the host comes"
        return True
    bare = opening.part == "NOUN" and counterpart.first == counterpart.head and not counterpart.plural
    if bare and tokens[counterpart.first - 1].lower == "to" and tokens[subject.first].part == "DET":
        return True
    if tokens[counterpart.first - 1].lower == "to" and opening.part == "NOUN" and counterpart.first < counterpart.head:
        return True
    noun = tokens[counterpart.first - 2].lower
    return before == "of" and noun not in BODY | CLOTHES | {"care", "hold", "front", "body", "top"}


def _has_clause(tokens: Sequence[Token], actor: Actor, besides: frozenset[str] = frozenset()) -> bool:
    inside = tokens[actor.head + 1 : actor.last]
    return any(token.lower in WHO or (token.part in ("VERB", "AUX") and token.lemma not in besides) for token in inside)


def _refers(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a pronoun is somebody, or a possessive names a relative: "and he cries", "her baby"."""
    token = tokens[index]
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if index and tokens[index - 1].lower in ("of", "behind", "ahead") and token.lower in ("him", "her", "them"):
        return False
    if token.lower in PRONOUNS:
        return True
    if token.lower not in POSSESSIVE and token.lower != "her":
        return False
    return following is None or following.part not in ("NOUN", "ADJ", "PROPN", "NUM") or bool(kind_of(following.lower))


def _described(tokens: Sequence[Token], actor: Actor) -> set[str]:
    words = {
        token.lower for index, token in enumerate(tokens[actor.first : actor.last]) if index != actor.head - actor.first
    }
    return words - EMPTY


def _may_include(tokens: Sequence[Token], general: Actor, other: Actor) -> bool:
    """Return whether everybody like `other` may be called as `general` is: "a man", "a young man"."""
    first, second = _noun(tokens[general.head]), _noun(tokens[other.head])
    if general.plural != other.plural:
        return False
    person = first in PERSONS and bool(kind_of(second)) and not other.animal
    if not (first == second or person or second in INCLUDES.get(first, frozenset())):
        return False
    words, other_words = _described(tokens, general), _described(tokens, other)
    return words <= other_words or other_words <= words


def _is_one_way(swap: Swap) -> bool:
    tokens, counterpart = swap.tokens, swap.counterpart
    lemma = tokens[swap.nearest].lemma
    lemma = "be" if lemma in ("is", "are", "was", "were") else lemma
    between = {token.lower for token in tokens[swap.main + 1 : counterpart.first]}
    if _is_beast(tokens, swap.subject) or _is_beast(tokens, counterpart):
        alike = _is_beast(tokens, swap.subject) == _is_beast(tokens, counterpart)
        return _beasts_do(swap, lemma) and (alike or (BODY.isdisjoint(between) and not counterpart.owns))
    if lemma in STRONG and _is_young(tokens, swap.subject) != _is_young(tokens, counterpart):
        return False
    if swap.passive:
        return lemma not in PERCEIVE | TALK and _fits_profession(swap, lemma)
    links = [token.lower for token in tokens[swap.nearest + 1 : counterpart.first]]
    if "VERB" not in lemmas(tokens[swap.nearest].lower) or links[-1:] in (["with"], ["as"]) or links[-2:] == FRONT_OF:
        return False
    if lemma in PERCEIVE - {"notice"}:
        return "away" not in between and looks_one_way(swap)
    if not LOOKING.isdisjoint(between) and DIRECTIONS.isdisjoint(between):
        return False
    if lemma in TALK:
        return speaks_one_way(swap) or "about" in between
    carried = lemma in ON_ANOTHER and not CARRIED.isdisjoint(token.lower for token in tokens[swap.main :])
    if carried or lemma in UNLIKELY or tokens[swap.main].lemma in UNLIKELY:
        return False
    if not BEHIND.isdisjoint(links):
        return lemma == "hide" or (len(links) == 1 and lemma in MOVES | RETURNED)
    return lemma not in RETURNED and _links_one_way(lemma, frozenset(links)) and _fits_profession(swap, lemma)


def _links_one_way(lemma: str, words: frozenset[str]) -> bool:
    """Return whether the words before a participant leave no room for both: "fires at", "runs away from"."""
    links = words & SHARED_LINKS
    thrown = links <= {"toward", "towards", "away", "by"} and lemma not in MOVES
    flees = lemma in ("run", "flee", "escape") and links == {"away"}
    around = not FRONT.isdisjoint(words) and lemma in MOVES | {"have", "hold", "take", "put"}
    return not around and (not links or thrown or flees)


def _fits_profession(swap: Swap, lemma: str) -> bool:
    nouns = {_noun(swap.tokens[actor.head]) for actor in (swap.subject, swap.counterpart)}
    return not any(lemma in acts and not nouns.isdisjoint(roles) for acts, roles in BY_PROFESSION)


def _is_beast(tokens: Sequence[Token], actor: Actor) -> bool:
    return actor.animal or kind_of(tokens[actor.head].lower) == "a" or _noun(tokens[actor.head]) in FEMALE_BEASTS


def _is_young(tokens: Sequence[Token], actor: Actor) -> bool:
    small = any(token.lower in SMALL for token in tokens[actor.first : actor.head])
    return small or _noun(tokens[actor.head]) in YOUNG


def _beasts_do(swap: Swap, lemma: str) -> bool:
    """Return whether either of the two could do it: a person and an animal, or two animals of a size."""
    tokens, actors = swap.tokens, (swap.subject, swap.counterpart)
    nouns = [_noun(tokens[actor.head]) for actor in actors]
    if nouns[0] == nouns[1]:
        return lemma in BEASTS
    if any(len(beasts.intersection(nouns)) == 1 for beasts in (SMALL_BEASTS, LARGE_BEASTS)):
        return False
    return lemma in (BEASTS if all(_is_beast(tokens, actor) for actor in actors) else BEASTS_TOO)


def _apart(swap: Swap) -> bool:
    """Return whether the two do different things, and the first one's is not shared: "cooks while a man watches"."""
    tokens, counterpart = swap.tokens, swap.counterpart
    if _is_beast(tokens, swap.subject) or _is_beast(tokens, counterpart):
        return False
    first = tokens[swap.main].lemma
    later = next((token.lemma for token in tokens[counterpart.last :] if token.part in ("VERB", "AUX")), "")
    return first not in SHARED_BY_BOTH and later not in (first, "is", "are")
