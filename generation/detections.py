"""Run detectors on the videos of a run, once per file, and add the things to the captions' fact "objects"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from foilworks.core.corpus.models import Caption, MediaState, Video
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.hub.catalogue.registry import DETECTOR
from foilworks.core.hub.interfaces import Detector, ModelInfo
from foilworks.core.hub.opening import open_helper
from foilworks.core.media.errors import MediaError
from foilworks.core.media.file_cache import content_key
from foilworks.core.media.frames import SAMPLING_POLICY, sample_frames
from generation.models.side_work import DetectionResult
from generation.pipeline import Step
from generation.records import CaptionInput


@dataclass(frozen=True)
class DetectorStep:
    """A detector with its number of frames and the min score of a detected thing."""

    model: str
    frames: int
    min_score: float
    device: str

    @property
    def detector(self) -> Detector:
        """Load the detector at the first file: without files it is not needed."""
        detector: Detector = open_helper(self.model, DETECTOR, device=self.device)
        return detector


def detectors_of(steps: Sequence[Step]) -> list[DetectorStep]:
    """Return the detectors that the steps name. Steps may name none, or have no such parameter."""
    detector_settings = {
        (step.params["detector"], step.params["frames"], step.params["min_score"], step.params.get("device", "auto"))
        for step in steps
        if step.params.get("detector")
    }
    return [DetectorStep(*settings) for settings in sorted(detector_settings)]


def with_objects(
    detectors: Sequence[DetectorStep], captions: Sequence[CaptionInput], rows: Mapping[str, Caption]
) -> list[CaptionInput]:
    """Return the captions with the things detected in their videos added to "objects". `rows`: by the captions' ids."""
    if not detectors:
        return list(captions)
    videos = {row.video_id: row.video for row in rows.values()}
    labels_by_video: dict[int, set[str]] = {pk: set() for pk in videos}
    for step in detectors:
        for pk, labels in _labels_by_video(step, list(videos.values())).items():
            labels_by_video[pk] |= {label for label, score in labels.items() if score > step.min_score}
    return [_with_labels(caption, labels_by_video[rows[caption.id].video_id]) for caption in captions]


def _with_labels(caption: CaptionInput, labels: set[str]) -> CaptionInput:
    all_labels = {str(label) for label in caption.facts.get("objects", ())} | labels
    return replace(caption, facts={**caption.facts, "objects": sorted(all_labels)})


def _labels_by_video(step: DetectorStep, videos: Sequence[Video]) -> dict[int, dict[str, float]]:
    """Return video -> label -> highest score. Videos without a usable file are excluded."""
    usable = [video for video in videos if video.file and video.media_state == MediaState.READY]
    info = step.detector.info if usable else None
    keys = {video.pk: _key(step, video, info) for video in usable if info}
    rows = DetectionResult.objects.filter(video__in=keys, key__in=set(keys.values()))
    labels_by_video = {row.video_id: row.labels for row in rows if row.key == keys[row.video_id]}
    for video in videos:
        if video.pk in keys and video.pk not in labels_by_video:
            labels = _detected_labels(step, video)
            if labels is not None:
                labels_by_video[video.pk] = labels
                _store_labels(step, video, keys[video.pk], labels)
    return labels_by_video


def _detected_labels(step: DetectorStep, video: Video) -> dict[str, float] | None:
    try:
        sample = sample_frames(Path(clip_file(video)), step.frames, video.start_time, video.end_time)
    except MediaError:
        return None
    best: dict[str, float] = {}
    for frame in step.detector.detect(sample.frames):
        for detection in frame:
            best[detection.label] = max(best.get(detection.label, 0.0), round(detection.score, 5))
    return best


def _store_labels(eyes: DetectorStep, video: Video, key: str, labels: dict[str, float]) -> None:
    info: Any = eyes.detector.info
    DetectionResult.objects.get_or_create(
        video=video,
        key=key,
        defaults={"labels": labels, "model_id": info.model_id[:200], "model_revision": info.revision[:64]},
    )


def _key(eyes: DetectorStep, video: Video, info: ModelInfo) -> str:
    return content_key(
        video=video.sha256,
        start=video.start_time,
        end=video.end_time,
        frames=eyes.frames,
        policy=SAMPLING_POLICY,
        model=info.model_id,
        revision=info.revision,
    )[:64]
