"""Find the participants of a caption's action by its structure, and what a swap of them changes.

The subject of the main clause, and the first other person or animal behind its verb: object, behind a preposition
("looks at the man"), possessor ("touches the man's arm"), of a second verb ("and sees a man"), or subject of a second
clause ("while a man sleeps").
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.appearance import BODY, CLOTHES
from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.living import COLLECTIVES, gender_of_name, kind_of
from foilworks.core.text.language.phrases import POSSESSIVE, NounPhrase, is_plural_noun
from foilworks.core.text.language.structure import SOMEONE, WHO, Clause, Sentence, WholePhrase
from foilworks.core.text.language.tokens import Token
from generation.grammar.actor import Actor
from generation.grammar.agreement import PLURAL_AUX, pronoun_edits, verb_edits
from generation.grammar.one_way import Swap, without_contradicted_state
from generation.grammar.pronouns import OBJECT, fits, gender_of_pronoun, role_of
from generation.grammar.surface import word_set
from generation.grammar.swap_refusals import BOTH_WAYS, OWNED, UNCLEAR, UNCLEAR_SENTENCE, refused, together

# Words for persons and animals that are things here: "a car model", "hot dogs".
THINGS = frozenset(
    {
        ("ski", "runner"),
        ("screw", "driver"),
        ("vacuum", "cleaner"),
        ("record", "player"),
        ("cd", "player"),
        ("dvd", "player"),
        ("music", "player"),
        ("car", "model"),
        ("hot", "dog"),
        ("hot", "dogs"),
        ("stuffed", "animal"),
        ("teddy", "bear"),
        ("teddy", "bears"),
    }
)
# Capitalized words that name no person.
NAMED_THINGS = word_set(
    "television tv dvd cd frisbee xbox playstation nintendo internet facebook youtube google iphone ipad laptop",
    "macbook christmas halloween easter thanksgiving monday tuesday wednesday thursday friday saturday sunday",
    "english spanish french chinese italian jeep ford bmw honda yamaha coke pepsi starbucks harley jetta america usa",
    "europe go pro gopro bible times square street avenue park university college hospital school bridge river lake",
    "beach club",
)
# These stay in place: "A man pushes another man in red".
STAYING = frozenset({"another", "other"})
# "each other" is near its verb; keeps the time linear for captions of 10^6 characters.
REACH = 12
NONE_FOUND = "it names no two participants of one verb"


@dataclass(frozen=True)
class Participants:
    """Two participants, the verb's lemma, and the edits of verbs and pronouns that a swap needs."""

    subject: Actor
    object: Actor
    verb: str
    passive: bool
    edits: tuple[Edit, ...]


def find_participants(tokens: Sequence[Token], mode: str) -> Participants | str:
    """Find the subject of the main clause and another participant, or the reason why they cannot be swapped."""
    sentence = Sentence(tokens)
    clause = sentence.main_clause()
    subject = _subject(sentence, clause) if clause else None
    if clause is None or subject is None:
        return NONE_FOUND
    object_and_clause = _object(sentence, clause, subject, mode)
    if isinstance(object_and_clause, str):
        return object_and_clause
    counterpart, second = object_and_clause
    swap = _swap(tokens, clause, subject, counterpart, second)
    if mode != "paper":
        shortened_counterpart = without_contradicted_state(swap)
        if shortened_counterpart is not counterpart:
            swap, counterpart = replace(swap, counterpart=shortened_counterpart), shortened_counterpart
    why = _same(tokens, subject, counterpart) or ("" if mode == "paper" else refused(swap))
    if why:
        return why
    edits = (*verb_edits(tokens, clause, subject, counterpart, second),)
    pronouns = pronoun_edits(tokens, subject, counterpart)
    if pronouns is None:
        return UNCLEAR
    verb = clause.verb
    return Participants(subject, counterpart, tokens[verb.main].lemma, verb.passive, (*edits, *pronouns))


def _swap(tokens: Sequence[Token], clause: Clause, subject: Actor, counterpart: Actor, second: Clause | None) -> Swap:
    main = clause.verb.main
    between = range(counterpart.first - 1, main, -1)
    nearest = next((index for index in between if tokens[index].part in ("VERB", "AUX")), main)
    return Swap(tokens, main, nearest, clause.verb.passive, second is not None, subject, counterpart)


