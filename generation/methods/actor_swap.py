"""Actor swap (ViLMA, Secs. 3.3 and C.3): "A policeman holds a blond man" -> "A blond man holds a policeman".

The subject and the object of one verb change places as whole noun phrases, with what describes them ("in a tan coat",
"with blonde hair", "wearing a hat", "sitting in a car"); the verb agrees. Passives change the same way. `corrected`
skips captions that may stay true (hug, "looks at", "dances with") or contradict themselves; `paper` swaps all.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.living import kind_of
from foilworks.core.text.language.phrases import POSSESSIVE
from foilworks.core.text.language.structure import SOMEONE
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import tagger
from generation.grammar.actor import Actor
from generation.grammar.actors import STAYING, Participants, find_participants, is_list
from generation.grammar.exchanges import NO_NAMES, Names, exchanged, learned_names
from generation.grammar.surface import replace_phrase
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "7"
# Behind a comma: "who", "wearing".
OPENS_CLAUSE = ("PRON", "VERB")


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> Names:
    """Learn the names of persons that the run's captions have, and their gender."""
    del params, mode, seed
    return learned_names(caption.text for caption in captions)


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: Names = NO_NAMES
) -> Iterator[FoilDraft | Skip]:
    """Make one foil per caption, without random draws; `state` is from `prepare` over the whole run."""
    del seed
    tags = tagger(params["tagger"])
    for caption in captions:
        tokens = tags.tag(caption.text)
        participants = find_participants(tokens, mode)
        # Names change places everywhere; plain nouns do only where their phrases cannot be swapped.
        kinds = () if mode == "paper" else (True, False) if isinstance(participants, str) else (True,)
        drawn = (exchanged(caption.text, tokens, state, named=named) for named in kinds)
        everywhere = next(filter(None, drawn), None)
        if everywhere:
            marks = {"exchanged": "everywhere", "tagger": tags.name}
            yield draft_from_edits(caption, everywhere, method="actor_swap", mode=mode, facts=marks)
            continue
        if isinstance(participants, str):
            yield Skip(caption.id, participants)
            continue
        facts = {"verb": participants.verb, "passive": participants.passive, "tagger": tags.name}
        edits = _edits(caption.text, tokens, participants)
        yield draft_from_edits(caption, edits, method="actor_swap", mode=mode, facts=facts)


def _edits(text: str, tokens: Sequence[Token], participants: Participants) -> list[Edit]:
    """Return the edits that swap the phrases, with correct capitals and articles, and verbs and pronouns that agree."""
    edits = list(participants.edits)
    if _determiners_stay(tokens, participants):
        first, second = _span(tokens, participants.subject, bare=True), _span(tokens, participants.object, bare=True)
        return [
            *edits,
            *replace_phrase(text, *first, _moved(text, tokens, participants.object, second)),
            *replace_phrase(text, *second, _moved(text, tokens, participants.subject, first)),
        ]
    first, second = _span(tokens, participants.subject, bare=False), _span(tokens, participants.object, bare=False)
    target = _moved(text, tokens, participants.object, second)
    if text[first[0]].isupper() and _opens(text, first[0]):
        target = target[0].upper() + target[1:]
    moved_subject = _moved(text, tokens, participants.subject, first)
    if participants.object.owns and participants.subject.last > participants.subject.head + 1:
        # "the man with a beard's arm" becomes "the arm of the man with a beard".
        owned_span = tokens[participants.object.last + 1].start, tokens[participants.object.owns - 1].end
        return [
            *edits,
            Edit(*first, target),
            Edit(second[0], owned_span[1], f"the {text[slice(*owned_span)]} of {moved_subject}"),
        ]
    return [*edits, Edit(*first, target), Edit(*second, moved_subject)]


def _determiners_stay(tokens: Sequence[Token], participants: Participants) -> bool:
    """Return whether determiners stay in place: "A man pushes another man in red"; "man pushes a woman"."""
    actors = (participants.subject, participants.object)
    if any(tokens[actor.first + index].lower in STAYING for actor in actors for index in range(actor.determiner)):
        return True
    has_complete_phrase = any(
        _is_name(tokens, actor) or actor.plural or tokens[actor.first].lower in POSSESSIVE for actor in actors
    )
    return not has_complete_phrase and not all(actor.determiner for actor in actors)


def _is_name(tokens: Sequence[Token], actor: Actor) -> bool:
    """Return whether they begin with a name, not a word with the capital of the sentence's start."""
    head = tokens[actor.head]
    if head.lower in SOMEONE:
        return True
    looks_like_name = head.part == "PROPN" or (actor.head == 0 and head.text[:1].isupper())
    return looks_like_name and not kind_of(head.lower)


def _span(tokens: Sequence[Token], actor: Actor, *, bare: bool) -> tuple[int, int]:
    first = actor.first + (actor.determiner if bare else 0)
    last = max(actor.last - 1, *_set_off(tokens, actor), 0)
    return tokens[first].start, tokens[last].end


def _moved(text: str, tokens: Sequence[Token], actor: Actor, span: tuple[int, int]) -> str:
    """Return the phrase as inside a sentence: without the capital of the sentence's start."""
    phrase = _without_commas(text, tokens, actor, span)
    opens = _opens(text, span[0]) and not (len(phrase) > 1 and phrase.isupper())
    return phrase[0].lower() + phrase[1:] if opens and _is_word(tokens, actor) else phrase


def _without_commas(text: str, tokens: Sequence[Token], actor: Actor, span: tuple[int, int]) -> str:
    """Return the phrase without the commas around a description: "a woman, dressed in black,"."""
    phrase = text[slice(*span)]
    for index in reversed(_set_off(tokens, actor)):
        phrase = phrase[: tokens[index].start - span[0]] + phrase[tokens[index].end - span[0] :]
    return phrase


def _set_off(tokens: Sequence[Token], actor: Actor) -> list[int]:
    """Return the commas that set off a description: right behind the noun, before "who" or a participle, at the end."""
    inside = range(actor.head + 1, actor.last)
    if not inside or is_list(tokens, actor):
        return []
    commas = [
        index
        for index in inside
        if tokens[index].text == "," and (index == inside[0] or tokens[index + 1].part in OPENS_CLAUSE)
    ]
    closing = actor.last < len(tokens) and tokens[actor.last].text == ","
    return [*commas, actor.last] if commas and closing else commas


def _is_word(tokens: Sequence[Token], actor: Actor) -> bool:
    """Return whether the phrase begins with a common word, not a name."""
    first = tokens[actor.first]
    return actor.head != actor.first or bool(kind_of(first.lower))


def _opens(text: str, start: int) -> bool:
    return not any(char.isalnum() for char in text[:start]) or text[:start].rstrip().endswith((".", "!", "?"))
