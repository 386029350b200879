"""The frames of a project's videos described, then taken apart: stored as they come, resumable. Only jobs load it.

The describer goes through all videos before the extractor is loaded, so that one large model is in memory at a time.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from corpus.models import MediaState, Video
from corpus.video_files.stored_files import clip_file
from evaluation.scoring.caches import caches
from evaluation.scoring.loop import Clip
from evaluation.scoring.protocol_models import reader
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.utd.concepts import DESCRIPTION
from evaluation.utd.language import COMPLETE, Describer, extracted, open_describer, open_extractor, source_of
from evaluation.utd.models import Descriptions, FrameText, TextSource
from evaluation.utd.samples import frame_texts
from jobs.models import Job
from jobs.progress import progress
from media.errors import MediaError
from media.sampling import CENTRES, Sampling
from text.batches import batched

# A killed worker loses at most these.
VIDEOS_PER_BATCH = 8
FROM_FILE = "file:"
FRAMES_PER_BATCH = 64


def describe(descriptions: Descriptions, job: Job) -> None:
    """Every ready video of the project that has not all its texts yet; what gives none is listed and asked again by the
    next run. HubError, GenerationError: a model does not load."""
    videos = Video.objects.filter(project=descriptions.project).order_by("pk")
    ready = videos.filter(media_state=MediaState.READY).exclude(file="")
    frames = descriptions.params["frames"]
    from_file = descriptions.describer.startswith(FROM_FILE)
    # What came as a file needs no video; else each frame is described and then read for its concepts.
    total = frame_texts(descriptions).count() if from_file else 2 * frames * ready.count()
    problems: dict[str, Any] = {
        "missing_media": list(videos.exclude(pk__in=ready.values("pk")).values_list("key", flat=True))
    }
    if not from_file:
        problems["unreadable"] = _describe_all(descriptions, ready, job, total)
    problems["unanswered"] = _extract_all(descriptions, job, total)
    descriptions.problems = {name: found for name, found in problems.items() if found}
    descriptions.described_at = timezone.now()
    descriptions.save(update_fields=["problems", "described_at"])
    progress(job, total, total)


def _describe_all(descriptions: Descriptions, ready: QuerySet[Video], job: Job, total: int) -> list[dict[str, str]]:
    params = descriptions.params
    k = params["frames"]
    done = FrameText.objects.filter(descriptions=descriptions).count()
    progress(job, done, total, f"describing frames: {descriptions.describer}")
    described = FrameText.objects.filter(descriptions=descriptions, place=k).values("video")
    left = ready.exclude(pk__in=described)
    if not left.exists():
        return []
    model = open_describer(descriptions.describer, params)
    sampled = {"frames": k, "sampling": Sampling(CENTRES, k).version}
    source = source_of(
        descriptions.describer, model.info, {**sampled, "words": params["max_words"], "temp": params["temperature"]}
    )
    unreadable: list[dict[str, str]] = []
    # Not one open cursor: what is written between two of its reads fails at once on SQLite once somebody else wrote.
    for ids in batched(left.values_list("pk", flat=True), VIDEOS_PER_BATCH):
        batch = list(Video.objects.filter(pk__in=ids).order_by("pk"))
        rows = _known(descriptions, batch, source, k)
        known = {row.video_id for row in rows}
        rows += _described(descriptions, [video for video in batch if video.pk not in known], model, source, unreadable)
        FrameText.objects.bulk_create(rows, ignore_conflicts=True)
        done += len(rows)
        progress(job, done, total)
    return unreadable


def _known(descriptions: Descriptions, videos: Sequence[Video], source: TextSource, k: int) -> list[FrameText]:
    """What the same model said of the same frames for other descriptions."""
    found: dict[tuple[int, int], FrameText] = {}
    others = FrameText.objects.filter(described_by=source, video__in=videos).exclude(descriptions=descriptions)
    for row in others:
        raw = {DESCRIPTION: row.raw[DESCRIPTION]}
        own = FrameText(
            descriptions=descriptions,
            video_id=row.video_id,
            place=row.place,
            time=row.time,
            raw=raw,
            described_by=source,
        )
        found[row.video_id, row.place] = own
    whole = {video.pk for video in videos if all((video.pk, place) in found for place in range(1, k + 1))}
    return [row for (video, _), row in found.items() if video in whole]


def _described(
    descriptions: Descriptions,
    videos: Sequence[Video],
    model: Describer,
    source: TextSource,
    unreadable: list[dict[str, str]],
) -> list[FrameText]:
    protocol = PROTOCOLS["foilworks"]
    info = replace(model.info, frames=descriptions.params["frames"], needs_video=True)
    read = reader(protocol, caches(protocol, info).frames)
    asked: list[tuple[Video, int, float]] = []
    frames = []
    for video in videos:
        clip = Clip(video.key, clip_file(video), video.start_time, video.end_time, video.sha256)
        try:
            shown, meta = read(clip, info)
        except MediaError as error:
            unreadable.append({"item": video.key, "why": str(error)})
            continue
        asked += [(video, place, time) for place, time in enumerate(meta.times, start=1)]
        frames += [shown[at : at + 1] for at in range(len(shown))]
    texts = model.describe(frames) if frames else []
    said: dict[str, list[FrameText]] = {}
    for (video, place, time), text in zip(asked, texts, strict=True):
        row = FrameText(
            descriptions=descriptions, video=video, place=place, time=time, raw={DESCRIPTION: text}, described_by=source
        )
        said.setdefault(video.key, []).append(row)
    # A video is described with all its frames or not at all.
    for key, rows in said.items():
        if any(not row.raw[DESCRIPTION].strip() for row in rows):
            unreadable.append({"item": key, "why": "a frame got no description"})
    return [row for rows in said.values() if all(one.raw[DESCRIPTION].strip() for one in rows) for row in rows]


def _extract_all(descriptions: Descriptions, job: Job, total: int) -> list[str]:
    left = frame_texts(descriptions).exclude(raw__has_keys=sorted(COMPLETE)).order_by("pk")
    ids = list(left.values_list("pk", flat=True))
    if not ids:
        return []
    params = descriptions.params
    done = total - len(ids)
    progress(job, done, total, f"extracting concepts: {descriptions.extractor}")
    asking = open_extractor(descriptions.extractor, params)
    settings = {"tokens": params["max_tokens"], "temp": params["temperature"]}
    source = source_of(descriptions.extractor, asking.chat.info, settings)
    unanswered: list[str] = []
    for batch in batched(ids, FRAMES_PER_BATCH):
        rows = list(FrameText.objects.filter(pk__in=batch).select_related("video"))
        for row, found in zip(rows, extracted(asking, [row.raw for row in rows], params), strict=True):
            row.raw, row.extracted_by = {**row.raw, **found}, source
            if not row.raw.keys() >= COMPLETE:
                unanswered.append(f"{row.video.key}, frame {row.place}")
        FrameText.objects.bulk_update(rows, ["raw", "extracted_by"])
        done += len(rows)
        progress(job, done, total)
    return unanswered
