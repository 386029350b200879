"""Describe the frames of a project's videos, then extract concepts; resumable. Only jobs load it.

The describer goes through all videos before the extractor is loaded, so that one large model is in memory at a time.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from evaluation.errors import EvaluationError
from evaluation.scoring.caches import caches
from evaluation.scoring.fetching import Clip
from evaluation.scoring.protocol_models import reader
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.utd.concepts import (
    ACTIVITIES,
    DESCRIPTION,
    NO_ACTIVITY,
    OBJECTS,
    SUMMARY,
    VERBS,
    frame_text,
    numbered,
)
from evaluation.utd.describers import ByEndpoint, ByGenerator, Describer, check_budget
from evaluation.utd.models import Descriptions, DescriptionsUsage, FrameText, TextSource
from evaluation.utd.prompt_sets import conversation, describe_prompt, facts_of_prompts, tokens_of
from evaluation.utd.samples import frame_texts
from evaluation.utd.subsets import chosen, videos_to_describe
from foilworks.core.corpus.models import Video
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.hub.adapters.chat_endpoint import ChatEndpoint, Endpoint, RetryPolicy
from foilworks.core.hub.catalogue.registry import CHAT
from foilworks.core.hub.interfaces import Chat, ChatRequest, Frames, ModelInfo, VideoMeta
from foilworks.core.hub.opening import open_generator, open_helper
from foilworks.core.hub.served.budget import Budget
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.outcomes import outcome_of, reasons_of
from foilworks.core.jobs.progress import note, progress
from foilworks.core.jobs.shards import STAGE, Part, Problems, Stage, finish, ranges, run_stages, shard_size, within
from foilworks.core.jobs.spread import Partly, Spread
from foilworks.core.media.decode_pool import DecodePool, usual_workers
from foilworks.core.media.errors import MediaError
from foilworks.core.media.sampling import CENTRES, Sampling
from foilworks.core.text.batches import batched
from foilworks.core.text.quoting import quoted
from generation.instruction_models.answer_rows import PricedAnswers, RowAnswers, budget_left
from generation.instruction_models.cached_answers import Asking
from generation.instruction_models.endpoints import Configured, endpoint_and_model

FROM_FILE = "file:"
SHARD = "utd.describe_shard"
DESCRIBE_STAGE, EXTRACT = "describe", "extract"
# The smallest and the largest shard: videos to describe, and frames whose concepts are extracted.
VIDEOS_PER_SHARD, FRAMES_PER_SHARD = (32, 512), (256, 4096)
# Texts per round, of an extractor that answers in batches and of an endpoint: a round ends with its slowest answer.
FRAMES_PER_BATCH, FRAMES_PER_ROUND = 64, 1024
ENDPOINT = "endpoint:"
# Change it with any of PROMPTS or DESCRIBE: different prompts give different texts.
PROMPTS_VERSION = "2"
# Retries of a request to an endpoint: nobody watches, and a failure leaves a gap.
TRIES = 6
COMPLETE = frozenset({DESCRIPTION, OBJECTS, ACTIVITIES, VERBS, SUMMARY})


def describe(descriptions: Descriptions, job: Job) -> Spread | Partly | None:
    """Describe every chosen video that is ready and lacks texts; failures are listed and repeated by the next run.

    It is partly done if too many videos have no texts, and fails if none has.

    HubError, GenerationError: a model does not load.
    """
    frames = descriptions.params["frames"]
    from_file = descriptions.describer.startswith(FROM_FILE)
    # Texts from a file need no video; else each frame is described, then its concepts are extracted.
    total = frame_texts(descriptions).count() if from_file else 2 * frames * _ready(descriptions).count()
    stages = [
        Stage(
            EXTRACT,
            SHARD,
            lambda: _cut(descriptions, list(_unextracted(descriptions).values_list("pk", flat=True)), FRAMES_PER_SHARD),
            lambda payload, worker: {"unanswered": _extract_all(descriptions, payload, worker)},
            route=_route(descriptions.extractor),
        )
    ]
    if not from_file:
        stages.insert(
            0,
            Stage(
                DESCRIBE_STAGE,
                SHARD,
                lambda: _cut(
                    descriptions,
                    list(_undescribed(descriptions).values_list("pk", flat=True)),
                    VIDEOS_PER_SHARD,
                    steps=frames,
                ),
                lambda payload, worker: {"unreadable": _describe_all(descriptions, payload, worker)},
                later=lambda: total // 2 - frame_texts(descriptions).filter(raw__has_keys=sorted(COMPLETE)).count(),
                route=_route(descriptions.describer),
            ),
        )
    outcome = run_stages(job, total, stages)
    if isinstance(outcome, Spread):
        return outcome
    progress(job, total, total)
    return _end(descriptions, outcome)


def _end(descriptions: Descriptions, outcome: Mapping[str, Any]) -> Partly | None:
    """Store the problems, and return how the job ended."""
    videos = chosen(Video.objects.filter(project=descriptions.project).order_by("pk"), descriptions.params)
    # Problems of the planned stages, and videos without a file now.
    missing = list(videos.exclude(pk__in=_ready(descriptions).values("pk")).values_list("key", flat=True))
    problems = {"missing_media": missing, **outcome}
    descriptions.problems = {name: some for name, some in problems.items() if some}
    descriptions.described_at = timezone.now()
    descriptions.save(update_fields=["problems", "described_at"])
    from_file = descriptions.describer.startswith(FROM_FILE)
    n_described = frame_texts(descriptions).filter(raw__has_keys=sorted(COMPLETE)).values("video").distinct().count()
    n_videos = frame_texts(descriptions).values("video").distinct().count() if from_file else videos.count()
    return outcome_of(n_videos, n_videos - n_described, reasons_of(descriptions.problems))


def describe_shard(descriptions: Descriptions, shard: Job) -> None:
    """Describe the frames of one range of videos, or extract the concepts of one range of frames."""
    if shard.payload[STAGE] == DESCRIBE_STAGE:
        problems: Problems = {"unreadable": _describe_all(descriptions, shard.payload, shard)}
    else:
        problems = {"unanswered": _extract_all(descriptions, shard.payload, shard)}
    finish(shard, problems)


def _cut(descriptions: Descriptions, keys: Sequence[int], sizes: tuple[int, int], steps: int = 1) -> list[Part]:
    # Each process counts its own costs, so one worker enforces a budget.
    budget = any(descriptions.params.get("budget", {}).values())
    return ranges(keys, max(1, len(keys)) if budget else shard_size(len(keys), *sizes), steps)


def _route(spec: str) -> str:
    """Prefer the worker that has a local model loaded for its shards."""
    return "" if spec.startswith((ENDPOINT, FROM_FILE)) else spec


def _ready(descriptions: Descriptions) -> QuerySet[Video]:
    return videos_to_describe(descriptions.project, descriptions.params)


def _undescribed(descriptions: Descriptions) -> QuerySet[Video]:
    # All frames of a video are stored together.
    described = FrameText.objects.filter(descriptions=descriptions, place=descriptions.params["frames"])
    return _ready(descriptions).exclude(pk__in=described.values("video"))


def _unextracted(descriptions: Descriptions) -> QuerySet[FrameText]:
    return frame_texts(descriptions).exclude(raw__has_keys=sorted(COMPLETE)).order_by("pk")


def _describe_all(descriptions: Descriptions, payload: Mapping[str, Any], job: Job) -> list[dict[str, str]]:
    """Describe the videos of a range that have no descriptions; the job ends at its total, minus later steps."""
    params = descriptions.params
    k = params["frames"]
    pending_videos = _undescribed(descriptions).filter(**within(payload))
    done = _begin(job, k * pending_videos.count(), f"describing frames: {descriptions.describer}")
    if not pending_videos.exists():
        return []
    model = open_describer(descriptions.describer, params, _Spending(descriptions, job))
    sampled = {"frames": k, "sampling": Sampling(CENTRES, k).version}
    source = source_of(
        descriptions.describer,
        model.info,
        {
            **sampled,
            "words": params["max_words"],
            "temp": params["temperature"],
            **facts_of_prompts(params),
        },
    )
    unreadable: list[dict[str, str]] = []
    # Not one open cursor: on SQLite, a write between two of its reads fails if somebody else wrote in the meantime.
    for ids in batched(pending_videos.values_list("pk", flat=True), model.videos_at_once):
        batch = list(Video.objects.filter(pk__in=ids).order_by("pk"))
        rows = _reused_texts(descriptions, batch, source, k)
        reused_videos = {row.video_id for row in rows}
        rows += _described(
            descriptions, [video for video in batch if video.pk not in reused_videos], model, source, unreadable
        )
        FrameText.objects.bulk_create(rows, ignore_conflicts=True)
        done += k * len(batch)
        progress(job, done)
    return unreadable


def _begin(job: Job, pending_steps: int, message: str) -> int:
    """Return the number of finished steps of a job or shard that ran before."""
    done = max(job.done, job.total - pending_steps) if job.parent_id is not None else job.done
    progress(job, done, message=message)
    return done


def _reused_texts(descriptions: Descriptions, videos: Sequence[Video], source: TextSource, k: int) -> list[FrameText]:
    """Return what the same model said about the same frames for other descriptions."""
    texts_by_frame: dict[tuple[int, int], FrameText] = {}
    stored_texts = FrameText.objects.filter(described_by=source, video__in=videos).exclude(descriptions=descriptions)
    for row in stored_texts:
        raw = {DESCRIPTION: row.raw[DESCRIPTION]}
        own = FrameText(
            descriptions=descriptions,
            video_id=row.video_id,
            place=row.place,
            time=row.time,
            raw=raw,
            described_by=source,
        )
        texts_by_frame[row.video_id, row.place] = own
    complete_videos = {
        video.pk
        for video in videos
        if all((video.pk, frame_number) in texts_by_frame for frame_number in range(1, k + 1))
    }
    return [row for (video, _), row in texts_by_frame.items() if video in complete_videos]


def _described(
    descriptions: Descriptions,
    videos: Sequence[Video],
    model: "Describer",
    source: TextSource,
    unreadable: list[dict[str, str]],
) -> list[FrameText]:
    protocol = PROTOCOLS["foilworks"]
    info = replace(model.info, frames=descriptions.params["frames"], needs_video=True)
    read = reader(protocol, caches(protocol, info).frames)
    sampled_frames: list[tuple[Video, int, float]] = []

    def decoded(video: Video) -> tuple[Frames, VideoMeta]:
        return read(Clip(video.key, clip_file(video), video.start_time, video.end_time, video.sha256), info)

    def frames(pool: DecodePool) -> Iterator[Frames]:
        """Decode frames while an endpoint processes earlier ones."""
        for video, load_clip in pool.ahead(videos, decoded, 2 * pool.workers):
            try:
                clip_frames, meta = load_clip()
            except MediaError as error:
                unreadable.append({"item": video.key, "why": str(error)})
                continue
            sampled_frames.extend((video, frame_number, time) for frame_number, time in enumerate(meta.times, start=1))
            yield from (clip_frames[at : at + 1] for at in range(len(clip_frames)))

    with DecodePool(settings.FOILWORKS_DECODERS or usual_workers()) as pool:
        texts = model.describe(frames(pool))
    texts_by_video: dict[str, list[FrameText]] = {}
    for (video, frame_number, time), text in zip(sampled_frames, texts, strict=True):
        row = FrameText(
            descriptions=descriptions,
            video=video,
            place=frame_number,
            time=time,
            raw={DESCRIPTION: text},
            described_by=source,
        )
        texts_by_video.setdefault(video.key, []).append(row)
    # A video is described with all its frames or not at all.
    for key, rows in texts_by_video.items():
        if any(not row.raw[DESCRIPTION].strip() for row in rows):
            unreadable.append({"item": key, "why": "a frame got no description"})
    return [
        row
        for rows in texts_by_video.values()
        if all(frame_row.raw[DESCRIPTION].strip() for frame_row in rows)
        for row in rows
    ]


def _extract_all(descriptions: Descriptions, payload: Mapping[str, Any], job: Job) -> list[str]:
    """Extract the missing concepts of the frames of a range."""
    ids = list(_unextracted(descriptions).filter(**within(payload)).values_list("pk", flat=True))
    done = _begin(job, len(ids), f"extracting concepts: {descriptions.extractor}")
    if not ids:
        return []
    params = descriptions.params
    asking = open_extractor(descriptions.extractor, params, _Spending(descriptions, job))
    tokens = params.get("answer_tokens", params["max_tokens"])
    settings = {"tokens": tokens, "temp": params["temperature"], **facts_of_prompts(params)}
    source = source_of(descriptions.extractor, asking.chat.info, settings)
    unanswered: list[str] = []
    size = FRAMES_PER_BATCH if asking.chat.together else FRAMES_PER_ROUND
    for batch in batched(ids, size):
        rows = list(FrameText.objects.filter(pk__in=batch).select_related("video"))
        for row, answers in zip(rows, extracted(asking, [row.raw for row in rows], params), strict=True):
            row.raw, row.extracted_by = {**row.raw, **answers}, source
            if not row.raw.keys() >= COMPLETE:
                unanswered.append(f"{row.video.key}, frame {row.place}")
        FrameText.objects.bulk_update(rows, ["raw", "extracted_by"])
        done += len(rows)
        progress(job, done)
    return unanswered


@dataclass
class _Spending:
    """The budget of an endpoint's answers, and the job that shows them as they arrive."""

    descriptions: Descriptions
    job: Job
    n_replies: int = 0

    def heard(self, replies: int) -> None:
        self.n_replies += replies
        progress(self.job, self.job.done, message=f"asking the model: {self.n_replies}")

    def notice(self, sentence: str) -> None:
        note(self.job, sentence)

    def answers(self, endpoint: Configured) -> PricedAnswers:
        return PricedAnswers(self._usage(endpoint), self.heard, endpoint.price)

    def budget(self, endpoint: Configured) -> Budget:
        limits = self.descriptions.params.get("budget", {})
        return budget_left(limits, self._usage(endpoint), endpoint.price)

    def _usage(self, endpoint: Configured) -> DescriptionsUsage:
        defaults = {"currency": endpoint.currency[:20]}
        return DescriptionsUsage.objects.get_or_create(descriptions=self.descriptions, defaults=defaults)[0]


