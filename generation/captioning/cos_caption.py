"""Change-of-state captions: sentences with a verb of the lexicon, in the four templates of (ViLMA, Sec. C.4).

Source: "A man folds a red shirt." Action: "Someone folds the red shirt." Pre-state: "Initially, the red shirt is
unfolded." Post-state: "At the end, the red shirt is folded." Reverse: all three. Without an object the subject changes:
"The kite rises." A comma follows "Then", as in the released files (the paper's text has none).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from generation.grammar.states import ACTION, POST, PRE, REVERSE, SUBTESTS, read_sentence
from generation.records import CaptionInput, MadeCaption, Skip
from text.language.change_finding import FoundChange, find_changes
from text.language.phrases import POSSESSIVE, is_plural_noun
from text.language.tokens import Token
from text.language.tools import tagger
from text.language.verb_forms import verb_form

VERSION = "1"


def make(
    sources: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[MadeCaption | Skip]:
    """Make up to four captions per source, of its first change; `facts["cos"]` names verb, states and what changes."""
    del seed
    tags = tagger(params["tagger"])
    for source in sources:
        tokens = tags.tag(source.text)
        found = next((one for one in find_changes(tokens) if one.what is not None), None)
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


def _texts(text: str, tokens: Sequence[Token], found: FoundChange, mode: str) -> dict[str, str]:
    """Return template -> caption."""
    what, several = _thing(text, tokens, found)
    verb, _, particle = found.change.verb.partition(" ")
    be = "are" if several and mode != "paper" else "is"
    if found.transitive:
        action = f"someone {verb_form(verb, 'VBZ')} the {what} {particle}".strip()
    else:
        form = verb if several and mode != "paper" else verb_form(verb, "VBZ")
        action = f"the {what} {form} {particle}".strip()
    before = f"Initially, the {what} {be} {found.change.pre}."
    after = f"At the end, the {what} {be} {found.change.post}."
    texts = {ACTION: action[0].upper() + action[1:] + ".", PRE: before, POST: after}
    if found.change.reversible or mode == "paper":
        texts[REVERSE] = f"{before} Then, {action}. {after}"
    return texts


def _thing(text: str, tokens: Sequence[Token], found: FoundChange) -> tuple[str, bool]:
    """Return the thing that changes, without its article, and whether it is plural."""
    phrase = found.what
    assert phrase is not None, "only changes of a thing are written"
    first = phrase.first
    while first < phrase.head and (tokens[first].part == "DET" or tokens[first].lower in POSSESSIVE):
        first += 1
    words = text[tokens[first].start : tokens[phrase.last - 1].end]
    opens = first == 0 and tokens[first].part != "PROPN"
    return words[0].lower() + words[1:] if opens else words, is_plural_noun(tokens[phrase.head].text)


def _facts(text: str, tokens: Sequence[Token], found: FoundChange, template: str) -> dict[str, Any]:
    change = found.change
    return {
        "verb": change.verb,
        "pre": change.pre,
        "post": change.post,
        "reverse": change.reverse,
        "thing": _thing(text, tokens, found)[0],
        "transitive": found.transitive,
        "template": template,
    }
