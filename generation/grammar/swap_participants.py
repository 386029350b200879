"""Why two participants cannot be swapped: a crowd, a list of names, somebody mentioned again, a dog that reads."""

from collections.abc import Sequence

from foilworks.core.text.language.appearance import CLOTHES
from foilworks.core.text.language.inflection import singular
from foilworks.core.text.language.living import COLLECTIVES, kind_of
from foilworks.core.text.language.structure import WHO
from foilworks.core.text.language.tokens import Token
from generation.grammar.actor import Actor
from generation.grammar.one_way import CHILDREN, INFANTS, PERCEIVE, Swap
from generation.grammar.pronouns import gender_of_pronoun
from generation.grammar.surface import word_set

# Many together: they stand around, and nobody stands in a crowd's place.
CROWDS = word_set(
    "crowd audience spectator fan team band class public mob army staff personnel crew gang everyone everybody",
    "passerby bystander onlooker viewer",
)
# Words that do not say which of two persons it is.
VAGUE = word_set(
    "a an the one another other second third first person people someone somebody individual human figure adult two",
    "three some several many few more different his her their others",
)
ANOTHER = word_set("another other second third first different others else")
# A person does these to an animal, and an animal to a person.
EITHER_DOES = word_set(
    "chase follow watch approach pass avoid guard protect look stare run stand sit lie move jump go come ignore",
    "notice see turn swim bump bite scare attack hit",
)
# Only one of two can.
ONE_CAN = word_set("birth pregnant breast breastfeed diaper leash saddle cart carriage sleigh rein")
TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof", "st", "jr"})
BE_FORMS = frozenset({"is", "are", "was", "were", "has", "have", "does", "do"})
# A capital word behind these may name a thing: "performs Tai Chi".
TO_THINGS = word_set(
    "watch play perform eat drink use read do ride drive wear make open have get cook practice sing study"
)
# What a baby can do to others.
BABIES_DO = word_set("kiss look watch touch tap kick hit reach crawl walk follow push pull stare point see smile wave")
# "scenes of a woman", "explains how a patient": no second participant.
SHOWN_IN = word_set(
    "scene shot clip video footage view image photo picture series statue sculpture flock herd lot poster line row pack"
)
ASKED_OF = word_set("how why what which whose")
# Also names of things, or of no participant.
ALSO_THINGS = word_set(
    "pitcher model figure star seal mouse bug crane bat dummy doll avatar conductor cleaner trainer trainers camper",
    "panel",
)
# One of these does what the other cannot.
ROLES = word_set(
    "barber hairdresser stylist patient dentist photographer judge judges referee tattooist masseuse surgeon"
)
GROUPS = word_set("group pair bunch class panel squad")
# "leads into a girl on a boat": another clip.
RELATIVES = word_set("wife husband girlfriend boyfriend")
LARGE = frozenset({"large", "big", "huge"})
RINGS = word_set("surround encircle circle ring")
# A child has no adult on these.
CARRYING = word_set("lap back shoulder shoulders arms knee chest")
CUTS = word_set("lead cut transition switch zoom pan fade")
TAKEN_UP = word_set("other others another each both together first second rest more one ones we")
SIDES = word_set("end side hand arm foot leg room way direction half part time")
MAX_TOKENS = 42
CROWD = "a crowd or audience cannot change places with a participant"
UNCLEAR_END = "it is not clear what belongs to the participant"
VAGUE_PAIR = "the caption does not tell the participants apart, so a swap may stay true"
LISTED = "a participant belongs to a list"
AGAIN = "a participant is mentioned again"
UNKNOWN_GENDER = "the gender of a name is unknown, so a pronoun may not fit"
BEASTLY = "what a person does does not suit an animal, or the other way round"
SEVERAL_VERBS = "several verbs would have to agree with the swapped participants"
WORN = "what the caption says about clothes would contradict the swap"


