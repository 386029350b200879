"""Proficiency by action: another action for a caption without its count, in the stages of (ViLMA, Sec. C.2).

(1) T5 fills verb phrases, without pronouns and conjunctions; entailed and ungrammatical foils are dropped. (2) If none
is left, a masked model fills the subject and the nouns, judged alike. (3) If still none is left, captions of videos of
the same category get the caption's own subject, never "the same exercise"; entailed ones are dropped. (4) One is drawn.
`action_caption` makes the captions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.phrases import NounPhrase, is_plural_noun, noun_phrases
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import Tagger
from generation.errors import GenerationError
from generation.grammar.numbers import Count, find_count
from generation.methods import mask_fill, random_caption, span_infill
from generation.methods._proficiency import verdicts_of
from generation.methods._random import generator_for
from generation.records import CaptionInput, FoilDraft, Shortfall, Skip, draft_from_edits

VERSION = "1"
NEVER = "the same exercise"
# Captions of the category to try per caption without a foil.
TRIED = 3


@dataclass(frozen=True)
class State:
    spans: span_infill.State
    words: mask_fill.State
    pools: random_caption.State

    @property
    def tags(self) -> Tagger:
        return self.spans.tags


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    if params["top"] < 1:
        raise GenerationError(f"parameter 'top' is {params['top']}; give a whole number from 1")


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> State:
    """Load the models, and sample up to params["pool"] captions per category."""
    check(params)
    return State(
        span_infill.prepare((), params=_span_params(params), mode=mode, seed=seed),
        mask_fill.prepare(captions, params=_word_params(params), mode=mode, seed=seed),
        random_caption.prepare(map(_by_category, captions), params=_pool_params(params), mode=mode, seed=seed),
    )


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State
) -> Iterator[FoilDraft | Skip]:
    """Make one foil per caption, or a Skip with the reason."""
    batch = {caption.id: caption for caption in captions}
    open_ones = {name: one for name, one in batch.items() if not isinstance(find_count(one.text, "exactly"), Count)}
    found: dict[str, list[FoilDraft]] = {}
    given: dict[str, Any] = {"params": params, "mode": mode, "seed": seed, "state": state}
    for number, stage in enumerate((_by_spans, _by_words, _by_others), start=1):
        left = [caption for name, caption in open_ones.items() if name not in found]
        made = stage(left, **given) if left else {}
        drafts = [made.get(caption.id, []) for caption in left]
        verdicts = verdicts_of(left, drafts, params, grammar=number < 3)
        for caption, offered in zip(left, drafts, strict=True):
            kept = [
                replace(draft, facts={**draft.facts, "stage": number})
                for draft in offered
                if _passes(*verdicts[caption.id, draft.foil], grammar=number < 3)
            ]
            if kept:
                found[caption.id] = kept
    for name, caption in batch.items():
        yield _chosen(caption, found.get(name, []), mode, seed, counted=name not in open_ones)


def _passes(entailment: Any, grammar_verdict: Any, *, grammar: bool) -> bool:
    return bool(entailment.passed and (not grammar or (grammar_verdict is not None and grammar_verdict.passed)))


def _chosen(
    caption: CaptionInput, kept: Sequence[FoilDraft], mode: str, seed: int, *, counted: bool
) -> FoilDraft | Skip:
    """Draw one foil (stage 4)."""
    if counted:
        return Skip(caption.id, "it states a count; first remove it with the caption maker action_caption")
    if not kept:
        return Skip(caption.id, "no stage gave an action that is neither entailed nor ungrammatical")
    draft = generator_for(seed, "proficiency_action", caption.id).choice(list(kept))
    return replace(
        draft, method="proficiency_action", mode=mode, rank=0, facts={**draft.facts, "candidates": len(kept)}
    )


def _grouped(made: Iterable[FoilDraft | Skip | Shortfall]) -> dict[str, list[FoilDraft]]:
    found: dict[str, list[FoilDraft]] = {}
    for one in made:
        if isinstance(one, FoilDraft):
            found.setdefault(one.caption_id, []).append(one)
    return found


def _by_spans(
    captions: list[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State
) -> dict[str, list[FoilDraft]]:
    return _grouped(span_infill.make(captions, params=_span_params(params), mode=mode, seed=seed, state=state.spans))


def _by_words(
    captions: list[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State
) -> dict[str, list[FoilDraft]]:
    return _grouped(mask_fill.make(captions, params=_word_params(params), mode=mode, seed=seed, state=state.words))


def _by_others(
    captions: list[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State
) -> dict[str, list[FoilDraft]]:
    """Yield captions of the category with this caption's subject, never of the same video or with a back-reference."""
    given = {caption.id: caption for caption in captions}
    drawn = random_caption.make(
        map(_by_category, captions), params=_pool_params(params), mode="corrected", seed=seed, state=state.pools
    )
    found: dict[str, list[FoilDraft]] = {}
    for name, others in _grouped(drawn).items():
        for other in others:
            edits = _with_own_subject(given[name].text, other.foil, mode, state.tags)
            if edits and len(found.get(name, ())) < TRIED:
                facts = {"from_video": other.facts["from_video"], "tagger": state.tags.name}
                draft = draft_from_edits(given[name], edits, method="proficiency_action", mode=mode, facts=facts)
                if draft.foil != given[name].text:
                    found.setdefault(name, []).append(draft)
    return found


