"""Five published sets on their way: imported as published, released, scored, exported. Records are written by hand in
the form of the published files; figures and files are compared with counts over those records, not with our readers.
"""

import csv
import io
import json
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.score_files.items import read_items
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.run_results import results_of
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.jobs.runner import run_now
from foilworks.core.text.registry import load
from foilworks.site.exports.collect import export_content
from foilworks.site.imports.store import import_records
from tests.factories import make_project

pytestmark = pytest.mark.django_db

SWAP_ATT = {
    "0": {
        "filename": "000000000001.jpg",
        "caption": "A red cup on a white table.",
        "negative_caption": "A white cup on a red table.",
    },
    "1": {
        "filename": "000000000001.jpg",
        "caption": "Two small dogs beside one large cat.",
        "negative_caption": "Two large dogs beside one small cat.",
    },
    "10": {
        "filename": "000000000002.jpg",
        "caption": "Ein müder Hund schläft – neben einer wachen Katze.",
        "negative_caption": "Ein wacher Hund schläft – neben einer müden Katze.",
    },
}
DIRECTION = [
    {
        "src_dataset": "MSRVTT",
        "video_name": "video1.mp4",
        "caption": "a man walks towards a car",
        "counterfactual": "a man walks away from a car",
        "aspect": "Direction",
    },
    {
        "src_dataset": "MSRVTT",
        "video_name": "video1.mp4",
        "caption": "a door is pushed open",
        "counterfactual": "a door is pulled shut",
        "aspect": "Direction",
    },
    {
        "src_dataset": "VATEX",
        "video_name": "Ab_1-x_000010_000020.avi",
        "caption": "a girl climbs up a rope",
        "counterfactual": "a girl climbs down a rope",
        "aspect": "Direction",
    },
]
CONTRAST = [
    ["clip", "ending0", "ending1", "ending2", "ending3", "ending4", "label"],
    ["video1", "a man sings", "a man cooks", "a dog runs", "a car turns", "a boy waves", "1"],
    ["video2", "a girl reads", "a girl writes", "a cat sleeps", "a ball rolls", 'a "big" box falls', "0"],
]
FEINT6K = [
    ["video_id", "sentence"],
    *(["vatexvideo/q", f"a man {verb} a shirt"] for verb in ("folds", "irons", "tears", "washes", "buttons", "throws")),
    *(["vatexvideo/p", f"a girl {verb} a rope"] for verb in ("climbs", "cuts", "ties", "burns", "swings", "drops")),
]
EXISTENCE = {
    "v_1": {
        "dataset": "VISUAL7W",
        "image_file": "v7w_1.jpg",
        "caption": "There are no people.",
        "foil": "There are people.",
        "classes": "people",
        "mturk": {"foil": 0, "caption": 3, "other": 0},
    },
    "v_2": {
        "dataset": "VISUAL7W",
        "image_file": "v7w_2.jpg",
        "caption": "There are dogs.",
        "foil": "There are no dogs.",
        "classes": "dogs",
        "mturk": {"foil": 2, "caption": 1, "other": 0},
    },
    "v_3": {
        "dataset": "VISUAL7W",
        "image_file": "v7w_1.jpg",
        "caption": "There is a bus.",
        "foil": "There is no bus.",
        "classes": "bus",
        "mturk": {"foil": 0, "caption": 2, "other": 1},
    },
}


def table(rows: list[list[str]], delimiter: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue()


def rows_of(text: str, delimiter: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text), delimiter=delimiter))


class Published(NamedTuple):
    """`file`: as its publisher has it. `scores`: of a model, with the accuracy counted by hand. `read`: the exported
    text as records whose order says nothing, `records`: those of the published file that are valid."""

    format: str
    file: str
    text: str
    scores_file: str
    scores: str
    right: tuple[float, int]
    read: Callable[[str], Any]
    records: Any
    n_on_word: int
    params: dict[str, str] = {}


def blocks(rows: list[list[str]]) -> list[list[list[str]]]:
    return sorted(rows[start : start + 6] for start in range(1, len(rows), 6))


