"""Answers to questions with options, as models write them, become scores of an item's texts."""

import json

import pytest

from evaluation.board.leaderboard import board
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.score_files.score_readers import read_given
from evaluation.score_files.scores import Notes
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.clip_keys import Keyed, score_key
from evaluation.scoring.models import Run, Score
from evaluation.scoring.queries import records_of, run_results
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.release_records import release_id
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.site.imports.store import import_records
from tests.factories import make_project

OPTIONS = ["dunking", "passing a ball", "a dog"]


def record(number: int, answer: int, options=OPTIONS, positions=(0, 1)) -> dict:
    return {
        "id": release_id("s", f"s:{number}"),
        "subtest": "s",
        "foils": ["x"] * len(positions),
        "foil_positions": list(positions),
        "facts": {"options": list(options), "answer": answer},
    }


def given(tmp_path, content, records, form="letters", name="p.csv", **columns):
    path, notes = tmp_path / name, Notes()
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    data = read_given(path, form, records, notes=notes, columns=columns or None)
    return dict(zip(data.ids, data.main.tolist(), strict=True)), notes


def test_the_chosen_text_wins_and_unread_answers_are_listed(tmp_path):
    records = [record(1, 1), record(2, 1), record(3, 1), record(4, 1), record(5, 1, positions=(1,))]
    content = "id,prediction\n1,B\n2,A\n3,C\n4,who knows\n5,A\n"
    found, notes = given(tmp_path, content, records, form="auto")
    # The caption, then the foils of options A and C.
    assert found["s:1"] == [1, 0, 0]
    assert found["s:2"] == [0, 1, 0]
    assert "s:4" not in found
    assert found["s:3"] == [0, 0, 1]
    # The foil of A is not in the release.
    assert found["s:5"][:2] == [0, 1]
    assert notes.unreadable == {"s:4": "no option"}
    assert notes.only_winners


def test_numbers_count_published_options_only_if_the_form_says_so(tmp_path):
    records = [record(1, 2), record(2, 0)]
    content = {"1": {"prediction": 2, "answer": 2}, "2": {"prediction": -1, "answer": 0}}
    found, notes = given(tmp_path, content, records, name="p.json", right="answer")
    assert (found["s:1"][0], notes.unreadable) == (1, {"s:2": "no option"})
    for form, words in (("auto", "choose letters for the option"), ("letters", "give the place of an option, 0 to 2")):
        with pytest.raises(EvaluationError, match=words):
            given(tmp_path, "id,prediction\n1,3\n", records, form=form)
    # With the position of the right one, predictions are positions of texts.
    found, _notes = given(tmp_path, "id,prediction,right\n1,0,0\n", records, form="auto")
    assert found["s:1"][0] == 1


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("id,prediction,right\n1,A,C\n", OPTIONS, "right: is 'C', but the release has 'dunking'"),
        ("id,prediction\n1,2\n", ["2", "3"], "may be an option or its place; give the letter"),
        ("id,prediction\n1,A\n", None, "has no options; choose mc"),
    ],
)
def test_answers_to_other_questions_are_refused(tmp_path, content, options, words):
    items = [record(1, 0, options or ())]
    if options is None:
        items[0]["facts"] = {}
    with pytest.raises(EvaluationError, match=words):
        given(tmp_path, content, items)


def asked(tmp_path, n):
    """A release of n questions whose answer is B."""
    questions = [{"question": f"Where is {k}?\nA. left\nB. right", "answer": "B. right"} for k in range(n)]
    path = tmp_path / "multi-choice.json"
    path.write_text(json.dumps({"7": {"direction": questions}}))
    project = make_project()
    import_records(project, None, "tempcompass", path, as_published=True)
    return freeze_release(None, project)


def scored(tmp_path, release: Release, texts, name="model"):
    ids = [record["id"] for record in records_of(release)]
    path = tmp_path / f"{name}.csv"
    path.write_text("id,prediction\n" + "".join(f"{item},{text}\n" for item, text in zip(ids, texts, strict=True)))
    run = start_run(None, release, RunRequest(f"file:{path}", form="letters"))
    run_now(run.job)
    run.refresh_from_db()
    return run


@pytest.mark.django_db
def test_an_unreadable_answer_is_neither_right_nor_wrong(tmp_path):
    release = asked(tmp_path, 20)
    run = scored(tmp_path, release, ["B"] * 9 + ["A"] * 9 + ["somewhere", "I cannot help with that"])
    results = run_results(run, draws=10)
    overall = results["overall"]
    assert (overall["T"], overall["n"], overall["n_unread"], overall["all_wrong"]["T"]) == (0.5, 18, 2, 0.45)
    assert results["subtests"]["multi-choice-direction"]["n_unread"] == 2
    (unparsable,), (refused,) = run.problems["answer_unparsable"], run.problems["model_refused"]
    assert (unparsable["why"], refused["why"]) == ("no option", "refused")
    assert run.job.state == JobState.DONE


@pytest.mark.django_db
def test_a_run_with_many_unreadable_answers_is_partly_done_and_not_ranked(tmp_path):
    release = asked(tmp_path, 20)
    run = scored(tmp_path, release, ["B"] * 17 + ["somewhere"] * 3)
    other = scored(tmp_path, release, ["B"] * 12 + ["A"] * 8, "other")
    assert run.job.state == JobState.PARTLY
    assert run.job.message.startswith("without a result: 3/20 (answer unparsable: ")
    ranks = {row.run.pk: (row.rank, row.is_partly) for row in board(release).rows}
    assert ranks == {other.pk: (1, False), run.pk: (None, True)}
    with_it = {row.run.pk: row.rank for row in board(release, with_partly=True).rows}
    assert with_it[run.pk] == 1


@pytest.mark.django_db
def test_a_run_without_any_score_fails_and_says_why(tmp_path):
    release = asked(tmp_path, 20)
    with pytest.raises(EvaluationError, match=r"no answer can be read: no option"):
        scored(tmp_path, release, ["somewhere"] * 20)
    (run,) = Run.objects.all()
    assert (run.job.state, "no option" in run.job.error) == (JobState.FAILED, True)


@pytest.mark.django_db
def test_the_board_says_where_unreadable_answers_could_change_the_rank(tmp_path):
    release = asked(tmp_path, 20)
    run = scored(tmp_path, release, ["B"] * 16 + ["A"] * 2 + ["somewhere"] * 2)
    other = scored(tmp_path, release, ["B"] * 17 + ["A"] * 3, "other")
    rows = {row.run.pk: row for row in board(release).rows}
    assert (rows[run.pk].may_fall, rows[other.pk].may_fall) == (True, False)


@pytest.mark.django_db
def test_scores_of_an_earlier_reading_of_the_same_file_are_deleted(tmp_path):
    release = asked(tmp_path, 20)
    run = scored(tmp_path, release, ["B"] * 19 + ["somewhere"])
    row = Score.objects.filter(model_key=run.model_key).first()
    row.pk = None
    unread_id = run.problems["answer_unparsable"][0]["item"]
    row.clip_key = score_key(Keyed.ITEM, {"id": unread_id}, "main", ())
    row.save()
    again = scored(tmp_path, release, ["B"] * 19 + ["somewhere"])
    assert not Score.objects.filter(model_key=again.model_key, clip_key=row.clip_key).exists()
