"""Rank prepositions by a text-to-text model: T5-base, the ten with the lowest perplexity (ViLMA, Sec. C.6)."""

from collections.abc import Sequence
from typing import Any

from foilworks.core.hub.interfaces import SpanFiller
from foilworks.core.text.diff import apply_edits
from foilworks.core.text.language.verb_forms import verb_readings
from generation.grammar.prepositions import Relation
from generation.grammar.surface import replace_phrase
from generation.records import CaptionInput

# "rolling a can onto a surface" is scored as "someone rolling a can onto a surface".
SUBJECT = "someone"

Option = tuple[Relation, str]


def likelihoods(scorer: Any, replacements: Sequence[tuple[CaptionInput, Option]], mode: str) -> list[float]:
    """Return the likelihood of each replacement, higher is better; each sentence is scored once.

    `paper`: the mean log-likelihood per token of the whole foil, so that -value is the logarithm of the perplexity.
    `corrected`: the log-probability of the new words in place of the old ones, given the rest: what a model
    with span corruption was trained for.
    """
    if mode == "paper":
        foils = [
            _with_subject(apply_edits(caption.text, _edits(caption, option)), always=True)
            for caption, option in replacements
        ]
        return [score.value for score in scorer.score(None, foils)]
    return _span_scores(scorer, replacements)


def _span_scores(scorer: SpanFiller, replacements: Sequence[tuple[CaptionInput, Option]]) -> list[float]:
    blanks = []
    for caption, (relation, target) in replacements:
        before, after = caption.text[: relation.start], caption.text[relation.end :]
        blanks.append((_with_subject(f"{before}{scorer.blank}{after}", always=False), target))
    return scorer.span_scores(blanks)


def _edits(caption: CaptionInput, option: Option) -> Any:
    relation, target = option
    return replace_phrase(caption.text, relation.start, relation.end, target)


def _with_subject(text: str, *, always: bool) -> str:
    """Add a subject. Mode corrected: only if the text begins with its verb, like all sentences of the paper."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    lacks = any(tag == "VBG" for _, tag in verb_readings(first.lower()))
    return f"{SUBJECT} {text[:1].lower()}{text[1:]}" if always or lacks else text
