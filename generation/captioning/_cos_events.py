"""Find the change of state that a source sentence tells, also by its result: who pours water into a cup fills it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from foilworks.core.text.language.change_finding import STEPS, FoundChange, as_instruction, find_changes
from foilworks.core.text.language.change_of_state import NOUNS, StateChange, by_verb, verbs_by_head
from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.phrases import HEADS, POSSESSIVE, NounPhrase, is_plural_noun, noun_phrases
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.word_lists import word_set

# Nothing changes: "pretending to pour", "trying to open a jar".
UNDONE = frozenset({"pretend", "fail", "try", "attempt", "without"})
# The things that are taken as an idea only: "takes a photo".
NOT_TAKEN = word_set(
    "photo picture walk bath shower look part place care selfie video break turn step note nap seat ride time trip",
    "bite sip shot advantage",
)
# Words behind a thing that do not name it: "the tyre first".
NOT_NAMES = frozenset({"first", "again", "together", "well", "up", "upright", "next"})
# Whoever follows these instructions changes: "jump up", "do the first two jumps".
ALONE = frozenset({"jump", "ski", "rise", "climb", "ascend", "descend"})
# "turn off the screw"
TURNS = {"turn off": "unscrew", "turn on": "screw", "screw off": "unscrew"}
# The particle that the preposition of a place stands for: "plugs the lamp into the wall" plugs it in.
LINKED = {
    "plug in": "plug in",
    "plug into": "plug in",
    "plug to": "plug in",
    "screw into": "screw in",
    "screw on": "screw on",
    "screw onto": "screw on",
}
TURNED = frozenset({"screw", "nut", "bolt"})
NAMES_ACTS = frozenset({"do", "perform", "make", "finish", "complete", "begin", "start"})
KEPT_ARTICLES = frozenset({"all", "both", "some", "each", "every"})
# A list without commas has more nouns in a row than a name: "paprika pepper salt cinnamon and oil".
LONGEST_NAME = 4
# Of these verbs' objects only whole lists are told.
MIXING = frozenset({"mix", "combine", "arrange"})


@dataclass(frozen=True)
class Event:
    """A change with the thing that changes: tokens `first:last` with the head noun `head`.

    `result`: what it becomes, "into a ball"; `before`: the preposition that the verb keeps, "paints on the wall".
    """

    change: StateChange
    first: int
    last: int
    head: int
    transitive: bool
    several: bool = False
    name: str = ""
    result: str = ""
    before: str = ""


def event_of(tokens: Sequence[Token]) -> tuple[Sequence[Token], Event | None]:
    """Return the tokens as they are read, and the first change, or the result of what is done."""
    if any(token.lemma in UNDONE for token in tokens):
        return tokens, None
    instruction = as_instruction(tokens)
    return instruction, next(_results(instruction), None) or _stated_event(instruction) or next(
        _weaker(instruction), None
    )


def _stated_event(tokens: Sequence[Token]) -> Event | None:
    for found_change in find_changes(tokens):
        if (
            found_change.what is None
            or _is_aside(tokens, found_change)
            or _is_loose_list(tokens, found_change.what, found_change.change.verb)
            or (found_change.change.verb == "take" and tokens[found_change.what.head].lemma in NOT_TAKEN)
        ):
            continue
        change = found_change.change
        if (
            change.object_type == "structure"
            and change.verb not in ("assemble", "disassemble")
            and tokens[found_change.what.head].lemma not in NOUNS["structure"]
        ):
            continue
        if change.verb == "put on" and found_change.preposition >= 0:
            # "putting a book on a table" puts it down; only clothes are put on.
            change = by_verb()["put down"][0]
        if change.verb in ("fill", "empty") and tokens[found_change.what.head].lemma in NOUNS["liquid"]:
            continue
        if change.verb in TURNS and tokens[found_change.what.head].lemma in TURNED:
            change = by_verb()[TURNS[change.verb]][0]
        if found_change.what.last - found_change.what.first == 1 and tokens[found_change.what.head].lower in (
            "everything",
            "object",
        ):
            continue
        if found_change.preposition >= 0:
            linked = LINKED.get(f"{change.verb} {tokens[found_change.preposition].lower}", change.verb)
            change = by_verb()[linked][0] if linked != change.verb else change
        if change.verb == "screw" and tokens[found_change.what.head].lemma not in TURNED:
            # Screws are screwed; a cover is screwed on.
            continue
        return _completed(
            tokens, found_change, _event(tokens, change, found_change.what, transitive=found_change.transitive)
        )
    return None


def _is_aside(tokens: Sequence[Token], found_change: FoundChange) -> bool:
    """Return whether the verb only describes: "boiled potatoes", "screws used to fix it", "when the rice is cooked"."""
    index = found_change.verb
    before = tokens[index - 1] if index else None
    if tokens[index].tag == "VBN" and not found_change.passive:
        return True
    if tokens[index].tag == "VBD" and before is not None and before.part in ("VERB", "DET"):
        return True
    if before is not None and before.lower == "to" and index > 1 and tokens[index - 2].lower == "used":
        return True
    return found_change.passive and any(token.part == "SCONJ" for token in tokens[:index])


def _is_loose_list(tokens: Sequence[Token], phrase: NounPhrase, verb: str) -> bool:
    """Return whether the things are listed without commas, or such a list goes on behind them."""
    behind = tokens[phrase.last] if phrase.last < len(tokens) else None
    if _goes_on(tokens, phrase.last):
        return True
    if verb in MIXING and behind is not None and behind.part in ("VERB", "ADJ") and behind.lower not in verbs_by_head():
        return True
    nouns, several = 0, False
    for index in range(phrase.first, phrase.last):
        token = tokens[index]
        if token.part not in (*HEADS, "ADJ"):
            nouns = 0
            continue
        nouns += 1
        is_repeated = any(token.lower == earlier_token.lower for earlier_token in tokens[index - nouns + 1 : index])
        several = (
            several or is_repeated or (nouns > 1 and token.part in HEADS and is_plural_noun(tokens[index - 1].text))
        )
        if nouns > LONGEST_NAME:
            return True
    return several and any(token.part == "CCONJ" for token in tokens[phrase.first : phrase.last])


def _goes_on(tokens: Sequence[Token], last: int) -> bool:
    """Return whether a plural noun that taggers take for a verb is behind a phrase: "the olives (peppers) and ham"."""
    behind = tokens[last] if last < len(tokens) else None
    if behind is None or behind.part != "VERB" or behind.tag != "VBZ":
        return False
    return behind.lemma not in verbs_by_head() and "NOUN" in lemmas(behind.lower)


def _completed(tokens: Sequence[Token], found_change: FoundChange, event: Event) -> Event | None:
    """Return the event with the words that its verb cannot lose: "forms the dough into a ball"."""
    behind = found_change.behind
    if event.change.verb == "form" and behind < len(tokens) and tokens[behind].lower == "into":
        becomes = next((phrase for phrase in noun_phrases(tokens) if phrase.first == behind + 1), None)
        if becomes is None or _goes_on(tokens, becomes.last):
            return None
        last = _name_end(tokens, becomes.first, becomes.last)
        if last - becomes.first > 2 and last < len(tokens) and tokens[last].lower in ("out", "up"):
            # "a ball roll out": the next instruction.
            last -= 1
        words = tokens[behind:last]
        return replace(event, result=" ".join(token.text for token in words))
    if event.change.verb == "paint" and tokens[found_change.verb + 1].lower == "on":
        return replace(event, before="on")
    return event


def _name_end(tokens: Sequence[Token], first: int, last: int) -> int:
    """Return where a name ends before the next instruction: "the dish (place a leaf)", "the mix (seal for an hour)"."""
    if last - first < 2 or last >= len(tokens) or tokens[last - 2].part not in HEADS:
        return last
    verb = tokens[last - 1].lower in verbs_by_head() or tokens[last - 1].lower in STEPS
    lasts = tokens[last].lower == "for" and last + 1 < len(tokens) and tokens[last + 1].part == "NUM"
    return last - 1 if verb and (lasts or tokens[last].part == "DET") else last


def _weaker(tokens: Sequence[Token]) -> Iterator[Event]:
    """Yield what is told without a place or without its actor: "putting a bangle", "ski down the hill"."""
    phrases = {phrase.first: phrase for phrase in noun_phrases(tokens)}
    if tokens and tokens[0].lemma in ("put", "place") and 1 in phrases:
        yield _event(tokens, by_verb()["put down"][0], phrases[1], transitive=True)
    for index, token in enumerate(tokens):
        begins = index == 0 or tokens[index - 1].lower in ("and", "then", "to", ",")
        is_named_act = token.lower in ("jump", "jumps") and tokens[0].lower in NAMES_ACTS
        lemma = "jump" if is_named_act else token.lemma
        if (begins or is_named_act) and lemma in ALONE and index + 1 not in phrases:
            yield Event(by_verb()[lemma][0], index, index + 1, index, False, name="person")


def _event(tokens: Sequence[Token], change: StateChange, phrase: NounPhrase, *, transitive: bool) -> Event:
    words = tokens[phrase.first : phrase.last]
    first, last = phrase.first, _name_end(tokens, phrase.first, phrase.last)
    while first < phrase.head and _is_opener(tokens[first], change) and tokens[first + 1].lower != "certain":
        first += 1
    # "drizzle little oil" tells how much.
    first += first == phrase.first < phrase.head and tokens[first].lower == "little"
    while last - 1 > first and tokens[last - 1].lower in NOT_NAMES:
        last -= 1
    head = min(phrase.head, last - 1)
    several = any(word.lower == "and" for word in words) or is_plural_noun(tokens[head].text)
    return Event(change, first, last, head, transitive, several)


def _is_opener(token: Token, change: StateChange) -> bool:
    """Return whether the word is no part of the thing's name: an article, a number, its state ("the dirty dishes")."""
    if token.part == "DET":
        return token.lower not in KEPT_ARTICLES
    return token.lower in POSSESSIVE or token.lower.isdigit() or token.lower in (change.pre, change.post)


