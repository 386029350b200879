"""Foils that deny what a caption says, or the reverse: "is not on a leash" -> "is on a leash".

"not" is added only to outcomes, which captions deny, too. Start and stop are not exchanged: a clip may show both.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.main_verb import VerbGroup, readings_by_tag, verb_group
from foilworks.core.text.language.numbers import match_case
from foilworks.core.text.language.phrases import is_plural_noun
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.verb_forms import verb_form, verb_readings
from foilworks.core.text.language.word_lists import word_set

BE = word_set("is are was were")
DO = {"VBZ": "does", "VB": "do", "VBD": "did"}
# "some" and "already" do not fit "not"; with these, what is denied is unclear.
CLOSED = word_set(
    "some something someone somebody already also too still just only always both all every each everyone many",
    "several and or but while as because when until before after then if so that who which not no never none",
    "nothing without n't few other another one again first begins begin starts start continues continue stops stop",
    "together either quickly",
)
# "not only", "not very"; "not at all", "not any".
DEGREES = word_set("only just yet even very really able going ever too quite so that all")
POLAR = word_set("any anything anyone anymore yet at until because either much")
SUBJECTS = word_set("he she they it who that which")
# "A cup is not shown": nothing happens.
SEEN = word_set("see show appear view visible display begin picture go we i you come there")
# What follows is said or explained, not shown.
REASONS = word_set(
    "realize realizes how know times why if because since so say says said saying tells tell told telling asks ask",
    "asked explain explains explained explaining knows reason reasons thinks remind reminds noting notes find finds",
    "mention mentions learn learns learned will except attempt claims argues",
)
# What is worth saying if it does not happen: "does not catch the ball", "is not wearing a helmet".
OUTCOMES = word_set(
    "catch hit reach win score land make answer respond react agree accept stop move notice fit work wear smile",
    "touch have find finish help let allow laugh join wait open close fall drop break succeed believe know like",
    "understand recognize remember return follow pay miss knock share eat drink sleep use cry blink",
)
MAX_WORDS = 14


def negations(tokens: Sequence[Token]) -> Iterator[list[Edit]]:
    """Yield the edits that remove "not" behind an auxiliary, or add it to the only verb of a short caption."""
    words = [token.lower for token in tokens if token.part != "PUNCT"]
    denied = [
        index for index, token in enumerate(tokens) if token.lower == "not" or token.lower.endswith(("n't", "n’t"))
    ]
    if len(denied) == 1:
        yield from _affirmed(tokens, denied[0])
    elif not denied and len(words) <= MAX_WORDS and CLOSED.isdisjoint(words):
        yield from _denied(tokens)


def _is_plain_plural(subject: Sequence[Token]) -> bool:
    """Return whether a subject is one plural noun, such as "two men": other words may be the verb."""
    nouns = [token for token in subject if token.part not in ("DET", "NUM", "ADJ")]
    return len(nouns) == 1 and nouns[0] is subject[-1] and (is_plural_noun(nouns[0].text) or nouns[0].lower == "they")


def _is_joined(tokens: Sequence[Token]) -> bool:
    """Return whether "and" joins another act."""
    return any(
        token.part == "CCONJ" and (after.part == "ADV" or readings_by_tag(after.lower))
        for token, after in pairwise(tokens)
    )


def _affirmed(tokens: Sequence[Token], index: int) -> Iterator[list[Edit]]:
    """Yield the edit that removes "not" at `index` and mends the verb: "does not run" -> "runs"."""
    at = index - 1 if tokens[index].lower == "not" else index
    auxiliary, after = tokens[at], tokens[index + 1] if index + 1 < len(tokens) else None
    if not REASONS.isdisjoint(token.lower for token in tokens[:index]) or _is_joined(tokens[index:]):
        return
    base = auxiliary.lower.removesuffix("n't").removesuffix("n’t")
    words = [token.lower for token in tokens]
    if at < 0 or after is None or after.lower in DEGREES or "but" in words or not POLAR.isdisjoint(words[index:]):
        return
    if base in BE:
        yield [Edit(auxiliary.start, after.end, f"{match_case(auxiliary.text, base)} {after.text}")]
    forms = {do: tag for tag, do in DO.items()}
    if base in forms and any(tag == "VB" for _, tag in verb_readings(after.text)):
        yield [Edit(auxiliary.start, after.end, verb_form(after.lower, forms[base]))]


def _denied(tokens: Sequence[Token]) -> Iterator[list[Edit]]:
    """Yield the edit that adds "not" to the only verb, if it is an outcome."""
    group = verb_group(tokens)
    if group is None or tokens[group.main].lemma not in OUTCOMES or not _is_simple(tokens, group):
        return
    verb = tokens[group.agrees]
    if verb.lower in BE and tokens[0].lower != "there":
        yield [Edit(verb.end, verb.end, " not")]
    elif verb.part == "VERB" and group.tag in DO:
        yield [Edit(verb.start, verb.end, f"{DO[group.tag]} not {verb.lemma}")]


def _is_simple(tokens: Sequence[Token], group: VerbGroup) -> bool:
    """Return whether the caption is one clause with one verb, of which the subject is certain."""
    subject = tokens[: group.agrees]
    if any(token.text == "," for token in tokens) or not SEEN.isdisjoint(token.lemma for token in tokens):
        return False
    verbs = {index for index, token in enumerate(tokens) if token.part in ("VERB", "AUX")}
    if verbs - {group.agrees, group.main} or tokens[group.agrees - 1].part == "ADV":
        return False
    has_clause = not SUBJECTS.isdisjoint(token.lower for token in subject[1:])
    return not has_clause and (group.tag != "VB" or group.main != group.agrees or _is_plain_plural(subject))
