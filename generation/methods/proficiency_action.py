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
from generation.grammar.numbers import Count, find_count
from generation.methods import mask_fill, random_caption, span_infill
from generation.methods._proficiency import verdicts_of
from generation.methods._random import generator_for
from generation.methods._rules import check_counts
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
    check_counts(params, "top")


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
    uncounted = {
        name: caption for name, caption in batch.items() if not isinstance(find_count(caption.text, "exactly"), Count)
    }
    drafts_by_id: dict[str, list[FoilDraft]] = {}
    shared_arguments: dict[str, Any] = {"params": params, "mode": mode, "seed": seed, "state": state}
    for number, stage in enumerate((_by_spans, _by_words, _by_other_captions), start=1):
        remaining_captions = [caption for name, caption in uncounted.items() if name not in drafts_by_id]
        stage_drafts = stage(remaining_captions, **shared_arguments) if remaining_captions else {}
        drafts = [stage_drafts.get(caption.id, []) for caption in remaining_captions]
        verdicts = verdicts_of(remaining_captions, drafts, params, grammar=number < 3)
        for caption, caption_drafts in zip(remaining_captions, drafts, strict=True):
            passing_drafts = [
                replace(draft, facts={**draft.facts, "stage": number})
                for draft in caption_drafts
                if _passes(*verdicts[caption.id, draft.foil], grammar=number < 3)
            ]
            if passing_drafts:
                drafts_by_id[caption.id] = passing_drafts
    for name, caption in batch.items():
        yield _drawn_foil(caption, drafts_by_id.get(name, []), mode, seed, counted=name not in uncounted)


def _passes(entailment: Any, grammar_verdict: Any, *, grammar: bool) -> bool:
    return bool(entailment.passed and (not grammar or (grammar_verdict is not None and grammar_verdict.passed)))


def _drawn_foil(
    caption: CaptionInput, passing_drafts: Sequence[FoilDraft], mode: str, seed: int, *, counted: bool
) -> FoilDraft | Skip:
    """Draw one foil (stage 4)."""
    if counted:
        return Skip(caption.id, "it states a count; first remove it with the caption maker action_caption")
    if not passing_drafts:
        return Skip(caption.id, "no stage gave an action that is neither entailed nor ungrammatical")
    draft = generator_for(seed, "proficiency_action", caption.id).choice(list(passing_drafts))
    return replace(
        draft, method="proficiency_action", mode=mode, rank=0, facts={**draft.facts, "candidates": len(passing_drafts)}
    )


def _grouped(outputs: Iterable[FoilDraft | Skip | Shortfall]) -> dict[str, list[FoilDraft]]:
    drafts_by_id: dict[str, list[FoilDraft]] = {}
    for output in outputs:
        if isinstance(output, FoilDraft):
            drafts_by_id.setdefault(output.caption_id, []).append(output)
    return drafts_by_id


def _by_spans(
    captions: list[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State
) -> dict[str, list[FoilDraft]]:
    return _grouped(span_infill.make(captions, params=_span_params(params), mode=mode, seed=seed, state=state.spans))


def _by_words(
    captions: list[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State
) -> dict[str, list[FoilDraft]]:
    return _grouped(mask_fill.make(captions, params=_word_params(params), mode=mode, seed=seed, state=state.words))


def _by_other_captions(
    captions: list[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State
) -> dict[str, list[FoilDraft]]:
    """Yield captions of the category with this caption's subject, never of the same video or with a back-reference."""
    captions_by_id = {caption.id: caption for caption in captions}
    pool_outputs = random_caption.make(
        map(_by_category, captions), params=_pool_params(params), mode="corrected", seed=seed, state=state.pools
    )
    drafts_by_id: dict[str, list[FoilDraft]] = {}
    for name, pool_drafts in _grouped(pool_outputs).items():
        for pool_draft in pool_drafts:
            edits = _with_own_subject(captions_by_id[name].text, pool_draft.foil, mode, state.tags)
            if edits and len(drafts_by_id.get(name, ())) < TRIED:
                facts = {"from_video": pool_draft.facts["from_video"], "tagger": state.tags.name}
                draft = draft_from_edits(
                    captions_by_id[name], edits, method="proficiency_action", mode=mode, facts=facts
                )
                if draft.foil != captions_by_id[name].text:
                    drafts_by_id.setdefault(name, []).append(draft)
    return drafts_by_id


def _with_own_subject(text: str, other_text: str, mode: str, tags: Tagger) -> list[Edit]:
    """Return the edit that puts the other caption's predicate after this caption's subject; None without a subject.

    Mode corrected: both subjects have the same number, so that the verb agrees. The final punctuation stays.
    """
    if NEVER in " ".join(other_text.lower().split()):
        return []
    own_tokens, other_tokens = tags.tag(text), tags.tag(other_text)
    own, other_subject = _subject(own_tokens), _subject(other_tokens)
    if own is None or other_subject is None:
        return []
    if mode != "paper" and _is_several(own_tokens, own) != _is_several(other_tokens, other_subject):
        return []
    predicate = other_text[other_tokens[other_subject.last - 1].end :].rstrip().rstrip(".!?")
    end = len(text.rstrip().rstrip(".!?"))
    start = own_tokens[own.last - 1].end
    return [Edit(start, end, predicate)] if predicate.strip() and text[start:end] != predicate else []


def _subject(tokens: Sequence[Token]) -> NounPhrase | None:
    verb = next((index for index, token in enumerate(tokens) if token.part in ("VERB", "AUX")), -1)
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
