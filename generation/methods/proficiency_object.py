"""Proficiency by object (ViLMA, Secs. C.1 and C.3): the object of the caption, or else its subject, is replaced.

`target=landmark` replaces the last noun of the first clause, as ViLMA's released file of spatial relations does.

A masked language model gives the best words, and a text-to-text model (`spans=`) the best phrases. Entailed foils,
then ungrammatical ones are dropped, and the most grammatical of the rest is the foil. Without any, it is skipped: a
caption has one proficiency foil or none.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from foilworks.core.hub.catalogue.registry import SPAN_FILLER
from foilworks.core.hub.interfaces import Filler, SpanFiller
from foilworks.core.hub.opening import open_helper
from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.phrases import is_plural_noun
from foilworks.core.text.language.tools import Tagger, tagger
from generation.grammar.blanks import NOUN_FORMS, PLAIN_WORD, Spot, is_form_of, spots, words_by_form
from generation.grammar.landmarks import landmark
from generation.grammar.surface import replace_phrase
from generation.methods._fillers import Choice, fill_all, identity, open_fillers
from generation.methods._proficiency import Verdicts, verdicts_of
from generation.methods._rules import check_counts
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "3"
NO_OBJECT = "it has neither an object nor a subject that can be replaced"
NO_LANDMARK = "it has no noun that can be replaced"
SPAN_BEAMS, SPAN_TOKENS, MAX_WORDS = 8, 6, 3


@dataclass(frozen=True)
class State:
    """The loaded models, and the nouns of each by number (None: all words)."""

    fillers: tuple[Filler, ...]
    allowed: tuple[Mapping[str, tuple[str, ...]] | None, ...]
    tags: Tagger
    spans: SpanFiller | None = None


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    check_counts(params, "top")


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> State:
    """Load the models. The captions are not read."""
    del captions, seed
    check(params)
    fillers = open_fillers(params["model"], params["device"])
    allowed = tuple(None if mode == "paper" else words_by_form(filler.words, None) for filler in fillers)
    spans = open_helper(params["spans"], SPAN_FILLER, device=params["device"]) if params["spans"] else None
    return State(fillers, allowed, tagger(params["tagger"]), spans)


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State
) -> Iterator[FoilDraft | Skip]:
    """Make one foil per caption, or a Skip with the reason."""
    del seed
    caption_spots = [(caption, _spot(caption, state, params.get("target", "object"))) for caption in captions]
    jobs: dict[str, list[tuple[str, str]]] = {form: [] for form in NOUN_FORMS}
    for caption, spot in caption_spots:
        if isinstance(spot, Spot):
            jobs[spot.form].append((caption.text[: spot.start], caption.text[spot.end :]))
    answers = fill_all(state.fillers, jobs, state.allowed, params)
    phrases = _phrases(caption_spots, params, mode, state)
    drafts: list[list[FoilDraft]] = []
    for caption, spot in caption_spots:
        choices = answers[spot.form][caption.text[: spot.start], caption.text[spot.end :]] if spot else []
        choices_to_try = [choice for choice in choices if _is_other(spot, choice, mode)]
        caption_drafts = [
            _draft(caption, spot, choice, mode, state, identity(state.fillers)) for choice in choices_to_try
        ]
        if state.spans is not None:
            model_identity = (state.spans.info.model_id, state.spans.info.revision)
            word_foils = {draft.foil for draft in caption_drafts}
            phrase_drafts = [
                _draft(caption, spot, choice, mode, state, model_identity) for choice in phrases.get(caption.id, ())
            ]
            caption_drafts += [draft for draft in phrase_drafts if draft.foil not in word_foils]
        drafts.append(caption_drafts)
    verdicts = verdicts_of([caption for caption, _ in caption_spots], drafts, params)
    for (caption, spot), caption_drafts in zip(caption_spots, drafts, strict=True):
        yield _best(caption, spot, caption_drafts, verdicts, params.get("target", "object"))


def _phrases(
    caption_spots: Sequence[tuple[CaptionInput, Spot | None]], params: Mapping[str, Any], mode: str, state: State
) -> dict[str, list[Choice]]:
    """Return caption id -> the best params["top"] phrases of a text-to-text model for the noun."""
    if state.spans is None:
        return {}
    open_spots = [
        (caption, spot) for caption, spot in caption_spots if spot is not None and state.spans.blank not in caption.text
    ]
    texts = [caption.text[: spot.start] + state.spans.blank + caption.text[spot.end :] for caption, spot in open_spots]
    rows = state.spans.fill_spans(texts, SPAN_BEAMS, beams=SPAN_BEAMS, longest=SPAN_TOKENS) if texts else []
    return {
        caption.id: [
            Choice(fill.text, fill.log_probability, 1)
            for fill in row
            if fill.text.lower() != spot.word and (mode == "paper" or _is_thing(fill.text, spot))
        ][: params["top"]]
        for (caption, spot), row in zip(open_spots, rows, strict=True)
    }


def _is_thing(phrase: str, spot: Spot) -> bool:
    """Return whether the phrase is a few words ending in a different noun of the same number ("wine glass")."""
    words = phrase.lower().split()
    if not 1 <= len(words) <= MAX_WORDS or not all(PLAIN_WORD.fullmatch(word) for word in words):
        return False
    several = spot.form == "NNS"
    return "NOUN" in lemmas(words[-1]) and is_plural_noun(words[-1]) == several and not is_form_of(spot, words[-1])


def _spot(caption: CaptionInput, state: State, target: str) -> Spot | None:
    if any(filler.blank in caption.text for filler in state.fillers):
        return None
    tokens = state.tags.tag(caption.text)
    if target == "landmark":
        return landmark(tokens)
    return next(iter(spots(tokens, "object") or spots(tokens, "subject")), None)


def _is_other(spot: Spot | None, choice: Choice, mode: str) -> bool:
    if spot is None:
        return False
    return choice.word != spot.word if mode == "paper" else not is_form_of(spot, choice.word)


def _draft(
    caption: CaptionInput, spot: Spot | None, choice: Choice, mode: str, state: State, model: tuple[str, str]
) -> FoilDraft:
    assert spot is not None
    edits = replace_phrase(caption.text, spot.start, spot.end, choice.word)
    facts = {"from": spot.word, "to": choice.word, "probability": round(choice.probability, 5)}
    facts["tagger"] = state.tags.name
    draft = draft_from_edits(caption, edits, method="proficiency_object", mode=mode, facts=facts)
    return replace(draft, model_id=model[0], model_revision=model[1])


def _best(
    caption: CaptionInput, spot: Spot | None, drafts: Sequence[FoilDraft], verdicts: Verdicts, target: str
) -> FoilDraft | Skip:
    if spot is None:
        return Skip(caption.id, NO_LANDMARK if target == "landmark" else NO_OBJECT)
    judged = [(draft, *verdicts[caption.id, draft.foil]) for draft in drafts]
    grammatical_drafts = [(draft, grammar) for draft, _, grammar in judged if grammar is not None and grammar.passed]
    if not grammatical_drafts:
        entailed = sum(not verdict.passed for _, verdict, _ in judged)
        why = f"of {len(judged)} words, {entailed} are entailed and the others are not grammatical enough"
        return Skip(caption.id, why)
    # Of equal values, the first is the more probable word.
    draft, grammar = max(grammatical_drafts, key=lambda pair: pair[1].score or 0.0)
    return replace(draft, facts={**draft.facts, "grammaticality": round(grammar.score or 0.0, 4)})
