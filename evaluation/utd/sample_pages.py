"""Show the samples of a split: video, texts of its objects, and the votes of the nine models. Loads no model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.utd.concepts import OBJECTS
from evaluation.utd.frame_forms import frame_form
from evaluation.utd.instructions import CLASSIFICATION
from evaluation.utd.models import BiasRun
from evaluation.utd.procedure import procedure_of
from evaluation.utd.samples import first_captions, frame_texts
from foilworks.core.corpus.models import Caption, MediaState, Video

REMOVED, BALANCED, KEPT = "removed", "balanced", "kept"
# Votes per prompt: three models, or three prompts of captions.
PER_PROMPT = 3


@dataclass(frozen=True)
class ShownSample:
    """`votes`: by prompt, whether each model was right; empty if a file had no predictions. `video` None: not in the
    project. `objects`: for each run of frames with the same objects, the first and last frame and the text."""

    id: str
    target: str
    votes: Sequence[Sequence[bool]]
    confidence: float | None
    video: Video | None
    objects: Sequence[tuple[Sequence[int], str]]

    @property
    def n_right(self) -> int:
        return sum(map(sum, self.votes))


def sample_indices(run: BiasRun, list_name: str) -> list[int]:
    """Return the samples of a list, those that most models are right about first: removed from the split, removed from
    the balanced split only, or kept."""
    facts, predictions = (run.result or {}).get("split"), run.predictions
    if not facts or not predictions:
        return []
    removed, balanced = set(facts["removed"]), set(facts["removed_balanced"] or ())
    belongs = {
        REMOVED: lambda name: name in removed,
        BALANCED: lambda name: name in balanced and name not in removed,
        KEPT: lambda name: name not in removed,
    }[list_name if list_name in {REMOVED, BALANCED, KEPT} else REMOVED]
    correct = predictions["correct"]
    indices = [at for at, name in enumerate(predictions["ids"]) if belongs(name)]
    return sorted(indices, key=lambda at: (-correct[at].count("1") if correct else 0, at))


def shown_samples(run: BiasRun, some: Sequence[int]) -> list[ShownSample]:
    """Return the samples at these indices. At most four queries."""
    stored = run.predictions or {}
    names = [stored["ids"][at] for at in some]
    videos, targets = _videos(run, dict(zip(names, _keys(stored, some), strict=True)))
    objects = _objects(run, [video.pk for video in videos.values()])
    samples = []
    for at, name in zip(some, names, strict=True):
        votes = [digit == "1" for digit in stored["correct"][at]] if stored.get("correct") else []
        video = videos.get(name)
        target = stored["classes"][at] if stored.get("classes") else targets.get(name, "")
        samples.append(
            ShownSample(
                id=name,
                target=target,
                votes=[votes[start : start + PER_PROMPT] for start in range(0, len(votes), PER_PROMPT)],
                confidence=stored["confidence"][at] if stored.get("confidence") else None,
                video=video,
                objects=_runs(objects.get(video.pk, []) if video else []),
            )
        )
    return samples


def _runs(texts: Sequence[str]) -> list[tuple[list[int], str]]:
    """Return consecutive frames of one text: their first and last number from 1, or their only one."""
    spans: list[tuple[list[int], str]] = []
    for number, text in enumerate(texts, start=1):
        if spans and spans[-1][1] == text:
            spans[-1] = ([spans[-1][0][0], number], text)
        else:
            spans.append(([number], text))
    return spans


def _keys(stored: Mapping[str, Any], some: Sequence[int]) -> list[str | None]:
    """Return the video key of each sample; runs before version 0.3 stored only ids."""
    return [(stored.get("videos") or stored["ids"])[at] for at in some]


def _videos(run: BiasRun, keys: Mapping[str, str | None]) -> tuple[dict[str, Video], dict[str, str]]:
    """Return the videos of the samples {id: video key}, and in retrieval a caption of each.

    An id in retrieval is that of a caption, or of a video with all its captions: then the first one is shown.
    """
    available_videos = Video.objects.filter(project=run.project).exclude(media_state=MediaState.TAKEN_DOWN)
    by_key = {video.key: video for video in available_videos.filter(key__in=[key for key in keys.values() if key])}
    videos = {name: by_key[key] for name, key in keys.items() if key in by_key}
    if run.task == CLASSIFICATION:
        return videos, {}
    rows = list(Caption.objects.filter(video__in=available_videos, key__in=keys).select_related("video"))
    videos = {**{row.key: row.video for row in rows}, **videos}
    firsts = first_captions(run, videos.values())
    texts = {name: firsts[video.pk] for name, video in videos.items() if video.pk in firsts}
    own = {row.key: row.text for row in rows if row.video_id == videos[row.key].pk}
    return videos, {**texts, **own}


def _objects(run: BiasRun, videos: Sequence[int]) -> dict[int, list[str]]:
    if run.descriptions is None:
        return {}
    texts_by_video: dict[int, list[str]] = {}
    procedure = procedure_of(run.params)
    rows = frame_texts(run.descriptions).filter(video__in=videos).order_by("video", "place")
    raw: Mapping[str, Any]
    for video, raw in rows.values_list("video", "raw"):
        texts_by_video.setdefault(video, []).append(
            frame_form(OBJECTS, raw[OBJECTS], procedure) if OBJECTS in raw else ""
        )
    return texts_by_video
