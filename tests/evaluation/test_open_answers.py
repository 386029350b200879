"""Answers without options: metrics by hand and by independent code, the board with its judge, people and cost."""

import json

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from evaluation.errors import EvaluationError
from evaluation.metrics.open_answers import EXACT, JUDGE, MRA, OpenAnswers, best_constant, compute, credit
from evaluation.open_answers.actions.open_answers import import_open_answers, judge_sample
from evaluation.open_answers.boards import agreement_of, as_json, open_board, sample_of
from evaluation.open_answers.models import AnswerJudgement, OpenAnswer
from foilworks.core.corpus.models import Item
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from tests import factories
from tests.evaluation.rungs.worlds import make_release
from tests.hub.chat_server import chat_server, content, text_of

DRAWS = 50


def mra(answer: float, right: float) -> float:
    """Mean relative accuracy, from its definition (Yang et al. 2024)."""
    thresholds = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]
    return sum(abs(answer - right) / right < 1 - threshold for threshold in thresholds) / 10


def data(answers, references, kinds=None) -> OpenAnswers:
    n = len(answers)
    return OpenAnswers([str(k) for k in range(n)], answers, references, kinds or [""] * n, [f"v{k}" for k in range(n)])


def test_numbers_have_the_mean_relative_accuracy_of_the_paper():
    random = np.random.default_rng(4)
    right = random.uniform(0.5, 900, 500)
    given = right * random.uniform(0.3, 1.8, 500)
    (group,) = compute(data([f"{x!r} m" for x in given.tolist()], [repr(x) for x in right.tolist()]), draws=DRAWS)[
        "groups"
    ]
    assert group["metric"] == MRA
    assert group["value"] == pytest.approx(np.mean([mra(*pair) for pair in zip(given, right, strict=True)]), abs=1e-9)
    # Equal to a threshold: wrong in the paper, right in the released code.
    (edge,) = compute(data(["95", "1"], ["100", "2"]), draws=DRAWS)["groups"]
    assert (edge["value"], edge["released_code"]) == (pytest.approx((0.9 + 0) / 2), pytest.approx((1.0 + 0.1) / 2))


def test_a_constant_answer_has_the_value_of_the_formula():
    right = ["2", "2", "2", "3", "5", "12"]
    (group,) = compute(data(["2"] * 6, right), draws=DRAWS)["groups"]
    expected = np.mean([mra(2, float(number)) for number in right])
    assert group["value"] == pytest.approx(expected, abs=1e-9)
    answer, value = best_constant(MRA, right)
    assert value == pytest.approx(max(np.mean([mra(float(c), float(r)) for r in right]) for c in right), abs=1e-9)
    assert (answer, group["constant"]) == ("2", pytest.approx(value, abs=1e-9))
    # Per type of question: each type has a constant of its own.
    (words,) = compute(data(["x"] * 4, ["red", "Red.", "up", "up"], ["a", "a", "b", "b"]), draws=DRAWS)["groups"]
    assert (words["metric"], words["value"], words["constant"]) == (EXACT, 0.0, 1.0)
    assert set(words["kinds"]) == {"a", "b"}


@pytest.mark.parametrize(
    ("answer", "reference", "found"),
    [
        ("A red shirt!", "the RED shirt", (EXACT, 1.0)),
        ("a shirt", "the red shirt", (EXACT, 0.0)),
        ("<think>2 or 3</think>There are two.", "2", (MRA, 1.0)),
        ("between 2 and 3", "2", (MRA, None)),
        ("1,200 cm", "1200", (MRA, 1.0)),
        ("<think>it is 4", "4", (MRA, None)),
        ("nothing", "0", (MRA, None)),
        ("0", "0", (MRA, 1.0)),
        ("a", "the", (EXACT, 0.0)),
        ("", "the", (EXACT, None)),
        (" ", "ring", (EXACT, None)),
        ("<think>a ring", "ring", (EXACT, None)),
    ],
)
def test_answers_are_read(answer, reference, found):
    assert credit(answer, reference) == found


