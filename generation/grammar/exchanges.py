"""Exchange two persons everywhere in a caption: "Ann hands Tom her key" -> "Tom hands Ann his key".

Names and plain nouns ("the woman") change places at all mentions, and so do the pronouns of a man and a woman. All
that the caption tells of one is then told of the other. It is false where one does to the other what is not returned.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.appearance import BODY
from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.living import COLLECTIVES, gender_of_name, kind_of
from foilworks.core.text.language.numbers import match_case
from foilworks.core.text.language.phrases import is_plural_noun
from foilworks.core.text.language.tokens import Token
from generation.grammar.actors import NAMED_THINGS
from generation.grammar.exclusive_acts import LIFELIKE, SHARED_BY_BOTH, UNSURE
from generation.grammar.one_way import CHILDREN
from generation.grammar.pronouns import FORMS, GENDERS, OBJECT, role_of
from generation.grammar.surface import replace_phrase, word_set
from generation.grammar.swap_participants import TITLES

# What one gives, and to whom: "hands Tom a key", "hands a key to Tom".
GIVES = word_set(
    "hand give pass throw toss offer bring deliver serve lend return present feed send slide read sell show propose",
    "apologize introduce explain describe confess reveal announce report shove push pour blow",
)
# Told, asked or done to somebody: "tells Tom that", "pushes Tom".
ACTS = GIVES | word_set(
    "tell ask inform remind warn teach thank congratulate order advise beg persuade convince invite interview question",
    "interrogate scold lecture insult mock tease comfort help assist push shove hit slap punch kick poke tap pat",
    "tickle pinch bite lick grab drag carry lift pull trip tackle chase follow approach interrupt wake examine treat",
    "handcuff arrest rescue save catch photograph film massage wash dress undress shoot stab scratch spank restrain",
    "untie tie release leave abandon escort guide lead drive accuse blame threaten frighten scare surprise call",
    "phone text serve hire fire bandage inject shave brush spin twirl flip splash spray cover tuck command instruct",
)
TAKES = word_set("take grab snatch steal receive get borrow pull rip yank accept collect")
AT = word_set("throw toss yell scream shout point shoot aim swing spit fire snap hiss growl bark toss hurl kick")
ON = word_set("pour spill put place drop rub spray sit jump step lie pin hang throw splash squirt press tap pat knock")
FOR = word_set("open hold pour cook buy make sign sing play hold pull order write draw cut take bring pay read")
GOES = word_set("walk run go come step rush hurry march stroll stride sprint move head crawl skip drive ride jog sneak")
TOUCHES = word_set(
    "touch tap pat rub stroke brush examine check slap scratch poke pull bandage grab squeeze cut wash massage wipe",
    "comb shave feel inspect measure punch kick hit bite lick hold pinch tickle kiss steal take open read wear fix",
    "sign",
)
EMBRACES = word_set("hug hugs embrace handshake kiss look looks smile five")
# Done to what somebody has or says.
SAYS_OF = word_set(
    "insult repeat criticize compliment praise mock tie answer copy imitate join enter clean search find"
)
CAUSES = frozenset({"let", "make", "help", "see", "watch", "hear"})
FINDS = word_set("see watch notice find catch spot hear")
MUTUAL = word_set("hand hands face eyes eye gaze lips lip")
# Joins a clause of the other person.
JOINS = word_set("while as when after before until because and then whilst")
SUBORDINATES = frozenset({"while", "as", "when", "after"})
# The whole is not exchanged where both do it, or where others take part.
BOTH = word_set(
    "each together both also too another other others one everyone everybody someone somebody we us same neither nobody"
)
# A man is a person, so each of the two can be the other.
ANYBODY = word_set("person people human adult individual")
LINKS = frozenset({"up", "over", "back", "out", "down", "off", "in", "across", "through", "away", "right", "straight"})
RETURNED = SHARED_BY_BOTH | word_set(
    "be have do hug kiss dance argue laugh cry drink eat chat meet arrive go come walk"
)
SHOWN = word_set("see show appear seem begin start continue stop look watch listen smile nod walk turn wear hold take")
# Behind a noun: what tells which person it is.
DESCRIBES = word_set("in with of wearing who from at on being standing sitting holding seated dressed")
SIDES = word_set("hand hands arm arms foot feet leg legs side sides end ends shoe shoes eye eyes thumb thumbs way room")
APART = word_set("in out away into off inside outside through up down over to from")
# A name is one in so many captions.
NAME_COUNT = 3
MAX_TOKENS = 34
CAPITALIZED = re.compile(r"(?<![\w'’-])[A-Z][a-z]+(?![\w-])")
ACTING = re.compile(r"(?<![\w'’-])([A-Z][a-z]+) (?:is|was|has|[a-z]+(?:s|ed))\b")
GENDERED = re.compile(r"\b(?:he|him|his|himself|she|her|herself)\b", re.IGNORECASE)
ARTICLES = frozenset(
    {"A", "An", "The", "She", "He", "They", "It", "His", "Her", "Two", "This", "That", "There", "Then"}
)


@dataclass(frozen=True)
class Person:
    """A mention: tokens `first:last` without the determiner; `key` is the same for all mentions of the person."""

    first: int
    last: int
    key: str
    gender: str
    named: bool


@dataclass(frozen=True)
class Names:
    """The names of persons that a run's captions tell, with their gender: "m", "f" or "n"."""

    genders: Mapping[str, str]

    def gender(self, token: Token) -> str:
        """Return the gender of a name, "" for another word."""
        if not token.text[:1].isupper() or token.text[1:2].isupper() or token.lower in NAMED_THINGS:
            return ""
        return gender_of_name(token.lower) or self.genders.get(token.text, "")


