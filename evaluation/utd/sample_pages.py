"""Show the samples of a split: video, texts of its objects, and the votes of the nine models. Loads no model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corpus.models import Caption, MediaState, Video
from evaluation.utd.concepts import OBJECTS, frame_text
from evaluation.utd.instructions import CLASSIFICATION
from evaluation.utd.models import BiasRun
from evaluation.utd.samples import frame_texts

REMOVED, BALANCED, KEPT = "removed", "balanced", "kept"
# Votes per prompt: three models, or three prompts of captions.
PER_PROMPT = 3


@dataclass(frozen=True)
class ShownSample:
    """`votes`: by prompt, whether each model was right; empty if a file had no predictions. `video` None: not in the
    project."""

    id: str
    target: str
    votes: Sequence[Sequence[bool]]
    confidence: float | None
    video: Video | None
    objects: Sequence[str]

    @property
    def n_right(self) -> int:
        return sum(map(sum, self.votes))


def places(run: BiasRun, shown: str) -> list[int]:
    """Return the samples of a list, those that most models are right about first: removed from the split, removed from
    the balanced split only, or kept."""
    facts, predictions = (run.result or {}).get("split"), run.predictions
    if not facts or not predictions:
        return []
    removed, balanced = set(facts["removed"]), set(facts["removed_balanced"] or ())
    wanted = {
        REMOVED: lambda name: name in removed,
        BALANCED: lambda name: name in balanced and name not in removed,
        KEPT: lambda name: name not in removed,
    }[shown if shown in {REMOVED, BALANCED, KEPT} else REMOVED]
    correct = predictions["correct"]
    found = [at for at, name in enumerate(predictions["ids"]) if wanted(name)]
    return sorted(found, key=lambda at: (-correct[at].count("1") if correct else 0, at))


def shown_samples(run: BiasRun, some: Sequence[int]) -> list[ShownSample]:
    """Return the samples at these places. Three queries."""
    stored = run.predictions or {}
    names = [stored["ids"][at] for at in some]
    videos, targets = _videos(run, names)
    objects = _objects(run, [video.pk for video in videos.values()])
    found = []
    for at, name in zip(some, names, strict=True):
        votes = [said == "1" for said in stored["correct"][at]] if stored.get("correct") else []
        video = videos.get(name)
        target = stored["classes"][at] if stored.get("classes") else targets.get(name, "")
        found.append(
            ShownSample(
                id=name,
                target=target,
                votes=[votes[start : start + PER_PROMPT] for start in range(0, len(votes), PER_PROMPT)],
                confidence=stored["confidence"][at] if stored.get("confidence") else None,
                video=video,
                objects=objects.get(video.pk, []) if video else [],
            )
        )
    return found


def _videos(run: BiasRun, names: Sequence[str]) -> tuple[dict[str, Video], dict[str, str]]:
    """Return the videos of the samples, and in retrieval their captions."""
    shown = Video.objects.filter(project=run.project).exclude(media_state=MediaState.TAKEN_DOWN)
    if run.task == CLASSIFICATION:
        return {video.key: video for video in shown.filter(key__in=names)}, {}
    rows = Caption.objects.filter(video__in=shown, key__in=names).select_related("video")
    captions = list(rows)
    return {row.key: row.video for row in captions}, {row.key: row.text for row in captions}


def _objects(run: BiasRun, videos: Sequence[int]) -> dict[int, list[str]]:
    if run.descriptions is None:
        return {}
    found: dict[int, list[str]] = {}
    rows = frame_texts(run.descriptions).filter(video__in=videos).order_by("video", "place")
    raw: Mapping[str, Any]
    for video, raw in rows.values_list("video", "raw"):
        found.setdefault(video, []).append(frame_text(OBJECTS, raw[OBJECTS]) if OBJECTS in raw else "")
    return found