def open_describer(spec: str, params: Mapping[str, Any], spending: _Spending) -> Describer:
    """Open the describer. HubError or GenerationError: it does not load, or there is no such endpoint."""
    if spec.startswith(ENDPOINT):
        return ByEndpoint(_endpoint(spec, spending), **_asked(params))
    return ByGenerator(open_generator(spec, device=params["device"]), **_asked(params))


def _asked(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "max_words": params["max_words"],
        "temperature": params["temperature"],
        "prompt": describe_prompt(params),
    }


def open_extractor(spec: str, params: Mapping[str, Any], spending: _Spending) -> Asking:
    """Open a model that extracts concepts from descriptions, with the same errors."""
    if spec.startswith(ENDPOINT):
        return _endpoint(spec, spending)
    chat = open_helper(spec, CHAT, device=params["device"])
    if not isinstance(chat, Chat):
        raise EvaluationError(f"{quoted(spec)} is not an instruction model; choose chat:MODEL or endpoint:NAME")
    return Asking(chat, RowAnswers(None, spending.heard))


def _endpoint(spec: str, spending: _Spending) -> Asking:
    service, model = endpoint_and_model(spec.removeprefix(ENDPOINT))
    patience = RetryPolicy(TRIES, concurrency=service.in_flight)
    endpoint = Endpoint(service.name, service.url, model, service.key)
    chat = ChatEndpoint(endpoint, patience, spending.budget(service), spending.notice)
    return Asking(chat, spending.answers(service))