def _kind(tokens: Sequence[Token], phrase: NounPhrase) -> str:
    """Return the gender of a phrase that can act, "" for a thing."""
    head = tokens[phrase.head]
    if head.lower in SOMEONE:
        return "n"
    if head.part == "PROPN":
        return _kind_of_name(head) if tokens[phrase.first].part == "PROPN" else kind_of(head.lower)
    if head.lower in COLLECTIVES and phrase.last < len(tokens) and tokens[phrase.last].lower == "of":
        # "a pair of running shoes"
        return ""
    if phrase.head > phrase.first and (tokens[phrase.head - 1].lower, head.lower) in THINGS:
        return ""
    inner = tokens[phrase.last - 1].lower
    if phrase.last - 1 > phrase.head:
        # "a group of men", "a sheet of paper"
        return kind_of(inner) if head.lower in COLLECTIVES or kind_of(head.lower) else ""
    kind = kind_of(head.lower)
    # A name at the start of the caption: capitalized, and not in the lexicon.
    is_name_at_start = phrase.head == 0 and head.text[:1].isupper() and "NOUN" not in lemmas(head.lower)
    return kind or (_kind_of_name(head) if is_name_at_start else "")


def _kind_of_name(head: Token) -> str:
    """Return the gender of a name, "n" if unknown, "" for the name of a thing: "TV", "Frisbee"."""
    if head.lower in NAMED_THINGS or (head.text[:2].isupper() and len(head.text) > 1):
        return ""
    return gender_of_name(head.lower) or "n"


def _actor(tokens: Sequence[Token], phrase: WholePhrase, kind: str) -> Actor:
    lead = 0
    while phrase.first + lead < phrase.head and (
        tokens[phrase.first + lead].part == "DET" or tokens[phrase.first + lead].lower in STAYING
    ):
        lead += 1
    head = tokens[phrase.head]
    several = phrase.joined or (head.part != "PROPN" and is_plural_noun(head.text)) or head.lower in PLURAL_HEADS
    return Actor(
        phrase.first,
        phrase.last,
        phrase.head,
        several,
        lead,
        "p" if several else kind,
        animal=kind == "a",
    )


# "in front of her", "close to her", "on the right of her".
BEFORE_PRONOUN = frozenset({"front", "close", "next", "near", "right", "left", "side"})
PLURAL_HEADS = frozenset({"people", "police", "personnel", "cattle", "men", "women", "children"})


def _subject(sentence: Sentence, clause: Clause) -> Actor | None:
    full_phrase, tokens = clause.subject, sentence.tokens
    phrase = sentence.phrases[full_phrase.first]
    if owner := _owner(sentence, full_phrase):
        return owner
    kind = _kind(tokens, phrase)
    if not kind:
        return None
    actor = _actor(tokens, full_phrase, kind)
    group = tokens[actor.head].lower in COLLECTIVES or is_list(tokens, actor)
    if group and (tokens[clause.verb.agrees].tag == "VB" or tokens[clause.verb.agrees].lower in PLURAL_AUX):
        # "a group of men grasp", "a man, a woman and a boy push"
        return replace(actor, plural=True, gender="p")
    return actor


def is_list(tokens: Sequence[Token], actor: Actor) -> bool:
    """Return whether commas separate several participants: "a man, a woman and a boy", not "a man, dressed in red"."""
    inside = range(actor.head + 1, actor.last - 1)
    commas = [index for index in inside if tokens[index].text == ","]
    joined = any(tokens[index].lower in ("and", "or") for index in inside)
    return (
        joined and bool(commas) and all(tokens[index + 1].part in ("DET", "NUM", "NOUN", "CCONJ") for index in commas)
    )


