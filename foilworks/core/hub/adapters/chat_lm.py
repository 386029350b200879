"""Query local instruction models (AutoModelForCausalLM) through their own chat template, several conversations at
once."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from jinja2 import TemplateError
from transformers import AutoModelForCausalLM, GenerationConfig

from foilworks.core.hub.batching.shared_prefix import CACHED_TOKENS_PER_BATCH, SharedBeginnings
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import ChatReply, ChatRequest, ModelInfo, ScoreKind
from foilworks.core.hub.loading.pretrained import Pretrained, load_pretrained, load_tokenizer, longest_input
from foilworks.core.text.model_answers import without_thoughts
from foilworks.core.text.storable import storable

# Requests that are looked up together. Batches are cut by tokens.
TOGETHER = 64
MAX_SEED = 2**63 - 1


class ChatLM:
    """The Chat of a loaded model.

    At temperature 0 the most probable token is chosen; otherwise the first request's seed draws tokens. Padding and
    shared beginnings may change the last bits of a score, so a tie may be broken differently in another batch.
    """

    together = TOGETHER

    def __init__(self, loaded: Pretrained, tokenizer: Any) -> None:
        if not getattr(tokenizer, "chat_template", None):
            raise HubError(
                f"{loaded.name}: its tokenizer has no chat template; choose a model tuned for instructions, or copy "
                "chat_template.jinja into the folder"
            )
        self.model, self.tokenizer, self.device = loaded.model, tokenizer, loaded.device
        self._end = tokenizer.eos_token_id
        self._pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else self._end
        if self._pad is None:
            raise HubError(f"{loaded.name}: its tokenizer has neither an end nor a padding token; set one in its files")
        self._longest = longest_input(tokenizer, loaded.model.config)
        self._beginnings = SharedBeginnings(loaded.model)
        self.info = ModelInfo(loaded.name, loaded.revision, ScoreKind.LOG_LIKELIHOOD, needs_video=False)

    def replies(self, requests: Sequence[ChatRequest]) -> Iterator[list[tuple[int, ChatReply]]]:
        """Yield replies in batches of a number of tokens, in the order of the requests, so a run that continues after a
        stop between two batches forms the same batches."""
        rows = [self._encoded(request) for request in requests]
        too_long = ChatReply(failure=f"longer than the model's {self._longest} tokens")
        sizes = [len(row) + request.max_tokens for row, request in zip(rows, requests, strict=True)]
        if refused := [(at, too_long) for at, size in enumerate(sizes) if size > self._longest]:
            yield refused
        for batch in self._batches([at for at, size in enumerate(sizes) if size <= self._longest], sizes):
            answers = self._answers([rows[at] for at in batch], [requests[at] for at in batch])
            yield list(zip(batch, answers, strict=True))

    def _batches(self, indices: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
        """Yield batches of request indices whose largest size times their number is within the budget."""
        budget = CACHED_TOKENS_PER_BATCH[self.device.type]
        batch: list[int] = []
        for at in indices:
            if batch and max(sizes[index] for index in (*batch, at)) * (len(batch) + 1) > budget:
                yield batch
                batch = []
            batch.append(at)
        if batch:
            yield batch

    def _encoded(self, request: ChatRequest) -> list[int]:
        if request.images:
            raise HubError(f"{self.info.model_id}: it reads no images; name a model that does, such as vlm:MODEL")
        messages = [{"role": role, "content": content} for role, content in request.messages]
        try:
            begun = messages[-1]["role"] == "assistant"
            text = self.tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=not begun, continue_final_message=begun
            )
        except TemplateError as error:
            # Some templates have no system role: its text then precedes the first question.
            if request.messages[0][0] != "system":
                raise HubError(f"{self.info.model_id}: its chat template refuses the conversation ({error})") from error
            (_, instructions), (role, question), *later_messages = request.messages
            merged = ((role, f"{instructions}\n\n{question}"), *later_messages)
            return self._encoded(ChatRequest(merged, request.schema, request.max_tokens))
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    @torch.inference_mode()
    def _answers(self, rows: Sequence[Sequence[int]], requests: Sequence[ChatRequest]) -> list[ChatReply]:
        longest = max(map(len, rows))
        before, cache = self._beginnings.begin(rows)
        ids = torch.full((len(rows), longest), self._pad, dtype=torch.int64)
        mask = torch.zeros_like(ids)
        for at, row in enumerate(rows):
            # Padding is behind what all begin with, so that its cache fits every row.
            ids[at, :before] = torch.tensor(row[:before])
            ids[at, longest - len(row) + before :] = torch.tensor(row[before:])
            mask[at, :before] = mask[at, longest - len(row) + before :] = 1
        room = max(request.max_tokens for request in requests)
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(requests[0].seed % MAX_SEED)
            output_ids = self.model.generate(
                input_ids=ids.to(self.device),
                attention_mask=mask.to(self.device),
                generation_config=self._config(room, requests[0].temperature),
                **({"cache": cache} if cache is not None else {}),
            )
        return [
            self._reply(line[longest:].tolist(), len(row), request.max_tokens)
            for line, row, request in zip(output_ids, rows, requests, strict=True)
        ]

    def _config(self, room: int, temperature: float) -> GenerationConfig:
        model_ends = self.model.generation_config.eos_token_id if self.model.generation_config else None
        draws: dict[str, Any] = {"do_sample": temperature > 0}
        if temperature > 0:
            draws |= {"temperature": temperature, "top_p": 1.0, "top_k": 0}
        return GenerationConfig(
            max_new_tokens=room,
            pad_token_id=self._pad,
            eos_token_id=model_ends if model_ends is not None else self._end,
            **draws,
        )

    def _reply(self, ids: list[int], prompt_tokens: int, room: int) -> ChatReply:
        model_ends = self.model.generation_config.eos_token_id if self.model.generation_config else None
        ends = {self._end, *(model_ends if isinstance(model_ends, list) else [model_ends])}
        end = next((at for at, token_id in enumerate(ids) if token_id in ends), None)
        reply_ids = ids[: room if end is None else min(end, room)]
        text = storable(self.tokenizer.decode(reply_ids, skip_special_tokens=True)).strip()
        answer, thought_is_open = without_thoughts(text)
        text = answer.strip()
        cut = end is None or end >= room or thought_is_open
        if not text:
            return ChatReply(failure="empty answer", prompt_tokens=prompt_tokens, completion_tokens=len(reply_ids))
        return ChatReply(
            text, cut=cut, revision=self.info.revision, prompt_tokens=prompt_tokens, completion_tokens=len(reply_ids)
        )


def load_adapter(argument: str, *, device: str = "auto", dtype: str = "float32") -> ChatLM:
    """Load the instruction model of a hub id or folder."""
    tokenizer = load_tokenizer(argument)
    return ChatLM(load_pretrained(AutoModelForCausalLM, argument, slug="chat", device=device, dtype=dtype), tokenizer)
