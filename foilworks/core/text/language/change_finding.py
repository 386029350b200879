"""Find verbs of change in a tagged caption: the change, the thing that changes, the particle and the place."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from foilworks.core.text.language.change_of_state import NOUNS, StateChange, by_verb, verbs_by_head
from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.phrases import HEADS, NounPhrase, is_plural_noun, noun_phrases
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.word_lists import word_set

# A particle may follow the object, but only nearby; keeps the time linear for captions of 10^6 characters.
REACH = 12
BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "gets", "get"})
OBJECT_PRONOUNS = frozenset({"it", "them", "him", "her", "this", "that", "these", "something"})
# Verbs of instructions that the lexicon of changes lacks: "slice the onion and place it in the pan".
STEPS = word_set(
    "place season serve add put set repeat transfer toss let bring cook use keep leave grate simmer coat sprinkle",
    "garnish marinate blend allow move take turn wait make return",
)
# "screw on the screws": the word behind the verb is no preposition.
ON_OBJECT = frozenset({"screw", "fit", "paint"})
# Taggers take these nouns for adjectives: "tv remote".
TAGGED_ADJECTIVES = frozenset({"remote", "remotes"})
# The opposites of these depend on the thing.
BY_THING = frozenset({"remove", "spread", "drain"})
# "fix the string on the guitar" attaches it; without a place it repairs.
FIXED_TO = frozenset({"on", "to", "onto"})


@dataclass(frozen=True)
class FoundChange:
    """A found change. Token indices: `verb`, `particle` (-1 if none), `preposition` (-1 if none) that links a place.

    `what` changes: the object, or the subject if there is none or the verb is passive; None for a pronoun. `behind`:
    the first token after the verb, its particle and its object.
    """

    change: StateChange
    verb: int
    particle: int
    preposition: int
    what: NounPhrase | None
    transitive: bool
    passive: bool
    behind: int = 0


@dataclass(frozen=True)
class _Sentence:
    """Tokens with their noun phrases, by the first and by the last token."""

    tokens: Sequence[Token]
    phrases: dict[int, NounPhrase]
    ends: dict[int, NounPhrase]


def as_instruction(tokens: Sequence[Token]) -> Sequence[Token]:
    """Tag the verbs of instructions, which taggers take for nouns: "connect branches", "chop and fry bacon".

    Only at the start, behind an adverb there, or behind another such verb and "and".
    """
    tagged = list(tokens)
    at = 0
    while at < len(tagged) and tagged[at].part == "ADV":
        at += 1
    if tagged and tagged[0].part == "ADP":
        at = _behind_place(tagged)
    while at < len(tagged) and (verb := _instruction(tagged, at)):
        tagged[at] = verb
        next_at = at + 1
        if next_at < len(tagged) and tagged[next_at].part == "VERB" and tagged[next_at].tag in ("VBZ", "VBG"):
            tagged[next_at] = _as_noun(tagged[next_at])
        if next_at < len(tagged) and _instruction(tagged, next_at) and _continues(tagged, next_at):
            at = next_at
        elif next_at + 1 < len(tagged) and tagged[next_at].part == "CCONJ":
            at = next_at + 1
        else:
            break
    return _with_compounds(tagged)


def _with_compounds(tokens: Sequence[Token]) -> Sequence[Token]:
    """Tag the last word of an object as a noun where taggers take it for a verb: "soak the bamboo skewers"."""
    tagged = list(tokens)
    for at, token in enumerate(tagged):
        before = tagged[at - 1] if at else None
        if before is None:
            continue
        after = tagged[at + 1] if at + 1 < len(tagged) else None
        joins = before.part in HEADS and not is_plural_noun(before.text) and _is_object(tagged, at)
        remote = token.lower in TAGGED_ADJECTIVES and (after is None or after.part not in HEADS)
        if (
            (remote and (joins or _is_instruction_verb(before)))
            or (joins and _ends_compound(token, after))
            or (joins and token.tag == "VBG" and _names_a_tool(tagged, at))
        ):
            tagged[at] = replace(_as_noun(token), part="NOUN")
    return tagged


def _is_instruction_verb(token: Token) -> bool:
    return token.part == "VERB" and token.tag in ("VB", "VBG")


def _is_object(tokens: Sequence[Token], at: int) -> bool:
    """Return whether only an article, adjectives and nouns are between a verb and the token: "wrap the pipe (band)"."""
    back = at
    while back > 0 and at - back < REACH and tokens[back - 1].part in ("DET", "ADJ", "NUM", *HEADS):
        back -= 1
    return 0 < back < at and _is_instruction_verb(tokens[back - 1])


def _ends_compound(token: Token, after: Token | None) -> bool:
    """Return whether the word can be no second instruction: "rinse the rice drain and fry it" has one."""
    if token.part != "VERB" or token.tag not in ("VBZ", "VB"):
        return False
    is_verb = token.lower in verbs_by_head() or token.lower in STEPS
    is_verb = is_verb or "NOUN" not in lemmas(token.lower)
    return not is_verb and (after is None or after.part in ("ADP", "ADV", "CCONJ", "PUNCT", *HEADS))


def _names_a_tool(tokens: Sequence[Token], at: int) -> bool:
    """Return whether "-ing" is in the name of a tool: "shoe cleaning brush", not "the man cleaning brushes"."""
    article = any(token.part == "DET" for token in tokens[max(0, at - 2) : at])
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    return not article and after is not None and after.part in HEADS and not is_plural_noun(after.text)


def _behind_place(tokens: Sequence[Token]) -> int:
    """Return where the verb is behind a place: "in a bowl combine the eggs"."""
    at = 1
    while at < len(tokens) and tokens[at].part in ("DET", "ADJ"):
        at += 1
    return min(at + 1, len(tokens))


def _instruction(tokens: Sequence[Token], at: int) -> Token | None:
    """Return the token as a plain verb if an instruction may have it here."""
    token = tokens[at]
    if token.tag == "VB" or (at == 0 and token.tag == "VBG"):
        return token
    if token.lower not in verbs_by_head() and token.lower not in STEPS:
        return None
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if after is None or after.part in ("AUX", "PUNCT") or after.lower == "of":
        return None
    ends = next(
        (
            following
            for following in tokens[at + 1 :]
            if following.part in ("AUX", "VERB") and following.tag in ("", "VBZ", "VBD")
        ),
        None,
    )
    # "light shines": the next word is its verb, not its object.
    if ends is not None and "NOUN" in lemmas(token.lower) and (ends.part == "AUX" or ends is after):
        return None
    return replace(token, part="VERB", lemma=token.lower, tag="VB")


def _continues(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a list of verbs goes on: "rinse, drain and dry the potatoes"."""
    return at + 1 < len(tokens) and tokens[at + 1].part == "CCONJ"


