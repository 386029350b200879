"""Small files in the published form of Feint6K: captions with five counterfactuals, similarities, drawn videos."""

import csv
import json
from pathlib import Path

import numpy as np

from foilworks.core.media.encode import write_mp4
from foilworks.site.demo.captions import MOTIONS, Facts, direction_caption
from foilworks.site.demo.shape_videos import FPS, draw, evaluation_scenes, training_scenes

ITEMS, TRAIN, SIDE = 6, 8, 32
# The caption's rank of each item in the array of similarities.
RANKS = (1, 1, 1, 2, 3, 6)


def write(folder: Path, *, films: bool = True) -> Path:
    """Write both halves; `films`: also the clips, and the captions of train clips.

    Without films, MSR-VTT has one more item, two foils of which are equal, and a block of five rows.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scenes = evaluation_scenes(ITEMS, 0)[::2]
    for slug, first in (("msrvtt", 7010), ("vatex", 1)):
        names = [f"{slug}video/{slug}{first + at}" for at in range(ITEMS)]
        _captions(folder / f"feint6k_{slug}.csv", names, scenes)
        if not films and slug == "msrvtt":
            with (folder / "feint6k_msrvtt.csv").open("a", encoding="utf-8") as file:
                file.write("".join(f"msrvttvideo/twice,a man {verb}\n" for verb in ("sits", *("runs",) * 2, *"abc")))
                file.write("msrvttvideo/short,a man stands\n" * 5)
        np.save(folder / f"sim_mat_{slug}.npy", _similarities())
        if films:
            for name, scene in zip(names, scenes, strict=True):
                _film(folder / "videos" / f"{name}.mp4", scene)
    if films:
        _train(folder)
    return folder


def _captions(path: Path, names: list[str], scenes) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["video_id", "sentence"])
        for name, scene in zip(names, scenes, strict=True):
            writer.writerows([name, text] for text in _six(scene.facts))


def _six(facts: Facts) -> list[str]:
    others = (Facts(facts.shape, facts.colour, motion, back) for motion in MOTIONS for back in (False, True))
    own = direction_caption(facts)
    return [own, *(text for each in others if (text := direction_caption(each)) != own)][:6]


def _similarities() -> np.ndarray:
    """Return (6 N, N): in its own column, an item's caption has the rank of RANKS."""
    scores = np.zeros((6 * ITEMS, ITEMS), np.float32)
    for at, rank in enumerate(RANKS):
        scores[6 * at : 6 * at + 6, at] = [0.5, *(0.9 if place < rank - 1 else 0.1 for place in range(5))]
    return scores


def _train(folder: Path) -> None:
    scenes = training_scenes(TRAIN, 3)
    videos = [{"video_id": f"video{at}", "category": 1, "split": "train"} for at in range(TRAIN)]
    texts = [f"a {scene.facts.colour} {scene.facts.shape} moves and turns around" for scene in scenes]
    sentences = [{"video_id": f"video{at}", "sen_id": at, "caption": text} for at, text in enumerate(texts)]
    (folder / "MSRVTT_data.json").write_text(json.dumps({"videos": videos, "sentences": sentences}))
    rows = [{"videoID": f"train{at}_000001_000011", "enCap": [text, text + " twice"]} for at, text in enumerate(texts)]
    (folder / "vatex_training_v1.0.json").write_text(json.dumps(rows))
    for at, scene in enumerate(scenes):
        _film(folder / "videos/msrvttvideo" / f"video{at}.mp4", scene)
        _film(folder / "videos/vatexvideo" / f"train{at}_000001_000011.mp4", scene)


def _film(path: Path, scene) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_mp4(path, draw(scene, SIDE)[::3], FPS)
