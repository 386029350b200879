"""Find the participants of a caption's action by its structure, and what a swap of them changes.

The subject of the main clause, and the first other person or animal behind its verb: object, behind a preposition
("looks at the man"), possessor ("touches the man's arm"), of a second verb ("and sees a man"), or subject of a second
clause ("while a man sleeps").
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from generation.grammar.actor import Actor
from generation.grammar.agreement import PLURAL_AUX, pronoun_edits, verb_edits
from generation.grammar.pronouns import OBJECT, fits, gender_of_pronoun, role_of
from generation.grammar.surface import word_set
from text.diff import Edit
from text.language.appearance import BODY, CLOTHES, MANNERS
from text.language.inflection import lemmas
from text.language.living import COLLECTIVES, kind_of
from text.language.phrases import POSSESSIVE, NounPhrase, is_plural_noun
from text.language.structure import SOMEONE, Clause, Sentence, WholePhrase
from text.language.tokens import Token

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
TOGETHER = frozenset({"each other", "one another"})
# "dances with", "stands beside", "sits next to": symmetric, if nothing stands between them and the person.
SHARING = word_set("with beside alongside near next by like between among than against opposite")
# "surrounds the coach": only several can.
BY_SEVERAL = word_set("surround gather encircle assemble outnumber")
# "becomes a clown": not two participants.
SAMENESS = word_set("be become seem remain resemble impersonate play portray")
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
# Words for persons and animals that are things here: "a car model", "hot dogs".
THINGS = frozenset(
    {("car", "model"), ("hot", "dog"), ("hot", "dogs"), ("stuffed", "animal"), ("teddy", "bear"), ("teddy", "bears")}
)
# These stay in place: "A man pushes another man in red".
STAYING = frozenset({"another", "other"})
BOTH_WAYS = "both do it to each other, so a swap stays true"
# "each other" is near its verb; keeps the time linear for captions of 10^6 characters.
REACH = 12
IDENTITY = "the caption says who somebody is, so a swap stays true"
NONE_FOUND = "it names no two participants of one verb"
OWNED = "a possessive (his, her …) names a participant, so a swap changes the person"
UNCLEAR_SENTENCE = "it is not clear where the participant ends"
UNCLEAR = "its pronouns would not fit the swapped participants"
BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "'s"})


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
    found = _object(sentence, clause, subject, mode)
    if isinstance(found, str):
        return found
    other, second = found
    why = _same(tokens, subject, other) or (
        "" if mode == "paper" else _refused(sentence, subject, other, clause, second)
    )
    if why:
        return why
    edits = (*verb_edits(tokens, clause, subject, other, second),)
    pronouns = pronoun_edits(tokens, subject, other)
    if pronouns is None:
        return UNCLEAR
    verb = clause.verb
    return Participants(subject, other, tokens[verb.main].lemma, verb.passive, (*edits, *pronouns))


def _kind(tokens: Sequence[Token], phrase: NounPhrase) -> str:
    """Return the gender of a phrase that can act, "" for a thing."""
    head = tokens[phrase.head]
    if head.lower in SOMEONE:
        return "n"
    if head.part == "PROPN":
        return "n" if tokens[phrase.first].part == "PROPN" else kind_of(head.lower)
    if phrase.head > phrase.first and (tokens[phrase.head - 1].lower, head.lower) in THINGS:
        return ""
    inner = tokens[phrase.last - 1].lower
    if phrase.last - 1 > phrase.head:
        # "a group of men", "a sheet of paper"
        return kind_of(inner) if head.lower in COLLECTIVES or kind_of(head.lower) else ""
    kind = kind_of(head.lower)
    # A name at the start of the caption: capitalized, and not in the lexicon.
    named = phrase.head == 0 and head.text[:1].isupper() and "NOUN" not in lemmas(head.lower)
    return kind or ("n" if named else "")


def _actor(tokens: Sequence[Token], whole: WholePhrase, kind: str) -> Actor:
    lead = 0
    while whole.first + lead < whole.head and (
        tokens[whole.first + lead].part == "DET" or tokens[whole.first + lead].lower in STAYING
    ):
        lead += 1
    several = whole.joined or is_plural_noun(tokens[whole.head].text) or tokens[whole.head].lower in PLURAL_HEADS
    return Actor(whole.first, whole.last, whole.head, several, lead, "p" if several else kind, animal=kind == "a")


PLURAL_HEADS = frozenset({"people", "police", "personnel", "cattle", "men", "women", "children"})


def _subject(sentence: Sentence, clause: Clause) -> Actor | None:
    whole, tokens = clause.subject, sentence.tokens
    phrase = sentence.phrases[whole.first]
    kind = _kind(tokens, phrase)
    if not kind:
        return None
    actor = _actor(tokens, whole, kind)
    group = tokens[actor.head].lower in COLLECTIVES
    if group and (tokens[clause.verb.agrees].tag == "VB" or tokens[clause.verb.agrees].lower in PLURAL_AUX):
        # "a group of men grasp"
        return replace(actor, plural=True, gender="p")
    return actor


def _broken_subject(tokens: Sequence[Token], subject: Actor) -> str:
    inside = tokens[subject.first : subject.last]
    commas = [at for at in range(subject.first, subject.last) if tokens[at].text == ","]
    if any(token.lower in ("'s", "’s", "'", "’") for token in inside):
        return "a possessive describes the subject"
    for at in commas:
        after = tokens[at + 1] if at + 1 < subject.last else None
        if after is not None and after.tag == "VBG" and after.lemma not in ("wear", "sport", "don", "hold", "carry"):
            return "a clause describes the subject"
    return ""


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
            core = WholePhrase(possessor.first, possessor.last, possessor.last, possessor.head)
            return replace(_actor(tokens, core, kind), owns=phrase.last), None
        second = _second_clause(sentence, clause, phrase)
        if second is None and _is_added(tokens, phrase.first):
            continue
        if second is not None:
            return _actor(tokens, second.subject, kind), second
        if _runs_on(sentence, phrase):
            return UNCLEAR_SENTENCE
        whole = _with_other_persons(sentence, sentence.whole(sentence.joined(phrase), tokens[clause.verb.main]), clause)
        return _owning(sentence, _cut(tokens, _actor(tokens, whole, kind), subject)), None
    if owned:
        return OWNED
    behind = " ".join(token.lower for token in tokens[clause.verb.main + 1 : clause.verb.main + 1 + REACH])
    return BOTH_WAYS if any(words in behind for words in TOGETHER) else NONE_FOUND


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


def _behind(sentence: Sentence, at: int) -> Iterator[NounPhrase]:
    """Yield the noun phrases behind a verb that are not in a relative clause, to the end of the sentence."""
    tokens = sentence.tokens
    while at < len(tokens):
        phrase = sentence.phrases.get(at)
        if phrase is not None:
            yield phrase
            # "the lid of the man": also what follows "of".
            at = phrase.head + 1 if phrase.last > phrase.head + 1 else phrase.last
            continue
        if tokens[at].text in ".;:!?" or (tokens[at].part == "PRON" and tokens[at].lower in ("who", "which", "that")):
            return
        at += 1


def _is_added(tokens: Sequence[Token], first: int) -> bool:
    """Return whether "as", "and" or "and then" stands before the phrase, and not a verb or preposition."""
    while first > 1 and tokens[first - 1].part == "ADV":
        first -= 1
    return tokens[first - 1].part == "CCONJ" or tokens[first - 1].lower == "as"


def _possessor(tokens: Sequence[Token], phrase: NounPhrase) -> NounPhrase:
    """Return "the man" of "the man's arm", else the phrase."""
    for at in range(phrase.first + 1, phrase.last):
        if tokens[at].lower in ("'s", "’s") and tokens[at].part == "PART":
            return NounPhrase(phrase.first, at, at - 1)
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


def _with_other_persons(sentence: Sentence, whole: WholePhrase, clause: Clause) -> WholePhrase:
    """Extend by another person: "a man in red and a woman in black"."""
    tokens = sentence.tokens
    following = sentence.phrases.get(whole.last + 1)
    if whole.last < len(tokens) and tokens[whole.last].lower == "and" and following and _kind(tokens, following):
        more = sentence.whole(sentence.joined(following), tokens[clause.verb.main])
        return replace(whole, last=more.last, joined=True)
    return whole


def _owning(sentence: Sentence, other: Actor) -> Actor:
    """Split "the man in the suit's face" into the man in the suit and his face; "a soldier's uniform" stays whole."""
    tokens = sentence.tokens
    for at in range(other.head + 1, other.last - 1):
        if tokens[at].part == "PART" and tokens[at].lower in ("'s", "’s") and tokens[at + 1].lower not in CLOTHES:
            return replace(other, last=at, owns=other.last)
    return other


def _runs_on(sentence: Sentence, phrase: NounPhrase) -> bool:
    """Return whether "and" adds a thing to the person, or a second sentence begins with it."""
    tokens, last = sentence.tokens, phrase.last
    if last + 1 < len(tokens) and tokens[last].lower in ("and", "or"):
        following = sentence.phrases.get(last + 1)
        return following is not None and not _kind(tokens, following)
    return last < len(tokens) and (tokens[last].part == "AUX" or tokens[last].tag == "VBZ")


def _cut(tokens: Sequence[Token], other: Actor, subject: Actor) -> Actor:
    """Leave out a description that names the subject by a pronoun: "the man in front of her" is "the man"."""
    for at in range(other.head + 1, other.last):
        pronoun = gender_of_pronoun(tokens[at])
        if not pronoun or not fits(pronoun, subject.gender):
            continue
        if role_of(tokens, at) == OBJECT or not fits(pronoun, other.gender):
            return replace(other, last=_description_start(tokens, other, at))
    return other


def _description_start(tokens: Sequence[Token], other: Actor, at: int) -> int:
    """Return where the description with the token begins: the first participle or preposition behind the noun."""
    for start in range(other.head + 1, at):
        if tokens[start].part in ("ADP", "VERB", "PRON") or tokens[start].text == ",":
            return start
    return at


def _same(tokens: Sequence[Token], subject: Actor, other: Actor) -> str:
    """Return whether both have the same description: "a man hits another man"."""

    def description(actor: Actor) -> list[str]:
        return [token.lower for token in tokens[actor.first + actor.determiner : actor.last]]

    if description(subject) == description(other):
        return "both participants have the same description"
    return ""


def _refused(sentence: Sentence, subject: Actor, other: Actor, clause: Clause, second: Clause | None) -> str:
    """Return why the swap would stay true or become unclear."""
    tokens, verb = sentence.tokens, clause.verb
    if broken := _broken_subject(tokens, subject):
        return broken
    behind = " ".join(token.lower for token in tokens[verb.main + 1 :])
    if any(words in behind for words in TOGETHER):
        return BOTH_WAYS
    between = range(verb.main + 1, other.first)
    nearest = next((at for at in reversed(between) if tokens[at].part in ("VERB", "AUX")), verb.main)
    if second is None and nearest != verb.main and _is_identity(tokens, nearest, other):
        return IDENTITY
    if second is None and nearest == verb.main:
        why = _shared(tokens, verb.main, other, passive=verb.passive)
        if why:
            return why
    if _names_pronoun_in_clause(tokens, other):
        return UNCLEAR
    if any(tokens[actor.first].lower in POSSESSIVE for actor in (subject, other)):
        return OWNED
    if second is None and not verb.passive and not subject.animal and other.animal:
        able = ANIMALS_ACT if _link(tokens, nearest, other.first) else ANIMALS_DO
        if tokens[nearest].lemma not in able or tokens[verb.main].lemma not in ANIMALS_ACT:
            return f"an animal does not '{tokens[nearest].lemma}'"
    if tokens[verb.main].lemma in BY_SEVERAL and not (subject.plural and other.plural):
        return f"only several can '{tokens[verb.main].lemma}' somebody"
    if _doubled(tokens, subject, other) or _named_again(tokens, subject, other):
        return UNCLEAR_SENTENCE
    if subject.plural != other.plural and any(_stays(tokens, actor) for actor in (subject, other)):
        return UNCLEAR
    return ""


def _stays(tokens: Sequence[Token], actor: Actor) -> bool:
    return any(token.lower == "other" for token in tokens[actor.first : actor.first + actor.determiner])


def _named_again(tokens: Sequence[Token], subject: Actor, other: Actor) -> bool:
    """Return whether the rest of the caption has a participant's whole description again."""
    rest = [token.lower for token in (*tokens[subject.last : other.first], *tokens[other.last :])]
    text = f" {' '.join(rest)} "
    for actor in (subject, other):
        words = [token.lower for token in tokens[actor.first + actor.determiner : actor.last]]
        if len(words) > 2 and f" {' '.join(words)} " in text:
            return True
    return False


