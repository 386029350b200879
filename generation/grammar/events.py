"""Exchange two events of a caption: "opens a door and then sits down" -> "sits down and then opens a door".

Both events must be complete and happen once ("puts a cup on the table"): what continues or is repeated, such as
talking, may be on both sides. Refused are events that need or end the other, things that both name, and their pronouns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.living import COLLECTIVES, kind_of
from foilworks.core.text.language.main_verb import as_main_verb, readings_by_tag, verb_group
from foilworks.core.text.language.numbers import match_case
from foilworks.core.text.language.phrases import is_plural_noun, noun_phrases
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.word_lists import word_set
from generation.grammar.pronouns import GENDERS

CONNECTIVES = {"before": "after", "after": "before"}
# Acts that are complete and happen once -> the particles that make them so; without any, they need a thing.
BOUNDED = {
    "sit": ("down",),
    "stand": ("up",),
    "lie": ("down",),
    "turn": ("on", "off"),
    "pick": ("up",),
    "take": ("off",),
} | dict.fromkeys(
    word_set(
        "put place set throw toss drop open close shut hang fold lock unlock hand give hide break crumple grab fix",
        "light kick hit sign slam snap tie untie zip unzip button plug unplug swallow remove dump spill insert pin",
        "tear rip smash stab slap punch kiss hug fasten attach detach peel bite lay unload tip knock fire shoot fling",
        "smack seal unscrew screw crack ring unwrap plant raise unfold drape deliver snatch",
    ),
    (),
)
# These need no thing.
ALONE = word_set("sneeze cough yawn wink bow kneel faint trip stumble sigh curtsy salute crash collapse explode")
# Of another actor than the other event, these need no thing either; of the same one, they may begin what follows.
APPEARING = word_set("appear disappear enter arrive emerge vanish burst shatter zoom fall")
# The door of these, and what is behind it, may be needed.
CONTAINERS = word_set(
    "washer dryer pantry fridge refrigerator cabinet closet oven microwave car cupboard wardrobe locker inside into",
    "outside",
)
# "opens the bag": what is in it may be needed.
OPENING = word_set("open close shut lock unlock slam")
OPENED = word_set("door window curtain curtains blinds gate light lights lamp tv television radio fan faucet music")
AWAY = word_set("away off out")
# With these, the order of events is said twice, there are more than two, or one ends what is seen.
ORDER_WORDS = word_set(
    "before after then while until till when once finally first second third last next later again still since",
    "during afterwards afterward eventually initially meanwhile because so if unless whenever already as both also",
    "respectively or but simultaneously immediately back another other others same more rest even can could process",
    "end ends stop stops halt leave leaves exit exits top pieces piece result",
)
# Steps of cooking need each other.
COOKING = word_set(
    "sandwich bread butter cheese batter dough sauce mixture bowl pan pot egg eggs flour cream oven stove",
)
# They may name a thing of the other event.
BACK = word_set("it them itself themselves one ones there this that these those which")
REPEATED = word_set("again same more")
SAME_ACTOR = word_set("he she they")
# Behind "walks over to a man", they may be that man's.
PERSONS = word_set("him her his their")
STOPS = frozenset(".!?;:")
MAX_TOKENS = 60
Span = tuple[int, int]


@dataclass(frozen=True)
class Exchange:
    """The edits of a foil, and the form of its caption: "before" (or after), "acts" of one actor, or "clauses"."""

    edits: list[Edit]
    form: str


def exchange(text: str, tokens: Sequence[Token]) -> Exchange | str:
    """Return how to exchange two events of a caption, or why that makes no foil. The first ones that can be are."""
    why = "it does not say which event comes first"
    tagged = _with_verbs(tokens[:MAX_TOKENS])
    for window, later in _windows(tagged):
        made = _in_window(text, window, later)
        if isinstance(made, Exchange) and (again := _said_again(tagged, window)):
            made = f"'{again}' is said again"
        if isinstance(made, Exchange):
            return made
        why = made or why
    return why


def _said_again(tokens: Sequence[Token], window: Sequence[Token]) -> str:
    """Return a word for an act of the window that the rest of the caption names, too, or ""."""
    acts = {token.lemma for token in window if token.part == "VERB"}
    outside = (token.lower for token in tokens if not window[0].start <= token.start < window[-1].end)
    return next((word for word in outside if not acts.isdisjoint(readings_by_tag(word).values())), "")


def _with_verbs(tokens: Sequence[Token]) -> list[Token]:
    """Tag a verb form behind "he", "she" or "they" as a verb: taggers find the main clause's only."""
    tagged = list(tokens)
    for index in range(1, len(tokens)):
        token, forms = tokens[index], readings_by_tag(tokens[index].lower)
        tag = next((tag for tag in ("VBZ", "VBD", "VB") if tag in forms), "")
        if tag and token.part != "AUX" and tokens[index - 1].lower in SAME_ACTOR:
            tagged[index] = Token(token.start, token.end, token.text, "VERB", forms[tag], tag)
    return tagged


