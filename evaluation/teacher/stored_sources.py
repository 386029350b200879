"""What a training learns from, kept beside its checkpoint: people go on reviewing and correcting while it runs."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from corpus.models import MediaState, Video
from evaluation.errors import EvaluationError
from evaluation.teacher.held_out import check_learnt
from evaluation.teacher.models import TeacherTraining
from evaluation.teacher.sources import Collected, collect, train_videos

KEPT = "captions.json"


def kept_sources(training: TeacherTraining, folder: Path, *, needs_negatives: bool) -> tuple[Collected, list[Video]]:
    """The captions as they were when the training began, and the clip of each.

    EvaluationError: there is nothing to learn from, or a clip is another than it was then.
    """
    path = folder / KEPT
    if path.is_file():
        kept = json.loads(path.read_text(encoding="utf-8"))
        found = Collected(**kept["collected"])
        _check_clips(found.videos, kept["clips"])
    else:
        found = collect(training.project, training.params, needs_negatives=needs_negatives)
        if found.provenance["sha256"] != training.sources.get("sha256"):
            # Of a version that kept no captions: checkpoint and similarities are of others.
            shutil.rmtree(folder, ignore_errors=True)
            if training.release is not None:
                # Clips may have come since the training was asked for.
                check_learnt(training.release, train_videos(found.videos).values())
        folder.mkdir(parents=True, exist_ok=True)
        kept = {"collected": asdict(found), "clips": _clips(found.videos)}
        path.with_suffix(".new").write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")
        path.with_suffix(".new").replace(path)
    videos = train_videos(found.videos)
    return found, [videos[pk] for pk in found.videos]


def _clips(pks: Sequence[int]) -> dict[str, list[Any]]:
    """{id: key, file and trim} of those that can be shown."""
    ready = (video for video in train_videos(pks).values() if video.media_state == MediaState.READY)
    return {str(video.pk): [video.key, video.sha256, video.start_time, video.end_time] for video in ready}


def _check_clips(pks: Sequence[int], kept: dict[str, list[Any]]) -> None:
    now = _clips(pks)
    changed = [clip[0] for pk, clip in kept.items() if now.get(pk) != clip]
    if changed:
        raise EvaluationError(
            f"{changed[0]}: is not the clip that it was when this training began, and {len(changed) - 1} more are not; "
            "start a new training"
        )
