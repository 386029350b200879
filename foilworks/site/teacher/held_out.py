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
from evaluation.scoring.clip_keys import cluster
from foilworks.core.corpus.models import Release, ReleaseItem, Video
from foilworks.site.teacher.models import TeacherTraining
from foilworks.site.teacher.plan import HELD_OUT, LAST_STEP, VAL, selected_on
from foilworks.site.teacher.readings import HeldOut
from foilworks.site.teacher.sources import Collected, kept_sources, learnt_split, train_videos

# More items take longer and hardly change the choice.
MAX_ITEMS = 1000
FOLDER = "selection"


@dataclass(frozen=True)
class Divided:
    """`learned`: places of the captions to learn; `held` and `videos`: the set that chooses the model and its clips,
    None and empty without selection; `about`: what the record of the training says about it.
    """

    learned: list[int]
    held: HeldOut | None
    videos: list[Video]
    about: dict[str, Any]


def divide(training: TeacherTraining, found: Collected, videos: Sequence[Video], folder: Path) -> Divided:
    """Divide the captions of a training, and the `videos` of each, as its parameters say; equal at each call.

    `folder` keeps the captions of the validation split until the training is done. EvaluationError: no video is left
    to learn from or to choose by.
    """
    on, every = selected_on(training.params), list(range(len(found.captions)))
    if on == LAST_STEP:
        return Divided(every, None, [], {})
    sources = [cluster(vars(video)) for video in videos]
    if on == HELD_OUT:
        out = held_out_sources(sources, training.params["held_out"])
        chosen = [place for place in every if sources[place] in out]
        learned = [place for place in every if sources[place] not in out]
        return _divided(learned, found, videos, chosen, {"on": on, "share": training.params["held_out"]})
    params = {**training.params, "split": VAL, "videos": []}
    other = TeacherTraining(project=training.project, release=training.release, params=params)
    validation, shown = kept_sources(other, folder / FOLDER, needs_negatives=False)
    learnt = set(sources)
    chosen = [place for place, video in enumerate(shown) if cluster(vars(video)) not in learnt]
    if not chosen:
        raise EvaluationError("select_on: all clips of the val split are of learned source videos; choose held_out")
    return _divided(every, validation, shown, chosen, {"on": on})


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


def check_selection(release: Release | None, found: Collected | None, params: Mapping[str, Any]) -> None:
    """Raise EvaluationError if the model cannot be chosen as the parameters say, or would be by the release.

    `found`: the captions of a training that begins.
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
    if on == HELD_OUT and found is not None:
        rows = train_videos(found.videos, learnt_split(params)).values()
        held_out_sources([cluster(vars(video)) for video in rows], params["held_out"])


def _divided(
    learned: list[int], found: Collected, videos: Sequence[Video], chosen: list[int], about: dict[str, Any]
) -> Divided:
    whole, first = set_of(found, [cluster(vars(video)) for video in videos], chosen)
    held, used = whole.part(MAX_ITEMS)
    texts = "\n".join(text for row in held.texts for text in row)
    counts = {"captions": len(held.ids), "videos": len(set(held.sources))}
    digest = {"sha256": hashlib.sha256(texts.encode()).hexdigest()}
    return Divided(learned, held, [videos[first[at]] for at in used], {**about, **counts, **digest})


def set_of(found: Collected, sources: Sequence[str], chosen: Sequence[int]) -> tuple[HeldOut, list[int]]:
    """Return the set of the captions at `chosen`, an item each, and the place of each clip's first caption, its own."""
    clips: dict[int, int] = {}
    first: list[int] = []
    for place in chosen:
        if found.videos[place] not in clips:
            clips[found.videos[place]] = len(first)
            first.append(place)
    texts = tuple((found.captions[place], *found.negatives[place]) for place in chosen)
    held = HeldOut(
        tuple(map(str, chosen)),
        texts,
        tuple(("",) * (len(row) - 1) for row in texts),
        tuple(clips[found.videos[place]] for place in chosen),
        tuple(found.captions[place] for place in first),
        tuple(sources[place] for place in first),
    )
    return held, first
