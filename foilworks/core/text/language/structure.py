"""The structure of a caption's sentence: the main clause's subject and verb group, and whole noun phrases.

A whole noun phrase has everything that describes its noun: "the man in a tan coat", "a boy wearing a hat", "a woman
sitting on the ground", "two people who talk". What says where or how it happens stays with the verb.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foilworks.core.text.language._tag_lists import word_set
from foilworks.core.text.language.appearance import BODY, CLOTHES, COLOURS, FEATURES, MANNERS, RIDES, SEATS
from foilworks.core.text.language.inflection import can_be, singular
from foilworks.core.text.language.living import kind_of
from foilworks.core.text.language.main_verb import LOOKS, VerbGroup, verb_group
from foilworks.core.text.language.phrases import POSSESSIVE, NounPhrase, noun_phrases
from foilworks.core.text.language.tokens import Token

SOMEONE = frozenset({"someone", "somebody"})
WHO = frozenset({"who", "which", "that", "whose", "whom"})
UPON = frozenset({"under", "over", "beneath", "underneath", "around"})
# What opens a description: a comma, "who", "wearing", "in".
DESCRIBING = frozenset({"PUNCT", "PRON", "VERB", "ADP", "SCONJ", "DET", "ADJ", "AUX", "PART"})
STOPS = frozenset(".;:!?")
# Adverbs that belong to the verb behind them; others may end the subject ("a cap backwards").
BEFORE_VERB = word_set("then also just still now soon fast never always often again even once twice both all together")
# "the boy on the left".
SIDES = frozenset({"left", "right"})
# "fires using a gun": how, not who.
ADVERBIAL = word_set("using causing making trying leaving allowing preventing letting forcing")
# "puts a baby in a pram": where to, not which.
PUTTING = word_set("put place lay set drop throw")
LOOKING = word_set("look stare gaze glance peer glare point smile watch see notice observe face talk speak listen wave")


@dataclass(frozen=True)
class WholePhrase:
    """A noun phrase: tokens `first:last`, of which `first:core` are article, adjectives and nouns; `head` is its noun.

    `joined`: it has several heads ("a man and a woman").
    """

    first: int
    core: int
    last: int
    head: int
    joined: bool = False


@dataclass(frozen=True)
class Clause:
    """A clause: its subject and its verb group."""

    subject: WholePhrase
    verb: VerbGroup


class Sentence:
    """A tagged caption with its noun phrases."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.phrases: Mapping[int, NounPhrase] = {
            phrase.first: phrase for phrase in (*noun_phrases(tokens), *_persons_without_noun(tokens))
        }

    def main_clause(self, first: int = 0) -> Clause | None:
        """Return the first clause from `first` with a noun phrase as its subject."""
        verb = verb_group(self.tokens, first)
        if verb is None:
            return None
        at = first
        while at < verb.agrees:
            phrase = self.phrases.get(at)
            before = self.tokens[at - 1].part if at > first else "PUNCT"
            if phrase is not None and before in ("PUNCT", "SCONJ", "ADV"):
                subject = self._subject(self.joined(phrase), verb.agrees)
                return Clause(subject, verb)
            at = phrase.last if phrase is not None else at + 1
        return None

    def _subject(self, core: WholePhrase, agrees: int) -> WholePhrase:
        last = agrees
        while last > core.core and self._leads_verb(self.tokens[last - 1], alone=last - 1 == core.core):
            last -= 1
        if self.tokens[last - 1].text == "," and last > core.core:
            last -= 1
        return WholePhrase(core.first, core.core, max(last, core.core), core.head, core.joined)

    def _leads_verb(self, token: Token, *, alone: bool) -> bool:
        if token.part != "ADV":
            return False
        return alone or token.lower in BEFORE_VERB or token.lower.endswith("ly")

    def joined(self, phrase: NounPhrase) -> WholePhrase:
        """Return the phrase, and the phrases that "and" adds to it: "a boy and his dog"."""
        core, is_joined = phrase.last, False
        while core + 1 < len(self.tokens) and self.tokens[core].lower in ("and", "or"):
            following = self.phrases.get(core + 1)
            if following is None:
                break
            core, is_joined = following.last, True
        return WholePhrase(phrase.first, core, core, phrase.head, is_joined)

    def whole(self, core: WholePhrase, verb: Token) -> WholePhrase:
        """Extend a phrase behind the verb with what describes it."""
        last = core.core
        while (step := self._described(core, last, verb)) > last:
            last = step
        return WholePhrase(core.first, core.core, last, core.head, core.joined)

    def _described(self, core: WholePhrase, at: int, verb: Token) -> int:
        """Return the end of the description that begins at `at`; `at` if there is none."""
        tokens = self.tokens
        if at >= len(tokens) or tokens[at].part not in DESCRIBING:
            return at
        token = tokens[at]
        comma = token.text == "," and at + 1 < len(tokens)
        if comma:
            token = tokens[at + 1]
        inner = at + comma
        if token.part == "PRON" and token.lower in WHO:
            return self._stretch(inner + 1, joins=True)
        if token.tag == "VBN" or (token.tag == "VBD" and token.lemma in LOOKS):
            return self._looks(inner + 1) if token.lemma in LOOKS else at if comma else self._stretch(inner + 1)
        if token.tag == "VBG" and token.lower not in ADVERBIAL:
            if token.lemma in LOOKS:
                return self._looks(inner + 1)
            return at if comma else self._stretch(inner + 1)
        return at if comma else self._by_preposition(core, at, verb)

    def _stretch(self, at: int, *, joins: bool = False) -> int:
        """Return the end of a describing clause: a comma, a full stop, a subordinating conjunction, or a
        conjunction before a verb."""
        tokens = self.tokens
        while at < len(tokens):
            token = tokens[at]
            begins_clause = (
                token.part == "CCONJ" and at + 1 < len(tokens) and tokens[at + 1].part in ("VERB", "AUX", "ADV")
            )
            if token.text in STOPS or token.text == "," or token.part == "SCONJ" or (begins_clause and not joins):
                return at
            at += 1
        return at

    def _looks(self, at: int) -> int:
        """Return the end of "(wearing) a hat and a coat", "(dressed) in black"."""
        if at < len(self.tokens) and self.tokens[at].part in ("ADP", "ADV"):
            at += 1
        phrase = self.phrases.get(at) or self._clothes(at)
        if phrase is None and at < len(self.tokens) and self.tokens[at].part == "PRON":
            return at + 1
        return self._with_of(self._listed(phrase)) if phrase is not None else at

    def _with_of(self, at: int) -> int:
        """Return the end with "of" behind it: "(seated) in front of her"."""
        tokens = self.tokens
        if at + 1 >= len(tokens) or tokens[at].lower != "of":
            return at
        following = self.phrases.get(at + 1)
        if following is not None:
            return following.last
        return at + 2 if tokens[at + 1].part == "PRON" else at

    def _clothes(self, at: int) -> NounPhrase | None:
        """Return "(wearing) coats", "(in) the green dress" whose noun was tagged as something else."""
        end = at
        while end < len(self.tokens) and self.tokens[end].part in ("DET", "ADJ", "VERB"):
            end += 1
            if self.tokens[end - 1].lower in CLOTHES:
                return NounPhrase(at, end, end - 1)
        return None

    def _listed(self, phrase: NounPhrase) -> int:
        """Return the end of "a hat, a coat, and boots with heels"."""
        tokens, last = self.tokens, phrase.last
        while last + 1 < len(tokens):
            at = last
            while at < len(tokens) and (tokens[at].text == "," or tokens[at].lower in ("and", "&")):
                at += 1
            following = self.phrases.get(at)
            if at == last or following is None:
                break
            joined = tokens[at - 1].lower == "and" and self._is_thing(following)
            if not joined and not self._is_look(following):
                break
            last = following.last
        # "with blond hair, close to her": where.
        return last - 1 if tokens[last - 1].lower == "close" else last

    def _is_thing(self, phrase: NounPhrase) -> bool:
        """Return whether the phrase is a thing, and no verb follows: "(with a helmet) and a sword"."""
        after = self.tokens[phrase.last].part if phrase.last < len(self.tokens) else "PUNCT"
        return not kind_of(self.tokens[phrase.head].lower) and after not in ("VERB", "AUX")

    def _is_look(self, phrase: NounPhrase) -> bool:
        words = self._words(phrase)
        return not words.isdisjoint(FEATURES) or not words.isdisjoint(COLOURS)

    def _words(self, phrase: NounPhrase) -> set[str]:
        words = {token.lower for token in self.tokens[phrase.first : phrase.last]}
        return words | {singular_word for word in words if (singular_word := singular(word)) is not None}

    def _by_preposition(self, core: WholePhrase, at: int, verb: Token) -> int:
        """Return the end of "in a tan coat", "with glasses", "of the group", "on the left", else `at`."""
        word = self.tokens[at].lower
        phrase = self._behind_adjectives(at + 1)
        if phrase is None and word == "in":
            phrase = self._clothes(at + 1)
        if word in ("in", "with") and phrase is None and at + 2 < len(self.tokens):
            # "in all black"
            after = self.tokens[at + 1 : at + 3]
            return at + 3 if after[0].lower == "all" and after[1].lower in COLOURS else at
        if phrase is None:
            return at
        if word == "of":
            return phrase.last
        if word in ("in", "with", "without") and self._fits(word, phrase, core, verb):
            return self._listed(phrase)
        if word == "on" and self.tokens[phrase.head].lower in SIDES | RIDES:
            return phrase.last
        if word == "in" and self.tokens[phrase.head].lower in SEATS and verb.lemma not in PUTTING:
            return phrase.last
        if word in UPON and at > core.core and self.tokens[phrase.first].lower in POSSESSIVE:
            # "(with a red shirt) under his jacket"
            return phrase.last if not self._words(phrase).isdisjoint(CLOTHES | BODY) else at
        # "the person in the boat who ..."
        is_relative = phrase.last < len(self.tokens) and self.tokens[phrase.last].lower in WHO
        return phrase.last if is_relative and word in ("in", "at", "on") else at

    def _behind_adjectives(self, at: int) -> NounPhrase | None:
        """Return the phrase from `at`; "short, dark hair" is one."""
        phrase = self.phrases.get(at)
        if phrase is None or phrase.last != at + 1 or phrase.last + 1 >= len(self.tokens):
            return phrase
        following = self.phrases.get(phrase.last + 1)
        if self.tokens[phrase.last].text == "," and following is not None and can_be(self.tokens[at].lower, "ADJ"):
            return NounPhrase(at, following.last, following.head)
        return phrase

    def _fits(self, word: str, phrase: NounPhrase, core: WholePhrase, verb: Token) -> bool:
        words = self._words(phrase)
        if self.tokens[phrase.first].lower in POSSESSIVE:
            return False
        if word == "in":
            return not words.isdisjoint(CLOTHES) or self.tokens[phrase.head].lower in COLOURS
        if not words.isdisjoint(FEATURES):
            return words.isdisjoint(MANNERS)
        # "stares at a man with a gun", but "hits a man with a gun".
        behind_link = core.first > 0 and self.tokens[core.first - 1].part == "ADP"
        return behind_link and verb.lemma in LOOKING and words.isdisjoint(MANNERS)


def _persons_without_noun(tokens: Sequence[Token]) -> list[NounPhrase]:
    def end(at: int) -> int:
        return at + 2 if at + 1 < len(tokens) and tokens[at + 1].lower == "else" else at + 1

    words = [token.lower for token in tokens]
    if SOMEONE.isdisjoint(words):
        return []
    return [NounPhrase(at, end(at), at) for at, word in enumerate(words) if word in SOMEONE]