def _as_noun(token: Token) -> Token:
    lemmas_by_part = lemmas(token.lower)
    return replace(
        token,
        part="NOUN" if "NOUN" in lemmas_by_part else "ADJ",
        lemma=lemmas_by_part.get("NOUN", (token.lower,))[0],
        tag="",
    )


def find_changes(tokens: Sequence[Token]) -> list[FoundChange]:
    """Find every verb of the lexicon with the thing that changes, from left to right."""
    phrases = {phrase.first: phrase for phrase in noun_phrases(tokens)}
    sentence = _Sentence(tokens, phrases, {phrase.last: phrase for phrase in phrases.values()})
    heads = verbs_by_head()
    changes = []
    for at, token in enumerate(tokens):
        change = _change_at(sentence, at) if token.part == "VERB" and token.lemma in heads else None
        if change is not None:
            changes.append(change)
    return changes


def _change_at(sentence: _Sentence, at: int) -> FoundChange | None:
    tokens = sentence.tokens
    lemma = tokens[at].lemma
    first = _behind_coordinated(tokens, at)
    while first < len(tokens) and tokens[first].part == "ADV" and not _is_particle(lemma, tokens[first].lower):
        first += 1
    particle = first if first < len(tokens) and tokens[first].part in ("ADP", "ADV") else -1
    opens = first + 1 if particle >= 0 else first
    passive = tokens[at].tag == "VBN" and any(token.lower in BE for token in tokens[max(0, at - 3) : at])
    phrase = _whole(sentence, first) or (_whole(sentence, opens) if particle >= 0 else None)
    phrase = None if passive else phrase
    pronoun = _pronoun_at(tokens, first) and not passive
    after = phrase.last if phrase else first + 1 if pronoun else first
    before = phrase is not None and particle >= 0 and phrase.first == opens
    if before:
        options = [(f"{lemma} {tokens[particle].lower}", particle)]
        # "sits on the box": without that verb the phrase is a place, not an object.
        direct = phrase if lemma in ON_OBJECT and tokens[particle].lower == "on" else None
    else:
        options = [(f"{lemma} {tokens[n].lower}", n) for n in _particles(sentence, after)]
        direct = phrase
    verb_context = _Seen(sentence, at, phrase, _subject(sentence, at), pronoun, passive, after)
    for verb, where in options:
        change = verb_context.find_change(verb, where, -1, phrase)
        if change:
            return change
    preposition_at = (
        after if after < len(tokens) and tokens[after].part == "ADP" and not (before and direct is None) else -1
    )
    if before and direct is None:
        preposition_at = particle
    for verb in _verbs_without_particle(lemma, tokens, preposition_at):
        change = verb_context.find_change(verb, -1, preposition_at, direct)
        if change:
            return change
    return None