NO_NAMES = Names({})


def learned_names(texts: Iterable[str]) -> Names:
    """Return the names that the captions of a run tell: capitalized within sentences, and followed by a verb.

    A name's gender is that of the pronouns of captions that have no other name.
    """
    inside: Counter[str] = Counter()
    acting: Counter[str] = Counter()
    genders: dict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        words = CAPITALIZED.findall(text)
        if not words:
            continue
        names = set(words) - ARTICLES
        inside.update(set(CAPITALIZED.findall(text, 1)) & names)
        acting.update({match.group(1) for match in ACTING.finditer(text)})
        pronouns = {GENDERS[word.lower()] for word in GENDERED.findall(text)}
        if len(pronouns) == 1 and len(names) == 1:
            genders[next(iter(names))].update(pronouns)
    learned = [name for name in acting if inside[name] >= NAME_COUNT and acting[name] >= NAME_COUNT]
    return Names({name: _usual(genders[name]) for name in learned})


def _usual(counts: Counter[str]) -> str:
    """Return the gender of at least nine tenths of several pronouns, else "n"."""
    (gender, n), total = (counts.most_common(1) or [("n", 0)])[0], sum(counts.values())
    return gender if n >= NAME_COUNT and n >= 0.9 * total else "n"


def exchanged(text: str, tokens: Sequence[Token], names: Names, *, named: bool) -> list[Edit] | None:
    """Return the edits that exchange two persons of a caption; None if this is not surely right and false.

    `named`: only two names, or only two nouns.
    """
    if not tokens or len(tokens) > MAX_TOKENS or any(token.text in ';:"?' for token in tokens) or _of_both(tokens):
        return None
    mentions = list(_mentions(tokens, names))
    first = next(iter(mentions), None)
    second = _second(tokens, mentions, first) if first is not None and _opens(tokens, first) else None
    if first is None or second is None or first.named is not named or second.named is not named:
        return None
    if not named and not ANYBODY.isdisjoint((first.key, second.key)):
        return None
    both = [person for person in mentions if person.key in (first.key, second.key)]
    others = any(
        token.text not in (first.key, second.key) and CAPITALIZED.fullmatch(token.text) for token in tokens[1:]
    )
    pronouns = _pronouns(tokens, first, second, alone=len(both) == len(mentions) and not others)
    if pronouns is None or not all(_is_bare(tokens, person, mentions) for person in both):
        return None
    return sorted([*pronouns, *(edit for person in both for edit in _renamed(text, tokens, person, (first, second)))])


