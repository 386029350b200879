"""Counterfactuals by an instruction model: "installs … to" -> "uninstalls … from" (Feint6K, Sec. 4.2: method II).

Each request is for k captions in JSON, with the examples of a prompt template; verb and preposition change
together, which a single masked word cannot. Every answer is stored and never requested twice. `paper` takes answers as
they are; `corrected` copies the case of the caption's first letter and its full stop.

A prompt for a kind of foils has rules of its own (`generation.methods._asked_kinds`). With `self_check`, the model is
asked whether the caption implies each foil, and the foil is dropped unless it says no.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from foilworks.core.hub.interfaces import ChatReply, ChatRequest
from foilworks.core.text.diff import diff_edits
from foilworks.core.text.tokens import normal_form
from generation.errors import GenerationError
from generation.instruction_models.cached_answers import Asking
from generation.instruction_models.kind_prompts import SELF_CHECK
from generation.instruction_models.prompt import Prompt
from generation.methods._asked_kinds import ASKED_KINDS
from generation.methods._chat_answers import check_answers, read_captions, read_choice
from generation.records import CaptionInput, FoilDraft, Shortfall, Skip, draft_from_edits

VERSION = "1"
# The inputs from a run: the model with its stored answers, and the prompt.
USES_LLM = True
SCHEMA = {
    "type": "object",
    "properties": {"captions": {"type": "array", "items": {"type": "string"}}},
    "required": ["captions"],
    "additionalProperties": False,
}
CHECK_SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["yes", "no", "unsure"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
CHECK_TOKENS = 64
IMPLIED = {
    "yes": "the model finds that the caption implies it",
    "unsure": "the model is unsure whether the caption implies it",
    "": "the model's self-check cannot be read",
}
MAX_FOILS = 20
# Foils, and why others are missing.
Answered = tuple[list[str], Sequence[str]]
MAX_SEED = 2**31


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    if not 1 <= params["foils"] <= MAX_FOILS:
        raise GenerationError(f"parameter 'foils' is {params['foils']}; give a whole number from 1 to {MAX_FOILS}")


def make(
    captions: Iterable[CaptionInput],
    *,
    params: dict[str, Any],
    mode: str,
    seed: int,
    asking: Asking,
    prompt: Prompt,
) -> Iterator[FoilDraft | Skip | Shortfall]:
    """Make up to params["foils"] foils per caption, in the model's order, and report missing ones."""
    check(params)
    batch = []
    for caption in captions:
        if why := unfit(caption, prompt):
            yield Skip(caption.id, why)
        else:
            batch.append(caption)
    replies = asking.ask([_request(caption, params, seed, prompt) for caption in batch])
    answered = [
        _foils(caption, reply, params["foils"], prompt, mend=mode != "paper")
        for caption, reply in zip(batch, replies, strict=True)
    ]
    if params.get("self_check") == "yes":
        answered = _self_checked(batch, answered, asking, seed)
    for caption, reply, (foils, reasons) in zip(batch, replies, answered, strict=True):
        if reply.failure or not foils:
            # A local model would give the same answer again.
            yield Skip(caption.id, reasons[0], unanswered=bool(reply.failure) and not asking.chat.together)
            continue
        for rank, foil in enumerate(foils):
            yield _draft(caption, foil, rank, mode, asking, reply, prompt)
        if reasons:
            yield Shortfall(caption.id, tuple(reasons))


def _request(caption: CaptionInput, params: dict[str, Any], seed: int, prompt: Prompt) -> ChatRequest:
    return ChatRequest(
        prompt.messages(" ".join(caption.text.split()), params["foils"]),
        schema=SCHEMA,
        max_tokens=params["max_tokens"],
        temperature=params["temperature"],
        seed=seed % MAX_SEED,
    )


def unfit(caption: CaptionInput, prompt: Prompt) -> str:
    """Return why the caption is not sent; "" if it is."""
    if not normal_form(caption.text):
        return "it has no words"
    return ASKED_KINDS[prompt.kind].fits(caption.text) if prompt.kind else ""


def _foils(caption: CaptionInput, reply: ChatReply, k: int, prompt: Prompt, *, mend: bool) -> Answered:
    if reply.failure:
        return [], [reply.failure]
    answers = read_captions(reply.text)
    if answers is None:
        return [], ["cut off: raise max_tokens" if reply.cut else "not JSON"]
    foils, reasons = check_answers(caption.text, answers, k, mend=mend)
    # If only white space or case differs, there is no edit to show.
    foils = [foil for foil in foils if diff_edits(caption.text, foil)]
    if not prompt.kind:
        return foils, reasons
    refused = {foil: why for foil in foils if (why := ASKED_KINDS[prompt.kind].refused(caption.text, foil))}
    return [foil for foil in foils if foil not in refused], [*refused.values(), *reasons]


def _self_checked(
    captions: Sequence[CaptionInput], answered: Sequence[Answered], asking: Asking, seed: int
) -> list[Answered]:
    """Drop the foils that the model does not deny; the requests of all captions are sent together."""
    pairs = [
        (at, foil) for at, (caption, (foils, _)) in enumerate(zip(captions, answered, strict=True)) for foil in foils
    ]
    requests = [_check_request(captions[at].text, foil, seed) for at, foil in pairs]
    kept: list[tuple[list[str], list[str]]] = [([], list(reasons)) for _, reasons in answered]
    for (at, foil), reply in zip(pairs, asking.ask(requests), strict=True):
        if (answer := read_choice(reply.text, ("yes", "no", "unsure"))) == "no":
            kept[at][0].append(foil)
        else:
            kept[at][1].append(IMPLIED[answer])
    return [(foils, reasons) for foils, reasons in kept]


def _check_request(caption: str, foil: str, seed: int) -> ChatRequest:
    messages = SELF_CHECK.about(caption=" ".join(caption.split()), statement=foil)
    return ChatRequest(messages, schema=CHECK_SCHEMA, max_tokens=CHECK_TOKENS, seed=seed % MAX_SEED)


def _draft(
    caption: CaptionInput, foil: str, rank: int, mode: str, asking: Asking, reply: ChatReply, prompt: Prompt
) -> FoilDraft:
    edits = diff_edits(caption.text, foil)
    draft = draft_from_edits(caption, edits, method="chat", mode=mode, rank=rank, facts=_facts(len(edits), prompt))
    return replace(
        draft,
        model_id=asking.chat.info.model_id[:200],
        model_revision=(reply.revision or asking.chat.info.revision)[:64],
        prompt_template=prompt.id,
        prompt_hash=prompt.sha256,
    )


def _facts(n_edits: int, prompt: Prompt) -> dict[str, Any]:
    """Return what is stored of a foil. Nobody knows that an added event is false before people see the clip."""
    facts: dict[str, Any] = {"edits": n_edits}
    if prompt.kind:
        facts |= {"kind": prompt.kind, "likely_false": ASKED_KINDS[prompt.kind].is_likely_false}
    return facts