def _windows(tokens: Sequence[Token]) -> Iterator[tuple[Sequence[Token], Sequence[Token]]]:
    """Yield each sentence, and each two of which the second has "then" near its start, with the tokens behind."""
    starts = [0, *(index + 1 for index, token in enumerate(tokens) if token.text in STOPS), len(tokens)]
    sentences = [(start, end) for start, end in pairwise(starts) if start < end]
    for (start, end), following in zip_longest(sentences, sentences[1:]):
        yield tokens[start:end], tokens[end:]
        if following and "then" in [token.lower for token in tokens[following[0] : following[0] + 4]]:
            yield tokens[start : following[1]], tokens[following[1] :]


def _in_window(text: str, tokens: Sequence[Token], later: Sequence[Token]) -> Exchange | str:
    """Return the exchange, or why there is none; "" if nothing says which event comes first."""
    marks = [index for index, token in enumerate(tokens) if token.lower in CONNECTIVES or token.lower == "then"]
    if len(marks) != 1:
        return "it orders more than two events" if marks else ""
    mark = marks[0]
    words = [token.lower for index, token in enumerate(tokens) if index != mark]
    words = words[1:] if words[:1] == ["first"] and tokens[mark].lower == "then" else words
    if extra := ORDER_WORDS.intersection(words):
        return f"'{min(extra)}' orders its events, too"
    behind = [token.lower for token in later]
    if OPENING.intersection(token.lemma for token in tokens) and (room := CONTAINERS.intersection(words)):
        return f"the {min(room)} may be what is opened"
    if food := COOKING.intersection(words):
        return f"the {min(food)} may need both events in this order"
    if back := BACK.intersection([*words, *behind]) | REPEATED.intersection(behind):
        return f"'{min(back)}' may be of the other event"
    return _connective(tokens, mark) if tokens[mark].lower in CONNECTIVES else _moved(text, tokens, mark)


def _connective(tokens: Sequence[Token], mark: int) -> Exchange | str:
    """Replace "before" by "after", if both sides are events."""
    end = _trimmed(tokens, 0, len(tokens))[1]
    behind, main = (mark + 1, end), (0, mark)
    if mark == 0:
        comma = next((index for index in range(end) if tokens[index].text == ","), 0)
        behind, main = (1, comma), (comma + 1, end)
    act = behind[0]
    while act < behind[1] and tokens[act].part == "ADV":
        act += 1
    if act >= behind[1] or not (tokens[act].tag == "VBG" or _is_clause(tokens, (act, behind[1]))):
        return f"'{tokens[mark].lower}' does not join two events"
    if why := _why_bound(tokens, main, behind):
        return why
    word = tokens[mark]
    return Exchange([Edit(word.start, word.end, match_case(word.text, CONNECTIVES[word.lower]))], "before")


def _is_clause(tokens: Sequence[Token], span: Span) -> bool:
    """Return whether it has a subject and a finite verb."""
    clause = tokens[slice(*span)]
    group = verb_group(clause)
    return clause[0].part in ("DET", "PRON", "PROPN") and group is not None and group.tag in ("VBZ", "VBD", "VB")


