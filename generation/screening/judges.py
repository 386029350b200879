"""Open the model that screens foils: a local one, or one behind an endpoint. Only jobs import this module.

Both decode each clip once per batch, through the installation's cache of frames: a later scoring run finds them there.
"""

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from PIL import Image

from foilworks.core.hub.adapters.chat_endpoint import ChatEndpoint, Endpoint, RetryPolicy
from foilworks.core.hub.catalogue.registry import ENDPOINT
from foilworks.core.hub.contract import rows_of, scores_of, similarities
from foilworks.core.hub.errors import ClipError
from foilworks.core.hub.interfaces import ChatRequest, Embedder, Frames, ModelInfo, ScoreKind, VideoMeta
from foilworks.core.hub.loaded_model import loaded_adapter
from foilworks.core.hub.opening import open_adapter
from foilworks.core.hub.served.budget import Budget
from foilworks.core.hub.served.prompts import MATCHES, PROMPTS
from foilworks.core.hub.served.readings import READINGS, read
from foilworks.core.hub.shown_frames import sampling_of
from foilworks.core.media.decode_pool import DecodePool
from foilworks.core.media.errors import MediaError
from foilworks.core.media.file_cache import FileCache
from foilworks.core.media.frame_cache import LOSSLESS, ClipRequest, FrameCache
from foilworks.core.text.batches import batched
from foilworks.core.text.model_answers import YES_NO
from foilworks.core.text.registry import load, version_of
from generation.errors import GenerationError
from generation.instruction_models.answer_rows import RowAnswers, run_cost
from generation.instruction_models.cached_answers import Asking
from generation.instruction_models.endpoints import endpoint_and_model
from generation.models import GenerationRun
from generation.records import ClipFile, JudgedPair
from generation.screening.registry import JUDGES

Pair = tuple[ClipFile, str, str]
Values = list[tuple[float, float] | None]
Shown = tuple[Frames, VideoMeta]
CLIPS_PER_BATCH, TEXTS_PER_BATCH = 16, 128
TRIES, TIMEOUT, MAX_SIDE, JPEG_QUALITY = 3, 120.0, 768, 95
TOP_LOGPROBS, MAX_TOKENS = 20, 16


def open_judge(
    run: GenerationRun, params: Mapping[str, Any], heard: Callable[[int], None], notice: Callable[[str], None]
) -> Any:
    """Open the model that `params` name. `notice`: as of foilworks.core.hub.adapters.chat_endpoint.ChatEndpoint.

    GenerationError, HubError: it cannot be opened, or sees no clips.
    """
    slug, _, argument = params["model"].partition(":")
    if slug == ENDPOINT:
        return _served(run, params, heard, notice)
    if slug in JUDGES:
        module = load(JUDGES[slug])
        if not hasattr(module, "judge"):
            raise GenerationError(f"parameter 'model': the judge '{slug}' sees no clips; choose a video model")
        return PluginJudge(slug, argument, module, version_of(JUDGES[slug], module))
    device = settings.FOILWORKS_DEVICE if params["device"] == "auto" else params["device"]
    opened = partial(loaded_adapter, open_adapter, params["model"], device=device)
    with opened() as adapter:
        info: ModelInfo = adapter.info
    if not info.needs_video:
        raise GenerationError(f"parameter 'model': {info.model_id} does not see clips; choose a video model")
    return LocalJudge(opened, info, reader(info))


def _facts(info: ModelInfo, **more: Any) -> dict[str, Any]:
    return {"model": f"{info.model_id}@{info.revision}", "frames": info.frames, **more}


def reader(info: ModelInfo) -> Callable[[ClipFile], Shown]:
    """Return the function that reads the frames that the model needs, from the installation's cache if they are there.

    MediaError: an unusable file.
    """
    limit, sampling = settings.FRAME_CACHE_BYTES, sampling_of(info)
    files = FileCache(Path(settings.CACHE_ROOT) / "frames", limit) if limit > 0 else None
    cache = FrameCache(files, LOSSLESS if info.size is not None else settings.FRAME_CACHE_FORM)

    def frames_of(clip: ClipFile) -> Shown:
        sample = cache.read(ClipRequest(clip.path, sampling, clip.start, clip.end, info.size, clip.content))
        times = tuple(float(time) for time in sample.times)
        return sample.frames, VideoMeta(clip.key, times, clip.path, clip.start, clip.end, seconds=sample.seconds)

    return frames_of