def _is_particle(lemma: str, word: str) -> bool:
    """Return whether an adverb belongs to the verb: "throws away a box" is not "throws a box"."""
    return word in ("away", "back", "apart", "aside") or f"{lemma} {word}" in by_verb()


def _behind_coordinated(tokens: Sequence[Token], at: int) -> int:
    """Return the first token behind the verb, and behind verbs that share its object: "chop and fry bacon"."""
    first = at + 1
    while (
        first + 1 < len(tokens)
        and (tokens[first].part == "CCONJ" or (tokens[first].part == "VERB" and tokens[at].tag == "VB"))
        and tokens[first].lower != "but"
    ):
        next_at = first + 1 if tokens[first].part == "CCONJ" else first
        if tokens[next_at].part != "VERB" or tokens[next_at].tag != tokens[at].tag or tokens[at].tag != "VB":
            break
        first = next_at + 1
    return first


def _whole(sentence: _Sentence, first: int) -> NounPhrase | None:
    """Return the object from `first` with its "of …" and "and …": "the edges of the cone", "an onion and garlic"."""
    tokens, phrases = sentence.tokens, sentence.phrases
    phrase = phrases.get(first)
    if phrase is None and first < len(tokens) and tokens[first].lower in ("one", "all", "some"):
        phrase = (
            NounPhrase(first, first + 1, first) if first + 1 < len(tokens) and tokens[first + 1].lower == "of" else None
        )
    while phrase is not None and phrase.last + 1 < len(tokens):
        link = tokens[phrase.last]
        # "sumac, and oil"
        also = link.lower == "," and tokens[phrase.last + 1].lower in ("and", "or")
        start = phrase.last + 1 + also
        # "a piece of peeled squid"
        next_phrase = phrases.get(start) or (phrases.get(start + 1) if tokens[start].tag == "VBN" else None)
        if next_phrase is None:
            break
        listed = also or _lists(sentence, phrase.last, next_phrase)
        if link.lower != "of" and not (listed and _belongs(sentence, next_phrase)):
            break
        phrase = NounPhrase(phrase.first, next_phrase.last, phrase.head)
    return phrase


def _lists(sentence: _Sentence, at: int, phrase: NounPhrase) -> bool:
    """Return whether "and", "or" or the comma of a list is at `at`: "lemon juice, sumac and garlic"."""
    tokens = sentence.tokens
    if tokens[at].lower in ("and", "or"):
        return True
    after = phrase.last
    return tokens[at].lower == "," and after < len(tokens) and tokens[after].lower in (",", "and", "or")


def _belongs(sentence: _Sentence, phrase: NounPhrase) -> bool:
    """Return whether the phrase after "and" is a second thing, and not a verb or the subject of one."""
    tokens = sentence.tokens
    opened = tokens[phrase.first]
    if opened.part not in ("DET", "NUM", "ADJ", "PRON") and (opened.lower in STEPS or opened.lower in verbs_by_head()):
        return False
    after = tokens[phrase.last] if phrase.last < len(tokens) else None
    if after is None or after.part not in ("VERB", "AUX"):
        return not (after is not None and after.lower == "and" and opened.lower in STEPS)
    return after.part == "VERB" and after.tag in ("VBG", "VBN")