def unfit_participants(swap: Swap) -> str:
    """Return why the participants cannot change places, or ""."""
    actors = (swap.subject, swap.counterpart)
    if len(swap.tokens) > MAX_TOKENS or _is_embedded(swap):
        return UNCLEAR_END
    if any(_is_crowd(swap.tokens, actor) for actor in actors):
        return CROWD
    if _are_vague(swap.tokens, *actors, second=swap.second):
        return VAGUE_PAIR
    if any(_is_listed(swap.tokens, actor) for actor in actors):
        return LISTED
    return (
        _mentioned_again(swap.tokens, *actors)
        or _unknown_gender(swap.tokens, *actors)
        or _beastly(swap)
        or _babyish(swap)
        or _disagreeing(swap)
        or _dressed(swap)
    )


def _is_embedded(swap: Swap) -> bool:
    """Return whether the second participant is part of something else: "scenes of a woman", "with kids playing"."""
    tokens, first = swap.tokens, swap.counterpart.first
    before, earlier = tokens[first - 1].lower, tokens[first - 2] if first > 1 else None
    after = tokens[swap.counterpart.last] if swap.counterpart.last < len(tokens) else None
    if before == "of" and earlier is not None and earlier.lemma in SHOWN_IN and tokens[swap.nearest].lemma != "take":
        return True
    if after is not None and after.lower in ("'s", "’s") and not swap.counterpart.owns:
        return True
    if any(
        token.lower in ("into", "to") and (tokens[index].lemma in CUTS or tokens[index].lower in ("leads", "cuts"))
        for index, token in enumerate(tokens[1:])
    ):
        return True
    if (
        tokens[swap.main].tag == "VBG"
        and not any(token.part == "AUX" for token in tokens)
        and any(token.text == "," for token in tokens[swap.subject.head : first])
    ):
        return True
    inside = tokens[swap.counterpart.head + 1 : swap.counterpart.last]
    named = tokens[swap.counterpart.head].part == "PROPN"
    if (named and inside and inside[0].tag == "VBG") or (swap.second and any(map(gender_of_pronoun, inside))):
        return True
    audience = before == "of" and earlier is not None and earlier.lower == "front" and swap.counterpart.plural
    if audience and tokens[swap.counterpart.head].lower in (*GROUPS, "people", "judges", "students"):
        return True
    if any(token.lower in RELATIVES for token in tokens) and swap.subject.plural != swap.counterpart.plural:
        return True
    if any(_is_miscounted(tokens, actor) for actor in (swap.subject, swap.counterpart)):
        return True
    if any(
        tokens[actor.first].lower in ("front", "back", "pictures", "one") for actor in (swap.subject, swap.counterpart)
    ):
        return True
    return _is_part_of_an_act(swap) or _is_strange_with(swap)


def _is_part_of_an_act(swap: Swap) -> bool:
    """Return whether the second participant belongs to an act of the first one, or is compared with it."""
    tokens, first = swap.tokens, swap.counterpart.first
    before = tokens[first - 1].lower
    after = tokens[swap.counterpart.last] if swap.counterpart.last < len(tokens) else None
    between = tokens[swap.main + 1 : first]
    if before == "by" and not swap.passive and any(token.tag == "VBN" or token.lower == "being" for token in between):
        return True
    small_clause = any(token.tag == "VB" for token in tokens[swap.counterpart.last + 1 :])
    if swap.lemma in PERCEIVE and small_clause and after is not None and after.part == "ADP":
        return True
    return (
        before in ASKED_OF
        or before == "more"
        or tokens[first].lower == "more"
        or tokens[swap.subject.head - 1].lower == "more"
    )


def _is_strange_with(swap: Swap) -> bool:
    """Return whether the words around the participants fit only one of them."""
    tokens, first = swap.tokens, swap.counterpart.first
    before = tokens[first - 1].lower
    after = tokens[swap.counterpart.last] if swap.counterpart.last < len(tokens) else None
    with_act = before == "with" and any(
        token.tag == "VBG"
        for token in (*tokens[swap.counterpart.head + 1 : swap.counterpart.last], *([after] if after else []))
    )
    in_person = before == "in" and tokens[first].lower == "person"
    unnamed = tokens[swap.counterpart.head].part == "PROPN" and swap.counterpart.gender == "n"
    strange = unnamed and tokens[swap.subject.head].part != "PROPN" and tokens[swap.nearest].lemma in TO_THINGS
    infinitive = tokens[swap.main - 1].lower == "to"
    # "the celebrity he protects", "Marcus' place", "the man with a hat on"
    goes_on = after is not None and (
        after.lower in ("he", "she", "they", "'", "’") or (after.lower in ("on", "off") and _ends(tokens, after))
    )
    actors = (swap.subject, swap.counterpart)
    heads = [tokens[actor.head].lower for actor in actors]
    things = (not ALSO_THINGS.isdisjoint(heads) and not all(actor.animal for actor in actors)) or (
        len(ROLES & _plain(heads)) == 1
    )
    return with_act or in_person or strange or infinitive or goes_on or things


