"""A generative model that is asked about clips: prompts with a clip in them, within its context, and what it writes."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from transformers import GenerationConfig

from foilworks.core.hub.batching.conversation import Conversation
from foilworks.core.hub.batching.own_processor import processed
from foilworks.core.hub.batching.shared_prefix import CACHED_TOKENS_PER_BATCH, Prefix, PrefixModel
from foilworks.core.hub.batching.thoughts import Generated, cut_generated
from foilworks.core.hub.batching.video_families import Family
from foilworks.core.hub.batching.video_inputs import Clip, Prepared, joined
from foilworks.core.hub.errors import ClipError, HubError
from foilworks.core.hub.interfaces import Frames, GenerationRequest, VideoMeta
from foilworks.core.hub.loading.pretrained import Pretrained, context_length
from foilworks.core.text.model_answers import without_thoughts
from foilworks.core.text.open_thoughts import opened_at_start
from foilworks.core.text.quoting import quoted

logger = logging.getLogger(__name__)
# The frames of a clip without content, on which a model is tried when it is loaded.
TRIED_SIDE, TRIED_FRAMES, TRIED_TOKENS = 64, 2, 8


class TooLongError(ClipError):
    """A prompt has more tokens than the model's context."""


@dataclass(frozen=True)
class Parts:
    """What a model is made of, beside its weights: how clips and prompts become its inputs."""

    talk: Conversation
    family: Family
    settings: dict[str, Any]
    processor: Any = None