def _doubled(tokens: Sequence[Token], subject: Actor, other: Actor) -> bool:
    """Return whether the swap puts two descriptions of one kind in a row: "a man with a scarf with a rifle"."""
    after = [token.lower for token in tokens[other.last : other.last + 3]]
    inside = {token.lower for token in tokens[subject.head + 1 : subject.last]}
    how = not MANNERS.isdisjoint(after) or other.owns
    return len(after) == 3 and after[0] == "with" and after[1] in ("a", "an", "the") and "with" in inside and not how


def _names_pronoun_in_clause(tokens: Sequence[Token], actor: Actor) -> bool:
    """Return whether a relative clause has a pronoun whose person is unclear: "a man who gave her a cup"."""
    inside = tokens[actor.first : actor.last]
    relative = any(token.lower in ("who", "whom", "which", "that") and token.part == "PRON" for token in inside)
    return relative and any(gender_of_pronoun(token) for token in inside)


def _shared(tokens: Sequence[Token], main: int, other: Actor, *, passive: bool) -> str:
    """Return why both take the same part in the action."""
    lemma = tokens[main].lemma
    link = _link(tokens, main, other.first)
    if not passive and not {token.lower for token in link}.isdisjoint(SHARING):
        return "both take part equally (with, beside …), so a swap stays true"
    if _is_identity(tokens, main, other):
        return IDENTITY
    if any(token.lower == "into" for token in link) and lemma in ("turn", "transform", "change", "morph"):
        return IDENTITY
    one_sided = ONE_SIDED_BEHIND.get(lemma, frozenset()) & {token.lower for token in tokens[other.last :]}
    direct = not any(token.part == "NOUN" for token in tokens[main + 1 : other.first]) and not other.owns
    if lemma in SYMMETRIC and direct and not one_sided:
        return f"'{lemma}' is symmetric, so a swap stays true"
    return ""


def _is_identity(tokens: Sequence[Token], verb: int, other: Actor) -> bool:
    """Return whether the other participant says who somebody is: "is a doctor", "pretends to be a child"."""
    copula = tokens[verb].lemma in SAMENESS or tokens[verb].lower in BE
    return copula and not _link(tokens, verb, other.first)


def _link(tokens: Sequence[Token], main: int, first: int) -> Sequence[Token]:
    """Return the prepositions and particles right before a participant: "next to"."""
    start = first
    while start > main + 1 and (tokens[start - 1].part in ("ADP", "ADV", "PART") or tokens[start - 1].lower == "front"):
        start -= 1
    return [token for token in tokens[start:first] if token.part in ("ADP", "PART") or token.lower == "next"]
