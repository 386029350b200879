"""The data set of this folder for VLMEvalKit: a choice by letter among the texts of each item.

Put this folder on PYTHONPATH and add the class to `vlmeval/dataset/__init__.py`, or pass an instance to your script.
"""

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import pandas
from clips import clip_of
from vlmeval.dataset.video_base import VideoBaseDataset
from vlmeval.smp import dump, load

NAME = "{name}"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Items(VideoBaseDataset):
    TYPE = "Video-MCQ"

    def __init__(self, dataset=NAME, nframe=8, fps=-1, pack=False):
        super().__init__(dataset=dataset, nframe=nframe, fps=fps, pack=pack)

    @classmethod
    def supported_datasets(cls):
        return [NAME]

    def prepare_dataset(self, dataset):
        return {"root": str(FOLDER), "data_file": str(FOLDER / f"{NAME}.tsv")}

    def build_prompt(self, line, video_llm):
        """Return the question about a line; models that read no videos get `nframe` frames."""
        row = self.data.iloc[line] if isinstance(line, int) else line
        item = {name: None if pandas.isna(row[name]) else row[name] for name in ("id", "video", "start", "end", "unit")}
        path = clip_of(item)
        options = [(letter, row[letter]) for letter in LETTERS if letter in row and not pandas.isna(row[letter])]
        listed = "\n".join(f"{letter}. {text}" for letter, text in options)
        text = f"{row['question']}\n{listed}\nAnswer with the letter of the sentence."
        if video_llm:
            return [{"type": "video", "value": path}, {"type": "text", "value": text}]
        return [*({"type": "image", "value": frame} for frame in self.frames_of(path)), {"type": "text", "value": text}]

    def frames_of(self, path):
        import decord
        from PIL import Image

        video = decord.VideoReader(path)
        names = self.frame_paths(Path(path).stem)
        for number, name in enumerate(names):
            if not Path(name).exists():
                at = min(len(video) - 1, int(len(video) * (number + 0.5) / len(names)))
                Image.fromarray(video[at].asnumpy()).save(name)
        return names

    @classmethod
    def evaluate(cls, eval_file, **judge_kwargs):
        """Return accuracy by subtest; an answer that names no letter counts as wrong."""
        data = load(eval_file)
        letters = [letter_of(str(prediction)) for prediction in data["prediction"]]
        data["hit"] = [float(letter == answer) for letter, answer in zip(letters, data["answer"])]
        scores = data.groupby("subtest")["hit"].mean().to_dict()
        accuracy = pandas.DataFrame([{**scores, "overall": data["hit"].mean(), "unreadable": letters.count("")}])
        dump(accuracy, eval_file.rpartition(".")[0] + "_acc.csv")
        return accuracy


def letter_of(reply):
    match = re.match(r"\(?([A-Z])(?:[\s).:,]|$)", reply.strip())
    return match.group(1) if match else ""
