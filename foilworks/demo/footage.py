"""Draws the world into video files and writes the file that the sample project is imported from."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

from foilworks.demo import plan
from foilworks.demo.captions import counting_caption, direction_caption, object_caption
from foilworks.demo.plan import Sizes
from foilworks.demo.world import (
    FPS,
    SIDE,
    TRAINED_SIDE,
    Scene,
    counting_scenes,
    draw,
    evaluation_scenes,
    training_scenes,
)
from media.encode import write_mp4

DATASET = "shapes"
RECORDS = "captions.jsonl"
THREADS = 2
Progress = Callable[[Iterable[Any], int, str], Iterator[Any]]


def film(folder: Path, sizes: Sizes, seed: int, progress: Progress) -> Path:
    """Write the videos of the world into `folder` and beside them the records to import; the path of the records."""
    train = training_scenes(sizes.training, seed)
    test = evaluation_scenes(sizes.pairs, seed)
    blinking = counting_scenes(sizes.counting, seed)
    scenes = [*train, *test, *blinking]
    sides = [*repeat(TRAINED_SIDE, len(train)), *repeat(SIDE, len(test) + len(blinking))]
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in progress(pool.map(partial(_film_one, folder), scenes, sides), len(scenes), "filming"):
            pass
    records = [record for scene in train for record in _records(scene, "train")]
    records += [record for scene in test for record in _records(scene, "test")]
    records += [_record(scene, "test", plan.COUNTING, counting_caption(scene.facts)) for scene in blinking]
    path = folder / RECORDS
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def _film_one(folder: Path, scene: Scene, side: int) -> None:
    write_mp4(folder / f"{scene.key}.mp4", draw(scene, side), FPS)


def _records(scene: Scene, split: str) -> Sequence[dict[str, Any]]:
    return (
        _record(scene, split, plan.DIRECTION, direction_caption(scene.facts)),
        _record(scene, split, plan.OBJECT, object_caption(scene.facts)),
    )


def _record(scene: Scene, split: str, about: str, caption: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"shape": scene.facts.shape, "colour": scene.facts.colour, "motion": scene.facts.motion}
    if scene.facts.times:
        facts["count"] = scene.facts.times
    return {
        "id": f"{about}{scene.key}",
        "video": f"{scene.key}.mp4",
        "video_key": scene.key,
        "source_dataset": DATASET,
        # A clip and its reversal have one source: statistics treat them as one draw.
        "source_id": scene.source,
        "split": split,
        "class_label": scene.facts.motion,
        "caption": caption,
        "facts": facts,
    }
