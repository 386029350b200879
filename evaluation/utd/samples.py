"""Load the samples of a task on a project's described videos, and the descriptions of their frames. No scikit-learn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from corpus.models import NOT_RELIED_ON, Caption, MediaState, Split, Video
from evaluation.errors import EvaluationError
from evaluation.utd.concepts import DESCRIPTION, SUMMARY
from evaluation.utd.instructions import CLASSIFICATION
from evaluation.utd.models import BiasRun, Descriptions, FrameText
from text.quoting import quoted

CLASS_LABEL, CATEGORY, FACTS = "class_label", "category", "facts:"
# The concepts that a described frame must have.
NEEDED = frozenset({DESCRIPTION, SUMMARY, "objects", "activities", "verbs"})


@dataclass(frozen=True)
class Sample:
    """`id`: the video's key in classification, the caption's in retrieval. `target`: the class, or the caption."""

    id: str
    video: int
    target: str
    cluster: str
    train: bool


def samples_of(run: BiasRun) -> tuple[list[Sample], list[str]]:
    """Return samples in the order of videos, and the keys of videos with a class or caption but no complete
    description.

    EvaluationError: an unknown source of classes, or no samples.
    """
    videos = list(Video.objects.filter(project=run.project).exclude(media_state=MediaState.TAKEN_DOWN).order_by("pk"))
    targets = _classes(run, videos) if run.task == CLASSIFICATION else _captions(run)
    described = described_videos(run.descriptions)
    found: list[Sample] = []
    without: list[str] = []
    for video in videos:
        if video.pk not in targets:
            continue
        if video.pk not in described:
            without.append(video.key)
            continue
        name, target = targets[video.pk]
        source = f"{video.source_dataset}/{video.source_id}" if video.source_id else video.sha256 or video.key
        found.append(Sample(name, video.pk, target, source, video.split == Split.TRAIN))
    if not any(not sample.train for sample in found):
        raise EvaluationError(
            "no described video outside the train split has a class or caption of this kind; describe videos first, or "
            "choose a different source of classes"
        )
    return found, without


def frame_texts(descriptions: Descriptions) -> QuerySet[FrameText]:
    """Return the texts that may be used and published: none of a video that was taken down."""
    return FrameText.objects.filter(descriptions=descriptions).exclude(video__media_state=MediaState.TAKEN_DOWN)


def described_videos(descriptions: Descriptions) -> set[int]:
    """Return videos with the requested number of complete frames."""
    whole = frame_texts(descriptions).filter(raw__has_keys=sorted(NEEDED))
    counted = whole.order_by().values("video").annotate(n=Count("pk")).values_list("video", "n")
    return {video for video, n in counted if n >= descriptions.params["frames"]}


def _classes(run: BiasRun, videos: Sequence[Video]) -> dict[int, tuple[str, str]]:
    by = run.labels or CLASS_LABEL
    if by in {CLASS_LABEL, CATEGORY}:
        return {video.pk: (video.key, label) for video in videos if (label := getattr(video, by))}
    if not by.startswith(FACTS) or by == FACTS:
        raise EvaluationError(
            f"{quoted(by)} is not a source of classes; write {CLASS_LABEL}, {CATEGORY} or {FACTS}NAME"
        )
    keys = {video.pk: video.key for video in videos}
    found: dict[int, tuple[str, str]] = {}
    name = by.removeprefix(FACTS)
    captions = _true_captions(run).order_by("pk").values_list("video", "facts")
    for video, facts in captions.iterator():
        if video in keys and facts.get(name) not in (None, ""):
            found.setdefault(video, (keys[video], str(facts[name])))
    return found


def _captions(run: BiasRun) -> dict[int, tuple[str, str]]:
    """Return the first true caption of each video whose key starts with `labels`."""
    captions = _true_captions(run).filter(key__startswith=run.labels).exclude(video__split=Split.TRAIN)
    found: dict[int, tuple[str, str]] = {}
    for video, key, text in captions.order_by("pk").values_list("video", "key", "text").iterator():
        found.setdefault(video, (key, text))
    return found


def _true_captions(run: BiasRun) -> QuerySet[Caption]:
    """Return captions that were not replaced, given up or flagged."""
    return Caption.objects.filter(video__project=run.project, revision=None).exclude(NOT_RELIED_ON)


def raw_frames(descriptions: Descriptions, videos: Sequence[int]) -> list[list[Mapping[str, Any]]]:
    """Return the raw answers of the videos' frames, in order. One query."""
    found: dict[int, list[Mapping[str, Any]]] = {video: [] for video in videos}
    rows = FrameText.objects.filter(descriptions=descriptions, video__in=videos).order_by("video", "place")
    for video, raw in rows.values_list("video", "raw"):
        found[video].append(raw)
    return [found[video] for video in videos]
