"""Sets of answers on a release: from published questions and scores to the board, its files and an export."""

import csv
import io
import json

import pytest
from django.urls import reverse

from evaluation.board.latex import as_csv, as_json, markdown
from evaluation.board.leaderboard import board
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run
from evaluation.scoring.queries import run_results
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.export_formats import every_eval_ever, foilworks
from foilworks.core.jobs.runner import run_now
from foilworks.site.exports.collect import collect_release, export_content
from foilworks.site.exports.verify import verify
from foilworks.site.imports.store import import_records
from tests.annotation.world import make_world
from tests.pages import read_page

pytestmark = pytest.mark.django_db


def mvp(number):
    """Two clips with one question, and the other answer on each."""
    options = [f"a cup {number}", f"a ball {number}"]
    shared = {"question": f"What moves in {number}?", "candidates": options, "source": "pt"}
    return [
        {
            "video_id": f"pair_{number}_{clip}",
            "video_path": f"{number}_{clip}.mp4",
            "answer": options[clip - 1],
            **shared,
        }
        for clip in (1, 2)
    ]


def timeblind(number):
    """Two questions about two clips; yes is right to the first on the first clip, and to the second on the second."""
    return [
        {
            "index": 4 * number + role,
            "video_path": f"videos/vid_{number}_{role % 2}.mp4",
            "question": f"Does it end {'before' if role < 2 else 'after'} {number}?",
            "answer": ("Yes", "No", "No", "Yes")[role],
            "type": "yes_no",
        }
        for role in range(4)
    ]


def video_mme_v2(number, structure=""):
    about = {"group_type": "logic" if structure else "relevance", "group_structure": structure or "None"}
    return [
        {
            "video_id": f"v{number}",
            "question_id": f"v{number}-{place}",
            "question": f"Question {place} of {number}?",
            "options": "\n".join(f"{letter}. {letter}{number}{place}" for letter in "ABCDEFGH"),
            "answer": "C",
            **about,
        }
        for place in (1, 2, 3, 4)
    ]


@pytest.fixture
def release_of(tmp_path):
    world = make_world({"blind_bar": 1.0})

    def make(form, rows, **params):
        path = tmp_path / "set.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        found = import_records(world.project, None, form, path, params=params, as_published=True)
        assert found.as_json()["created"]["items"] == len(rows)
        return freeze_release(None, world.project)

    return make


def answered(release, right, path):
    """Score the release with answers: right or wrong, in the order of its items' ids; None: not scored."""
    records = {member.record["id"]: member.record for member in release.members.all()}
    rows = [
        {"id": name, "caption": float(value), "foils": [0.5] * len(records[name]["foils"])}
        for name, value in zip(sorted(records), right, strict=True)
        if value is not None
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = start_run(None, release, RunRequest(f"file:{path}"))
    run_now(run.job)
    return Run.objects.get(pk=run.pk)


def test_pair_accuracy_of_mvp_is_a_column_of_the_board_and_its_files(release_of, tmp_path, admin_client):
    release = release_of("table", [row for number in range(4) for row in mvp(number)])
    run = answered(release, [1, 1, 1, 0, 1, 1, 0, 0], tmp_path / "answers.jsonl")
    sets = run_results(run, draws=50)["sets"]
    overall = sets["overall"]
    assert (overall["accuracy"], overall["group"], overall["n_sets"], sets["incomplete"]) == (5 / 8, 0.5, 4, 0)
    assert (overall["chance"]["group"], overall["luck"]["group"]) == (0.25, pytest.approx(25 / 64))
    ranked = board(release)
    assert ranked.of_sets == ["Same question", "Same clip", "Whole set"]
    (row,) = csv.DictReader(io.StringIO(as_csv(ranked)))
    cells = [float(row[name]) for name in ("Whole set", "chance_Whole set", "luck_Whole set")]
    assert cells == pytest.approx([0.5, 0.25, 25 / 64])
    (model,) = json.loads(as_json(ranked))["models"]
    assert (model["Whole set"], model["n_sets"], model["luck_Whole set"]) == (0.5, 4, pytest.approx(25 / 64))
    assert "| Whole set |" in markdown(ranked)
    page = read_page(admin_client.get(reverse("scoring:run", args=[release.project.slug, run.pk])))
    assert "Sets of answers" in page.text


def test_instance_accuracy_of_timeblind_from_import_to_board(release_of, tmp_path):
    release = release_of("timeblind", [row for number in range(3) for row in timeblind(number)])
    right = [1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 0]
    ids = [f"set:{number}" for number in range(12)]
    by_id = dict(zip(ids, right, strict=True))
    run = answered(release, [by_id[name] for name in sorted(ids)], tmp_path / "answers.jsonl")
    overall = run_results(run, draws=50)["sets"]["overall"]
    values = {name: overall[name] for name in ("accuracy", "question", "clip", "group")}
    assert values == {"accuracy": 9 / 12, "question": 3 / 6, "clip": 4 / 6, "group": 1 / 3}


def test_groups_of_video_mme_v2_and_their_export(release_of, tmp_path):
    rows = [*video_mme_v2(0), *video_mme_v2(1, "[1, 2, 3, 4]"), *video_mme_v2(2, "[1, [2, 3], 4]")]
    release = release_of("table", rows)
    run = answered(release, [1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1], tmp_path / "answers.jsonl")
    overall = run_results(run, draws=50)["sets"]["overall"]
    assert overall["score"] == pytest.approx((9 / 16 + 1 / 16 + 4 / 12) / 3, abs=1e-12)
    assert (overall["consistency"], overall["chance"]["accuracy"]) == (9 / 16, 1 / 8)
    content = collect_release(release)
    foilworks.write(content, tmp_path / "whole", params={})
    assert verify(tmp_path / "whole")
    models = json.loads((tmp_path / "whole" / "tables" / "models.json").read_text())
    assert json.dumps(overall["score"]) in json.dumps(models)
    shared = export_content(every_eval_ever, release.project, release)
    every_eval_ever.write(shared, tmp_path / "shared", params={})
    written = "".join(path.read_text() for path in (tmp_path / "shared").rglob("*.json"))
    assert "foilworks.sets.score" in written


def test_sets_without_all_scores_are_left_out_and_counted(release_of, tmp_path):
    release = release_of("table", [row for number in range(3) for row in mvp(number)])
    sets = run_results(answered(release, [1, 1, 1, None, 0, 1], tmp_path / "answers.jsonl"), draws=20)["sets"]
    assert (sets["overall"]["n_sets"], sets["overall"]["group"], sets["incomplete"]) == (2, 0.5, 1)


def test_clips_of_one_name_with_different_questions_make_no_set(release_of, tmp_path):
    rows = [row | {"question": f"{row['question']} {row['video_id']}"} for number in range(2) for row in mvp(number)]
    release = release_of("table", rows)
    assert run_results(answered(release, [1, 1, 0, 1], tmp_path / "answers.jsonl"), draws=20)["sets"] is None