def _renamed(text: str, tokens: Sequence[Token], person: Person, both: tuple[Person, Person]) -> list[Edit]:
    other = both[person.key == both[0].key]
    target = text[tokens[other.first].start : tokens[other.last - 1].end]
    start, end = tokens[person.first].start, tokens[person.last - 1].end
    return [Edit(start, end, target)] if other.named else replace_phrase(text, start, end, target.lower())


def _second(tokens: Sequence[Token], mentions: Sequence[Person], first: Person) -> Person | None:
    """Return the other person: to whom the first one does something, or who does something else."""
    others = (person for person in mentions if person.key != first.key)
    return next(
        (
            person
            for person in others
            if _is_target(tokens, person)
            or _does_another_act(tokens, first, person)
            or _is_involved(tokens, first, person)
        ),
        None,
    )


def _of_both(tokens: Sequence[Token]) -> bool:
    """Return whether something is told of both or of others; "both hands" are of one."""
    words = [token.lower for token in tokens]
    if not LIFELIKE.isdisjoint(words) or "hers" in words:
        return True
    return any(
        word in BOTH and not (word in ("both", "other", "another") and after in SIDES)
        for word, after in zip(words, [*words[1:], ""], strict=True)
    )


def _mentions(tokens: Sequence[Token], names: Names) -> Iterator[Person]:
    """Yield the mentions of persons and animals, in their order; not "police" in "police badge"."""
    unknown = {
        token.text: gender for index, token in enumerate(tokens) if (gender := _gender_of_unknown(tokens, index))
    }
    for index, token in enumerate(tokens):
        if gender := names.gender(token) or unknown.get(token.text, ""):
            yield Person(index, index + 1, token.text, gender, named=True)
        elif (
            token.part in ("NOUN", "PROPN")
            and (kind := kind_of(token.lower))
            and (index + 1 == len(tokens) or tokens[index + 1].part != "NOUN")
        ):
            yield Person(index, index + 1, token.lower, kind, named=False)


def _gender_of_unknown(tokens: Sequence[Token], index: int) -> str:
    """Return "n" for a capitalized word that can only be a name: "talks to Mickey", not "watches TV"."""
    token, before = tokens[index], tokens[index - 1] if index else None
    if not CAPITALIZED.fullmatch(token.text) or token.lower in NAMED_THINGS | TITLES or lemmas(token.lower):
        return ""
    named = before is None or (
        before.part in ("VERB", "ADP", "CCONJ", "SCONJ") and before.lower not in ("in", "on", "the")
    )
    return "n" if named else ""


def _is_bare(tokens: Sequence[Token], person: Person, mentions: Sequence[Person]) -> bool:
    """Return whether the mention is a single person without a description, and not one of a list."""
    head = tokens[person.first]
    before = tokens[person.first - 1] if person.first else None
    after = tokens[person.last] if person.last < len(tokens) else None
    if after is not None and (after.text in ("'", "’", "&", "/") or after.text[:1].isupper()):
        return False
    if person.named:
        if before is not None and (before.text in ("&", "-", ".") or (before.text[:1].isupper() and person.first > 1)):
            return False
    elif (
        before is None
        or before.lower not in ("a", "an", "the")
        or is_plural_noun(head.text)
        or person.gender == "a"
        or not head.text.islower()
        or head.lower in UNSURE | CHILDREN | COLLECTIVES
        or (after is not None and (after.lower in DESCRIBES or _is_set_off(tokens, person.last)))
    ):
        return False
    return not _is_listed(tokens, person, {other.first for other in mentions})


def _is_set_off(tokens: Sequence[Token], comma: int) -> bool:
    """Return whether a comma sets off a description: "a woman, dressed in black,"."""
    after = tokens[comma + 1] if comma + 1 < len(tokens) else None
    return (
        tokens[comma].text == "," and after is not None and (after.part in ("VERB", "PRON") or after.lower in DESCRIBES)
    )