def test_the_command_names_the_metric_of_each_value(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("id,prediction,ground_truth,question_type\na,two,2,count\nb,hall,kitchen,place\nc,?,4,count\n")
    call_command("metrics", "open", "--file", str(path), "--json")
    found = {group["metric"]: group for group in json.loads(capsys.readouterr().out)["groups"]}
    assert (found[MRA]["value"], found[MRA]["n_unread"], found[MRA]["all_wrong"]) == (1.0, 1, 0.5)
    assert found[EXACT]["value"] == 0.0
    call_command("metrics", "open", "--file", str(path))
    assert MRA in capsys.readouterr().out


@pytest.fixture
def release(db):
    """The release has the right answers of two questions."""
    release = make_release()
    Item.objects.filter(key="i0").update(facts={"question": "What moves?", "options": ["cube", "ball"], "answer": 1})
    from evaluation.releases.actions.freeze_release import freeze_release

    return freeze_release(None, release.project)


def strict(body, n):
    """A judge who says yes if the student's answer contains the right one."""
    text = text_of(body)
    right, answer = (
        text.partition(mark)[2].partition("\n")[0] for mark in ("Right answer: ", "Answer of the student: ")
    )
    return content("Yes." if right in answer else "No, it is not.", tokens=(100, 10))


def test_a_board_names_its_metrics_and_shows_how_far_to_trust_its_judge(release, settings, tmp_path, client):
    lines = [{"id": "moves:i0", "prediction": "the ball, I think"}]
    lines += [{"id": f"q{k}", "prediction": f"word {k}", "right": f"word {k % 7}", "question": "?"} for k in range(30)]
    lines += [{"id": "n", "prediction": "9", "right": "10"}]
    path = tmp_path / "model.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    with chat_server(strict) as server:
        settings.CHAT_ENDPOINTS = {
            "lab": {"url": server.url, "models": ("judge",), "key": "", "price": (1.0, 2.0), "currency": "EUR"}
        }
        answer_set = import_open_answers(None, release, path, judge="endpoint:lab")
        assert run_now(answer_set.job).state == JobState.DONE
        assert len(server.bodies) == 31, "a number needs no judge"
    board = open_board(release)
    assert list(board) == [EXACT, MRA, JUDGE]
    (judged,) = board[JUDGE]
    assert judged.group["value"] == pytest.approx((1 + sum(f"word {k % 7}" in f"word {k}" for k in range(30))) / 31)
    assert judged.agreement["alpha"] is None
    person = factories.make_member(release.project, Role.RESEARCHER)
    sample = sample_of(answer_set, person)
    # The person agrees but for one answer.
    verdicts = {row.pk: (row.verdict == "right") is (at != 0) for at, row in enumerate(sample)}
    assert judge_sample(person, answer_set, verdicts) == 31
    assert sample_of(answer_set, person) == []
    found = agreement_of(answer_set)
    assert (found["n"], found["people"], found["agreement"]) == (31, 1, pytest.approx(30 / 31))
    low, high = found["ci"]
    assert low <= found["alpha"] <= high
    # Krippendorff's alpha of two coders, from its definition.
    pairs = [(row.verdict == "right", verdicts[row.pk]) for row in sample]
    share = np.mean([vote for pair in pairs for vote in pair])
    expected = 2 * share * (1 - share) * 62 / 61
    assert found["alpha"] == pytest.approx(1 - (1 / 31) / expected)
    (row,) = [row for row in as_json(open_board(release)) if row["metric"] == JUDGE]
    assert row["judge_cost"]["cost"] == pytest.approx(31 * (100 * 1.0 + 10 * 2.0) / 1e6)
    assert row["judge"].startswith("lab:judge@")
    assert set(AuditEvent.objects.values_list("action", flat=True)) >= {
        "evaluation.import_open_answers",
        "evaluation.judge_open_answers",
    }
    client.force_login(person)
    page = client.get(reverse("open_answers:board", args=(release.project.slug, release.pk))).content.decode()
    for words in ("Exact match", "Mean relative accuracy", "Judge model", "0.0037 EUR", "31 answers"):
        assert words in page


def test_people_judge_on_a_page_without_the_verdicts(release, client, settings):
    person = factories.make_member(release.project, Role.RESEARCHER)
    client.force_login(person)
    board = reverse("open_answers:board", args=(release.project.slug, release.pk))
    assert "No open answers yet" in client.get(board).content.decode()
    file = SimpleUploadedFile("a.csv", b"id,prediction,right\na,ball,the ball\nb,x,y\n")
    assert client.post(board, {"answers": file, "label": "m"}).status_code == 302
    answer_set = OpenAnswer.objects.first().answer_set
    OpenAnswer.objects.update(verdict="right")
    page = reverse("open_answers:sample", args=(release.project.slug, answer_set.pk))
    first = OpenAnswer.objects.get(key="a")
    shown = client.get(page).content.decode()
    assert f'name="answer-{first.pk}"' in shown
    client.post(page, {f"answer-{first.pk}": "right"})
    client.post(page, {f"answer-{first.pk}": "wrong"})
    assert list(AnswerJudgement.objects.values_list("answer__key", "is_right")) == [("a", False)]
    assert "Choose right or wrong" in client.post(page, {}, follow=True).content.decode()
    bad = SimpleUploadedFile("b.csv", b"id,prediction\na,ball\n")
    refused = client.post(board, {"answers": bad})
    assert refused.status_code == 422
    assert "b.csv: right: &#x27;a&#x27; has no right answer" in refused.content.decode()


def test_a_judge_must_be_a_model_that_answers_and_a_person_a_researcher(release, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,prediction,right\na,x,y\n")
    with pytest.raises(EvaluationError, match="judge 'clip:x' is not a model that answers; begin with one of: chat"):
        import_open_answers(None, release, path, judge="clip:x")
    with pytest.raises(AccessDenied):
        import_open_answers(factories.make_member(release.project, Role.VALIDATOR), release, path)
    found = import_open_answers(None, release, path, judge="fake-chat:")
    assert run_now(found.job).state == JobState.DONE
    assert OpenAnswer.objects.get().verdict != ""