def _owner(sentence: Sentence, full_phrase: WholePhrase) -> Actor | None:
    """Return "the man in red" of "the man in red's gun (fires)"."""
    tokens, phrase = sentence.tokens, sentence.phrases[full_phrase.first]
    index = next(
        (index for index in range(full_phrase.first + 1, full_phrase.last - 1) if tokens[index].lower in ("'s", "’s")),
        0,
    )
    owns = tokens[index + 1 : full_phrase.last]
    if (
        not index
        or tokens[index].part != "PART"
        or kind_of(owns[-1].lower)
        or any(token.part not in ("NOUN", "ADJ") for token in owns)
    ):
        return None
    inside = any(token.part == "VERB" or token.lower in WHO for token in tokens[full_phrase.first : index])
    owner = NounPhrase(phrase.first, index, index - 1) if index < phrase.last else phrase
    kind = "" if inside else _kind(tokens, owner)
    if not kind:
        return None
    return replace(
        _actor(tokens, WholePhrase(full_phrase.first, owner.last, index, owner.head), kind), owns=full_phrase.last
    )


def _object(sentence: Sentence, clause: Clause, subject: Actor, mode: str) -> tuple[Actor, Clause | None] | str:
    """Return the other participant, with its clause if it is the subject of one; or why there is none."""
    tokens, owned = sentence.tokens, False
    for phrase in _behind(sentence, clause.verb.main + 1):
        possessor = _possessor(tokens, phrase)
        kind = _kind(tokens, possessor)
        if not kind or not _is_whole(tokens, possessor, subject):
            continue
        if mode != "paper" and tokens[possessor.first].lower in POSSESSIVE:
            owned = True
            continue
        if possessor is not phrase:
            if tokens[phrase.head].lower not in BODY | CLOTHES:
                continue
            if phrase.last < len(tokens) and tokens[phrase.last].lower in WHO:
                return UNCLEAR_SENTENCE
            core = WholePhrase(possessor.first, possessor.last, possessor.last, possessor.head)
            return replace(_actor(tokens, core, kind), owns=phrase.last), None
        second = _second_clause(sentence, clause, phrase)
        if second is None and _is_added(tokens, phrase.first):
            continue
        if second is not None:
            return _actor(tokens, second.subject, kind), second
        if _runs_on(sentence, phrase):
            return UNCLEAR_SENTENCE
        full_phrase = _with_other_persons(
            sentence, sentence.whole(sentence.joined(phrase), tokens[clause.verb.main]), clause
        )
        return _owning(sentence, _cut(tokens, _actor(tokens, full_phrase, kind), subject)), None
    if owned:
        return OWNED
    behind = tokens[clause.verb.main + 1 : clause.verb.main + 1 + REACH]
    return BOTH_WAYS if together(behind) else NONE_FOUND


def _is_whole(tokens: Sequence[Token], phrase: NounPhrase, subject: Actor) -> bool:
    """Return whether the phrase is a participant; not "(as) a clown", "abandoned (children)", "(eats) chicken"."""
    before = tokens[phrase.first - 1]
    head, opening = tokens[phrase.head], tokens[phrase.first]
    if before.lower == "as" and before.part != "SCONJ":
        return False
    bare = opening.part in ("NOUN", "ADJ") and head.part != "PROPN" and head.lower not in SOMEONE
    if bare and before.part == "VERB" and before.tag == "VBN":
        return False
    several = is_plural_noun(head.text) or head.lower in PLURAL_HEADS
    led = subject.determiner > 0 or subject.plural or tokens[subject.first].part in ("DET", "NUM", "PRON")
    return several or not (bare and led)


def _behind(sentence: Sentence, index: int) -> Iterator[NounPhrase]:
    """Yield the noun phrases behind a verb that are not in a relative clause, to the end of the sentence."""
    tokens = sentence.tokens
    while index < len(tokens):
        phrase = sentence.phrases.get(index)
        if phrase is not None:
            yield phrase
            # "the lid of the man": also what follows "of".
            index = phrase.head + 1 if phrase.last > phrase.head + 1 else phrase.last
            continue
        if tokens[index].text in ".;:!?" or (
            tokens[index].part == "PRON" and tokens[index].lower in ("who", "which", "that")
        ):
            return
        index += 1


def _is_added(tokens: Sequence[Token], first: int) -> bool:
    """Return whether "as", "and" or "and then" stands before the phrase, and not a verb or preposition."""
    while first > 1 and tokens[first - 1].part == "ADV":
        first -= 1
    return tokens[first - 1].part == "CCONJ" or tokens[first - 1].lower == "as"