def _is_listed(tokens: Sequence[Token], person: Person, inside: set[int]) -> bool:
    """Return whether "and" or a comma joins the person with others: "Ann and Tom", "Ann and her dog"."""
    comma = person.first > 1 and tokens[person.first - 1].text == "," and person.first - 2 in inside
    if comma or (person.last + 1 < len(tokens) and tokens[person.last].text == "," and person.last + 1 in inside):
        return True
    if person.last < len(tokens) and tokens[person.last].lower in ("and", "or", "&"):
        following = tokens[person.last + 1] if person.last + 1 < len(tokens) else None
        acts = following is not None and following.part in ("VERB", "AUX", "ADV") and not following.text[:1].isupper()
        acts = acts or (following is not None and following.lower in ("he", "she", "they", "it"))
        return not acts or person.last + 1 in inside
    return person.first > 1 and tokens[person.first - 1].lower in ("and", "or", "&") and person.first - 2 in inside


def _opens(tokens: Sequence[Token], person: Person) -> bool:
    """Return whether the person is the subject that opens the caption."""
    start = person.first - (not person.named)
    return (start == 0 or (start == 1 and tokens[0].lower in SUBORDINATES)) and _acts(tokens, person.last)


def _acts(tokens: Sequence[Token], start: int) -> bool:
    """Return whether a verb follows; the tagger takes some for nouns ("Lucas sticks out his leg")."""
    after = tokens[start] if start < len(tokens) else None
    if after is None:
        return False
    reads_as_verb = after.part == "NOUN" and after.lower.endswith("s") and "VERB" in lemmas(after.lower)
    return after.part in ("VERB", "AUX", "ADV") or after.tag in ("VBZ", "VBD") or reads_as_verb


def _verb_of(tokens: Sequence[Token], index: int) -> str:
    """Return the lemma of a verb, "" for another word; the tagger takes some for nouns ("and trips Tom")."""
    token = tokens[index]
    if token.part == "VERB":
        return token.lemma
    misread = (
        index > 0 and token.part == "NOUN" and token.lower.endswith("s") and tokens[index - 1].lower in ("and", "then")
    )
    return lemmas(token.lower).get("VERB", ("",))[0] if misread else ""


def _verb_before(tokens: Sequence[Token], person: Person) -> int:
    """Return the verb whose object or place the person is; 0 if a clause or a person begins between them."""
    index = person.first - 1
    while index > 0 and tokens[index].part != "AUX" and not _verb_of(tokens, index):
        token = tokens[index]
        if token.part == "SCONJ" or token.text in ",.;:" or token.lower in JOINS or token.text[:1].isupper():
            return 0
        index -= 1
    return index


def _is_target(tokens: Sequence[Token], person: Person) -> bool:
    """Return whether a verb before the person names a one-way act to them."""
    verb = _verb_before(tokens, person)
    start = person.first - (not person.named)
    between = [token.lower for token in tokens[verb + 1 : start]]
    after = tokens[person.last] if person.last < len(tokens) else None
    if verb <= 0 or not EMBRACES.isdisjoint(token.lower for token in tokens[verb + 1 : person.last + 5]):
        return False
    lemma = _verb_of(tokens, verb) or tokens[verb].lemma
    if after is not None and after.lower in ("'s", "’s"):
        owned = tokens[person.last + 1].lower if person.last + 1 < len(tokens) else ""
        on_body = (
            between[-1:] in (["on"], ["onto"], ["around"]) and lemma in ON | {"wrap", "rest", "lay"} and owned in BODY
        )
        return owned not in MUTUAL and (on_body or (not between and lemma in TOUCHES | SAYS_OF))
    if not between or all(word in LINKS for word in between):
        seen = after is not None and after.tag == "VBG" and after.lemma not in RETURNED
        return lemma in ACTS or (lemma in FINDS and seen)
    has_thing = any(token.part in ("NOUN", "PRON") for token in tokens[verb + 1 : start - 1])
    if between[-1] == "from" and "away" in between and lemma in GOES and not has_thing:
        return True
    return _is_end(lemma, between[-1], set(between[:-1]), has_thing=has_thing)