def _moved(text: str, tokens: Sequence[Token], mark: int) -> Exchange | str:
    """Exchange the acts of one actor, or the clauses of two, around "then"."""
    first, second = _clauses(tokens, mark)
    if not first or not second:
        return "'then' does not join two events"
    tokens = list(tokens)
    for start, end in (first, second):
        clause = tokens[start:end]
        if clause[0].part in ("DET", "PROPN"):
            as_main_verb(clause)
            tokens[start:end] = clause
    subject = _subject_end(tokens, second)
    if subject == second[0] and any(token.text in STOPS for token in tokens[first[1] : second[0]]):
        return "its second sentence has no subject"
    acts = _act(tokens, first), _act(tokens, (subject, second[1]))
    if acts[0] is None or acts[1] is None:
        return "one side has no finite verb"
    heads = _head(tokens, (first[0], acts[0][0])), _head(tokens, (second[0], subject))
    is_same = heads[0] == heads[1] and subject - second[0] == 2 and tokens[second[0]].lower == "the"
    if heads[1] in SAME_ACTOR and not _may_be(heads[1], heads[0]):
        return f"'{heads[1]}' may be somebody else"
    if subject == second[0] or heads[1] in SAME_ACTOR or is_same:
        if tokens[acts[0][1]].tag != tokens[acts[1][1]].tag:
            return "its verbs have different forms"
        if why := _why_bound(tokens, first, second):
            return why
        spans = (acts[0][0], first[1]), (acts[1][0], second[1])
        if _names_person(tokens, spans[0]) and any(token.lower in PERSONS for token in tokens[slice(*spans[1])]):
            return "a pronoun may be of the other event"
        return Exchange(_exchanged(text, tokens, *spans), "acts")
    has_pronoun = any(token.part == "PRON" for span in (first, second) for token in tokens[slice(*span)])
    if _person_names(tokens, first, acts[0]) & _person_names(tokens, second, acts[1]):
        return "both events have the same actor"
    if why := _why_bound(tokens, first, second, APPEARING):
        return why
    if has_pronoun or not all(heads) or any(tokens[span[0]].part not in ("DET", "PROPN") for span in (first, second)):
        return "a pronoun may be of the other event"
    return Exchange(_exchanged(text, tokens, first, second), "clauses")


def _clauses(tokens: Sequence[Token], mark: int) -> tuple[Span | None, Span | None]:
    """Return what is before and behind "then", without "and", "First," and marks; None if there are three clauses."""
    start = 1 if tokens[0].lower == "first" else 0
    stop = next((index for index in range(mark) if tokens[index].text in STOPS), mark)
    first, second = _trimmed(tokens, start, stop), _trimmed(tokens, mark + 1, len(tokens))
    if stop < mark:
        lead = _trimmed(tokens, stop + 1, mark)
        if lead[0] < lead[1]:
            # "He then waves."
            if tokens[lead[0]].part not in ("PRON", "DET") or any(
                token.part == "VERB" for token in tokens[slice(*lead)]
            ):
                return None, None
            return first, (lead[0], second[1])
    is_one = stop < mark or all(_is_single(tokens, span) for span in (first, second))
    return (first, second) if is_one and first[0] < first[1] and second[0] < second[1] else (None, None)


def _is_single(tokens: Sequence[Token], span: Span) -> bool:
    """Return whether it has neither commas nor sentences, and no verb behind "and"."""
    for index in range(*span):
        behind = tokens[index + 1].part if index + 1 < span[1] else ""
        if tokens[index].text in STOPS or tokens[index].text == ",":
            return False
        if tokens[index].part == "CCONJ" and behind in ("VERB", "ADV", "AUX", "PRON"):
            return False
    return True


def _trimmed(tokens: Sequence[Token], start: int, end: int) -> Span:
    while start < end and (tokens[start].part == "PUNCT" or tokens[start].lower in ("and", "then")):
        start += 1
    while start < end and (tokens[end - 1].part == "PUNCT" or tokens[end - 1].lower == "and"):
        end -= 1
    return start, end


def _subject_end(tokens: Sequence[Token], span: Span) -> int:
    """Return where the verb group of a clause begins; its start if it has no subject."""
    index = span[0]
    while index < span[1] and tokens[index].part not in ("VERB", "AUX"):
        index += 1
    lead = [token for token in tokens[span[0] : index] if token.part != "ADV"]
    if not lead:
        return span[0]
    while index > span[0] and tokens[index - 1].part == "ADV":
        index -= 1
    return index


def _act(tokens: Sequence[Token], span: Span) -> Span | None:
    """Return (start, verb): where the act of a clause begins, with adverbs before its verb, and the verb's index."""
    index = span[0]
    while index < span[1] and (tokens[index].part == "ADV" or tokens[index].lower == "then"):
        index += 1
    if index < span[1] and tokens[index].part == "VERB":
        verb = index
    else:
        group = verb_group(tokens[slice(*span)])
        if group is None:
            return None
        verb = span[0] + group.main
    if tokens[verb].tag not in ("VBZ", "VBD", "VB") or tokens[verb].part != "VERB":
        return None
    start = verb
    while start > span[0] and tokens[start - 1].part == "ADV" and tokens[start - 1].lower != "then":
        start -= 1
    return start, verb


