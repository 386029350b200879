"""Exports to evaluation harnesses. `python -m tests.corpus.harnesses` runs them with the real ones."""

import csv
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
import yaml

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats import every_eval_ever, inspect_task, lmms_eval, vlmeval
from foilworks.core.corpus.export_formats.parts.choices import LETTERS
from foilworks.core.corpus.records import ItemRecord, VideoRecord
from tests.corpus.releases import release_of

ITEM = ItemRecord(
    id="s:1", subtest="s", video=VideoRecord("k", "a.mp4"), caption="A door opens.", foils=("A door closes.", "A cup.")
)
WRITERS = (lmms_eval, inspect_task, vlmeval)
ASK = """
import json, sys, utils
doc = json.loads(open("items.jsonl").readline())
answers = [json.loads(one) for one in sys.argv[1:]]
chosen = [utils.chosen(doc, [one]) for one in answers if isinstance(one, str)]
likeliest = [utils.likeliest(doc, one) for one in answers if isinstance(one, list)]
print(json.dumps([utils.question(doc), utils.answer(doc), chosen, likeliest]))
"""


def many(n):
    return [replace(ITEM, id=f"s:{number}") for number in range(n)]


def choices(folder):
    return [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("writer", WRITERS)
def test_each_item_is_a_choice_whose_answer_is_the_caption(tmp_path, writer):
    writer.write(release_of(many(300)), tmp_path / "out", params={})
    rows = choices(tmp_path / "out")
    assert [row["options"][LETTERS.index(row["answer"])] for row in rows] == ["A door opens."] * 300
    assert {tuple(sorted(row["options"])) for row in rows} == {("A cup.", "A door closes.", "A door opens.")}
    # The ids are fixed, so these are always the same numbers: each place is near a third.
    assert all(80 <= count <= 120 for count in Counter(row["answer"] for row in rows).values())


@pytest.mark.parametrize("writer", WRITERS)
def test_a_release_without_foils_cannot_be_a_choice(tmp_path, writer):
    with pytest.raises(CorpusError, match="has no items with foils; release some first"):
        writer.write(release_of([replace(ITEM, foils=())]), tmp_path / "out", params={})
    assert not (tmp_path / "out").exists()


def test_results_without_a_scored_model_are_refused(tmp_path):
    with pytest.raises(CorpusError, match="has no scores of models; score a model on it first"):
        every_eval_ever.write(release_of([ITEM]), tmp_path / "out", params={})


def test_more_texts_than_letters_are_refused(tmp_path):
    item = replace(ITEM, foils=tuple(f"A cup {number}." for number in range(26)))
    with pytest.raises(CorpusError, match="s:1: has 27 texts, but a choice has at most 26"):
        lmms_eval.write(release_of([item]), tmp_path / "out", params={})


def ask(folder, *answers):
    command = [sys.executable, "-c", ASK, *map(json.dumps, answers)]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_the_functions_of_lmms_eval_read_letters_and_losses(tmp_path):
    lmms_eval.write(release_of([ITEM]), tmp_path / "out", params={})
    right = choices(tmp_path / "out")[0]["answer"]
    place = LETTERS.index(right)
    best, worst = [2.0, 2.0, 2.0], [1.0, 1.0, 1.0]
    best[place], worst[place] = 0.5, 3.0
    said = [right, f"({right}) it", f"The answer is {right}.", "D", "Any sentence", "I cannot tell"]
    question, answer, chosen, likeliest = ask(
        tmp_path / "out",
        *said,
        best,
        worst,
        [-one for one in best],
        [1.0, 1.0, 1.0],
        [f"({one}, False)" for one in best],
    )
    assert question.startswith("Which sentence is true of the video?\nA. ")
    assert answer == place
    assert [one["accuracy"] for one in chosen] == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert [one["unreadable"] for one in chosen] == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    # Log-likelihoods of the third are the losses of the first with their sign: the caption is the likeliest again.
    assert [one["accuracy"] for one in likeliest] == [1.0, 0.0, 1.0, pytest.approx(1 / 3), 1.0]
    assert {one["item"] for one in [*chosen, *likeliest]} == {"s:1"}


def test_the_task_files_of_lmms_eval_name_what_is_there(tmp_path):
    lmms_eval.write(release_of([ITEM], name="Doors & cups"), tmp_path / "out", params={})
    files = sorted(path.name for path in (tmp_path / "out").glob("*.yaml"))
    assert files == [
        "p_doors_cups.yaml",
        "p_doors_cups_choice.yaml",
        "p_doors_cups_choice_no_clip.yaml",
        "p_doors_cups_likelihood.yaml",
        "p_doors_cups_likelihood_no_clip.yaml",
    ]
    code = (tmp_path / "out" / "utils.py").read_text()
    for name in files[1:]:
        text = (tmp_path / "out" / name).read_text()
        task = yaml.safe_load(text.replace("!function ", ""))
        assert task["task"] == name.removesuffix(".yaml")
        assert task["dataset_kwargs"]["data_files"] == {"test": "items.jsonl"}
        named = [line.partition("!function utils.")[2] for line in text.splitlines() if "!function" in line]
        assert [one for one in named if f"def {one}(" not in code] == []
    assert yaml.safe_load((tmp_path / "out" / files[0]).read_text())["task"] == [
        "p_doors_cups_choice",
        "p_doors_cups_choice_no_clip",
    ]


def test_the_table_of_vlmevalkit_has_a_column_for_each_letter(tmp_path):
    items = [ITEM, replace(ITEM, id="s:2", foils=("A cup.",))]
    vlmeval.write(release_of(items), tmp_path / "out", params={})
    with (tmp_path / "out" / "p_r1.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert list(rows[0])[-5:] == ["question", "A", "B", "C", "answer"]
    assert [rows[at][rows[at]["answer"]] for at in (0, 1)] == ["A door opens."] * 2
    assert rows[1]["C"] == ""
    assert 'NAME = "p_r1"' in (tmp_path / "out" / "p_r1_dataset.py").read_text()


CLIP = """
import json, sys
from clips import clip_of
try:
    print(clip_of(json.loads(sys.argv[1])))
except (FileNotFoundError, ValueError) as error:
    print(error)
"""


def clip_of(folder, videos, **item):
    command = [sys.executable, "-c", CLIP, json.dumps({"id": "s:1", **item})]
    environment = {**os.environ, "FOILWORKS_VIDEOS": str(videos)}
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_clips_are_found_by_file_or_name(tmp_path):
    lmms_eval.write(release_of([ITEM]), tmp_path / "out", params={})
    videos = tmp_path / "videos"
    videos.mkdir()
    (videos / "a.mp4").write_bytes(b"a")
    (videos / "b.webm").write_bytes(b"b")
    assert clip_of(tmp_path / "out", videos, video="a.mp4") == str(videos / "a.mp4")
    assert clip_of(tmp_path / "out", videos, video="b") == str(videos / "b.webm")
    assert clip_of(tmp_path / "out", videos, video="c.mp4") == (
        f"{videos / 'c.mp4'}: there is no such video; copy it there, or set FOILWORKS_VIDEOS"
    )
    trimmed = clip_of(tmp_path / "out", videos, video="a.mp4", start=3, end=9, unit="frames")
    assert trimmed == "s:1: its trim is in frames; cut the clip yourself and remove start and end"
