"""Load the samples of a task on a project's described videos, and the descriptions of their frames. No scikit-learn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, QuerySet

from evaluation.errors import EvaluationError
from evaluation.utd.concepts import DESCRIPTION, OBJECTS
from evaluation.utd.instructions import CLASSIFICATION
from evaluation.utd.models import BiasRun, Descriptions, FrameText
from evaluation.utd.procedure import MEAN, procedure_of
from evaluation.utd.required_texts import TEXTS
from foilworks.core.corpus.models import NOT_RELIED_ON, Caption, MediaState, Split, Video
from foilworks.core.text.quoting import quoted

CLASS_LABEL, CATEGORY, FACTS = "class_label", "category", "facts:"
# The texts that the check of items needs.
ITEMS_NEED = (DESCRIPTION, OBJECTS)


@dataclass(frozen=True)
class Sample:
    """`id`: the video's key, or the caption's in retrieval by first captions. `target`: the class, or the first
    caption; `captions`: all captions of the video that count.
    """

    id: str
    video: int
    target: str
    cluster: str
    train: bool
    captions: tuple[str, ...] = ()


def samples_of(run: BiasRun) -> tuple[list[Sample], list[str]]:
    """Return samples in the order of videos, and the keys of videos with a class or caption but without any text.

    A video is a sample if all its frames have at least one kind of text; `described_by_text` says which.
    EvaluationError: an unknown source of classes, or no samples.
    """
    if run.descriptions is None:
        return published_samples(run), []
    videos = list(Video.objects.filter(project=run.project).exclude(media_state=MediaState.TAKEN_DOWN).order_by("pk"))
    targets = _classes(run, videos) if run.task == CLASSIFICATION else _captions(run)
    described: set[int] = set().union(*described_by_text(run.descriptions).values())
    samples: list[Sample] = []
    without: list[str] = []
    for video in videos:
        if video.pk not in targets:
            continue
        if video.pk not in described:
            without.append(video.key)
            continue
        name, *texts = targets[video.pk]
        samples.append(_sample(video, name, texts))
    if not any(not sample.train for sample in samples):
        raise EvaluationError(_no_samples(run, len(targets), len(samples)))
    return samples, without


def _no_samples(run: BiasRun, n_targets: int, n_train: int) -> str:
    """Return why nothing can be judged, and what to do: no class, no text, or no video outside the train split."""
    what = (run.labels or CLASS_LABEL) if run.task == CLASSIFICATION else "caption"
    if not n_targets:
        fix = "import a list with classes, with --update" if run.task == CLASSIFICATION else "import captions"
        return f"no video has a {what}; {fix}, or choose a different source (--labels) or task"
    if not n_train:
        return f"none of the {n_targets} videos with a {what} is described; describe them first"
    return (
        f"all {n_train} described videos with a {what} are in the train split; give some the split val or test: import "
        "their list again with --update"
    )


def _sample(video: Video, name: str, texts: Sequence[str]) -> Sample:
    source = f"{video.source_dataset}/{video.source_id}" if video.source_id else video.sha256 or video.key
    return Sample(name, video.pk, texts[0], source, video.split == Split.TRAIN, tuple(texts))


def published_samples(run: BiasRun) -> list[Sample]:
    """Return the samples of imported splits that are videos of the project, and in classification the train split.

    EvaluationError: none of them is a video of the project with a class or caption.
    """
    video_keys = (run.predictions or {}).get("videos") or []
    names = {key: name for name, key in zip((run.predictions or {})["ids"], video_keys, strict=False) if key}
    rows = Video.objects.filter(project=run.project).exclude(media_state=MediaState.TAKEN_DOWN).order_by("pk")
    videos = [video for video in rows if video.key in names or video.split == Split.TRAIN]
    targets = _classes(run, videos) if run.task == CLASSIFICATION else _captions(run)
    samples = []
    for video in videos:
        is_judged = video.key in names
        if video.pk not in targets or not (is_judged or run.task == CLASSIFICATION):
            continue
        video_sample = _sample(video, names.get(video.key, video.key), targets[video.pk][1:])
        samples.append(replace(video_sample, train=not is_judged))
    if not any(not sample.train for sample in samples):
        raise EvaluationError(
            "no sample of these splits is a video of this project with a class or caption; import the videos under "
            "the published ids first, then the splits again"
        )
    return samples


def frame_texts(descriptions: Descriptions) -> QuerySet[FrameText]:
    """Return the texts that may be used and published: none of a video that was taken down."""
    return FrameText.objects.filter(descriptions=descriptions).exclude(video__media_state=MediaState.TAKEN_DOWN)


def described_by_text(descriptions: Descriptions) -> dict[str, set[int]]:
    """Return, for each kind of text, the videos that have it in the requested number of frames. One query each."""
    return {text: described_videos(descriptions, [text]) for text in TEXTS}


def described_videos(descriptions: Descriptions, texts: Sequence[str] = ITEMS_NEED) -> set[int]:
    """Return videos that have all these texts in the requested number of frames."""
    complete_texts = frame_texts(descriptions).filter(raw__has_keys=sorted(texts))
    counted = complete_texts.order_by().values("video").annotate(n=Count("pk")).values_list("video", "n")
    return {video for video, n in counted if n >= descriptions.params["frames"]}


def _classes(run: BiasRun, videos: Sequence[Video]) -> dict[int, tuple[str, ...]]:
    by = run.labels or CLASS_LABEL
    if by in {CLASS_LABEL, CATEGORY}:
        return {video.pk: (video.key, label) for video in videos if (label := getattr(video, by))}
    if not by.startswith(FACTS) or by == FACTS:
        raise EvaluationError(
            f"{quoted(by)} is not a source of classes; write {CLASS_LABEL}, {CATEGORY} or {FACTS}NAME"
        )
    keys = {video.pk: video.key for video in videos}
    labels_by_video: dict[int, tuple[str, ...]] = {}
    name = by.removeprefix(FACTS)
    captions = _true_captions(run).order_by("pk").values_list("video", "facts")
    for video, facts in captions.iterator():
        if video in keys and facts.get(name) not in (None, ""):
            labels_by_video.setdefault(video, (keys[video], str(facts[name])))
    return labels_by_video


def _captions(run: BiasRun) -> dict[int, tuple[str, ...]]:
    """Return (id, captions) of each video: its true captions whose key starts with `labels`, or the first of them.

    With the first one, the id is that of the caption.
    """
    averages = procedure_of(run.params).captions == MEAN
    captions = _true_captions(run).filter(key__startswith=run.labels)
    if run.descriptions is not None:
        captions = captions.exclude(video__split=Split.TRAIN)
    captions_by_video: dict[int, tuple[str, ...]] = {}
    rows = captions.order_by("pk").values_list("video", "video__key", "key", "text")
    for video, video_key, key, text in rows.iterator():
        if video not in captions_by_video:
            captions_by_video[video] = (video_key if averages else key, text)
        elif averages:
            captions_by_video[video] = (*captions_by_video[video], text)
    return captions_by_video


def first_captions(run: BiasRun, videos: Iterable[Video]) -> dict[int, str]:
    """Return the first true caption of each video whose key starts with the run's `labels`."""
    rows = _true_captions(run).filter(video__in=list(videos), key__startswith=run.labels).order_by("-pk")
    return dict(rows.values_list("video", "text"))


def _true_captions(run: BiasRun) -> QuerySet[Caption]:
    """Return captions that were not replaced, given up or flagged."""
    return Caption.objects.filter(video__project=run.project, revision=None).exclude(NOT_RELIED_ON)


def raw_frames(descriptions: Descriptions, videos: Sequence[int]) -> list[list[Mapping[str, Any]]]:
    """Return the raw answers of the videos' frames, in order. One query."""
    frames_by_video: dict[int, list[Mapping[str, Any]]] = {video: [] for video in videos}
    rows = FrameText.objects.filter(descriptions=descriptions, video__in=videos).order_by("video", "place")
    for video, raw in rows.values_list("video", "raw"):
        frames_by_video[video].append(raw)
    return [frames_by_video[video] for video in videos]