def _is_end(lemma: str, link: str, earlier: set[str], *, has_thing: bool) -> bool:
    """Return whether the person at the end of "hands the key to", "yells at" is not the one who does it, too."""
    if link == "to" and lemma in GOES:
        return not has_thing and earlier <= LINKS
    if link in ("toward", "towards", "behind", "after"):
        return lemma in GOES | {"hide"} and not has_thing
    verbs = {"to": GIVES, "at": AT}.get(link)
    if verbs is not None:
        return lemma in verbs
    verbs = {"from": TAKES, "on": ON, "onto": ON, "over": ON, "for": FOR}.get(link, frozenset())
    return lemma in verbs and has_thing


def _does_another_act(tokens: Sequence[Token], first: Person, person: Person) -> bool:
    """Return whether the person is the subject of a second clause whose act differs from the first one."""
    start = person.first - (not person.named)
    joined = tokens[start - 1].lower in JOINS or (tokens[start - 1].text == "," and tokens[0].lower in SUBORDINATES)
    if start < 2 or not joined:
        return False
    act, other = _act(tokens, first.last), _act(tokens, person.last)
    if act is None or other is None or act[0] == other[0] or not {act[0], other[0]}.isdisjoint(("kiss", "hug")):
        return False
    return any(lemma not in RETURNED or (goes and lemma in GOES) for lemma, goes in (act, other))


def _is_involved(tokens: Sequence[Token], first: Person, person: Person) -> bool:
    """Return whether the first one acts alone, and then with the person: "gets up and calls Tom"."""
    start, act = person.first - (not person.named), _act(tokens, first.last)
    if act is None or (act[0] in RETURNED | SHOWN and act[0] not in GOES):
        return False
    begins = next((at for at in range(start - 1, first.last, -1) if _connects(tokens, at)), 0)
    verbs = any(token.part in ("VERB", "AUX") for token in tokens[begins + 1 : start])
    thing = any(token.part == "NOUN" for token in tokens[first.last + 1 : begins])
    return bool(begins) and verbs and (act[1] if act[0] in GOES else thing)


def _connects(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a second act of the same person may begin: "and", "while", "to" of a purpose."""
    return tokens[at].lower in JOINS | {"then"} or (tokens[at].lower == "to" and tokens[at].part == "PART")


def _act(tokens: Sequence[Token], start: int) -> tuple[str, bool] | None:
    """Return the lemma of the verb after a subject, and whether it has a direction ("walks in")."""
    for index in range(start, min(start + 4, len(tokens))):
        token = tokens[index]
        if token.part == "VERB" or token.tag in ("VBZ", "VBD", "VBG") or (index == start and _acts(tokens, start)):
            if token.part in ("AUX", "ADV"):
                continue
            following = {token.lower for token in tokens[index + 1 : index + 3]}
            lemma = token.lemma if token.part == "VERB" else lemmas(token.lower).get("VERB", (token.lemma,))[0]
            return lemma, not following.isdisjoint(APART)
        if token.part not in ("AUX", "ADV"):
            return None
    return None


def _pronouns(tokens: Sequence[Token], first: Person, second: Person, *, alone: bool) -> list[Edit] | None:
    """Return the edits of the pronouns; None if it is not clear whose they are. `alone`: nobody else is mentioned."""
    used = {GENDERS[token.lower] for token in tokens if GENDERS.get(token.lower) in ("m", "f")}
    genders = [first.gender, second.gender]
    if not used or (alone and genders[0] == genders[1] != "n" and used == {genders[0]}):
        return []
    if not alone:
        return None
    other = {"m": "f", "f": "m"}
    for index in (0, 1):
        # A pronoun that does not fit the one is the other's.
        if genders[index] == "n" and genders[1 - index] in other and other[genders[1 - index]] in used:
            genders[index] = other[genders[1 - index]]
    if set(genders) != {"m", "f"}:
        return None
    edits = []
    for index, token in enumerate(tokens):
        gender = GENDERS.get(token.lower, "")
        if gender in other:
            made = index > 0 and tokens[index - 1].lemma in CAUSES
            new = FORMS[other[gender]][OBJECT if token.lower == "her" and made else role_of(tokens, index)]
            edits.append(Edit(token.start, token.end, match_case(token.text, new)))
    return edits