def _possessor(tokens: Sequence[Token], phrase: NounPhrase) -> NounPhrase:
    """Return "the man" of "the man's arm", else the phrase."""
    for index in range(phrase.first + 1, phrase.last):
        if tokens[index].lower in ("'s", "’s") and tokens[index].part == "PART":
            return NounPhrase(phrase.first, index, index - 1)
    return phrase


def _second_clause(sentence: Sentence, clause: Clause, phrase: NounPhrase) -> Clause | None:
    """Return the clause whose subject the phrase is: "(while) a man sleeps"."""
    before = sentence.tokens[phrase.first - 1]
    if before.part not in ("SCONJ", "CCONJ") or before.lower in ("than", "like"):
        return None
    second = sentence.main_clause(phrase.first)
    if second is None or second.subject.first != phrase.first:
        return None
    finite = sentence.tokens[second.verb.agrees].part == "AUX" or second.verb.tag in ("VB", "VBZ", "VBD")
    return second if finite else None


def _with_other_persons(sentence: Sentence, full_phrase: WholePhrase, clause: Clause) -> WholePhrase:
    """Extend by another person: "a man in red and a woman in black"."""
    tokens = sentence.tokens
    following = sentence.phrases.get(full_phrase.last + 1)
    if (
        full_phrase.last < len(tokens)
        and tokens[full_phrase.last].lower == "and"
        and following
        and _kind(tokens, following)
    ):
        more = sentence.whole(sentence.joined(following), tokens[clause.verb.main])
        return replace(full_phrase, last=more.last, joined=True)
    return full_phrase


def _owning(sentence: Sentence, counterpart: Actor) -> Actor:
    """Split "the man in the suit's face" into the man in the suit and his face; "a soldier's uniform" stays whole."""
    tokens = sentence.tokens
    for index in range(counterpart.head + 1, counterpart.last - 1):
        if (
            tokens[index].part == "PART"
            and tokens[index].lower in ("'s", "’s")
            and tokens[index + 1].lower not in CLOTHES
        ):
            return replace(counterpart, last=index, owns=counterpart.last)
    return counterpart


def _runs_on(sentence: Sentence, phrase: NounPhrase) -> bool:
    """Return whether "and" adds a thing to the person, or a second sentence begins with it."""
    tokens, last = sentence.tokens, phrase.last
    if last + 1 < len(tokens) and tokens[last].lower in ("and", "or"):
        following = sentence.phrases.get(last + 1)
        return following is not None and not _kind(tokens, following)
    return last < len(tokens) and (tokens[last].part == "AUX" or tokens[last].tag == "VBZ")


def _cut(tokens: Sequence[Token], counterpart: Actor, subject: Actor) -> Actor:
    """Leave out a description that names the subject by a pronoun: "the man in front of her" is "the man"."""
    for index in range(counterpart.head + 1, counterpart.last):
        pronoun = gender_of_pronoun(tokens[index])
        if not pronoun or not fits(pronoun, subject.gender):
            continue
        if role_of(tokens, index) == OBJECT or not fits(pronoun, counterpart.gender):
            return replace(counterpart, last=_description_start(tokens, counterpart, index))
    return counterpart


def _description_start(tokens: Sequence[Token], counterpart: Actor, index: int) -> int:
    """Return where the description with the pronoun begins: "seated in front of (her)", "who smiles at (her)"."""
    start = index
    while start - 1 > counterpart.head and (
        tokens[start - 1].part in ("ADP", "ADV", "PART") or tokens[start - 1].lower in BEFORE_PRONOUN
    ):
        start -= 1
    while start - 1 > counterpart.head and (
        tokens[start - 1].part in ("VERB", "AUX", "ADV")
        or tokens[start - 1].lower in WHO
        or tokens[start - 1].text == ","
    ):
        start -= 1
    return start


def _same(tokens: Sequence[Token], subject: Actor, counterpart: Actor) -> str:
    """Return whether both have the same description: "a man hits another man"."""

    def description(actor: Actor) -> list[str]:
        return [token.lower for token in tokens[actor.first + actor.determiner : actor.last]]

    if description(subject) == description(counterpart):
        return "both participants have the same description"
    return ""
