"""Encode requests and decode answers of the chat protocol, as servers implement it. Pure.

Observed on vLLM, SGLang, `transformers serve` and OpenAI: fields that a server does not know are refused with 400 or
422; `top_logprobs` goes up to 20, or 5 on older servers; a refusal is a field of the message, a finish reason
`content_filter` or a 400 with that code; vLLM takes a video as `video/jpeg` with its frames joined by commas.
"""

import base64
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import accumulate
from typing import Any

from foilworks.core.hub.catalogue.token_estimates import CHARS_PER_TOKEN, TOKENS_PER_IMAGE, TOKENS_PER_SOUND_SECOND
from foilworks.core.hub.interfaces import ChatReply, ChatRequest
from foilworks.core.text.model_answers import CLOSES, without_thoughts
from foilworks.core.text.storable import storable

MAX_MESSAGE_LENGTH = 160
MAX_REVISION_LENGTH = 64
# Fields that are left out for servers that do not support them: a word of the error -> the field.
OPTIONAL = {"response_format": "response_format", "schema": "response_format", "seed": "seed", "temper": "temperature"}
# Of WAV files with 16,000 samples of 16 bits.
BYTES_PER_SECOND = 32_000
# Max alternatives per token of older servers.
FEW_LOGPROBS = 5
FILTERED = "content_filter"
REFUSED_CODES = frozenset({FILTERED, "content_policy_violation", "moderation_blocked"})
NO_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_credits"})
PNG_SIGNATURE = b"\x89PNG"
# What servers call thoughts that they report apart from the answer.
THOUGHT_FIELDS = ("reasoning_content", "reasoning")
# What servers call the tokens of pictures in a prompt.
PICTURE_TOKENS = ("image_tokens", "video_tokens")
# Tokens of an answer whose alternatives are stored.
TOKENS_READ = 4


@dataclass(frozen=True)
class Failed:
    """One try without an answer.

    `pause`: seconds that the server requests. `charged`: the server may have computed it. `overloaded`: the server has
    too many requests. `refusal`: the text of the model's refusal. `message`: the server's message, which `why` omits.
    """

    why: str
    may_retry: bool = True
    pause: float | None = None
    charged: bool = False
    overloaded: bool = False
    refusal: str = ""
    message: str = ""


