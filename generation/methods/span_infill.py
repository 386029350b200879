"""Span infilling: "a man jumps over a fence" -> "a man <extra_id_0> a fence" -> "a man climbs up a fence".

Verb sets use T5-base, tuned on the train captions, beam 50, the 50 best (contrast sets, Secs. 3.2 and A.3). Rare
actions use T5-large, 64 beams, after "can", without general and touching verbs (ViLMA, Sec. C.5). `paper` takes the
spans of the model, except the stop lists; `corrected` keeps verb phrases in the original form.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from foilworks.core.hub.catalogue.registry import SPAN_FILLER
from foilworks.core.hub.interfaces import Fill, SpanFiller
from foilworks.core.hub.opening import open_helper
from foilworks.core.text.language.tools import Tagger, tagger
from generation.errors import GenerationError
from generation.grammar.spans import STOP_LISTS, VerbSpan, fitted, inflected, stopped_by, verb_spans
from generation.grammar.surface import replace_phrase
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "2"


@dataclass(frozen=True)
class State:
    filler: SpanFiller
    tags: Tagger
    stopped: frozenset[str]


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    if not 1 <= params["top"] <= params["beams"] or params["foils"] < 1 or params["longest"] < 1:
        raise GenerationError(
            f"parameters 'top' ({params['top']}) and 'beams' ({params['beams']}): give at least one span and as many "
            "beams; 'foils' and 'longest' are from 1"
        )
    if params["prompt"] and "{span}" not in params["prompt"]:
        raise GenerationError("parameter 'prompt' has no {span}; put it where the verb belongs: “a person can {span}”")
    if unknown := sorted(_stopped(params["stop"]) - set(STOP_LISTS)):
        raise GenerationError(
            f"parameter 'stop': {', '.join(unknown)} is not a list of words; choose from {', '.join(STOP_LISTS)}"
        )


def _stopped(stop: str) -> frozenset[str]:
    return frozenset(filter(None, map(str.strip, stop.split(","))))


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> State:
    """Load the model. The captions are not read."""
    del captions, mode, seed
    check(params)
    filler = open_helper(params["model"], SPAN_FILLER, device=params["device"])
    return State(filler, tagger(params["tagger"]), _stopped(params["stop"]))


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption, the most probable first."""
    del seed
    caption_spans = [(caption, _spans(caption, params, state)) for caption in captions]
    blanks = {
        (caption.id, span): _blank(caption.text, span, params, state)
        for caption, spans in caption_spans
        for span in (spans if isinstance(spans, list) else ())
    }
    answers = state.filler.fill_spans(
        list(blanks.values()), params["top"], beams=params["beams"], longest=params["longest"]
    )
    filled = dict(zip(blanks, answers, strict=True))
    for caption, spans in caption_spans:
        if isinstance(spans, str):
            yield Skip(caption.id, spans)
            continue
        drafts = list(_drafts(caption, {span: filled[caption.id, span] for span in spans}, params, mode, state))
        yield from drafts
        if not drafts:
            yield Skip(caption.id, f"the model offers no other verb phrase for '{spans[0].text}'")


def _spans(caption: CaptionInput, params: Mapping[str, Any], state: State) -> list[VerbSpan] | str:
    if state.filler.blank in caption.text:
        return "it contains the model's mask token"
    spans = verb_spans(state.tags.tag(caption.text), params["pattern"], params["which"])
    return spans or "it has no verb phrase with the pattern"


def blanks_of(caption: CaptionInput, *, params: Mapping[str, Any], state: State) -> list[tuple[int, int]]:
    """Return (start, end) of each verb phrase of the caption that is to be replaced."""
    spans = _spans(caption, params, state)
    return [(span.start, span.end) for span in spans] if isinstance(spans, list) else []


def _blank(text: str, span: VerbSpan, params: Mapping[str, Any], state: State) -> str:
    """Return the caption with its blank; a prompt ("a person can {span}") replaces all text before the blank."""
    if not params["prompt"]:
        return text[: span.start] + state.filler.blank + text[span.end :]
    before, _, after = params["prompt"].partition("{span}")
    return before + state.filler.blank + after + text[span.end :]


def _drafts(
    caption: CaptionInput, filled: Mapping[VerbSpan, list[Fill]], params: Mapping[str, Any], mode: str, state: State
) -> Iterator[FoilDraft]:
    """Yield drafts, the most probable first; with several spans all their fillings together, each foil once."""
    offered: dict[str, tuple[VerbSpan, str, float]] = {}
    for span, fills in filled.items():
        for fill in fills:
            text = _usable(span, fill.text, params, mode, state)
            foil = caption.text[: span.start] + text + caption.text[span.end :]
            if text and (foil not in offered or offered[foil][2] < fill.log_probability):
                offered[foil] = (span, text, fill.log_probability)
    best = sorted(offered.values(), key=lambda option: (-option[2], option[0].start, option[1]))
    info = state.filler.info
    for rank, (span, text, value) in enumerate(best[: params["foils"]]):
        edits = replace_phrase(caption.text, span.start, span.end, text)
        facts: dict[str, Any] = {"from": span.text, "to": text, "pattern": span.pattern, "tagger": state.tags.name}
        facts["log_probability"] = round(value, 5)
        draft = draft_from_edits(caption, edits, method="span_infill", mode=mode, rank=rank, facts=facts)
        prompt = params["prompt"][:100]
        yield replace(draft, model_id=info.model_id, model_revision=info.revision, prompt_template=prompt)


def _usable(span: VerbSpan, filling: str, params: Mapping[str, Any], mode: str, state: State) -> str:
    """Return the text to insert; "" if a list stops it, nothing changes, or (corrected) its form is different."""
    text = inflected(span, filling) if params["prompt"] else filling
    if not text or text.lower() == span.text.lower() or stopped_by(filling, state.stopped):
        return ""
    return text if mode == "paper" else fitted(span, text)
