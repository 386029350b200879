"""Print the tables of docs/explanation/public-ladders.md: evidence ladders from published predictions.

`.venv/bin/python -m benchmarks.public_ladders FOLDER`. The folder has the files that the page names. A benchmark
without its files is left out.
"""

import gzip
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import foilworks

TEMPCOMPASS = ("multi-choice", "yes_no", "caption_matching")
MODELS = {"gemini": "Gemini 1.5 Pro", "reka-core-20240501": "Reka Core", "video-llava": "Video-LLaVA"}
VSI = {
    "vsi_train_10k": "LLaVA-Video-7B, tuned on VSI-Train-10k",
    "cambrian-s": "Cambrian-S, before its release",
    "internvl3_9b": "InternVL3-9B",
    "internvl2_5_26b": "InternVL2.5-26B",
    "internvl2_5_8b": "InternVL2.5-8B",
    "llava_ov_7b": "LLaVA-OneVision-7B",
    "llava_vid_7b_2026": "LLaVA-Video-7B",
}
# Models of Video-MME-ScaleGrid: the most frames at 151k pixels that all splits of a model have.
SCALEGRID = {
    "Qwen3-VL-8B": "64f_151k",
    "Qwen2.5-VL-7B": "64f_151k",
    "InternVL3.5-8B": "64f_151k",
    "InternVL3-8B": "64f_151k",
    "LLaVA-NeXT-Video-7B": "32f_151k",
}
Row = dict[str, Any]
# Of one model: predictions by rung, and what the publisher prints, in %, by rung.
Published = tuple[dict[str, list[Row]], dict[str, str]]


def main(folder: Path) -> None:
    print(
        "| benchmark | model | rung | value | unreadable | if all are wrong, right | printed | full clip minus rung |"
    )
    print("|---|---|---|---|--:|---|---|---|")
    for benchmark, questions, rungs_of_models in found(folder):
        for model, (rungs, printed) in rungs_of_models.items():
            document = foilworks.ladder(rungs, questions, with_partly=True).document
            print("\n".join(rows_of(benchmark, model, document, printed)))


def rows_of(benchmark: str, model: str, document: Mapping[str, Any], printed: Mapping[str, str]) -> Iterator[str]:
    for rung, row in document["rungs"].items():
        bounds = f"{percent(row['all_wrong'])}, {percent(row['all_right'])}" if "all_wrong" in row else "–"
        drop = "–" if row["drop"] is None else shown(row["drop"], row["drop_ci"])
        value = f"{shown(row['T'], row['ci'])} of {document['n']:,}"
        cells = (benchmark, model, rung, value, f"{row.get('n_unread', 0):,}", bounds, printed.get(rung, "–"), drop)
        yield f"| {' | '.join(cells)} |"


def shown(value: float, interval: Sequence[float] | None) -> str:
    low, high = interval or (float("nan"), float("nan"))
    return f"{percent(value)} [{percent(low)}, {percent(high)}]"


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def found(folder: Path) -> Iterator[tuple[str, Path | list[Row], dict[str, Published]]]:
    """Yield the benchmarks whose files are in the folder: name, questions, models."""
    for duration in ("short", "medium") if (folder / "video-mme").is_dir() else ():
        yield f"Video-MME, {duration}", *scalegrid(folder / "video-mme", duration)
    if (nextqa := folder / "nextqa").is_dir():
        rows = json.loads((nextqa / "HGA-bert-ft-h256-val.json").read_text())
        answers = [{"id": name, "prediction": row["prediction"]} for name, row in rows.items()]
        yield "NExT-QA, val", with_ids(nextqa / "val.csv"), {"HGA": ({"full": answers}, {"full": "49.74"})}
    for task in TEMPCOMPASS:
        questions = folder / "tempcompass" / "questions" / f"{task}.json"
        if questions.is_file():
            models = {name: tempcompass(folder / "tempcompass", model, task) for model, name in MODELS.items()}
            yield f"TempCompass, {task.replace('_', ' ')}", questions, models
    if (vsi := folder / "vsi-bench").is_dir():
        models = {name: (vsi_rungs(vsi, model), {}) for model, name in VSI.items()}
        yield "VSI-Bench, choices", vsi / "test.jsonl", models


def scalegrid(folder: Path, duration: str) -> tuple[list[Row], dict[str, Published]]:
    """Return the questions of Video-MME of which all models have answers, and the models: letters by frames, and the
    accuracy that their authors print."""
    import pandas

    questions = pandas.read_parquet(folder / "test.parquet")
    models, ids = {}, set(questions["question_id"])
    for model, frames in SCALEGRID.items():
        path = folder / f"{model}_V1_{duration}_predictions_wide.csv"
        if not path.is_file():
            continue
        table = pandas.read_csv(path, keep_default_na=False)
        ids &= set(table["sample_id"])
        printed = json.loads(path.with_name(f"{model}_V1_{duration}.json").read_text())["accuracy_by_config"]
        columns = {"no_clip": "textonly", "full": frames}
        rungs = {
            rung: [{"id": row["sample_id"], "prediction": row[column]} for row in table.to_dict("records")]
            for rung, column in columns.items()
        }
        name = f"{model}, {frames.partition('f')[0]} frames"
        models[name] = rungs, {rung: f"{printed[column]:.2f}" for rung, column in columns.items()}
    used = questions[questions["question_id"].isin(ids)]
    rows = [
        {"id": row["question_id"], "video": row["videoID"], "question": row["question"]}
        | {"options": [option[3:] for option in row["options"]], "answer": row["answer"]}
        for row in used.to_dict("records")
    ]
    return rows, models


def with_ids(path: Path) -> Path:
    """Write the questions of NExT-QA with the ids of its predictions: VIDEO_QID."""
    import csv

    with path.open(newline="") as file:
        rows = [{**row, "id": f"{row['video']}_{row['qid']}"} for row in csv.DictReader(file)]
    copy = path.with_name("val-with-ids.csv")
    with copy.open("w", newline="") as file:
        writer = csv.DictWriter(file, [name for name in rows[0] if name != "qid"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return copy


def tempcompass(folder: Path, model: str, task: str) -> Published:
    """Return the predictions, which join by video and question, and the mean of the authors' ratings."""
    predictions = answers_of(json.loads((folder / "predictions" / model / f"{task}.json").read_text()))
    ratings = answers_of(json.loads((folder / "auto_eval_results" / model / f"{task}.json").read_text()))
    printed = f"{100 * sum(row['rating'] for row in ratings) / len(ratings):.2f}"
    return {"full": predictions}, {"full": printed}


def answers_of(document: Mapping[str, Mapping[str, list[Row]]]) -> list[Row]:
    return [
        {"video": video, **row} for video, by_aspect in document.items() for rows in by_aspect.values() for row in rows
    ]


def vsi_rungs(folder: Path, model: str) -> dict[str, list[Row]]:
    """Return the predictions with and without the video, by the ids of VSI-Bench."""
    rungs = {}
    for rung, name in (("full", model), ("no_clip", f"{model}_blind")):
        with gzip.open(folder / "preds" / f"{name}.jsonl.gz", "rt") as file:
            rows = map(json.loads, file)
            rungs[rung] = [{"id": str(row["id"]), "prediction": row["prediction"]} for row in rows]
    return rungs


if __name__ == "__main__":
    main(Path(sys.argv[1]))