def by_clip(
    pairs: Sequence[Pair], frames_of: Callable[[ClipFile], Shown], ahead: int
) -> Iterator[tuple[list[int], Shown]]:
    """Yield the indices of the pairs about each clip with its frames; a clip that cannot be decoded is left out."""
    indices_by_clip: dict[str, list[int]] = {}
    for index, (clip, _, _) in enumerate(pairs):
        indices_by_clip.setdefault(json.dumps(clip.source), []).append(index)
    with DecodePool(settings.FOILWORKS_DECODERS or 1) as pool:
        for own, wait in pool.ahead(indices_by_clip.values(), lambda own: frames_of(pairs[own[0]][0]), ahead):
            try:
                yield own, wait()
            except MediaError:
                continue


@dataclass(frozen=True)
class LocalJudge:
    """A model on this machine. It stays loaded between batches, in the place of the last scoring model."""

    opened: Any
    info: ModelInfo
    frames_of: Callable[[ClipFile], Shown]

    @property
    def facts(self) -> Mapping[str, Any]:
        return _facts(self.info)

    @property
    def gives_probabilities(self) -> bool:
        return self.info.kind == ScoreKind.P_YES

    @property
    def higher_is_better(self) -> bool:
        return self.info.higher_is_better

    def values(self, pairs: Sequence[Pair]) -> Values:
        score_pairs: Values = [None] * len(pairs)
        if not pairs:
            return score_pairs
        with self.opened() as adapter:
            answer = self._embedded if isinstance(adapter, Embedder) else self._scored
            for index, pair in answer(adapter, pairs):
                if np.isfinite(pair).all():
                    score_pairs[index] = pair
        return score_pairs

    def _embedded(self, adapter: Any, pairs: Sequence[Pair]) -> Iterator[tuple[int, tuple[float, float]]]:
        texts = list(dict.fromkeys(text for _, *pair_texts in pairs for text in pair_texts))
        encoded = np.concatenate(
            [
                rows_of(self.info, "encode_text", adapter.encode_text(text_batch), len(text_batch), "text")
                for text_batch in batched(texts, TEXTS_PER_BATCH)
            ]
        )
        row_index = {text: index for index, text in enumerate(texts)}
        for batch in batched(by_clip(pairs, self.frames_of, 2 * CLIPS_PER_BATCH), CLIPS_PER_BATCH):
            for (own, _), row in zip(batch, self._rows(adapter, batch), strict=True):
                for index in own if row is not None else ():
                    assert row is not None
                    values = similarities(adapter, row, encoded[[row_index[text] for text in pairs[index][1:]]])
                    yield index, (float(values[0]), float(values[1]))

    def _rows(self, adapter: Any, batch: Sequence[tuple[list[int], Shown]]) -> list[Any]:
        """Encode clips together; one by one if the model cannot use one of them, which gets None."""
        frames, metas = [clip_frames[0] for _, clip_frames in batch], [clip_frames[1] for _, clip_frames in batch]
        try:
            return list(rows_of(self.info, "encode_video", adapter.encode_video(frames, metas), len(batch), "clip"))
        except ClipError:
            return [None] if len(batch) == 1 else [row for clip in batch for row in self._rows(adapter, [clip])]

    def _scored(self, adapter: Any, pairs: Sequence[Pair]) -> Iterator[tuple[int, tuple[float, float]]]:
        for own, (frames, meta) in by_clip(pairs, self.frames_of, CLIPS_PER_BATCH):
            # A share of a choice depends on the other texts, so each pair is asked alone.
            groups = [[index] for index in own] if self.info.by_item else [own]
            for group in groups:
                texts = list(dict.fromkeys(text for index in group for text in pairs[index][1:]))
                try:
                    scores = scores_of(self.info, adapter.score(frames, texts, "", meta), texts)
                except ClipError:
                    continue
                values = {text: float(score.value) for text, score in zip(texts, scores, strict=True)}
                for index in group:
                    yield index, (values[pairs[index][1]], values[pairs[index][2]])


