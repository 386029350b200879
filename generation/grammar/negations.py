"""Foils that deny what a caption says, or the reverse: "is not on a leash" -> "is on a leash", "starts" -> "stops".

Four kinds: an act begins or ends ("starts running"), it happens again or for the first time, somebody is with or without
a thing, and a verb with or without "not".
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.appearance import FEATURES
from foilworks.core.text.language.living import kind_of
from foilworks.core.text.language.main_verb import readings_by_tag, verb_group
from foilworks.core.text.language.numbers import match_case
from foilworks.core.text.language.phrases import is_plural_noun
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.verb_forms import verb_form, verb_readings
from foilworks.core.text.language.word_lists import word_set
from generation.grammar.surface import replace_phrase

STARTS, STOPS = ("start", "begin"), ("stop",)
ASPECTS = {**dict.fromkeys(STARTS, STOPS), **dict.fromkeys(STOPS, STARTS)}
# "starts by showing": not the act's start.
NO_ACTS = word_set("by off out over again with from up at")
# With these the act is said to go on, or to have gone on.
GOING_ON = word_set("continue continues continued keeps keep still again finally then before after until back resumes")
AGAIN = re.compile(r"(?<!once )(?<!over and over )(?<!back )\bagain(?=\s*(?:[.,;!]|$))", re.IGNORECASE)
FIRST_TIME = re.compile(r"\bfor\s+the\s+(?P<word>first|second)\s+time(?=\s*(?:[.,;!]|$))", re.IGNORECASE)
REPEATED = re.compile(r"\b(?:then|return\w*|re\w+s|back|another|once|second|more|continu\w+|first|start\w*|stop\w*)\b", re.IGNORECASE)
WORN = re.compile(
    rf"(?<![\w'’-])(?P<word>with|without)\s+(?:(?P<article>an?|any|his|her|the|their)\s+)?(?:[a-z-]+\s+)?(?P<noun>{'|'.join(sorted(FEATURES))})"
    r"(?![\w'’-])",
    re.IGNORECASE,
)
BE = word_set("is are was were")
DO = {"VBZ": "does", "VB": "do", "VBD": "did"}
# "some" and "already" do not fit "not"; with these, what is denied is unclear.
CLOSED = word_set(
    "some something someone somebody already also too still just only always both all every each everyone many several and",
    "or but while as because when until before after then if so that who which not no never none nothing without n't",
    "few other another one again first begins begin starts start continues continue stops stop together either quickly",
)
SUBJECTS = word_set("he she they it who that which")
# "A cup is not shown": nothing happens.
SEEN = word_set("see show appear view visible display begin picture go we i you come there")
# What follows is said or explained, not shown.
REASONS = word_set("realize realizes how know times why if because since so says say said tells tell told asks ask explains knows reason reasons thinks")
MAX_WORDS = 14


def negations(text: str, tokens: Sequence[Token]) -> Iterator[tuple[str, list[Edit]]]:
    """Yield the kind and the edits of each foil, the most frequent kinds of captions first."""
    yield from _aspects(tokens)
    yield from _repetitions(text, tokens)
    yield from _possessions(text, tokens)
    yield from _denials(tokens)


def _aspects(tokens: Sequence[Token]) -> Iterator[tuple[str, list[Edit]]]:
    """Replace "starts singing" and "begins to sing" by "stops singing", and "stops singing" by both verbs of starting."""
    verbs = [index for index, token in enumerate(tokens) if token.lemma in ASPECTS and token.part == "VERB"]
    if len(verbs) != 1 or not GOING_ON.isdisjoint(token.lower for token in tokens):
        return
    index = verbs[0]
    if _has_other_acts(tokens, index):
        return
    verb, acts = tokens[index], tokens[index + 1 : index + 3]
    if not acts:
        return
    to = acts[0].lower == "to"
    act = acts[-1] if to else acts[0]
    form = next((tag for lemma, tag in verb_readings(verb.text) if lemma == verb.lemma and tag != "VBN"), "")
    lemma = next((lemma for lemma, tag in verb_readings(act.text) if tag == ("VB" if to else "VBG")), "")
    if not lemma or not form or (to and (len(acts) < 2 or verb.lemma in STOPS)) or act.lower in NO_ACTS:
        return
    if any(lemma in (reading for reading, _ in verb_readings(token.text)) for token in tokens if token is not act):
        return
    edits = [Edit(acts[0].start, act.end, verb_form(lemma, "VBG"))] if to else []
    for target in ASPECTS[verb.lemma]:
        yield "aspect", [Edit(verb.start, verb.end, match_case(verb.text, verb_form(target, form))), *edits]


def _has_other_acts(tokens: Sequence[Token], index: int) -> bool:
    """Return whether something else happens before the verb, or behind it: "stops running and jumps"."""
    before, behind = tokens[:index], tokens[index + 1 :]
    if any(token.lower in ("to", "instead") for token in tokens[index + 2 :]) or any(
        token.lower.startswith(("start", "begin", "stop")) for token in [*before, *behind]
    ):
        return True
    if any(token.tag in ("VB", "VBZ", "VBD") or token.text in (".", ",", ";") or token.lower == "and" for token in before):
        return True
    return _is_joined(behind) or any(token.text in (".", ";") for token in behind[:-1])


def _is_joined(tokens: Sequence[Token]) -> bool:
    """Return whether "and" joins another act."""
    return any(
        token.part == "CCONJ" and (after.part == "ADV" or readings_by_tag(after.lower))
        for token, after in pairwise(tokens)
    )


def _repetitions(text: str, tokens: Sequence[Token]) -> Iterator[tuple[str, list[Edit]]]:
    """Replace "again" by "for the first time", and that by "again" and "for the second time"."""
    lemmas = [token.lemma for token in tokens if token.part == "VERB"]
    if len(set(lemmas)) < len(lemmas) or len(lemmas) > 2 or "times" in text.lower() or any(token.text in (".", ",", ";") for token in tokens[:-1]):
        return
    for match in AGAIN.finditer(text):
        if not REPEATED.search(text[: match.start()]):
            yield "repetition", [Edit(*match.span(), "for the first time")]
    for match in FIRST_TIME.finditer(text):
        if not REPEATED.search(text[: match.start()]):
            other = "second" if match["word"].lower() == "first" else "first"
            yield "repetition", [Edit(*match.span("word"), other)]
            if other == "second":
                yield "repetition", [Edit(*match.span(), "again")]


def _possessions(text: str, tokens: Sequence[Token]) -> Iterator[tuple[str, list[Edit]]]:
    """Replace "with a hat" by "without a hat" behind a person, and the reverse."""
    matches = list(WORN.finditer(text))
    if len(matches) != 1:
        return
    match = matches[0]
    before = [token for token in tokens if token.end <= match.start()]
    nouns = [token for token in tokens if token.lower == match["noun"].lower()]
    if not before or not kind_of(before[-1].lower) or len(nouns) > 1 or match["noun"].lower() in PLAIN_FEATURES:
        return
    persons = [token for token in tokens if kind_of(token.lower)]
    if len(persons) > 1 and len({token.lemma for token in persons}) < len(persons):
        return
    target = "without" if match["word"].lower() == "with" else "with"
    edits = [Edit(*match.span("word"), target)]
    if match["article"] and match["article"].lower() not in ("a", "an"):
        return
    yield "possession", edits


PLAIN_FEATURES = word_set("hair head face chest nose skin eyes complexion physique build black-tie drag polo top tank lace silk fur leather paint hump limp muscles hairline plaid denim khaki camouflage")


def _denials(tokens: Sequence[Token]) -> Iterator[tuple[str, list[Edit]]]:
    """Remove "not" behind an auxiliary, or add it to the only verb of a short caption."""
    words = [token.lower for token in tokens if token.part != "PUNCT"]
    denied = [index for index, token in enumerate(tokens) if token.lower == "not" or token.lower.endswith(("n't", "n’t"))]
    if len(denied) == 1:
        yield from _affirmed(tokens, denied[0])
    elif not denied and len(words) <= MAX_WORDS and CLOSED.isdisjoint(words):
        yield from _denied(tokens)


def _is_plain_plural(subject: Sequence[Token]) -> bool:
    """Return whether a subject is one plural noun, such as "two men": other words may be the verb."""
    nouns = [token for token in subject if token.part not in ("DET", "NUM", "ADJ")]
    return len(nouns) == 1 and nouns[0] is subject[-1] and (is_plural_noun(nouns[0].text) or nouns[0].lower == "they")


def _affirmed(tokens: Sequence[Token], index: int) -> Iterator[tuple[str, list[Edit]]]:
    at = index - 1 if tokens[index].lower == "not" else index
    auxiliary, after = tokens[at], tokens[index + 1] if index + 1 < len(tokens) else None
    if not REASONS.isdisjoint(token.lower for token in tokens[:index]) or _is_joined(tokens[index:]):
        return
    base = auxiliary.lower.removesuffix("n't").removesuffix("n’t")
    if at < 0 or after is None or after.lower in ("only", "just", "yet", "even", "very", "really", "able", "going") or "but" in (token.lower for token in tokens):
        return
    if any(token.lower in ("any", "anything", "anyone", "anymore", "yet", "at", "until", "because", "either", "much") for token in tokens[index:]):
        return
    if base in BE:
        yield "denial", [Edit(auxiliary.start, after.end, f"{match_case(auxiliary.text, base)} {after.text}")]
    forms = {do: tag for tag, do in DO.items()}
    if base in forms and any(tag == "VB" for _, tag in verb_readings(after.text)):
        yield "denial", [Edit(auxiliary.start, after.end, verb_form(after.lower, forms[base]))]


def _denied(tokens: Sequence[Token]) -> Iterator[tuple[str, list[Edit]]]:
    group = verb_group(tokens)
    if group is None:
        return
    verb = tokens[group.agrees]
    subject = {token.lower for token in tokens[1 : group.agrees]}
    if tokens[group.agrees - 1].part == "ADV" or not SUBJECTS.isdisjoint(subject) or {token.lemma for token in tokens} & SEEN:
        return
    if any(token.text == "," for token in tokens) or (group.tag == "VB" and not _is_plain_plural(tokens[: group.agrees])):
        return
    others = [index for index, token in enumerate(tokens) if token.part in ("VERB", "AUX") and index not in (group.agrees, group.main)]
    if others or (verb.part == "VERB" and group.tag not in DO):
        return
    if verb.lower in BE and tokens[0].lower != "there":
        yield "denial", [Edit(verb.end, verb.end, " not")]
    elif verb.part == "VERB" and group.tag in DO:
        yield "denial", [Edit(verb.start, verb.end, f"{DO[group.tag]} not {verb.lemma}")]
