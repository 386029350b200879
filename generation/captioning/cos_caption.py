"""Change-of-state captions: sentences with a verb of the lexicon, in the four templates of (ViLMA, Sec. C.4).

Source: "A man folds a red shirt." Action: "Someone folds the red shirt." Pre-state: "Initially, the red shirt is
unfolded." Post-state: "At the end, the red shirt is folded." Reverse: all three. Without an object the subject changes:
"The kite rises." A comma follows "Then", as in the released files (the paper's text has none).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import tagger
from foilworks.core.text.language.verb_forms import verb_form
from generation.captioning._cos_events import Event, event_of
from generation.grammar.states import ACTION, POST, PRE, REVERSE, SUBTESTS, read_sentence
from generation.records import CaptionInput, MadeCaption, Skip

VERSION = "3"
# A thing with one of these has no "the".
NAMED = ("all ", "both ", "some ", "one of ", "each ", "every ", "a certain ")


def make(
    sources: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[MadeCaption | Skip]:
    """Make up to four captions per source, of its first change; `facts["cos"]` names verb, states and what changes."""
    del seed
    tags = tagger(params["tagger"])
    for source in sources:
        tokens, event = event_of(tags.tag(source.text))
        if event is None or read_sentence(source.text).subtest != ACTION:
            yield Skip(source.id, "it has no verb of change from the lexicon with a thing that changes")
            continue
        templates = SUBTESTS if params["template"] == "all" else (params["template"],)
        texts = _texts(source.text, tokens, event, mode)
        for template in templates:
            if template in texts:
                facts = {"cos": _facts(source.text, tokens, event, template), "tagger": tags.name}
                yield MadeCaption(source.id, texts[template], "cos_caption", mode, facts)
            else:
                yield Skip(source.id, f"'{event.change.verb}' cannot be undone, so there is no reverse caption")


def _texts(text: str, tokens: Sequence[Token], event: Event, mode: str) -> dict[str, str]:
    """Return template -> caption."""
    object_phrase = _changed_object(text, tokens, event)
    several = event.several and mode != "paper"
    verb, _, particle = event.change.verb.partition(" ")
    be = "are" if several else "is"
    subject = object_phrase if object_phrase.startswith(NAMED) else f"the {object_phrase}"
    if event.transitive:
        words = ("someone", verb_form(verb, "VBZ"), event.before, subject, particle, event.result)
        action = " ".join(word for word in words if word)
    else:
        form = verb if several else verb_form(verb, "VBZ")
        action = f"{subject} {form} {particle}".strip()
    before = f"Initially, {subject} {be} {event.change.pre}."
    after = f"At the end, {subject} {be} {event.change.post}."
    texts = {ACTION: action[0].upper() + action[1:] + ".", PRE: before, POST: after}
    if event.change.reversible or mode == "paper":
        texts[REVERSE] = f"{before} Then, {action}. {after}"
    return texts


def _changed_object(text: str, tokens: Sequence[Token], event: Event) -> str:
    """Return the thing that changes, without its article."""
    if event.name:
        return event.name
    words = text[tokens[event.first].start : tokens[event.last - 1].end]
    opens = event.first == 0 and tokens[event.first].part != "PROPN"
    return words[0].lower() + words[1:] if opens else words


def _facts(text: str, tokens: Sequence[Token], event: Event, template: str) -> dict[str, Any]:
    change = event.change
    return {
        "verb": change.verb,
        "pre": change.pre,
        "post": change.post,
        "reverse": change.reverse,
        "thing": _changed_object(text, tokens, event),
        "transitive": event.transitive,
        "template": template,
    }
