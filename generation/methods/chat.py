"""Counterfactuals by an instruction model: "installs … to" -> "uninstalls … from" (Feint6K, Sec. 4.2: method II).

Each request is for k captions in JSON, with the examples of a prompt template; verb and preposition change
together, which a single masked word cannot. Every answer is stored and never requested twice. `paper` takes answers as
they are; `corrected` copies the case of the caption's first letter and its full stop.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from foilworks.core.hub.interfaces import ChatReply, ChatRequest
from foilworks.core.text.diff import diff_edits
from foilworks.core.text.tokens import normal_form
from generation.errors import GenerationError
from generation.instruction_models.cached_answers import Asking
from generation.instruction_models.prompts import Prompt
from generation.methods._chat_answers import check_answers, read_captions
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
MAX_FOILS = 20
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
        if normal_form(caption.text):
            batch.append(caption)
        else:
            yield Skip(caption.id, "it has no words")
    replies = asking.ask([_request(caption, params, seed, prompt) for caption in batch])
    for caption, reply in zip(batch, replies, strict=True):
        foils, reasons = _foils(caption, reply, params["foils"], mend=mode != "paper")
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


def _foils(caption: CaptionInput, reply: ChatReply, k: int, *, mend: bool) -> tuple[list[str], Sequence[str]]:
    if reply.failure:
        return [], [reply.failure]
    answers = read_captions(reply.text)
    if answers is None:
        return [], ["cut off: raise max_tokens" if reply.cut else "not JSON"]
    foils, reasons = check_answers(caption.text, answers, k, mend=mend)
    # If only white space or case differs, there is no edit to show.
    return [foil for foil in foils if diff_edits(caption.text, foil)], reasons


def _draft(
    caption: CaptionInput, foil: str, rank: int, mode: str, asking: Asking, reply: ChatReply, prompt: Prompt
) -> FoilDraft:
    edits = diff_edits(caption.text, foil)
    draft = draft_from_edits(caption, edits, method="chat", mode=mode, rank=rank, facts={"edits": len(edits)})
    return replace(
        draft,
        model_id=asking.chat.info.model_id[:200],
        model_revision=(reply.revision or asking.chat.info.revision)[:64],
        prompt_template=prompt.id,
        prompt_hash=prompt.sha256,
    )
