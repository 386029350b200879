"""Find verb phrases of a caption as blanks, by two patterns: verb; verb + preposition (contrast sets, Sec. A.3)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.main_verb import action_verb
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.verb_forms import TAGS, inflect_like, verb_readings
from foilworks.core.text.tokens import words
from generation.grammar.surface import word_set

PLAIN_WORDS = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)*")
PATTERNS = {"verb": ("verb",), "verb_preposition": ("verb_preposition",), "both": ("verb_preposition", "verb")}
# Words that may follow a verb in the text that fills its blank.
LINKS = word_set(
    "up down on off in into onto out over under at with from to through around across along away back about for of by",
    "against behind beside between towards past after",
)


@dataclass(frozen=True)
class VerbSpan:
    """A verb phrase: characters `start:end` of a caption, a verb or a verb with the preposition after it."""

    start: int
    end: int
    text: str
    verb: str
    lemma: str
    form: str
    pattern: str


def verb_spans(tokens: Sequence[Token], patterns: str, which: str) -> list[VerbSpan]:
    """Find the phrases of the chosen verbs; `which`: the main, first, last or every verb."""
    verbs = [
        index
        for index, token in enumerate(tokens)
        if token.part == "VERB" and token.tag in TAGS and PLAIN_WORDS.fullmatch(token.text)
    ]
    selected_verbs = {"first": verbs[:1], "last": verbs[-1:], "every": verbs}.get(which, [])
    if which == "main" and (group := action_verb(tokens)) is not None:
        selected_verbs = [index for index in verbs if index == group.main]
    return [
        span for index in selected_verbs for pattern in PATTERNS[patterns] if (span := _span(tokens, index, pattern))
    ]


def _span(tokens: Sequence[Token], index: int, pattern: str) -> VerbSpan | None:
    verb, last = tokens[index], tokens[index]
    if pattern == "verb_preposition":
        behind = tokens[index + 1 : index + 2]
        if not behind or behind[0].part not in ("ADP", "ADV") or behind[0].lower not in LINKS:
            return None
        if verb.tag == "VBN" and behind[0].lower == "by":
            # "is chased by a dog": the actor stays.
            return None
        last = behind[0]
    words = " ".join(token.text for token in tokens[index : index + 1 + (last is not verb)])
    return VerbSpan(verb.start, last.end, words, verb.text, verb.lemma, verb.tag, pattern)


def fitted(span: VerbSpan, filling: str) -> str:
    """Return the filling in the original form, if it is a verb, or a verb with one or two words that link an
    object; "" if it is something else, or the same verb phrase.
    """
    words = filling.lower().split()
    if not PLAIN_WORDS.fullmatch(filling) or not 1 <= len(words) <= 3 or not set(words[1:]) <= LINKS:
        return ""
    readings = [lemma for lemma, tag in verb_readings(words[0]) if tag == span.form]
    if not readings or (words[1:] == span.text.lower().split()[1:] and span.lemma in readings):
        return ""
    return " ".join(words)


def inflected(span: VerbSpan, filling: str) -> str:
    """Inflect a filling in base form ("type on", after "can") like the original ("typing on"); "" for others."""
    words = filling.lower().split()
    if not words or not any(tag == "VB" for _, tag in verb_readings(words[0])):
        return ""
    form = inflect_like(span.verb, span.lemma, words[0], participle=span.form == "VBN")
    return " ".join([form.lower(), *words[1:]]) if form else ""


# "General actions (e.g. use, have)" and "some form of touching (e.g. hold, reach)" (ViLMA, Sec. C.5); "personal
# pronouns (e.g. I, they, etc.) and conjunctions (e.g. and, but)" (ViLMA, Sec. C.2). The paper gives only examples; the
# lists are ours.
GENERIC = word_set(
    "use have get do make be take go come keep let need want try start begin like love see look watch help put give",
    "find know think become seem stop continue work play include contain require",
)


TOUCHING = word_set(
    "hold reach touch grab grasp grip carry pick handle hit feel clutch seize catch press rub pat stroke tap lift",
)


PRONOUNS = word_set(
    "i you he she it we they me him her us them my your his its our their mine yours hers ours theirs myself yourself",
    "himself herself itself ourselves themselves who whom whose this that these those someone somebody something",
)


CONJUNCTIONS = word_set("and or but nor so yet for because although while if when than as though unless until since")
VERB_LISTS = {"generic": GENERIC, "touching": TOUCHING}
WORD_LISTS = {"pronouns": PRONOUNS, "conjunctions": CONJUNCTIONS}
STOP_LISTS = (*VERB_LISTS, *WORD_LISTS)


def stopped_by(span: str, lists: frozenset[str]) -> str:
    """Return the word of the span that is on a chosen stop list, or "". Verbs are matched in every form."""
    span_words = words(span)
    plain = {name for name in lists if name in WORD_LISTS}
    for word in span_words:
        if any(word in WORD_LISTS[name] for name in plain):
            return word
    for word in span_words[:1]:
        word_and_lemmas = {word, *lemmas(word).get("VERB", ()), *(lemma for lemma, _ in verb_readings(word))}
        if any(word_and_lemmas & VERB_LISTS[name] for name in lists if name in VERB_LISTS):
            return word
    return ""
