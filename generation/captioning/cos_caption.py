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
        tokens, found = event_of(tags.tag(source.text))
        if found is None or read_sentence(source.text).subtest != ACTION:
            yield Skip(source.id, "it has no verb of change from the lexicon with a thing that changes")
            continue
        wanted = SUBTESTS if params["template"] == "all" else (params["template"],)
        texts = _texts(source.text, tokens, found, mode)
        for template in wanted:
            if template in texts:
                facts = {"cos": _facts(source.text, tokens, found, template), "tagger": tags.name}
                yield MadeCaption(source.id, texts[template], "cos_caption", mode, facts)
            else:
                yield Skip(source.id, f"'{found.change.verb}' cannot be undone, so there is no reverse caption")


def _texts(text: str, tokens: Sequence[Token], found: Event, mode: str) -> dict[str, str]:
    """Return template -> caption."""
    what = _thing(text, tokens, found)
    several = found.several and mode != "paper"
    verb, _, particle = found.change.verb.partition(" ")
    be = "are" if several else "is"
    named = what if what.startswith(NAMED) else f"the {what}"
    if found.transitive:
        words = ("someone", verb_form(verb, "VBZ"), found.before, named, particle, found.result)
        action = " ".join(word for word in words if word)
    else:
        form = verb if several else verb_form(verb, "VBZ")
        action = f"{named} {form} {particle}".strip()
    before = f"Initially, {named} {be} {found.change.pre}."
    after = f"At the end, {named} {be} {found.change.post}."
    texts = {ACTION: action[0].upper() + action[1:] + ".", PRE: before, POST: after}
    if found.change.reversible or mode == "paper":
        texts[REVERSE] = f"{before} Then, {action}. {after}"
    return texts


def _thing(text: str, tokens: Sequence[Token], found: Event) -> str:
    """Return the thing that changes, without its article."""
    if found.name:
        return found.name
    words = text[tokens[found.first].start : tokens[found.last - 1].end]
    opens = found.first == 0 and tokens[found.first].part != "PROPN"
    return words[0].lower() + words[1:] if opens else words


def _facts(text: str, tokens: Sequence[Token], found: Event, template: str) -> dict[str, Any]:
    change = found.change
    return {
        "verb": change.verb,
        "pre": change.pre,
        "post": change.post,
        "reverse": change.reverse,
        "thing": _thing(text, tokens, found),
        "transitive": found.transitive,
        "template": template,
    }
