"""Hold clips out of a training to choose its model: a share of the source videos, or the validation split.

The reported release has no part in the choice: releases show no clips of the learned split, and a release of the
validation split is refused if that split chooses the model. Needs no model library.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Release, ReleaseItem, Video
from foilworks.core.corpus.release_records import cluster
from foilworks.site.teacher.models import TeacherTraining
from foilworks.site.teacher.plan import HELD_OUT, LAST_STEP, VAL, selected_on
from foilworks.site.teacher.readings import HeldOut
from foilworks.site.teacher.sources import TrainingTexts, learnt_split, stored_texts, train_videos

# More items take longer and hardly change the choice.
MAX_ITEMS = 1000
FOLDER = "selection"


@dataclass(frozen=True)
class Divided:
    """`learned`: indices of the captions to learn; `held_out` and `videos`: the set that chooses the model, and its
    clips, None and empty without selection; `facts`: what the record of the training says about it.
    """

    learned: list[int]
    held_out: HeldOut | None
    videos: list[Video]
    facts: dict[str, Any]


def divide(training: TeacherTraining, training_texts: TrainingTexts, videos: Sequence[Video], folder: Path) -> Divided:
    """Divide the captions of a training, and the `videos` of each, as its parameters say; equal at each call.

    `folder` keeps the captions of the validation split until the training is done. EvaluationError: no video is left
    to learn from or to choose by.
    """
    on, every = selected_on(training.params), list(range(len(training_texts.captions)))
    if on == LAST_STEP:
        return Divided(every, None, [], {})
    sources = [cluster(vars(video)) for video in videos]
    if on == HELD_OUT:
        out = held_out_sources(sources, training.params["held_out"])
        held_out_indices = [index for index in every if sources[index] in out]
        learned = [index for index in every if sources[index] not in out]
        return _divided(
            learned, training_texts, videos, held_out_indices, {"on": on, "share": training.params["held_out"]}
        )
    params = {**training.params, "split": VAL, "videos": []}
    validation_training = TeacherTraining(project=training.project, release=training.release, params=params)
    validation, validation_videos = stored_texts(validation_training, folder / FOLDER, needs_negatives=False)
    learnt = set(sources)
    held_out_indices = [index for index, video in enumerate(validation_videos) if cluster(vars(video)) not in learnt]
    if not held_out_indices:
        raise EvaluationError("select_on: all clips of the val split are of learned source videos; choose held_out")
    return _divided(every, validation, validation_videos, held_out_indices, {"on": on})


def held_out_sources(sources: Sequence[str], share: float) -> set[str]:
    """Return the share of the distinct source videos that choose the model, at least one: those with the first hashes.

    Neither the seed nor the order of the captions changes them. EvaluationError: none is left to learn from.
    """
    distinct = sorted(set(sources), key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    count = max(1, round(share * len(distinct)))
    if count >= len(distinct):
        raise EvaluationError(
            f"held_out: {count} of {len(distinct)} source videos would be held out, and none is left to learn from; "
            "set select_on=last_step, or give a smaller share"
        )
    return set(distinct[:count])


def check_selection(release: Release | None, training_texts: TrainingTexts | None, params: Mapping[str, Any]) -> None:
    """Raise EvaluationError if the model cannot be chosen as the parameters say, or would be by the release.

    `training_texts`: the captions of a training that begins.
    """
    on = selected_on(params)
    if on == VAL and learnt_split(params) == VAL:
        raise EvaluationError("select_on: val is the split that the student learns from; choose held_out")
    if on == VAL and release is not None:
        seen = ReleaseItem.objects.filter(release=release, video__split=VAL).count()
        if seen:
            raise EvaluationError(
                f"{release.name}: {seen} of its items show clips of the val split, which chooses the model; set "
                "select_on=held_out, or choose another release"
            )
    if on == HELD_OUT and not 0 < params["held_out"] < 1:
        raise EvaluationError(f"held_out: is {params['held_out']}; give a share between 0 and 1")
    if on == HELD_OUT and training_texts is not None:
        rows = train_videos(training_texts.videos, learnt_split(params)).values()
        held_out_sources([cluster(vars(video)) for video in rows], params["held_out"])


def _divided(
    learned: list[int],
    training_texts: TrainingTexts,
    videos: Sequence[Video],
    indices: list[int],
    facts: dict[str, Any],
) -> Divided:
    full_set, first = set_of(training_texts, [cluster(vars(video)) for video in videos], indices)
    held_out, used = full_set.spread_sample(MAX_ITEMS)
    texts = "\n".join(text for row in held_out.texts for text in row)
    counts = {"captions": len(held_out.ids), "videos": len(set(held_out.sources))}
    digest = {"sha256": hashlib.sha256(texts.encode()).hexdigest()}
    return Divided(learned, held_out, [videos[first[at]] for at in used], {**facts, **counts, **digest})


def set_of(training_texts: TrainingTexts, sources: Sequence[str], indices: Sequence[int]) -> tuple[HeldOut, list[int]]:
    """Return the set of the captions at `indices`, one item per caption, and the index of each clip's first caption."""
    clips: dict[int, int] = {}
    first: list[int] = []
    for index in indices:
        if training_texts.videos[index] not in clips:
            clips[training_texts.videos[index]] = len(first)
            first.append(index)
    texts = tuple((training_texts.captions[index], *training_texts.negatives[index]) for index in indices)
    held_out = HeldOut(
        tuple(map(str, indices)),
        texts,
        tuple(("",) * (len(row) - 1) for row in texts),
        tuple(clips[training_texts.videos[index]] for index in indices),
        tuple(training_texts.captions[index] for index in first),
        tuple(sources[index] for index in first),
    )
    return held_out, first
