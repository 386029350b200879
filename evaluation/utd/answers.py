"""Right and wrong answers of models by sample, from files: ours, and that of UTD's authors (`video_id, acc_top1`)."""

from pathlib import Path

from corpus.importers.parsing.json_records import read_text
from evaluation.score_files.answers import csv_records, read_answers
from evaluation.score_files.json_records import fail


def read_model_answers(path: Path) -> dict[str, dict[str, float]]:
    """{model: {sample: 1 right, 0 wrong}}; a file of one model that it does not name is called by its stem.

    EvaluationError names file, line and column.
    """
    header = [name.strip().lower() for name in read_text(path).partition("\n")[0].split(",")]
    if "video_id" in header and "acc_top1" in header:
        return {path.stem: _accuracies(path)}
    found = read_answers([path])
    models = {model: dict(zip(found.ids, values.tolist(), strict=True)) for model, values in found.right.items()}
    if len(models) == 1 and set(models) <= {"prediction", "correct"}:
        return {path.stem: next(iter(models.values()))}
    return models


def _accuracies(path: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in csv_records(path, ("video_id", "acc_top1")):
        name = row.text("video_id")
        if name in found:
            row.fail("video_id", f"{name!r} stands in the file twice", "keep one of them")
        said = row.text("acc_top1").strip().lower()
        if said not in {"0", "1", "0.0", "1.0", "true", "false"}:
            row.fail("acc_top1", f"is {said!r}", "give 0 or 1")
        found[name] = float(said in {"1", "1.0", "true"})
    if not found:
        fail(path, None, "record", "there is none", "give at least one sample")
    return found
