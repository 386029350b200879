"""The tasks of this folder for Inspect: a choice among the texts of each item.

inspect eval task.py --model PROVIDER/MODEL
inspect eval task.py@no_clip --model PROVIDER/MODEL
"""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from clips import clip_of
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentText, ContentVideo
from inspect_ai.scorer import choice as by_letter
from inspect_ai.solver import multiple_choice

QUESTION = "Which sentence is true of the video?"
ABOUT = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))


def samples(with_clip):
    with (FOLDER / "items.jsonl").open(encoding="utf-8") as file:
        for line in file:
            item = json.loads(line)
            videos = [ContentVideo(video=clip_of(item), format="mp4")] if with_clip else []
            yield Sample(
                id=item["id"],
                input=[ChatMessageUser(content=[*videos, ContentText(text=QUESTION)])],
                choices=item["options"],
                target=item["answer"],
                metadata={"subtest": item["subtest"], "test": item["test"]},
            )


def _task(with_clip):
    return Task(
        dataset=MemoryDataset(list(samples(with_clip)), name=ABOUT["project"]),
        solver=multiple_choice(),
        scorer=by_letter(),
        metadata={"content_hash": ABOUT["content_hash"], "release": ABOUT["release"]},
    )


@task
def choice():
    """Choose the true sentence of each item's clip."""
    return _task(with_clip=True)


@task
def no_clip():
    """Choose without the clip: what the words alone give away."""
    return _task(with_clip=False)
