"""Small files in the published form of UTD: one data set of classes, one of captions."""

import csv
import json
from pathlib import Path

from foilworks.site.reproduction.simulated_people import stand_in_clip

FRAMES = 8
CLASSES = {"ApplyLipstick": "apply lipstick", "PlayingCello": "playing cello", "YoYo": "yo yo"}
THINGS = {"ApplyLipstick": "lipstick, mirror", "PlayingCello": "cello, stage", "YoYo": "toy, room"}
UCF_TRAIN, UCF_TEST, MSR_TEST = 4, 4, 6
MODEL, RETRIEVER = "videomae-B-K400", "umt-b-5M"
PER_FRAME = 2


def write(folder: Path) -> Path:
    """Write splits, descriptions, lists and models' answers of UCF101 and MSR-VTT."""
    ucf = {split: _ucf(folder, split, n) for split, n in (("trainlist01", UCF_TRAIN), ("testlist01", UCF_TEST))}
    _table(folder / "metadata/ucf/classes.csv", ["class_name", "class_text"], CLASSES.items())
    test = list(ucf["testlist01"])
    _json(folder / "UTD_splits/splits_ucf_testlist01.json", _splits(test, 9) | {"debiased-balanced": test[:9]})
    # Right on the first six and on the last: 7 of 12, 6 of 9.
    _answers(folder / f"videoglue_predictions/ucf_{MODEL}/valid_49ep.csv", test, 6)
    clips = _msr(folder)
    _json(folder / "UTD_splits/splits_msrvtt_test.json", _splits(clips, 4))
    ranked = [(clip, 0 if at < 3 else 4, float(at < 3), 1.0) for at, clip in enumerate(clips)]
    path = folder / f"videoglue_predictions/msrvtt_{RETRIEVER}/reranked.csv"
    _table(path, ["video_id", "rank", "R1", "R5"], ranked)
    return folder


def _ucf(folder: Path, split: str, n: int) -> list[str]:
    rows, told = [], {}
    for name, text in CLASSES.items():
        for number in range(n):
            video = f"v_{name}_{split[:2]}{number:02d}"
            rows.append((video, f"{video}.avi", name, text))
            objects = THINGS[name] if number else "person, wall"
            told[video] = _frames(objects, f"Someone is doing {text}.", "Someone is doing something.")
    _table(folder / f"metadata/ucf/{split}_info.csv", ["video_id", "full_path", "class_name", "class_text"], rows)
    _json(folder / f"UTD_descriptions/annotations_ucf_{split}.json", told)
    return list(told)


def _msr(folder: Path) -> list[str]:
    clips = [f"video{7010 + at}" for at in range(MSR_TEST)]
    names = ("dog", "car", "cake", "horse", "guitar", "boat")
    rows = [
        (clip, f"{clip}.mp4", repr([f"a {name} is shown", f"the {name}'s turn"]))
        for clip, name in zip(clips, names, strict=True)
    ]
    for number, clip in enumerate(clips):
        stand_in_clip(folder / f"data/msrvtt/{clip}.mp4", number)
    _table(folder / "metadata/msrvtt/test_info.csv", ["video_id", "full_path", "captions"], rows)
    told = {
        clip: _frames(f"{name}, sky", f"A {name} is moving.", "Something moves.")
        for clip, name in zip(clips, names, strict=True)
    }
    _json(folder / "UTD_descriptions/annotations_msrvtt_test.json", told)
    return clips


def _frames(objects: str, activities: str, verbs: str) -> dict[str, list[str]]:
    texts = {
        "objects+composition+activities": f"In the photo, there is: {objects}. {activities}",
        "objects": objects,
        "activities": activities,
        "verbs": verbs,
        "objects+composition+activities_15_words": f"{objects} {activities}",
    }
    return {concept: [text] * FRAMES for concept, text in texts.items()}


def _splits(ids: list[str], kept: int) -> dict[str, list[str]]:
    return {"full": ids, "debiased": ids[:kept]}


def _answers(path: Path, ids: list[str], right: int) -> None:
    rows = [
        (name, int(at < right or at == len(ids) - 1), 1, 0, 2, "[2, 0]", "[0.1, 0.2]") for at, name in enumerate(ids)
    ]
    _table(path, ["video_id", "acc_top1", "acc_top5", "target", "pred_top1", "pred_top5", "logits"], rows)


def _table(path: Path, head: list[str], rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)


def _json(path: Path, value) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
