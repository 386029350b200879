"""Choose the words of a caption that become blanks, and the words that may fill them: same form, another lemma."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from foilworks.core.text.language.change_finding import as_instruction
from foilworks.core.text.language.inflection import lemmas, singular
from foilworks.core.text.language.main_verb import action_verb, readings_by_tag
from foilworks.core.text.language.phrases import is_plural_noun, noun_phrases
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.verb_forms import TAGS, verb_readings

# English letters only: other text is never changed.
PLAIN_WORD = re.compile(r"[A-Za-z]+")
NOUN_FORMS = ("NN", "NNS")
FORMS = (*TAGS, *NOUN_FORMS)
PARTICLES = frozenset({"up", "down", "out", "off", "away", "back"})
# Without content: "is", "has", "does" fit nearly everywhere.
# These say that something is seen or goes on: what is done follows.
SHOWN = frozenset({"see", "show", "watch", "picture", "display", "film", "feature", "hear", "depict"})
PASSED = frozenset(
    {"begin", "start", "continue", "keep", "proceed", "go", "try", "attempt", "finish", "stop", "resume"}
)
PASSED |= {"appear", "seem", "decide", "come"}
PLAIN_SUBJECTS = frozenset({"person", "people", "man", "woman", "boy", "girl", "child", "they", "he", "she", "someone"})
FIRST_WORDS, MAX_PASSED = 6, 3
EMPTY_VERBS = frozenset({"be", "have", "do", "can", "will", "may", "must"})


@dataclass(frozen=True)
class Spot:
    """A word to replace: characters `start:end` of a caption; `form` is a Penn tag of a verb, or NN or NNS."""

    start: int
    end: int
    word: str
    lemma: str
    form: str


def spots(tokens: Sequence[Token], target: str, which: str = "every") -> list[Spot]:
    """Find the words of a kind, left to right; `which`: main, first, last or every.

    `object`: the head of the noun phrase right after the main verb (a particle between them, no preposition);
    `subject`: of the last one before it. Only a verb can be `main`; of others the first is taken.
    """
    if target == "verb" and which == "main":
        return _main_verb(tokens)
    all_spots = _all_spots(tokens, target)
    return {"main": all_spots[:1], "first": all_spots[:1], "last": all_spots[-1:], "every": all_spots}[which]


def _main_verb(tokens: Sequence[Token]) -> list[Spot]:
    found = _verb_of(tokens)
    if found is None:
        return []
    index, tag = _act(tokens, *found)
    token = tokens[index]
    if tag not in TAGS or not PLAIN_WORD.fullmatch(token.text):
        return []
    lemma = token.lemma if token.part == "VERB" else readings_by_tag(token.lower)[tag]
    return [Spot(token.start, token.end, token.lower, lemma, tag)]


def _verb_of(tokens: Sequence[Token]) -> tuple[int, str] | None:
    """Return the index and tag of the main verb: of a sentence, an instruction ("pick up"), or "person throw it"."""
    group = action_verb(tokens)
    if group is not None:
        return group.main, group.tag
    for index, token in enumerate(as_instruction(tokens)[:FIRST_WORDS]):
        readings = readings_by_tag(token.lower)
        tag = next((tag for tag in ("VB", "VBZ", "VBG") if tag in readings), "")
        if tag and (index == 0 or _follows_subject(tokens, index)):
            return index, tag
    return None


def _follows_subject(tokens: Sequence[Token], index: int) -> bool:
    before = tokens[index - 1]
    return before.lower in PLAIN_SUBJECTS or (
        index == 1 and before.text[:1].isupper() and before.part in ("PROPN", "NOUN")
    )


def _act(tokens: Sequence[Token], index: int, tag: str) -> tuple[int, str]:
    """Return the act behind a verb that only says that something is seen, begins or goes on: "is seen (running)"."""
    for _ in range(MAX_PASSED):
        lemma = (
            tokens[index].lemma if tokens[index].part == "VERB" else readings_by_tag(tokens[index].lower).get(tag, "")
        )
        if lemma not in PASSED and not (lemma in SHOWN and tag == "VBN"):
            return index, tag
        at = index + 1
        while at < len(tokens) and (
            tokens[at].part == "ADV" or tokens[at].lower in ("to", "by", "up", "with", "on", "and", "be")
        ):
            at += 1
        readings = readings_by_tag(tokens[at].lower) if at < len(tokens) else {}
        behind_to = at < len(tokens) and tokens[at - 1].lower == "to"
        next_tag = "VBG" if "VBG" in readings else "VB" if behind_to and "VB" in readings else ""
        if not next_tag:
            return index, tag
        index, tag = at, next_tag
    return index, tag


def _all_spots(tokens: Sequence[Token], target: str) -> list[Spot]:
    if target in ("verb", "noun"):
        target_tokens: Iterable[Token] = (token for token in tokens if token.part == target.upper())
    else:
        group = action_verb(tokens)
        verb = group.main if group else len(tokens)
        phrases = noun_phrases(tokens)
        if target == "object":
            behind = (phrase for phrase in phrases if phrase.first > verb)
            target_phrases = [phrase for phrase in behind if _is_reached(tokens, verb, phrase.first)][:1]
        else:
            target_phrases = [phrase for phrase in phrases if phrase.head < verb][-1:]
        target_tokens = (tokens[phrase.head] for phrase in target_phrases if tokens[phrase.head].part == "NOUN")
    return [spot for spot in map(_spot, target_tokens) if spot is not None]


def _is_reached(tokens: Sequence[Token], verb: int, first: int) -> bool:
    """Return whether the object is the verb's: "picks up a ball", "quickly folds a shirt"; not "walks in a park"."""
    return all(token.part == "ADV" or token.lower in PARTICLES for token in tokens[verb + 1 : first])


def _spot(token: Token) -> Spot | None:
    if not PLAIN_WORD.fullmatch(token.text):
        return None
    if token.part == "NOUN":
        return Spot(token.start, token.end, token.lower, token.lemma, "NNS" if is_plural_noun(token.text) else "NN")
    form = token.tag if token.tag in TAGS else ""
    return Spot(token.start, token.end, token.lower, token.lemma, form) if form else None


def words_by_form(
    words: Collection[str], allowed_lemmas: Collection[tuple[str, str]] | None
) -> dict[str, tuple[str, ...]]:
    """Return form -> sorted words with that form. `allowed_lemmas`: (lemma, "VERB" or "NOUN"); None: all."""
    words_by_tag: dict[str, list[str]] = {form: [] for form in FORMS}
    for word in sorted(words):
        for lemma, tag in verb_readings(word) if len(word) > 1 else ():
            if (
                lemma not in EMPTY_VERBS
                and (allowed_lemmas is None or (lemma, "VERB") in allowed_lemmas)
                and word not in words_by_tag[tag][-1:]
            ):
                words_by_tag[tag].append(word)
        nouns = lemmas(word).get("NOUN", ()) if len(word) > 1 else ()
        if nouns and (allowed_lemmas is None or any((lemma, "NOUN") in allowed_lemmas for lemma in nouns)):
            words_by_tag["NNS" if singular(word) is not None else "NN"].append(word)
    return {form: tuple(listed) for form, listed in words_by_tag.items()}


def is_form_of(spot: Spot, word: str) -> bool:
    """Return whether the word is a form of the original word: "folds" and "folded", "box" and "boxes"."""
    if word in (spot.word, spot.lemma):
        return True
    word_class = "NOUN" if spot.form in NOUN_FORMS else "VERB"
    return spot.lemma in lemmas(word).get(word_class, ()) or any(
        lemma == spot.lemma for lemma, _ in verb_readings(word)
    )
