"""Rewrite plain sentences in literary English with an instruction model, with the prompt of (ViLMA, Sec. C.3).

`paper` sends several sentences in one prompt and reads the numbered answers; `corrected` sends one at a time, so
that answers cannot be mixed up, and drops answers that repeat their source or run on.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from foilworks.core.hub.interfaces import ChatReply, ChatRequest
from foilworks.core.text.tokens import normal_form
from generation.errors import GenerationError
from generation.instruction_models.cached_answers import Asking
from generation.instruction_models.prompts import Prompt
from generation.records import CaptionInput, MadeCaption, Skip

VERSION = "1"
USES_LLM = True
NUMBERED = re.compile(r"(?:^|(?<!\s)(?:(?<=[.!?\"”])(?= )|(?=[^\S\n]*+\n)))\s*+(\d{1,3})[.):]\s+")
QUOTES = "\"“”'`*"
MAX_TIMES_LONGER, MAX_EXTRA_CHARACTERS = 4, 80
MAX_SEED = 2**31
# Facts that stay true when words change.
KEPT = ("count", "entities")


def make(
    sources: Iterable[CaptionInput],
    *,
    params: dict[str, Any],
    mode: str,
    seed: int,
    asking: Asking,
    prompt: Prompt,
) -> Iterator[MadeCaption | Skip]:
    """Make at most one caption per source, or a Skip with the reason."""
    if not 1 <= params["together"] <= 50:
        raise GenerationError(f"parameter 'together' is {params['together']}; give a whole number from 1 to 50")
    batch = []
    for source in sources:
        if source.text.strip():
            batch.append(source)
        else:
            yield Skip(source.id, "it has no sentence to polish")
    size = params["together"] if mode == "paper" else 1
    groups = [batch[first : first + size] for first in range(0, len(batch), size)]
    replies = asking.ask([_request(group, params, seed, prompt) for group in groups])
    for group, reply in zip(groups, replies, strict=True):
        yield from _captions(group, reply, mode, asking, prompt)


def _request(group: Sequence[CaptionInput], params: dict[str, Any], seed: int, prompt: Prompt) -> ChatRequest:
    sentences = " ".join(f"{' '.join(source.text.split()).rstrip('.')}." for source in group)
    return ChatRequest(
        prompt.messages(sentences, len(group)),
        max_tokens=params["max_tokens"] * len(group),
        temperature=params["temperature"],
        seed=seed % MAX_SEED,
    )


def _captions(
    group: Sequence[CaptionInput], reply: ChatReply, mode: str, asking: Asking, prompt: Prompt
) -> Iterator[MadeCaption | Skip]:
    answers = [] if reply.failure else read_sentences(reply.text, len(group))
    why = reply.failure or f"{len(answers)} answers to {len(group)} sentences"
    for index, source in enumerate(group):
        if len(answers) != len(group):
            yield Skip(source.id, why, unanswered=bool(reply.failure) and not asking.chat.together)
            continue
        problem = "" if mode == "paper" else _problem(source.text, answers[index])
        if problem:
            yield Skip(source.id, problem)
            continue
        facts = {
            **{name: source.facts[name] for name in KEPT if name in source.facts},
            "polished_from": source.text,
            "prompt": prompt.id,
            "prompt_sha256": prompt.sha256,
            "model": asking.chat.info.model_id,
            "model_revision": reply.revision or asking.chat.info.revision,
        }
        yield MadeCaption(source.id, answers[index], "polish", mode, facts)


def read_sentences(answer: str, n_sentences: int) -> list[str]:
    """Read the numbered sentences of an answer, without numbers and quotes; the whole answer if one is wanted and none
    is numbered.
    """
    pieces = NUMBERED.split(answer.strip())
    numbered = [_bare(text) for text in pieces[2::2]]
    if numbered and not pieces[0].strip().rstrip(":"):
        return [text for text in numbered if text]
    if numbered and len(numbered) == n_sentences:
        # A line such as "Here are the corrections:" may be before them.
        return [text for text in numbered if text]
    lines = [_bare(line) for line in answer.splitlines() if line.strip()]
    return lines if len(lines) == n_sentences else []


def _bare(text: str) -> str:
    return " ".join(text.split()).strip(QUOTES).strip()


def _problem(source: str, answer: str) -> str:
    if normal_form(answer) == normal_form(source):
        return "repeats the caption"
    if len(answer) > MAX_TIMES_LONGER * len(source) + MAX_EXTRA_CHARACTERS:
        return "far longer than the caption"
    return ""