def _is_miscounted(tokens: Sequence[Token], actor: Actor) -> bool:
    """Return whether a number does not fit the noun: "two man made hills"."""
    first = tokens[actor.first]
    return (
        first.part == "NUM"
        and first.lower not in ("one", "1")
        and singular(tokens[actor.head].lower) is None
        and (tokens[actor.head].lower not in ("people", "police", "men", "women", "children", "sheep", "fish", "deer"))
    )


def _ends(tokens: Sequence[Token], token: Token) -> bool:
    return token is tokens[-1] or (token is tokens[-2] and tokens[-1].part == "PUNCT")


def _is_crowd(tokens: Sequence[Token], actor: Actor) -> bool:
    words = [token.lower for token in tokens[actor.first : actor.last]]
    alone = words[-1] in GROUPS or words[0] in ("people", "all", "both")
    if not LARGE.isdisjoint(words) and not GROUPS.isdisjoint(words):
        return True
    return alone or not CROWDS.isdisjoint(_plain(words))


def _plain(words: Sequence[str]) -> set[str]:
    return {*words, *(singular(word) or word for word in words)}


def _are_vague(tokens: Sequence[Token], subject: Actor, counterpart: Actor, *, second: bool) -> bool:
    """Return whether "a second person" may be the "man" of the caption, or one of both is just anybody."""
    words = [{token.lower for token in tokens[actor.first : actor.last]} for actor in (subject, counterpart)]
    vague = [each <= VAGUE for each in words]
    if all(vague):
        return True
    other = [not ANOTHER.isdisjoint(each) for each in words]
    unlike = {subject.gender, counterpart.gender} in ({"m", "f"}, {"a", "m"}, {"a", "f"}, {"a", "n"})
    heads = [tokens[actor.head].lower for actor in (subject, counterpart)]
    named_before = VAGUE.issuperset(heads) and any(each <= VAGUE and "the" in each for each in words)
    both_vague = VAGUE.issuperset(heads)
    return any(vague) and (any(other) or (second and both_vague) or named_before) and not unlike


def _is_listed(tokens: Sequence[Token], actor: Actor) -> bool:
    """Return whether the participant is one of "Ann, Eve and Tom", or has a title with a dot."""
    inside = tokens[actor.first : actor.last]
    names = any(token.part == "PROPN" for token in inside)
    before, after = (tokens[index] if 0 <= index < len(tokens) else None for index in (actor.first - 1, actor.last))
    if any(token.lower in TITLES for token in inside) or (
        before is not None and before.lower in ("both", "either", "or")
    ):
        return True
    two_names = [token.part for token in inside] == ["PROPN", "CCONJ", "PROPN"]
    joined = not two_names and any(token.lower in ("and", "or", "&", ",") for token in inside)
    next_name = actor.last + 1 < len(tokens) and tokens[actor.last + 1].part == "PROPN"
    follows = before is not None and before.lower in ("and", "&", ",") and actor.first > 1
    follows_name = follows and tokens[actor.first - 2].part == "PROPN"
    leads_name = after is not None and after.lower in ("and", "&", ",", "or") and next_name
    return names and (joined or follows_name or leads_name)


