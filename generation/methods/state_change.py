"""Change of state (ViLMA, Secs. 3.4 and C.4): "Someone folds the paper." -> "Someone unfolds the paper."

Four subtests by the caption's template: action (the verb becomes its reverse), pre_state ("Initially, the paper is
unfolded." -> "… folded."), post_state ("At the end, the paper is folded."), reverse (both states and the verb). The
changes are those of foilworks/core/text/language/change_of_state.py. Captions in these templates are made by
`cos_caption`; `corrected` also replaces the verb of change in any other caption.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.change_finding import FoundChange
from foilworks.core.text.language.change_of_state import StateChange, by_verb
from foilworks.core.text.language.numbers import match_case
from foilworks.core.text.language.phrases import is_plural_noun
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import Tagger, tagger
from generation.grammar.consistency import why_unsound
from generation.grammar.state_hindrance import hindrance, is_template_caption, natural_target
from generation.grammar.states import (
    ACTION,
    PRE,
    REVERSE,
    Sentence,
    changes_in,
    opposite_states,
    read_sentence,
    undone,
)
from generation.methods._random import generator_for
from generation.methods._rules import check_counts
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "6"
# With which the balanced draw can choose among all verbs that undo a change.
BEFORE_DRAW = {"foils": 5}
NO_VERB = "it has no verb of change from the lexicon with a thing that changes"

# Opposites that need several things: not "combines the egg".
MANY = frozenset({"combine", "unite", "gather"})

# Verbs that do not surely undo a change: who takes off a coat wears it, and who picks up a towel may have dropped it.
UNSURE = frozenset({"wear", "drop", "spray", "wet", "ski", "jump", "plug", "reconnect"})

# Changes of one verb with the edits of each, the usual one first; or why there is none.
EditedChanges = list[tuple[list[Edit], StateChange]] | str


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    check_counts({"foils": 1, **params}, "foils")


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption, each with another verb."""
    tags = tagger(params["tagger"])
    for caption in captions:
        sentence = read_sentence(caption.text)
        if params["subtest"] not in ("auto", sentence.subtest):
            yield Skip(caption.id, f"it has the template of {sentence.subtest}, not of {params['subtest']}")
            continue
        edited_changes = _edited_changes(caption, sentence, mode, seed, tags)
        if isinstance(edited_changes, str):
            yield Skip(caption.id, edited_changes)
            continue
        for rank, (edits, change) in enumerate(islice(edited_changes, params.get("foils", 1))):
            facts = {
                "subtest": sentence.subtest,
                "verb": change.verb,
                "reverse": change.reverse,
                "pre": change.pre,
                "post": change.post,
                "reversible": change.reversible,
                "tagger": tags.name,
            }
            yield draft_from_edits(caption, edits, method="state_change", mode=mode, rank=rank, facts=facts)


def _edited_changes(caption: CaptionInput, sentence: Sentence, mode: str, seed: int, tags: Tagger) -> EditedChanges:
    text = caption.text
    if sentence.subtest == ACTION:
        if mode == "paper" and not _is_template(text):
            return (
                "it has none of the paper's templates; make one with the caption maker cos_caption, "
                "or use mode corrected"
            )
        return _action(text, (0, len(text)), caption, mode, tags, _stored_states(caption))
    if sentence.subtest == REVERSE:
        return _reverse(caption, sentence, mode, tags)
    span = sentence.pre if sentence.subtest == PRE else sentence.post
    assert span is not None, "the template of a state has one"
    return _state(caption, span, mode, seed, of_pre=sentence.subtest == PRE)


def _is_template(text: str) -> bool:
    """Return whether it is one of the paper's action captions: "Someone …" or "The …"."""
    return text.split(maxsplit=1)[:1] in (["Someone"], ["The"])


def _stored_verb(caption: CaptionInput) -> str:
    """Return the verb from the caption maker: facts {"cos": {"verb": …}}."""
    stored_change = caption.facts.get("cos")
    return str(stored_change.get("verb", "")) if isinstance(stored_change, dict) else ""


def _stored_states(caption: CaptionInput) -> tuple[str, str]:
    """Return the states from the caption maker: facts {"cos": {"pre": …, "post": …}}."""
    stored_change = caption.facts.get("cos")
    return (
        (str(stored_change.get("pre", "")), str(stored_change.get("post", "")))
        if isinstance(stored_change, dict)
        else ("", "")
    )


def _with_states(found_change: FoundChange, states: tuple[str, str]) -> FoundChange:
    """Return the verb's change between these states, if it has several: "soak" what is dry, or drained."""
    for change in by_verb()[found_change.change.verb]:
        if (change.pre, change.post) == states and (
            change.transitive if found_change.transitive else change.intransitive
        ):
            return replace(found_change, change=change)
    return found_change


