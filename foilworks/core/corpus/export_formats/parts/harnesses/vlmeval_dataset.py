"""The data set of this folder for VLMEvalKit: a choice by letter among the texts of each item.

Put this folder on PYTHONPATH and add the class to `vlmeval/dataset/__init__.py`, or pass an instance to your script.
"""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import pandas
from clips import clip_of
from model_answers import read_answer
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
        listed = "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, options_of(row)))
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
        """Return accuracy by subtest. An unreadable answer is wrong in it; `overall_readable` leaves it out."""
        data = load(eval_file)
        options = [options_of(row) for _, row in data.iterrows()]
        read = [read_answer(str(text), texts).option for text, texts in zip(data["prediction"], options)]
        data["hit"] = [float(option == LETTERS.index(answer)) for option, answer in zip(read, data["answer"])]
        readable = data["hit"][[option is not None for option in read]]
        scores = data.groupby("subtest")["hit"].mean().to_dict()
        overall = {
            "overall": data["hit"].mean(),
            "overall_readable": readable.mean(),
            "unreadable": len(read) - len(readable),
        }
        accuracy = pandas.DataFrame([{**scores, **overall}])
        dump(accuracy, eval_file.rpartition(".")[0] + "_acc.csv")
        return accuracy


def options_of(row):
    return [str(row[letter]) for letter in LETTERS if letter in row and not pandas.isna(row[letter])]