def _mentioned_again(tokens: Sequence[Token], subject: Actor, counterpart: Actor) -> str:
    """Return whether a participant's noun is outside its phrase, or another sentence has a pronoun."""
    heads = {tokens[actor.head].lemma for actor in (subject, counterpart)} | {
        tokens[actor.head].lower for actor in (subject, counterpart)
    }
    for actor in (subject, counterpart):
        inside = tokens[actor.first : actor.last]
        if any(token.lower == "and" for token in inside):
            heads |= {token.lower for token in inside if kind_of(token.lower)}
    definite = tokens[counterpart.first].lower == "the" and counterpart.last - counterpart.first == 2
    if (
        definite
        and tokens[subject.head].lemma == tokens[counterpart.head].lemma
        and tokens[subject.first].lower != "the"
    ):
        # "a man …, the man …" is one man.
        return AGAIN
    ended = False
    for index, token in enumerate(tokens):
        if any(actor.first <= index < actor.last for actor in (subject, counterpart)):
            continue
        if token.lower in heads or token.lemma in heads:
            return AGAIN
        if (ended and gender_of_pronoun(token)) or (token.lower in TAKEN_UP and _takes_up(tokens, index)):
            return AGAIN
        ended = ended or token.text in ".;!?"
    return ""


def _takes_up(tokens: Sequence[Token], index: int) -> bool:
    """Return whether "the other" is somebody, not "the other end"."""
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    return after is None or after.lower not in SIDES


def _unknown_gender(tokens: Sequence[Token], subject: Actor, counterpart: Actor) -> str:
    unknown = any(
        tokens[actor.head].part == "PROPN" and actor.gender == "n" and not actor.plural
        for actor in (subject, counterpart)
    )
    gendered = any(gender_of_pronoun(token) in ("m", "f") for token in tokens)
    several = any(gender_of_pronoun(token) == "p" for token in tokens)
    group = any(tokens[actor.head].lower in COLLECTIVES - {"people"} for actor in (subject, counterpart))
    return UNKNOWN_GENDER if ((unknown or group) and gendered) or (group and several) else ""


def _beastly(swap: Swap) -> str:
    """Return whether an animal would do what persons do, or a person what animals do."""
    if any(token.lower in ONE_CAN or token.lemma in ONE_CAN for token in swap.tokens):
        return BEASTLY
    if swap.subject.animal == swap.counterpart.animal:
        return ""
    if swap.second or swap.counterpart.owns or swap.subject.owns or any(token.lemma == "hand" for token in swap.tokens):
        return BEASTLY
    acts = [token for token in swap.tokens if token.part == "VERB"]
    return "" if all(token.lemma in EITHER_DOES for token in acts) else BEASTLY


def _babyish(swap: Swap) -> str:
    """Return whether a baby would do what only older persons do."""
    actors = (swap.subject, swap.counterpart) if swap.second else (swap.agent,)
    for actor in actors:
        if swap.tokens[actor.head].lower in INFANTS:
            lemma = swap.tokens[swap.nearest if actor is swap.agent else swap.main].lemma
            if lemma not in BABIES_DO:
                return f"a baby does not '{lemma}'"
    owned = {token.lower for token in swap.tokens[swap.counterpart.last : swap.counterpart.owns]}
    young = CHILDREN if not owned.isdisjoint(CARRYING) else INFANTS
    babies = any(swap.tokens[actor.head].lower in young for actor in (swap.subject, swap.counterpart))
    return BEASTLY if babies and swap.counterpart.owns else ""


def _disagreeing(swap: Swap) -> str:
    """Return whether more verbs agree with a participant than those of the two clauses."""
    if swap.subject.plural == swap.counterpart.plural:
        return ""
    if any(token.lemma in RINGS for token in swap.tokens):
        return SEVERAL_VERBS
    outside = [
        token
        for index, token in enumerate(swap.tokens)
        if not any(actor.first <= index < actor.last for actor in (swap.subject, swap.counterpart))
    ]
    if not swap.second and any(token.lower in ("and", "or", "then") for token in outside):
        return SEVERAL_VERBS
    finite = [token for token in outside if token.tag == "VBZ" or token.lower in BE_FORMS]
    return SEVERAL_VERBS if len(finite) > 1 + swap.second else ""


def _dressed(swap: Swap) -> str:
    """Return whether somebody with clothes of their own would wear the other's."""
    if swap.tokens[swap.main].lemma not in ("wear", "dress"):
        return ""
    inside = swap.tokens[swap.counterpart.first : swap.counterpart.last]
    described = any(
        token.lower in CLOTHES or token.lower in ("in", "wearing") or token.lower in WHO for token in inside
    )
    return WORN if described else ""