def _results(tokens: Sequence[Token]) -> Iterator[Event]:
    """Yield what is told as the result: "so it falls", "revealing a coin", or follows from pouring."""
    phrases = {phrase.first: phrase for phrase in noun_phrases(tokens)}
    verb = next((index for index, token in enumerate(tokens) if token.part == "VERB"), -1)
    if verb < 0:
        return
    yield from _revealed(tokens, phrases)
    if tokens[verb].lemma == "tip":
        tipped = phrases.get(verb + 1)
        if tipped is not None and any(token.lower == "with" for token in tokens):
            yield _named_by_head(tokens, by_verb()["empty"][0], tipped)
        return
    falls = next((index for index, token in enumerate(tokens) if index > verb and token.lower in ("falls", "fall")), -1)
    if falls > 0 and any(token.lower == "so" for token in tokens[verb:falls]):
        next_phrase = phrases.get(verb + 1)
        if next_phrase is not None and tokens[falls - 1].lower == "it":
            yield _event(tokens, by_verb()["fall"][0], next_phrase, transitive=False)
        return
    if tokens[verb].lemma == "pour":
        yield from _poured(tokens, phrases, verb)


def _revealed(tokens: Sequence[Token], phrases: dict[int, NounPhrase]) -> Iterator[Event]:
    for index, token in enumerate(tokens):
        if index and token.lower == "revealing" and index + 1 in phrases:
            yield _event(tokens, by_verb()["reveal"][0], phrases[index + 1], transitive=True)


def _poured(tokens: Sequence[Token], phrases: dict[int, NounPhrase], verb: int) -> Iterator[Event]:
    for index in range(verb + 1, len(tokens) - 1):
        if tokens[index].lower == "into" and index + 1 in phrases:
            yield _named_by_head(tokens, by_verb()["fill"][0], phrases[index + 1])
        elif tokens[index].lower == "out" and tokens[index + 1].lower == "of" and index + 2 in phrases:
            yield _named_by_head(tokens, by_verb()["empty"][0], phrases[index + 2])


def _named_by_head(tokens: Sequence[Token], change: StateChange, phrase: NounPhrase) -> Event:
    head = phrase.head
    assert head >= 0, "a noun phrase has a head"
    return Event(change, head, head + 1, head, True, is_plural_noun(tokens[head].text))