def _particles(sentence: _Sentence, after: int) -> list[int]:
    """Return where a particle may be behind the object: "rolls the burrito up", "digs the spoon out of the sand"."""
    tokens, phrases = sentence.tokens, sentence.phrases
    positions = range(after, min(len(tokens), after + REACH))
    ends = next((n for n in positions if tokens[n].part in ("PUNCT", "CCONJ", "SCONJ", "VERB")), len(tokens))
    return [
        n for n in positions if n < ends and tokens[n].part in ("ADP", "ADV") and (n == after or n + 1 not in phrases)
    ]


def _verbs_without_particle(lemma: str, tokens: Sequence[Token], preposition_at: int) -> list[str]:
    """Return verbs without a particle, and those whose preposition implies it: "puts a book into a bag"."""
    verbs = [lemma]
    if preposition_at >= 0:
        preposition = _preposition(tokens, preposition_at)
        verbs += [
            verb
            for verb in verbs_by_head().get(lemma, ())
            if verb != lemma and any(preposition in change.links for change in by_verb()[verb])
        ]
    return verbs


def _preposition(tokens: Sequence[Token], at: int) -> str:
    two = at + 1 < len(tokens) and tokens[at].lower == "out" and tokens[at + 1].lower == "of"
    return "out of" if two else tokens[at].lower


@dataclass(frozen=True)
class _Seen:
    """What is known of one verb, whichever change it makes."""

    sentence: _Sentence
    at: int
    phrase: NounPhrase | None
    subject: NounPhrase | None
    pronoun: bool
    passive: bool
    after: int

    def find_change(
        self, verb: str, particle: int, preposition_at: int, object_phrase: NounPhrase | None
    ) -> FoundChange | None:
        """Return the change if the lexicon has the verb with the caption's kind of object."""
        tokens = self.sentence.tokens
        transitive = self.passive or object_phrase is not None or self.pronoun
        changing = self.subject if self.passive or not transitive else object_phrase
        options = [
            option for option in by_verb().get(verb, ()) if (option.transitive if transitive else option.intransitive)
        ]
        if not options:
            return None
        if verb == "fix" and preposition_at >= 0 and tokens[preposition_at].lower in FIXED_TO:
            options = [option for option in options if option.reverse == "detach"] or options
        change = _fitting(options, tokens[changing.head].lemma if changing else "")
        behind = self.after
        if particle == self.after:
            behind += 1
        linked = preposition_at if preposition_at >= 0 and _preposition(tokens, preposition_at) in change.links else -1
        if particle >= 0 and particle == self.after and behind < len(tokens):
            # "puts lemons in the microwave": the particle is the preposition of a place.
            if behind in self.sentence.phrases and tokens[particle].lower in change.links:
                particle, linked = -1, particle
            elif tokens[particle].lower == "out" and tokens[behind].lower == "of":
                linked = particle if "out of" in change.links else -1
                particle = -1 if linked >= 0 else particle
            elif behind in self.sentence.phrases:
                # "pushed in a parking lot": a place, no particle.
                return None
            elif tokens[behind].part == "ADP" and _preposition(tokens, behind) in change.links:
                linked = behind
        return FoundChange(change, self.at, particle, linked, changing, transitive, self.passive, behind)


def _fitting(options: Sequence[StateChange], noun: str) -> StateChange:
    """Return the change of this kind of thing, or else the first: one removes a shirt, a lid or a card differently."""
    first_change = options[0]
    if first_change.verb not in BY_THING:
        return first_change
    return next((change for change in options if noun in NOUNS.get(change.object_type, ())), first_change)


def _pronoun_at(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].part in ("PRON", "DET") and tokens[at].lower in OBJECT_PRONOUNS


def _subject(sentence: _Sentence, at: int) -> NounPhrase | None:
    """Return the phrase that ends before the verb and its auxiliaries and adverbs."""
    back = at
    while back > 0 and sentence.tokens[back - 1].part in ("AUX", "ADV"):
        back -= 1
    return sentence.ends.get(back)