@dataclass(frozen=True)
class ServedJudge:
    """A model behind an endpoint, asked about each text alone. Answers are stored, so nothing is asked twice."""

    info: ModelInfo
    asking: Asking
    frames_of: Callable[[ClipFile], Shown]
    gives_probabilities: bool = True
    higher_is_better: bool = True

    @property
    def facts(self) -> Mapping[str, Any]:
        return _facts(self.info, prompts=PROMPTS, readings=READINGS)

    def values(self, pairs: Sequence[Pair]) -> Values:
        score_pairs: Values = [None] * len(pairs)
        for batch in batched(by_clip(pairs, self.frames_of, CLIPS_PER_BATCH), CLIPS_PER_BATCH):
            requests: dict[tuple[int, str], ChatRequest] = {}
            for own, (frames, _) in batch:
                images = tuple(_picture(frame) for frame in frames)
                requests |= {(own[0], text): _request(text, images) for index in own for text in pairs[index][1:]}
            replies = dict(zip(requests, self.asking.ask(list(requests.values())), strict=True))
            shares = {key: read(reply, YES_NO, by_probability=True).shares for key, reply in replies.items()}
            for own, _ in batch:
                for index in own:
                    caption, foil = (shares[own[0], text] for text in pairs[index][1:])
                    score_pairs[index] = (caption[0], foil[0]) if caption and foil else None
        return score_pairs


@dataclass(frozen=True)
class PluginJudge:
    """A judge of a plug-in (docs/how-to/plugins.md). `module`: as its contract says."""

    slug: str
    argument: str
    module: Any
    version: str

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"model": f"{self.slug}:{self.argument}@{self.version}"}

    @property
    def gives_probabilities(self) -> bool:
        return bool(self.module.GIVES_PROBABILITIES)

    @property
    def higher_is_better(self) -> bool:
        return bool(self.module.HIGHER_IS_BETTER)

    def values(self, pairs: Sequence[Pair]) -> Values:
        answers = list(self.module.judge([JudgedPair(*pair) for pair in pairs], argument=self.argument))
        wrong = next((answer for answer in answers if answer is not None and not _is_two_numbers(answer)), None)
        if len(answers) != len(pairs) or wrong is not None:
            gave = f"{len(answers)} answers" if wrong is None else repr(wrong)[:80]
            raise GenerationError(
                f"{JUDGES[self.slug].origin}: judge gave {gave} for {len(pairs)} pairs; give one pair of numbers, or "
                "None, per pair"
            )
        return [None if answer is None else (float(answer[0]), float(answer[1])) for answer in answers]


def _is_two_numbers(answer: Any) -> bool:
    return len(answer) == 2 and all(isinstance(number, int | float | np.number) for number in answer)


def _request(text: str, images: tuple[bytes, ...]) -> ChatRequest:
    question = (("user", MATCHES.format(text)),)
    return ChatRequest(question, max_tokens=MAX_TOKENS, images=images, top_logprobs=TOP_LOGPROBS)


def _picture(frame: Any) -> bytes:
    image, buffer = Image.fromarray(frame), io.BytesIO()
    if max(image.size) > MAX_SIDE:
        image.thumbnail((MAX_SIDE, MAX_SIDE), Image.Resampling.LANCZOS)
    image.save(buffer, "jpeg", quality=JPEG_QUALITY, subsampling=0)
    return buffer.getvalue()


def _served(
    run: GenerationRun, params: Mapping[str, Any], heard: Callable[[int], None], notice: Callable[[str], None]
) -> ServedJudge:
    endpoint, model = endpoint_and_model(params["model"].partition(":")[2])
    cost = run_cost(run)
    spent = {"spent_requests": cost.requests, "spent_tokens": cost.prompt_tokens + cost.completion_tokens}
    budget = Budget(params["requests"], 0, **spent)
    patience = RetryPolicy(TRIES, TIMEOUT, endpoint.in_flight)
    chat = ChatEndpoint(Endpoint(endpoint.name, endpoint.url, model, endpoint.key), patience, budget, notice)
    where = f"at={hashlib.sha256(endpoint.url.encode()).hexdigest()[:8]}"
    info = ModelInfo(chat.info.model_id, where, ScoreKind.P_YES, frames=params["frames"], card={"category": "video"})
    return ServedJudge(info, Asking(chat, RowAnswers(cost, heard)), reader(info))