def body_of(model: str, request: ChatRequest, left_out: Collection[str], most_logprobs: int) -> dict[str, Any]:
    """Return the JSON of a request, without the fields in `left_out`."""
    body: dict[str, Any] = {
        "model": model,
        "messages": messages_of(request),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
    }
    if request.messages[-1][0] == "assistant":
        # Servers such as vLLM and SGLang continue the last message; others would answer it.
        body |= {"continue_final_message": True, "add_generation_prompt": False}
    if request.schema is not None:
        json_schema = {"name": "answer", "strict": True, "schema": dict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": json_schema}
    if request.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": min(request.top_logprobs, most_logprobs)}
    for name in set(left_out) & set(body):
        del body[name]
    if "max_tokens" in left_out:
        body["max_completion_tokens"] = request.max_tokens
    # What a run names in its key is never left out.
    return body | dict(request.fields)


def messages_of(request: ChatRequest) -> list[dict[str, Any]]:
    """Return the conversation; pictures and sound are before the text of the last message."""
    messages: list[dict[str, Any]] = [{"role": role, "content": content} for role, content in request.messages]
    if request.images or request.sound:
        frames = [base64.b64encode(image).decode() for image in request.images]
        if request.as_video and frames:
            image_parts = [{"type": "video_url", "video_url": {"url": f"data:video/jpeg;base64,{','.join(frames)}"}}]
        else:
            urls = [
                f"data:image/{_form(image)};base64,{frame}" for image, frame in zip(request.images, frames, strict=True)
            ]
            image_parts = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        if request.sound:
            sound = {"data": base64.b64encode(request.sound).decode(), "format": "wav"}
            image_parts.append({"type": "input_audio", "input_audio": sound})
        messages[-1]["content"] = [*image_parts, {"type": "text", "text": messages[-1]["content"]}]
    return messages


def _form(image: bytes) -> str:
    """Return the subtype of the file's media type `image/…`."""
    return "png" if image.startswith(PNG_SIGNATURE) else "jpeg"


def rejected_fields(message: str, body: dict[str, Any]) -> set[str]:
    """Return the fields that an error names; the schema if it names none."""
    lower = message.lower()
    json_schema = {name for word, name in OPTIONAL.items() if word in lower and name in body}
    if "max_tokens" in message and "max_tokens" in body:
        json_schema.add("max_tokens")
    if "logprobs" in lower and "logprobs" in body:
        json_schema |= {"logprobs", "top_logprobs"}
    if not json_schema and "response_format" in body:
        json_schema.add("response_format")
    return json_schema


def error_of(content: bytes) -> tuple[str, str]:
    """Return (code, message) of an error's body."""
    text = content.decode("utf-8", "replace")
    try:
        error = json.loads(text)
    except (ValueError, RecursionError):
        return "", text
    if not isinstance(error, dict):
        return "", text
    inner = error.get("error", error.get("message", error.get("detail", "")))
    if isinstance(inner, dict):
        return str(inner.get("code") or ""), str(inner.get("message", ""))
    return str(error.get("code") or ""), str(inner)


def answer_of(content: bytes) -> ChatReply | Failed:
    """Read the body of a 200; "not JSON" if it is not in OpenAI's format."""
    try:
        body = json.loads(content)
        choice = body["choices"][0]
        message = choice["message"]
        text = _joined(message.get("content"))
        reason = str(choice.get("finish_reason") or "")
        usage = body.get("usage") or {}
        tokens = [int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens")]
        details = usage.get("prompt_tokens_details") or {}
        cached = int(details.get("cached_tokens") or 0)
        clip_tokens = sum(int(details.get(name) or 0) for name in PICTURE_TOKENS)
        reported = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens")
        thought_tokens = _thought_tokens(reported, message, text, tokens[1])
        logprobs = _logprobs(choice.get("logprobs"), message, text)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return Failed("not JSON", charged=True)
    refusal = message.get("refusal")
    refusal = _line(refusal) if isinstance(refusal, str) and refusal.strip() else FILTERED * (reason == FILTERED)
    text = storable(text) if isinstance(text, str) and text.strip() else ""
    return ChatReply(
        text,
        failure=(f"refused: {refusal}" if refusal else "empty answer") if not text else "",
        cut=reason == "length",
        revision=storable(str(body.get("model") or ""))[:MAX_REVISION_LENGTH],
        prompt_tokens=tokens[0],
        completion_tokens=tokens[1],
        cached_tokens=cached,
        clip_tokens=clip_tokens,
        thought_tokens=thought_tokens,
        refusal=refusal,
        reason=storable(reason)[:30],
        logprobs=logprobs,
    )


def estimated(request: ChatRequest) -> tuple[int, int]:
    """Estimate the tokens (in, out) of a request."""
    text_tokens = sum(len(content) for _, content in request.messages) // CHARS_PER_TOKEN
    sound_tokens = len(request.sound) * TOKENS_PER_SOUND_SECOND // BYTES_PER_SECOND
    return text_tokens + TOKENS_PER_IMAGE * len(request.images) + sound_tokens, request.max_tokens


def counted(reply: ChatReply, request: ChatRequest) -> ChatReply:
    """Add estimated token counts if the server does not report them: a budget must hold there, too."""
    if reply.prompt_tokens or reply.completion_tokens:
        return reply
    prompt_tokens, _ = estimated(request)
    return replace(reply, prompt_tokens=prompt_tokens, completion_tokens=len(reply.text) // CHARS_PER_TOKEN + 1)


def seconds_of(header: str) -> float | None:
    """Return Retry-After in seconds, from a number or a date; None if it is neither."""
    header = header.strip()
    try:
        return max(0.0, float(header)) if header.replace(".", "", 1).isdecimal() else _until(header)
    except (TypeError, ValueError):
        return None


def _until(date: str) -> float:
    retry_at = parsedate_to_datetime(date)
    retry_at = retry_at if retry_at.tzinfo else retry_at.replace(tzinfo=UTC)
    return max(0.0, (retry_at - datetime.now(UTC)).total_seconds())


def _logprobs(logprobs: Any, message: Mapping[str, Any], text: object) -> tuple[tuple[tuple[str, float], ...], ...]:
    """Return (token, natural-log probability) of the alternatives at each of the first tokens of the answer, including
    the chosen one; of a model that thinks first, those after its thoughts."""
    rows: Sequence[Any] = (logprobs or {}).get("content") or ()
    answer, is_open = without_thoughts(text if isinstance(text, str) else "")
    if is_open or answer != text or any(message.get(name) for name in THOUGHT_FIELDS):
        rows = _rows_of_answer(rows, answer.strip())
    token_rows = []
    for row in rows[:TOKENS_READ]:
        pairs = {
            _token(alternative): float(alternative["logprob"])
            for alternative in [row, *(row.get("top_logprobs") or ())]
        }
        token_rows.append(tuple(sorted(pairs.items(), key=lambda pair: -pair[1])))
    return tuple(token_rows)


def _thought_tokens(reported: Any, message: Mapping[str, Any], text: object, completion_tokens: int) -> int:
    """Return how many tokens of an answer are its thought: as reported, otherwise by its share of the characters."""
    if reported is not None:
        return int(reported)
    whole = text if isinstance(text, str) else ""
    answer, is_open = without_thoughts(whole)
    apart = sum(len(str(message.get(name) or "")) for name in THOUGHT_FIELDS)
    inside = len(whole) if is_open else len(whole) - len(answer)
    thought = apart + (inside if is_open or CLOSES.search(whole) else 0)
    return max(1, round(completion_tokens * thought / (apart + len(whole)))) if thought else 0


def _rows_of_answer(rows: Sequence[Any], answer: str) -> Sequence[Any]:
    """Return the rows from the one where the answer begins; none if their tokens do not spell it."""
    tokens = [str(row["token"]) for row in rows]
    at = "".join(tokens).rfind(answer) if answer else -1
    if at < 0:
        return ()
    ends = accumulate(map(len, tokens))
    return rows[next(index for index, end in enumerate(ends) if end > at) :]


def _token(row: dict[str, Any]) -> str:
    return storable(str(row["token"]))


def _joined(content: object) -> object:
    """Join the parts of an answer: [{"type": "text", "text": "…"}]."""
    if not isinstance(content, list):
        return content
    return "".join(str(text_part.get("text") or "") for text_part in content if isinstance(text_part, dict))


def _line(text: str) -> str:
    return " ".join(storable(text).split())[:MAX_MESSAGE_LENGTH]


def one_line(text: str) -> str:
    """Return an error's message as ": message" on one line."""
    line = _line(text)
    return f": {line}" if line else ""