def _action(
    text: str, span: tuple[int, int], caption: CaptionInput, mode: str, tags: Tagger, states: tuple[str, str]
) -> EditedChanges:
    """Return the first verb of change that can be undone, by each verb that undoes it."""
    tokens, changes = changes_in(text, span, tags)
    stored_verb = _stored_verb(caption)
    changes = [
        _with_states(found_change, states) for found_change in changes if found_change.change.verb == stored_verb
    ] or [_with_states(found_change, states) for found_change in changes]
    is_natural = mode != "paper" and span == (0, len(text)) and not stored_verb
    why = NO_VERB
    for found_change in changes:
        undone_changes = [
            _undone(text, tokens, variant, mode, is_natural=is_natural) for variant in _variants(found_change, mode)
        ]
        edited_changes = [row for row in undone_changes if not isinstance(row, str)]
        if edited_changes:
            return edited_changes
        why = str(undone_changes[0]) or why
    return why


def _variants(found_change: FoundChange, mode: str) -> list[FoundChange]:
    """Return the change with each verb that undoes it: "put down" is undone by "lift" and by "pick up"."""
    usual = found_change.change
    others = [
        change
        for change in by_verb()[usual.verb]
        if (change.pre, change.post, change.object_type) == (usual.pre, usual.post, usual.object_type)
        and change.reverse not in UNSURE | {"", usual.reverse}
        and (change.transitive if found_change.transitive else change.intransitive)
    ]
    return [found_change, *(replace(found_change, change=change) for change in others if mode != "paper")]


def _undone(
    text: str, tokens: Sequence[Token], found_change: FoundChange, mode: str, *, is_natural: bool
) -> tuple[list[Edit], StateChange] | str:
    """Return the edits that undo a change, and the change; or why it is left alone, "" if no form fits."""
    target = _target(found_change, mode)
    if not target:
        return f"'{found_change.change.verb}' cannot be undone: no verb reverses it"
    if mode != "paper" and target in MANY and not _is_several(tokens, found_change):
        return f"one thing cannot be changed by '{target}'"
    is_natural = is_natural and not is_template_caption(text, tokens, found_change)
    if is_natural:
        target = natural_target(found_change, tokens, target)
        if hindered := hindrance(tokens, found_change, target):
            return hindered
    edits = undone(tokens, found_change, target, link=mode != "paper")
    why = why_unsound(text, edits) if edits and is_natural else ""
    return (edits, found_change.change) if edits and not why else why


def _is_several(tokens: Sequence[Token], found_change: FoundChange) -> bool:
    """Return whether the changing thing is several things."""
    if found_change.what is None:
        return True
    words = tokens[found_change.what.first : found_change.what.last]
    return is_plural_noun(tokens[found_change.what.head].text) or any(word.lower == "and" for word in words)


def _target(found_change: FoundChange, mode: str) -> str:
    return found_change.change.reverse or (found_change.change.stand_in if mode == "paper" else "")


def _state(caption: CaptionInput, span: tuple[int, int], mode: str, seed: int, *, of_pre: bool) -> EditedChanges:
    word = caption.text[slice(*span)]
    changes = opposite_states(word.lower(), of_pre=of_pre, verb=_stored_verb(caption))
    if not changes:
        return f"the lexicon has no change that {'begins' if of_pre else 'ends'} with '{word}'"
    matching_changes = [entry for entry in changes if (entry.pre, entry.post) == _stored_states(caption)]
    change = generator_for(seed, "state_change", caption.id).choice(matching_changes or changes)
    opposite_state = change.post if of_pre else change.pre
    return [([Edit(*span, match_case(word, opposite_state))], change)]


def _reverse(caption: CaptionInput, sentence: Sentence, mode: str, tags: Tagger) -> EditedChanges:
    """Return both states exchanged and the verb undone, if all three belong to one change."""
    pre, post, middle = sentence.pre, sentence.post, sentence.middle
    assert pre, "a reverse caption needs both states and the verb"
    assert post, "a reverse caption needs both states and the verb"
    assert middle, "a reverse caption needs both states and the verb"
    before, after = caption.text[slice(*pre)], caption.text[slice(*post)]
    edited_changes = _action(caption.text, middle, caption, mode, tags, (before.lower(), after.lower()))
    if isinstance(edited_changes, str):
        return edited_changes
    edits, change = edited_changes[0]
    if before.lower() == after.lower():
        return f"the states before and after are both '{before}'"
    if mode != "paper" and (before.lower(), after.lower()) != (change.pre, change.post):
        return f"its states are not the states of '{change.verb}' ({change.pre}, {change.post})"
    states = Edit(*pre, match_case(before, after.lower())), Edit(*post, match_case(after, before.lower()))
    return [([states[0], *edits, states[1]], change)]