class PromptedModel:
    """A loaded model, its template and how it is shown clips."""

    def __init__(self, loaded: Pretrained, parts: Parts) -> None:
        self.model, self.name, self.device = loaded.model, loaded.name, loaded.device
        self.talk, self.family, self.settings, self.processor = (
            parts.talk,
            parts.family,
            parts.settings,
            parts.processor,
        )
        token = getattr(loaded.model.config, self.family.placeholder, None)
        self.prefixes = PrefixModel(loaded.model, token, self.family.type_ids, whole=self.family.is_generic)
        # Tokens that a prompt and its answer may have together; 0 if the configuration does not say.
        self.context = context_length(loaded.model.config)
        self._has_named_frames = False
        self._dtype = next(loaded.model.parameters()).dtype

    def prepare(self, clip: Frames, meta: VideoMeta | None = None) -> Prepared:
        """Return the clip as the model's tensors. HubError: it is not uint8 (frames, height, width, 3)."""
        if clip.ndim != 4 or clip.shape[3] != 3 or clip.dtype != np.uint8 or not len(clip):
            clip_key = meta.key if meta else ""
            raise HubError(
                f"clip {quoted(clip_key)}: {self.name} takes uint8 (frames, height, width, 3), not "
                f"{clip.dtype} {clip.shape}; decode it to frames"
            )
        times = meta.times if meta else ()
        if self.family.is_generic and meta is not None and times and not self._has_named_frames:
            self._has_named_frames = True
            seconds = ", ".join(f"{time:.2f}" for time in times)
            logger.info("%s: clip %s: as %s, frames at %s s", self.name, meta.key, self.family.media_type, seconds)
        tokenizer, config = self.talk.tokenizer, self.model.config
        lasts = meta.seconds if meta else 0.0
        model_clip = Clip(clip, times, self.settings, config, tokenizer, self.device, self.processor, lasts)
        prepared = self.family.prepare(model_clip)
        return replace(prepared, tensors=self._in_own_format(prepared.tensors))

    def _in_own_format(self, tensors: Any) -> dict[str, torch.Tensor]:
        return {
            name: value.to(self._dtype) if value.is_floating_point() and name.startswith("pixel") else value
            for name, value in tensors.items()
        }

    def rendered(self, prompt: str, prepared: Prepared | None) -> str:
        """Return the prompt in the model's template, with the clip's marks."""
        return self.talk.prompt(prompt, video=0 if prepared is None else prepared.media)

    def prefix(self, rendered: str, prepared: Prepared | None) -> Prefix:
        """Return the rendered prompt with the clip's tokens in it."""
        if self.family.is_generic and prepared is not None:
            tensors, aligned = processed(self.processor, self.model, rendered, prepared, self.device)
            return Prefix(aligned.pop("input_ids"), self._in_own_format(tensors), aligned)
        filled = (
            rendered if prepared is None else self.talk.with_video(rendered, prepared.media_texts or (prepared.text,))
        )
        ids = torch.tensor([self.talk.prefix_ids(filled)], device=self.device)
        return Prefix(ids, {} if prepared is None else prepared.tensors)

    def clip_tokens(self, prefix: Prefix) -> int:
        """Count the tokens of the clip in a prompt."""
        token = self.prefixes.video_token
        return 0 if token is None else int((prefix.ids == token).sum())

    def check_context(self, prefix: Prefix, n_more: int) -> None:
        """TooLongError: the prompt and `n_more` tokens after it exceed the model's context."""
        n_prompt = prefix.ids.shape[1]
        if self.context and n_prompt + n_more > self.context:
            raise TooLongError(
                f"the prompt has {n_prompt:,} tokens ({self.clip_tokens(prefix):,} of the clip) and the texts after it "
                f"up to {n_more:,}, but {self.name} has {self.context:,} positions; use fewer frames or pixels, or "
                "truncate=frames"
            )

    @torch.inference_mode()
    def output_ids(self, inputs: dict[str, Any], max_tokens: int, temperature: float, seed: int) -> torch.Tensor:
        """Return (n, tokens) that the model generates after the inputs of a batch, drawn by the seed above 0."""
        tokenizer, ids = self.talk.tokenizer, inputs["input_ids"]
        config = GenerationConfig(
            max_new_tokens=max_tokens,
            do_sample=temperature > 0,
            temperature=temperature if temperature > 0 else None,
            eos_token_id=self.ends,
            pad_token_id=tokenizer.pad_token_id or 0,
        )
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(seed)
            inputs = {**inputs, "attention_mask": torch.ones_like(ids)}
            output: torch.Tensor = self.model.generate(**inputs, generation_config=config)
        return output if self.prefixes.has_decoder else output[:, ids.shape[1] :]

    @property
    def ends(self) -> list[int]:
        """Return the tokens that end an answer."""
        generation_config = getattr(self.model, "generation_config", None)
        ends = getattr(generation_config, "eos_token_id", None)
        ends = self.talk.tokenizer.eos_token_id if ends is None else ends
        return list(ends) if isinstance(ends, list) else [] if ends is None else [ends]

    def generated(
        self, prefix: Prefix, opening: str, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Generated:
        """Let the model think and answer after the prompt, within `max_tokens` and its context."""
        self.check_context(prefix, 1)
        room = min(max_tokens, self.context - prefix.ids.shape[1]) if self.context else max_tokens
        inputs = self.prefixes.forward_inputs(prefix, prefix.ids)
        (row,) = self.output_ids(inputs, room, temperature, seed).tolist()
        return cut_generated(self.talk.tokenizer, row, self.ends, opening, room)

    def close_own_thoughts(self, prompt: str, n_frames: int) -> bool:
        """Look at a prompt and at the first tokens of its answer: close the thought that either of them opens.

        `n_frames`: of the clips that the model is shown. Return whether there is a thought. HubError: the model opens
        one again after an empty one.
        """
        clip = np.full((min(TRIED_FRAMES, n_frames), TRIED_SIDE, TRIED_SIDE, 3), 127, np.uint8)
        prepared = self.prepare(clip) if n_frames else None
        for _ in range(2):
            prefix = self.prefix(self.rendered(prompt, prepared), prepared)
            answer = self.generated(prefix, "", TRIED_TOKENS)
            opening, closing = opened_at_start(answer.text)
            if not opening:
                return self.talk.closed_any
            if self.talk.opened_by[0]:
                break
            self.talk.opened_by = (opening, closing)
        raise HubError(
            f"{self.name}: it thinks before it answers ({opening}), even after an empty thought; use thinking=read or "
            "thinking=logprobs"
        )

    def generate(self, requests: Sequence[GenerationRequest]) -> list[str]:
        """Generate one text per request. Requests of equal length and settings run together, sampled ones alone."""
        groups: dict[tuple[Any, ...], list[tuple[int, Prefix]]] = {}
        for at, request in enumerate(requests):
            prepared = None if request.clip is None else self.prepare(request.clip, request.meta)
            rendered = self.talk.prompt(
                request.prompt,
                video=0 if prepared is None else prepared.media,
                system=request.system,
                examples=request.examples,
            )
            prefix = self.prefix(rendered, prepared)
            self.check_context(prefix, _max_new_tokens(request))
            alone = (at, request.seed) if request.temperature > 0 or prefix.aligned else ()
            shapes = tuple(tensor.shape[1:] for tensor in prefix.tensors.values())
            key = (prefix.ids.shape, shapes, prepared is None, request.max_words, request.temperature, alone)
            groups.setdefault(key, []).append((at, prefix))
        answers = [""] * len(requests)
        for group in groups.values():
            tokens = group[0][1].ids.shape[1] + _max_new_tokens(requests[group[0][0]])
            step = max(1, CACHED_TOKENS_PER_BATCH[self.device.type] // tokens)
            for begin in range(0, len(group), step):
                batch = group[begin : begin + step]
                texts = self._generate_batch([prefix for _, prefix in batch], requests[batch[0][0]])
                for (at, _), text in zip(batch, texts, strict=True):
                    answers[at] = text
        return answers

    def _generate_batch(self, batch: Sequence[Prefix], request: GenerationRequest) -> list[str]:
        ids = torch.cat([prefix.ids for prefix in batch])
        inputs = self.prefixes.forward_inputs(replace(batch[0], ids=ids, tensors=joined(batch)), ids)
        output_ids = self.output_ids(inputs, _max_new_tokens(request), request.temperature, request.seed)
        texts = self.talk.tokenizer.batch_decode(output_ids, skip_special_tokens=True)
        return [" ".join(without_thoughts(text)[0].split()[: request.max_words]) for text in texts]


def _max_new_tokens(request: GenerationRequest) -> int:
    """Tokens for so many words."""
    return 2 * request.max_words + 8