def _with_own_subject(text: str, other: str, mode: str, tags: Tagger) -> list[Edit]:
    """Return the edit that puts the other caption's predicate after this caption's subject; None without a subject.

    Mode corrected: both subjects have the same number, so that the verb agrees. The final punctuation stays.
    """
    if NEVER in " ".join(other.lower().split()):
        return []
    own_tokens, other_tokens = tags.tag(text), tags.tag(other)
    own, its = _subject(own_tokens), _subject(other_tokens)
    if own is None or its is None:
        return []
    if mode != "paper" and _is_several(own_tokens, own) != _is_several(other_tokens, its):
        return []
    rest = other[other_tokens[its.last - 1].end :].rstrip().rstrip(".!?")
    end = len(text.rstrip().rstrip(".!?"))
    start = own_tokens[own.last - 1].end
    return [Edit(start, end, rest)] if rest.strip() and text[start:end] != rest else []


def _subject(tokens: Sequence[Token]) -> NounPhrase | None:
    verb = next((at for at, token in enumerate(tokens) if token.part in ("VERB", "AUX")), -1)
    phrases = [phrase for phrase in noun_phrases(tokens) if phrase.last <= verb]
    return phrases[-1] if phrases else None


def _is_several(tokens: Sequence[Token], phrase: NounPhrase) -> bool:
    return is_plural_noun(tokens[phrase.head].text) or any(token.lower == "and" for token in tokens[: phrase.head])


def _by_category(caption: CaptionInput) -> CaptionInput:
    """Use the category in place of the movie, by which random_caption groups its pools."""
    return replace(caption, facts={"movie": caption.facts.get("category") or caption.facts.get("class_label") or ""})


def _span_params(params: Mapping[str, Any]) -> dict[str, Any]:
    shared = {name: params[name] for name in ("beams", "tagger", "device")}
    return {
        **shared,
        "model": params["spans"],
        "pattern": "both",
        "which": "first",
        "top": params["beams"],
        "longest": 8,
        "foils": params["top"],
        "prompt": "",
        "stop": "pronouns,conjunctions",
    }


def _word_params(params: Mapping[str, Any]) -> dict[str, Any]:
    shared = {name: params[name] for name in ("model", "top", "min_probability", "min_votes", "tagger", "device")}
    return {
        **shared,
        "target": "noun",
        "which": "every",
        "foils": params["top"],
        "vocabulary": "model",
        "min_corpus": 50,
        "prompts": "",
    }


def _pool_params(params: Mapping[str, Any]) -> dict[str, Any]:
    return {"foils": TRIED * 4, "pool": params["pool"]}
