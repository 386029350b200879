"""Answers to questions with options, as models write them, become scores of an item's texts."""

import json

import pytest

from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.score_files.option_answers import chosen_option
from evaluation.score_files.score_readers import read_given
from evaluation.score_files.scores import Notes
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.queries import records_of, run_results
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.release_records import release_id
from foilworks.core.jobs.runner import run_now
from foilworks.site.imports.store import import_records
from tests.factories import make_project

OPTIONS = ["dunking", "passing a ball", "a dog"]


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ("B", 1),
        ("b.", 1),
        ("(B) passing a ball", 1),
        ("**B. passing**", 1),
        ("The answer is B.", 1),
        ("The best option is (B) passing", 1),
        ("The answer is B because he throws", 1),
        ("Option 2: passing a ball", 1),
        ("Sentence B", 1),
        ("caption b.", 1),
        ("Passing a ball.", 1),
        ("dunking, since he jumps", 0),
        ("A dog", 2),
        ("A. a dog", 0),
        ("A dog is running", None),
        ("The answer is A dog", None),
        ("A, B", None),
        ("B and C", None),
        ("D", None),
        ("Option 4", None),
        ("I'm not sure", None),
        ("None", None),
        ("", None),
    ],
)
def test_an_answer_names_an_option_by_letter_number_or_text(answer, place):
    assert chosen_option(answer, OPTIONS) == place


@pytest.mark.parametrize(
    ("answer", "options", "place"),
    [
        ("Yes, it is.", ["yes", "no"], 0),
        ("No. He stands.", ["yes", "no"], 1),
        ("Nobody knows", ["yes", "no"], None),
        # The letter and the text disagree.
        ("B", ["B", "A"], None),
        ("A", ["A", "B"], 0),
        ("same", ["same", "same"], None),
    ],
)
def test_an_ambiguous_answer_names_no_option(answer, options, place):
    assert chosen_option(answer, options) == place


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
    assert found["s:2"] == found["s:4"] == [0, 1, 0]
    assert found["s:3"] == [0, 0, 1]
    # The foil of A is not in the release.
    assert found["s:5"][:2] == [0, 1]
    assert notes.unparsed == ["s:4"]
    assert notes.only_winners


def test_numbers_count_published_options_only_if_the_form_says_so(tmp_path):
    records = [record(1, 2), record(2, 0)]
    content = {"1": {"prediction": 2, "answer": 2}, "2": {"prediction": -1, "answer": 0}}
    found, notes = given(tmp_path, content, records, name="p.json", right="answer")
    assert (found["s:1"][0], found["s:2"][0], notes.unparsed) == (1, 0, ["s:2"])
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


@pytest.mark.django_db
def test_a_run_counts_answers_without_an_option_as_wrong_and_lists_them(tmp_path):
    asked = [{"question": f"Where is {k}?\nA. left\nB. right", "answer": "B. right"} for k in range(4)]
    path = tmp_path / "multi-choice.json"
    path.write_text(json.dumps({"7": {"direction": asked}}))
    project = make_project()
    import_records(project, None, "tempcompass", path, as_published=True)
    release: Release = freeze_release(None, project)
    said = zip((one["id"] for one in records_of(release)), ("B", "B. right", "A", "somewhere"), strict=True)
    scores = tmp_path / "model.csv"
    scores.write_text("id,prediction\n" + "".join(f"{name},{text}\n" for name, text in said))
    run = start_run(None, release, RunRequest(f"file:{scores}", form="letters"))
    run_now(run.job)
    run.refresh_from_db()
    overall = run_results(run, draws=10)["overall"]
    assert (overall["T"], overall["n"]) == (0.5, 4)
    assert run.problems == {"answers_without_an_option": ["multi-choice-direction:7:3"]}
