"""Score files against a release: every item gets its own scores, ranks come from scores alone, columns have names."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from evaluation.metrics import rcad
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.score_files.score_writers import WRITERS
from evaluation.score_files.scores import read_choices
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run, Score
from evaluation.scoring.queries import release_scores, run_results
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.export_formats.foilworks import score_line
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from foilworks.core.text.errors import ActionableError
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def release():
    """a1, a2 in A and b1, b2 in B, two foils each."""
    project = factories.make_project(slug="two")
    for name in "AB":
        subtest = factories.make_subtest(project, name=name)
        for number in (1, 2):
            video = factories.make_video(project, source_dataset="d", source_id=f"{name}{number}")
            caption = factories.make_caption(video, f"a cat sits {name}{number}")
            foils = (f"a dog sits {name}{number}", f"a cow sits {name}{number}")
            item = factories.make_item(subtest, caption, foils, state=ItemState.VALID)
            item.key = f"{name.lower()}{number}"
            item.save(update_fields=["key"])
    return freeze_release(None, project)


def run_of(release, path, *, ends=JobState.DONE, **options):
    run = start_run(None, release, RunRequest(f"file:{path}", **options))
    assert run_now(run.job).state == ends
    run.refresh_from_db()
    return run


def write(tmp_path, text, name="two.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


# The items of B are first, and right; those of A are wrong, ranked second and third.
ROWS = {"b1": (0.9, 0.1, 0.2), "b2": (0.8, 0.2, 0.1), "a1": (0.1, 0.9, 0.2), "a2": (0.2, 0.8, 0.1)}
PREDICTIONS = "b1,0\nb2,0\na1,1\na2,2\n"


@pytest.mark.parametrize("head", ["id,caption,foil_1,foil_2", '"id","caption","foil_1","foil_2"', ",s0,s1,s2"])
def test_every_item_has_its_own_scores_whatever_the_order_and_the_quotes(release, tmp_path, head):
    lines = "".join(f"{name},{','.join(map(str, scores))}\n" for name, scores in ROWS.items())
    run = run_of(release, write(tmp_path, f"{head}\n{lines}"))
    found = run_results(run, draws=10)
    assert {name: group["T"] for name, group in found["subtests"].items()} == {"A": 0, "B": 1}
    assert (found["rcad"]["R@1"], found["rcad"]["R@2"], found["rcad"]["mean_rank"]) == (0.5, 0.75, 1.75)
    assert run.problems == {}


@pytest.mark.parametrize("quote", ["", '"'])
def test_predictions_have_no_ranks_anywhere(client, release, tmp_path, quote):
    head = ",".join(f"{quote}{name}{quote}" for name in ("id", "prediction"))
    run = run_of(release, write(tmp_path, f"{head}\n{PREDICTIONS}"))
    found = run_results(run, draws=10)
    assert {name: group["T"] for name, group in found["subtests"].items()} == {"A": 0, "B": 1}
    assert found["overall"]["T_ci"] is not None
    assert found["rcad"] is None
    client.force_login(factories.make_member(release.project, Role.RESEARCHER))
    html = client.get(reverse("scoring:run", args=["two", run.pk])).content.decode()
    assert "R@2" not in html
    assert "rcad-csv" not in html
    assert client.get(reverse("scoring:run_file", args=["two", run.pk, "json"])).json()["rcad"] is None
    assert client.get(reverse("scoring:run_scores", args=["two", run.pk, "rcad-csv"])).status_code == 404
    assert client.get(reverse("scoring:run_scores", args=["two", run.pk, "mc"])).status_code == 200
    # Nor from what an export says of them.
    lines = "".join(json.dumps(line) + "\n" for line in exported(run))
    with pytest.raises(ActionableError, match="predictions have no ranks"):
        rcad.compute(read_choices(write(tmp_path, lines, "export.jsonl")))


def exported(run):
    return [score_line(score) for score in release_scores(run)[0]]


def test_older_scores_of_winners_have_no_ranks(release, tmp_path):
    run = run_of(release, write(tmp_path, f"id,prediction\n{PREDICTIONS}"))
    Score.objects.filter(model_key=run.model_key).update(kind="file")
    assert run_results(run, draws=10)["rcad"] is None


def test_the_command_shows_ranks_and_names_unused_columns(release, tmp_path, capsys):
    lines = "".join(f"{name},{','.join(map(str, scores))},7\n" for name, scores in ROWS.items())
    path = write(tmp_path, f"qid,caption,foil_1,foil_2,seconds\n{lines}")
    ask = ("evaluate", "file", str(path), "--release", str(release.pk), "--sync", "--column", "id=qid")
    call_command(*ask)
    shown = capsys.readouterr()
    ranks = next(line.split() for line in shown.out.splitlines() if line.startswith("rank among foils"))
    assert ranks[-6:] == ["4", "0.5000", "0.7500", "1.0000", "1.7500", "1.5000"]
    assert "unused columns: seconds" in shown.err + shown.out
    call_command(*ask, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["ignored_columns"] == ["seconds"]
    assert found["rcad"]["R@2"] == 0.75


def test_the_page_accepts_column_names(client, release):
    client.force_login(factories.make_member(release.project, Role.RESEARCHER))
    address = reverse("scoring:bring_scores", args=["two", release.pk])

    def send(columns):
        lines = "".join(f"{line},0\n" for line in PREDICTIONS.split())
        sent = {"scores": SimpleUploadedFile("m.csv", f"qid,prediction,answer\n{lines}".encode())}
        return client.post(address, {**sent, "form": "auto", "protocol": "foilworks", "columns": columns})

    assert send("id").status_code == 422
    assert not Run.objects.exists()
    assert send("id=qid").status_code == 302
    with pytest.raises(ActionableError, match=r"m.csv:1: answer: looks like the right answer, but is not used"):
        run_now(Run.objects.get().job)
    assert send("id=qid, right=answer").status_code == 302
    run = Run.objects.order_by("pk").last()
    assert run_now(run.job).state == JobState.DONE
    run.refresh_from_db()
    assert run_results(run, draws=10)["overall"]["T"] == 0.5


def test_a_written_file_keeps_its_ids_in_a_spreadsheet(release, tmp_path):
    """An id that a spreadsheet would run has an apostrophe in our CSV, and none once it is read."""
    run = run_of(release, write(tmp_path, "id,caption,foil_1,foil_2\n" + "b1,1,0,0\n"), ends=JobState.PARTLY)
    (row,), _missing = release_scores(run)
    path = tmp_path / "out.csv"
    path.write_bytes(WRITERS["rcad-csv"][2]([type(row)(**{**vars(row), "id": "-x"})]))
    assert "'-x" in path.read_text()
    assert read_choices(path).ids == ["-x"]