def source_of(spec: str, info: ModelInfo, settings: Mapping[str, Any]) -> TextSource:
    """Return the row of a model with these settings."""
    parameters = {"model": f"{info.model_id}@{info.revision}", "prompts": PROMPTS_VERSION, **settings}
    digest = hashlib.sha256(json.dumps([spec, parameters], sort_keys=True).encode()).hexdigest()
    return TextSource.objects.get_or_create(sha256=digest, defaults={"spec": spec, "settings": parameters})[0]


def extracted(asking: Asking, frames: Sequence[Mapping[str, str]], params: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the missing objects, activities, verbs and summary of each frame's raw answers.

    Verbs are extracted from the numbered activities, and only if there are any. Failures are left out.
    """
    answers: list[dict[str, str]] = [{} for _ in frames]
    first = [
        (at, concept, raw[DESCRIPTION])
        for at, raw in enumerate(frames)
        for concept in (OBJECTS, ACTIVITIES, SUMMARY)
        if concept not in raw and DESCRIPTION in raw
    ]
    _collect_answers(asking, first, answers, params)
    answered_frames = [{**raw, **own} for raw, own in zip(frames, answers, strict=True)]
    activity_texts = {
        at: frame_text(ACTIVITIES, raw[ACTIVITIES])
        for at, raw in enumerate(answered_frames)
        if ACTIVITIES in raw and VERBS not in raw
    }
    for at, activities in activity_texts.items():
        if activities == NO_ACTIVITY:
            answers[at][VERBS] = NO_ACTIVITY
    listed = {
        at: numbered(answered_frames[at][ACTIVITIES]) for at, text in activity_texts.items() if text != NO_ACTIVITY
    }
    _collect_answers(asking, [(at, VERBS, text) for at, text in listed.items()], answers, params)
    return answers


def _collect_answers(
    asking: Asking, questions: Sequence[tuple[int, str, str]], answers: list[dict[str, str]], params: Mapping[str, Any]
) -> None:
    requests = [
        ChatRequest(
            conversation(params, ENDPOINT if asking.chat.together == 0 else "", concept, text),
            max_tokens=tokens_of(params, concept),
            temperature=params["temperature"],
        )
        for _, concept, text in questions
    ]
    replies = asking.ask(requests)
    check_budget(replies)
    for (at, concept, _text), reply in zip(questions, replies, strict=True):
        if not reply.failure:
            answers[at][concept] = reply.text