SETS = [
    Published(
        "sugarcrepe",
        "swap_att.json",
        json.dumps(SWAP_ATT),
        "predictions.csv",
        "id,prediction\nswap_att:0,0\nswap_att:1,1\nswap_att:10,0\n",
        (2 / 3, 3),
        json.loads,
        SWAP_ATT,
        3,
    ),
    Published(
        "vitatecs",
        "Direction.jsonl",
        # The published files repeat some of their lines.
        "".join(json.dumps(line) + "\n" for line in [*DIRECTION, DIRECTION[0]]),
        "scores.jsonl",
        '{"id": "Direction:video1", "caption": 0.5, "foils": [0.5]}\n'
        '{"id": "Direction:video1#2", "caption": 0.9, "foils": [0.1]}\n'
        '{"id": "Direction:Ab_1-x_000010_000020", "caption": 0.2, "foils": [0.3]}\n',
        (1.5 / 3, 3),
        lambda text: sorted(map(json.loads, text.splitlines()), key=itemgetter("caption")),
        sorted(DIRECTION, key=itemgetter("caption")),
        3,
    ),
    Published(
        "contrast",
        "verb-lm.tsv",
        table(CONTRAST, "\t"),
        "scores.csv",
        # The caption, then the foils in the order of the file.
        "id,scores\nvideo1,0.9,0.1,0.2,0.3,0.4\nvideo2,0.3,0.8,0.1,0.1,0.1\n",
        (1 / 2, 2),
        lambda text: rows_of(text, "\t"),
        CONTRAST,
        2,
        {"dataset": "MSR-VTT"},
    ),
    Published(
        "feint6k",
        "feint6k_vatex.csv",
        table(FEINT6K, ","),
        "scores.csv",
        "id,scores\nvatexvideo/q,0.9,0.1,0.2,0.3,0.4,0.5\nvatexvideo/p,0.5,0.9,0.1,0.1,0.1,0.1\n",
        (1 / 2, 2),
        lambda text: blocks(rows_of(text, ",")),
        blocks(FEINT6K),
        2,
        {"dataset": "VATEX"},
    ),
    Published(
        "valse",
        "existence.json",
        json.dumps(EXISTENCE),
        "existence.json",
        '{"v_1": {"scores": [0.7, 0.2]}, "v_2": {"scores": [0.7, 0.2]}, "v_3": {"scores": [0.1, 0.2]}}',
        (1 / 2, 2),
        json.loads,
        {key: record for key, record in EXISTENCE.items() if record["mturk"]["caption"] >= 2},
        0,
    ),
]


@pytest.mark.parametrize("published", SETS, ids=[one.format for one in SETS])
def test_a_published_set_is_imported_scored_and_exported_unchanged(published, tmp_path):
    project = make_project()
    path = tmp_path / published.file
    path.write_text(published.text, encoding="utf-8")
    import_records(project, None, published.format, path, as_published=True, params=published.params)
    release = freeze_release(None, project)
    share, n = published.right
    assert (release.n_items, release.n_as_published) == (n, published.n_on_word)
    scores = tmp_path / "model" / published.scores_file
    scores.parent.mkdir()
    scores.write_text(published.scores, encoding="utf-8")
    run = start_run(None, release, RunRequest(f"file:{scores}"))
    run_now(run.job)
    run.refresh_from_db()
    overall = results_of(run)["overall"]
    assert (overall["T"], overall["n"]) == (pytest.approx(share), n)
    exporter = load(EXPORTERS[published.format])
    exporter.write(export_content(exporter, project, release), tmp_path / "out", params={})
    # By the name that the publisher's code opens.
    text = (tmp_path / "out" / published.file).read_bytes().decode("utf-8")
    assert published.read(text) == published.records


def test_a_repeated_record_of_a_format_without_ids_is_reported(tmp_path: Path):
    path = tmp_path / "Direction.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*DIRECTION, DIRECTION[0]]), encoding="utf-8")
    result = import_records(make_project(), None, "vitatecs", path)
    assert result.errors == [f"{path}:4: record: repeats the record on line 1; remove it"]


def test_a_sugarcrepe_file_read_as_vilma_is_recognised(tmp_path: Path):
    path = tmp_path / "swap_att.json"
    path.write_text(json.dumps(SWAP_ATT), encoding="utf-8")
    with pytest.raises(EvaluationError, match=r"foils: is missing; choose the format sugarcrepe;"):
        read_items([path])
    items, _warnings = read_items([path], "sugarcrepe")
    assert len(items) == 3
