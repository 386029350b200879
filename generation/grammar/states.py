"""Parse the four change-of-state templates, and replace a verb of change by its reverse."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.change_finding import FoundChange, find_changes
from foilworks.core.text.language.change_of_state import TUPLES, StateChange
from foilworks.core.text.language.numbers import match_case
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import Tagger
from foilworks.core.text.language.verb_forms import inflect_like
from generation.grammar.state_words import ON_THESE

ACTION, PRE, POST, REVERSE = "action", "pre_state", "post_state", "reverse"
SUBTESTS = (ACTION, PRE, POST, REVERSE)
MAX_CAPTION_LENGTH = 400

_STATES = "|".join(
    sorted(
        {re.escape(state) for entry in TUPLES for state in (entry.pre, entry.post)},
        key=lambda state: (-len(state), state),
    )
)
# Blanks are not part of a word, and no run of either is split twice: a search takes linear time.
_WORD = r"[^\s.,;:!?]++"
_SAYS = rf"{_WORD}(?:\s++{_WORD})*?\s++(?:is|are)\s++(?P<{{name}}>{_STATES})"
_STOPS = r"\s*+(?:[.!]\s*+)?$"
_BEFORE = r"(?ai:initially),?\s++" + _SAYS.format(name="pre")
_AFTER = r"(?ai:at\s+the\s+end),?\s++" + _SAYS.format(name="post")
TEMPLATES = {
    PRE: re.compile(rf"^\s*+{_BEFORE}{_STOPS}"),
    POST: re.compile(rf"^\s*+{_AFTER}{_STOPS}"),
    REVERSE: re.compile(rf"^\s*+{_BEFORE}\.\s++(?ai:then),?\s++(?P<middle>[^.]++)\.\s++{_AFTER}{_STOPS}"),
}


@dataclass(frozen=True)
class Sentence:
    """The template of a caption, and the positions of its states; a caption without a template is an action."""

    subtest: str
    pre: tuple[int, int] | None = None
    post: tuple[int, int] | None = None
    middle: tuple[int, int] | None = None


def read_sentence(text: str) -> Sentence:
    """Find the template of a caption."""
    for subtest, pattern in TEMPLATES.items():
        match = pattern.match(text) if len(text) <= MAX_CAPTION_LENGTH else None
        if match:
            spans = {name: match.span(name) for name in ("pre", "post", "middle") if name in match.re.groupindex}
            return Sentence(subtest, **spans)
    return Sentence(ACTION)


def changes_in(text: str, span: tuple[int, int], tags: Tagger) -> tuple[Sequence[Token], list[FoundChange]]:
    """Find the changes in a part of the caption, with token offsets in the whole caption."""
    start, end = span
    tokens = [
        Token(token.start + start, token.end + start, token.text, token.part, token.lemma, token.tag)
        for token in tags.tag(text[start:end])
    ]
    return tokens, find_changes(tokens)


def undone(tokens: Sequence[Token], found_change: FoundChange, target: str, *, link: bool) -> list[Edit] | None:
    """Return the edits that replace the found verb by `target`, with its particle; None if no form fits.

    `link`: the preposition of the place changes with it ("attaches it to" -> "detaches it from").
    """
    verb = tokens[found_change.verb]
    head, _, particle = target.partition(" ")
    form = inflect_like(verb.text, verb.lemma, head, participle=verb.tag == "VBN")
    if form is None:
        return None
    changes_link = link and found_change.preposition >= 0
    edits = [Edit(verb.start, verb.end, form)] if form != verb.text else []
    if found_change.particle >= 0:
        old = tokens[found_change.particle]
        before = tokens[found_change.particle - 1].end
        if particle:
            edits.append(Edit(old.start, old.end, match_case(old.text, particle)))
        else:
            edits.append(Edit(before, old.end, ""))
    elif particle and (not changes_link or not found_change.transitive or particle not in ("in", "out", "on", "off")):
        offset = tokens[found_change.verb + 1].end if _is_pronoun_behind(tokens, found_change) else verb.end
        edits.append(Edit(offset, offset, f" {particle}"))
    if changes_link:
        edits.append(_linked(tokens, found_change))
    return [edit for edit in edits if edit.start != edit.end or edit.target]


def _is_pronoun_behind(tokens: Sequence[Token], found_change: FoundChange) -> bool:
    """Return whether a pronoun is after the verb: "rolls it up", not "rolls up it"."""
    return (
        found_change.transitive
        and not found_change.passive
        and found_change.what is None
        and found_change.verb + 1 < len(tokens)
    )


def _linked(tokens: Sequence[Token], found_change: FoundChange) -> Edit:
    first = tokens[found_change.preposition].lower
    if first == "out" and tokens[found_change.preposition + 1].lower == "of":
        first = "out of"
    new_link = found_change.change.links[first]
    if new_link == "in" and any(
        token.lemma in ON_THESE for token in tokens[found_change.preposition : found_change.preposition + 4]
    ):
        new_link = "on"
    last = found_change.preposition + len(first.split()) - 1
    return Edit(
        tokens[found_change.preposition].start,
        tokens[last].end,
        match_case(tokens[found_change.preposition].text, new_link),
    )


def opposite_states(state: str, *, of_pre: bool, verb: str) -> list[StateChange]:
    """Return the changes that begin (or, for a post-state, end) with the state; of one verb if it is known."""
    changes = [entry for entry in TUPLES if (entry.pre if of_pre else entry.post) == state]
    return [entry for entry in changes if entry.verb == verb] or changes
