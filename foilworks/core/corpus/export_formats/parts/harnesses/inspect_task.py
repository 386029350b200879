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
from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Score, accuracy, scorer, stderr
from inspect_ai.solver import multiple_choice
from model_answers import LETTERS, read_answer

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


@scorer(metrics=[accuracy(), stderr()])
def named_option():
    """Credit the option that an answer names; an unreadable answer is "N", with the reason."""

    async def score(state, target):
        options = [choice.value for choice in state.choices]
        text = state.output.completion
        reading = read_answer(text, options, finish_reason=state.output.stop_reason or "")
        if reading.option is None:
            return Score(value=NOANSWER, explanation=text, metadata={"unreadable": reading.reason})
        letter = LETTERS[reading.option]
        return Score(value=CORRECT if letter == target.text else INCORRECT, answer=letter, explanation=text)

    return score


def _task(with_clip):
    return Task(
        dataset=MemoryDataset(list(samples(with_clip)), name=ABOUT["project"]),
        solver=multiple_choice(),
        scorer=named_option(),
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