def _head(tokens: Sequence[Token], span: Span) -> str:
    """Return the noun or pronoun of a subject, in lower case; "" if there is none."""
    words = tokens[slice(*span)]
    phrases = noun_phrases(words)
    if phrases:
        return words[phrases[0].head].lower
    return next((token.lower for token in words if token.part == "PRON"), "")


def _exchanged(text: str, tokens: Sequence[Token], first: Span, second: Span) -> list[Edit]:
    """Return the edits that exchange two spans; a capital at the start of the sentence stays there."""
    places = [(tokens[span[0]].start, tokens[span[1] - 1].end) for span in (first, second)]
    parts = [text[slice(*place)] for place in places]
    leads = [tokens[span[0]] for span in (first, second)]
    if all(lead.part != "PROPN" for lead in leads):
        parts = [
            match_case(leads[1 - index].text, leads[index].lower) + part[len(leads[index].text) :]
            for index, part in enumerate(parts)
        ]
    return [Edit(*places[0], parts[1]), Edit(*places[1], parts[0])]


def _why_bound(tokens: Sequence[Token], first: Span, second: Span, complete: frozenset[str] = frozenset()) -> str:
    """Return why one event may go on, need or end the other one, or "". Verbs of `complete` are complete, too."""
    for span in (first, second):
        verbs = _verbs(tokens, span)
        if len(verbs) != 1:
            return "one side has no verb, or several"
        if tokens[verbs[0]].lemma not in ALONE | complete and (why := _why_unbounded(tokens, verbs[0], span)):
            return why
    names = [_names(tokens, span) for span in (first, second)]
    return f"both events have the {min(names[0] & names[1])}" if names[0] & names[1] else ""


def _why_unbounded(tokens: Sequence[Token], index: int, span: Span) -> str:
    """Return why an act may go on, be repeated or need another one, or ""."""
    verb, names = tokens[index], _names(tokens, span)
    if any(token.part == "AUX" for token in tokens[slice(*span)]) or verb.lemma not in BOUNDED:
        return f"'{verb.lower}' may go on, be repeated, or need the other event"
    particles = BOUNDED[verb.lemma]
    behind = {token.lower for token in tokens[index + 1 : span[1]]}
    if particles and behind.isdisjoint(particles):
        return f"'{verb.lower}' alone may go on"
    if not particles and not names:
        return f"'{verb.lower}' may be done to the thing of the other event"
    if not AWAY.isdisjoint(behind) and verb.lemma not in ("turn", "take"):
        return f"'{verb.lower}' leads to where the other event is"
    needs_room = verb.lemma in OPENING or (verb.lemma == "turn" and names)
    return f"'{verb.lower}' may begin what the other event needs" if needs_room and not names & OPENED else ""


def _may_be(pronoun: str, noun: str) -> bool:
    """Return whether a pronoun can be the actor of the first event: "she" is no crowd, and "they" may be a person."""
    kind = kind_of(noun)
    if noun in SAME_ACTOR or pronoun == "they":
        return noun in (pronoun, "person", "someone") or (bool(kind) and (is_plural_noun(noun) or noun in COLLECTIVES))
    return kind in ("n" if noun not in COLLECTIVES else "", GENDERS[pronoun]) and not is_plural_noun(noun)


def _person_names(tokens: Sequence[Token], span: Span, act: Span) -> set[str]:
    return {token.lemma for token in tokens[span[0] : act[0]] if kind_of(token.lower)}


def _names_person(tokens: Sequence[Token], span: Span) -> bool:
    return any(token.part == "PROPN" or kind_of(token.lower) for token in tokens[slice(*span)])


def _names(tokens: Sequence[Token], span: Span) -> set[str]:
    nouns = {token.lemma for token in tokens[slice(*span)] if token.part in ("NOUN", "PROPN")}
    return {noun for noun in nouns if not kind_of(noun)}


def _verbs(tokens: Sequence[Token], span: Span) -> list[int]:
    """Return the indices of verbs that say what happens, not of one before a noun ("a parked car")."""
    verbs = []
    for index in range(*span):
        token, after = tokens[index], tokens[index + 1] if index + 1 < span[1] else None
        describes = (
            index > 0 and tokens[index - 1].part in ("DET", "ADJ") and after is not None and after.part == "NOUN"
        )
        if token.part == "VERB" and not describes:
            verbs.append(index)
    return verbs
