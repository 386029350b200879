"""A project whose videos are described by a file: no film, no describer, seconds less."""

import json
from pathlib import Path

from evaluation.utd.actions.biases import measure_bias
from evaluation.utd.actions.descriptions import import_descriptions
from evaluation.utd.models import BiasRun, Descriptions
from evaluation.utd.requests import BiasRequest
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Project
from tests.factories import make_caption, make_project, make_video

WAYS = ("from left to right", "from right to left")
FRAMES = 4
# What stands in front of the camera where a thing goes which way, in the train split and in two thirds of the test set.
TIED = {"from left to right": "mirror", "from right to left": "lamp"}
THINGS = ("cup", "ball", "book")


def described(slug: str, folder: Path, rounds: int = 2) -> tuple[Project, Descriptions]:
    """Of each thing and way `rounds` videos to learn from and `rounds` to judge; descriptions from a file."""
    project = make_project(slug=slug, name="Things that move")
    told = {}
    for split in ("train", "test"):
        for number in range(rounds):
            for thing in THINGS:
                for way in WAYS:
                    key = f"{split}-{number}-{thing}-{way.replace(' ', '-')}"
                    video = make_video(project, key=key, split=split, class_label=f"moves {way}", sha256=key)
                    make_caption(video, f"a {thing} moves {way}", key=f"c-{key}", facts={"thing": thing})
                    is_tied = split == "train" or thing != "book"
                    told[key] = _frames(thing, way, TIED[way] if is_tied else "table")
    path = folder / "descriptions.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    return project, import_descriptions(None, project, [path], name="from a file")


def _frames(thing: str, way: str, beside: str) -> dict[str, list[str]]:
    first, last = way.removeprefix("from ").split(" to ")
    places = [first, "center", "center", last]
    return {
        "objects+composition+activities": [f"A {thing} beside a {beside} moves at the {each}." for each in places],
        "objects": [f"{thing}, {beside}"] * FRAMES,
        "activities": [f"A {thing} is moving at the {each}." for each in places],
        "verbs": [f"Something is moving at the {each}." for each in places],
        "objects+composition+activities_15_words": [f"a {thing} by a {beside} at the {each}" for each in places],
    }


def measured(texts: Descriptions, **options: str) -> BiasRun:
    run = measure_bias(None, texts, BiasRequest(encoder="fake-words:", **options))
    assert run_now(run.job).state == "done"
    run.refresh_from_db()
    return run
