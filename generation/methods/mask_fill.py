"""Masked word filling: "A man folds a shirt" -> "A man [MASK] a shirt" -> "A man irons a shirt".

Action replacement uses roberta-base and its 32 best (ViLMA, Sec. C.3); teacher captions use XLM-R and the 10 best of
the same part of speech, never the original (Feint6K, Secs. 4.2 and 5.1); objects of rare actions use three models that
vote (ViLMA, Sec. C.5). `paper` takes the best whole words of the whole vocabulary; `corrected` restricts the
vocabulary first (see the deviations in the registry).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from foilworks.core.hub.interfaces import Filler
from foilworks.core.text.language.tools import Tagger, tagger
from foilworks.core.text.quoting import quoted
from generation.errors import GenerationError
from generation.grammar.blanks import Spot, is_form_of, spots, words_by_form
from generation.grammar.surface import replace_phrase
from generation.methods._fillers import Choice, fill_all, identity, open_fillers
from generation.records import CaptionInput, FoilDraft, Shortfall, Skip, draft_from_edits

VERSION = "3"

Blank = tuple[str, str]


@dataclass(frozen=True)
class State:
    """The loaded models, and the allowed words of each by form (None: all)."""

    fillers: tuple[Filler, ...]
    allowed: tuple[Mapping[str, tuple[str, ...]] | None, ...]
    tags: Tagger


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    if params["top"] < 1 or params["foils"] < 1:
        raise GenerationError("parameters 'top' and 'foils' must be at least 1; correct them")
    _templates(params["prompts"])


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> State:
    """Load the models; mode corrected also collects the lemmas of the run's captions, if there are enough."""
    del seed
    check(params)
    tags = tagger(params["tagger"])
    fillers = open_fillers(params["model"], params["device"])
    if mode == "paper":
        return State(fillers, (None,) * len(fillers), tags)
    lemmas_in_run = _lemmas_of(captions, tags) if params["vocabulary"] == "captions" else set()
    lemmas = lemmas_in_run if len(lemmas_in_run) >= max(1, params["min_corpus"]) else None
    return State(fillers, tuple(words_by_form(filler.words, lemmas) for filler in fillers), tags)


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State
) -> Iterator[FoilDraft | Skip | Shortfall]:
    """Make up to params["foils"] foils per caption and kind of word; `state` is from `prepare` over the whole run."""
    del seed
    batch = list(captions)
    kinds = [{**params, "target": kind} for kind in params["target"].split("+")]
    caption_spots = [(caption, [_selected_spots(caption, kind, state) for kind in kinds]) for caption in batch]
    jobs: dict[str, list[Blank]] = {}
    for caption, every in caption_spots:
        for spots_of_kind in every:
            for spot in spots_of_kind if isinstance(spots_of_kind, list) else ():
                jobs.setdefault(spot.form, []).extend(_blanks(caption.text, spot, params, state))
    answers = fill_all(state.fillers, jobs, state.allowed, params)
    for caption, every in caption_spots:
        drafts: list[FoilDraft] = []
        reasons: list[str] = []
        for spots_of_kind in every:
            if isinstance(spots_of_kind, str):
                reasons.append(spots_of_kind)
                continue
            kind_drafts = list(_drafts(caption, spots_of_kind, answers, params, mode, state))
            drafts += [replace(draft, rank=draft.rank + len(drafts)) for draft in kind_drafts]
            if not kind_drafts:
                reasons.append(f"the model offers no other word for '{spots_of_kind[0].word}'")
        yield from drafts
        if reasons:
            yield Shortfall(caption.id, tuple(reasons)) if drafts else Skip(caption.id, "; ".join(reasons))


def _lemmas_of(captions: Iterable[CaptionInput], tags: Tagger) -> set[tuple[str, str]]:
    """Return (lemma, part of speech) of every verb and noun of the captions."""
    return {
        (token.lemma, token.part)
        for caption in captions
        for token in tags.tag(caption.text)
        if token.part in ("VERB", "NOUN")
    }


def _selected_spots(caption: CaptionInput, params: Mapping[str, Any], state: State) -> list[Spot] | str:
    """Return the words to replace, or why there is none."""
    if any(filler.blank in caption.text for filler in state.fillers):
        return "it contains the model's mask token"
    selected_spots = spots(state.tags.tag(caption.text), params["target"], params["which"])
    return selected_spots or f"it has no {params['target']} that can be replaced"


def blanks_of(caption: CaptionInput, *, params: Mapping[str, Any], state: State) -> list[tuple[int, int]]:
    """Return (start, end) of each word of the caption that is to be replaced."""
    spots_by_kind = [
        _selected_spots(caption, {**params, "target": kind}, state) for kind in params["target"].split("+")
    ]
    return [
        (spot.start, spot.end)
        for spots_of_kind in spots_by_kind
        if isinstance(spots_of_kind, list)
        for spot in spots_of_kind
    ]


def _blanks(text: str, spot: Spot, params: Mapping[str, Any], state: State) -> list[Blank]:
    """Return (before, after) of the blank: in the caption, or in each prompt ("a person can {verb} a {mask}")."""
    if not params["prompts"]:
        return [(text[: spot.start], text[spot.end :])]
    verb = next((token.lemma for token in state.tags.tag(text) if token.part == "VERB"), "see")
    blanks = []
    for prompt in _templates(params["prompts"]):
        before, _mask, after = prompt.replace("{verb}", verb).partition("{mask}")
        blanks.append((before, after))
    return blanks


def _templates(prompts: str) -> list[str]:
    """Split the parameter `prompts`. GenerationError: one has no blank."""
    templates = [prompt for prompt in map(str.strip, prompts.split(";")) if prompt]
    for prompt in templates:
        if "{mask}" not in prompt:
            raise GenerationError(
                f"parameter 'prompts': {quoted(prompt)} has no {{mask}}; put it where the word belongs"
            )
    return templates


def _drafts(
    caption: CaptionInput,
    selected_spots: list[Spot],
    answers: Mapping[str, Mapping[Blank, list[Choice]]],
    params: Mapping[str, Any],
    mode: str,
    state: State,
) -> Iterator[FoilDraft]:
    """Yield drafts, best words first; with several spots or prompts, all their words together."""
    offered: dict[tuple[Spot, str], Choice] = {}
    for spot in selected_spots:
        for blank in _blanks(caption.text, spot, params, state):
            for choice in answers[spot.form][blank]:
                same = choice.word == spot.word if mode == "paper" else is_form_of(spot, choice.word)
                before = offered.get((spot, choice.word))
                if not same and (before is None or before.log_probability < choice.log_probability):
                    offered[spot, choice.word] = choice
    best = sorted(offered, key=lambda key: (-offered[key].votes, -offered[key].log_probability, key[0].start, key[1]))
    model_id, revision = identity(state.fillers)
    for rank, (spot, word) in enumerate(best[: params["foils"]]):
        choice = offered[spot, word]
        edits = replace_phrase(caption.text, spot.start, spot.end, word)
        facts: dict[str, Any] = {"from": spot.word, "to": word, "form": spot.form, "tagger": state.tags.name}
        facts |= {"probability": round(choice.probability, 5), "votes": choice.votes}
        draft = draft_from_edits(caption, edits, method="mask_fill", mode=mode, rank=rank, facts=facts)
        yield replace(draft, model_id=model_id, model_revision=revision, prompt_template=params["prompts"][:100])
