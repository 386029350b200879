"""Propose clips with their reversal: a caption whose change has a direction, and the caption of the clip played
backwards.

Someone who opens a box seems to close it when the clip is reversed; someone who washes a cup does not dirty it. So
only the verbs of REVERSED count, whose opposite looks like the same change backwards, and paths of a movement.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from foilworks.core.text.diff import apply_edits
from foilworks.core.text.language.tools import tagger
from foilworks.core.text.language.word_lists import word_set
from generation.grammar.prepositions import FROM_THE_TO, FROM_TO, relations
from generation.grammar.surface import replace_phrase
from generation.methods import state_change
from generation.pairs.counterparts import in_twos, once_per_clip
from generation.pairs.proposals import BACKWARDS, FORWARDS, REVERSAL, PairCaption, Proposal
from generation.records import CaptionInput, Skip

# Verbs of change (foilworks/core/text/language/change_of_state.py), one of each pair.
REVERSED = word_set(
    "open fold wrap zip unbutton button untie unlock plug unplug screw unscrew fill empty load unload pack unpack",
    "inflate cover uncover hide attach detach connect disconnect insert remove extract lift raise rise ascend expand",
    "lengthen widen straighten bend stack unstack coil uncoil furl unroll unwrap fasten buckle hook seal light enter",
    "leave climb descend mount dismount drop stick install gather scatter combine separate disassemble",
) | {
    "roll up",
    "put on",
    "take off",
    "put in",
    "take out",
    "push in",
    "pull out",
    "pick up",
    "put down",
    "stand up",
    "sit down",
    "hang up",
    "take down",
    "open up",
    "wrap up",
    "button up",
    "zip up",
    "screw in",
    "screw on",
    "dig out",
    "pile up",
    "turn on",
    "switch on",
}
PATHS = FROM_TO | FROM_THE_TO
# Longer clips show more than one event.
MAX_SECONDS = 30.0
SEVERAL = re.compile(r"\b(?:then|and then|after|before|while|again|repeatedly)\b", re.IGNORECASE)
SEVERAL_EVENTS = "the caption may say more than one event; check that the clip shows only this one"
LONG = f"the clip is longer than {MAX_SECONDS:g} s, so it may show more than one event"
# Nothing is changed, or the caption says a state.
NO_CHANGE = word_set("wear pretend attempt try fail")
ON_FOOT = word_set("walk run jog march stroll drive ride swim fly jump enter leave climb descend dance skate ski")
MOVES_BACKWARDS = "people and vehicles that move backwards may give the reversed clip away"


@dataclass(frozen=True)
class _ReversedCaption:
    text: str
    words: tuple[str, str]
    verb: str = ""


def reversals(captions: Iterable[PairCaption], *, limit: int | None = None, seed: int = 0) -> Iterator[Proposal]:
    """Yield reversals in twos (`counterparts`): as many clips that open something are reversed as clips that close it.

    At most one per clip. Those without a warning come first if `limit` is set.
    """
    yield from in_twos(once_per_clip(captions, _reversal), limit=limit, seed=seed)


def _reversal(caption: PairCaption) -> Proposal | None:
    reversed_caption = _reversed(caption)
    if reversed_caption is None:
        return None
    words = reversed_caption.words
    return Proposal(
        REVERSAL,
        (caption.text, reversed_caption.text),
        (caption,),
        "direction of time",
        words,
        f"played backwards, “{words[0]}” looks like “{words[1]}”",
        warning=_warning(caption, reversed_caption),
        played=(FORWARDS, BACKWARDS),
    )


def _reversed(caption: PairCaption) -> _ReversedCaption | None:
    text = caption.text
    for relation in relations(text, "corrected"):
        if relation.phrase in PATHS and relation.opposite:
            edits = replace_phrase(text, relation.start, relation.end, relation.opposite)
            return _ReversedCaption(apply_edits(text, edits), (relation.phrase, relation.opposite))
    inputs = [CaptionInput(str(caption.id), text)]
    params = {"subtest": "action", "tagger": "auto"}
    draft = next(state_change.make(inputs, params=params, mode="corrected", seed=0))
    if isinstance(draft, Skip) or NO_CHANGE & {token.lemma for token in tagger().tag(text)}:
        return None
    if not {draft.facts["verb"], draft.facts["reverse"]} & REVERSED:
        return None
    return _ReversedCaption(draft.foil, (draft.source, draft.target), str(draft.facts["verb"]))


def _warning(caption: PairCaption, reversed_caption: _ReversedCaption) -> str:
    tokens = tagger().tag(caption.text)
    verbs = [token.lemma for token in tokens if token.part == "VERB"]
    warnings = []
    if len(verbs) > 1 or SEVERAL.search(caption.text):
        warnings.append(SEVERAL_EVENTS)
    if caption.duration is not None and caption.duration > MAX_SECONDS:
        warnings.append(LONG)
    if ON_FOOT & {*verbs, reversed_caption.verb}:
        warnings.append(MOVES_BACKWARDS)
    return "; ".join(warnings)
