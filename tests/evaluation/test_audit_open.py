"""Questions without options in an audit: words and numbers beside their best constants, and the share they are of."""

import random

import numpy as np
import pytest
from django.core.management import call_command

from evaluation.audit.audit import Options, audit
from evaluation.audit.open_questions import credits_of, solve_open
from evaluation.audit.pages import file_of
from evaluation.audit.without_video import sentence
from evaluation.metrics.open_answers import EXACT, MRA, best_constant
from foilworks.core.corpus.records import TextRecord
from tests.evaluation.test_audit import written
from tests.evaluation.test_open_answers import mra

THINGS = ("table", "chair", "sofa", "lamp", "window", "door", "shelf", "bed")
SIZES = dict(zip(THINGS, (120, 45, 200, 30, 90, 210, 160, 190), strict=True))


def record(number: int, question: str, answer: object, kind: str = "", video: str = "") -> TextRecord:
    return TextRecord(
        str(answer), (), number, id=str(number), question=question, subtest=kind, video=video or str(number)
    )


def of_things(answer_of, n: int = 240, kind: str = "") -> list[TextRecord]:
    draw = random.Random(3)
    rows = []
    for number in range(n):
        thing = draw.choice(THINGS)
        rows.append(record(number, f"What can be said of the {thing} in this room?", answer_of(thing, draw), kind))
    return rows


def test_words_that_follow_from_the_question_are_answered():
    (row,) = solve_open(of_things(lambda thing, _draw: f"the {thing} is old"))
    assert (row.kind, row.metric, row.verdict, row.closed) == ("words", EXACT, "fail", 1.0)
    assert row.value > 0.97
    (only,) = row.types
    assert row.chance == only.constant < 0.25
    assert only.answer in {f"{thing} is old" for thing in THINGS}
    assert {example["right"].lower().removeprefix("the ") for example in row.examples} <= {
        f"{thing} is old" for thing in THINGS
    }


def test_answers_at_random_are_not_above_the_best_constant():
    (row,) = solve_open(of_things(lambda _thing, draw: draw.choice(("red", "blue", "green", "grey")), 400))
    assert row.verdict in {"nothing_found_so_far", "cannot_tell"}
    assert row.interval[0] <= 0.25 <= row.interval[1]


def test_numbers_that_follow_from_the_question_are_above_the_best_constant():
    rows = of_things(lambda thing, draw: SIZES[thing] + draw.choice((-4, 0, 4)))
    by_metric = {row.metric: row for row in solve_open(rows)}
    assert set(by_metric) == {MRA, EXACT}
    assert by_metric[MRA].verdict == "fail"
    assert by_metric[MRA].value > 0.9
    assert by_metric[MRA].chance == pytest.approx(best_constant(MRA, [row.right for row in rows])[1], abs=1e-9)
    assert by_metric[EXACT].value < by_metric[MRA].value


def test_credits_equal_an_independent_computation():
    generator = np.random.default_rng(5)
    right = [repr(x) for x in generator.uniform(0.5, 900, 300).round(2).tolist()]
    given = [repr(x) for x in generator.uniform(0.5, 900, 300).round(2).tolist()]
    expected = [mra(float(answer), float(number)) for answer, number in zip(given, right, strict=True)]
    assert credits_of(MRA, given, right) == pytest.approx(expected, abs=1e-9)
    assert credits_of(EXACT, given, right).tolist() == [float(a == b) for a, b in zip(given, right, strict=True)]


def test_a_solver_that_can_only_be_constant_has_the_value_of_the_formula():
    draw = random.Random(1)
    numbers = [draw.choice(("2", "2", "2", "3", "8")) for _ in range(200)]
    row = solve_open([record(at, "How many are there?", number) for at, number in enumerate(numbers)])[0]
    assert row.value == pytest.approx(np.mean([mra(2, float(number)) for number in numbers]), abs=1e-9)
    assert row.value == pytest.approx(row.chance, abs=1e-9)
    # Half of the answers and more are a constant's: no failure of the texts, and no clean bill.
    assert row.verdict == "warn"


def test_answers_of_one_video_do_not_teach_each_other():
    rows = [record(at, "What is on the wall?", f"picture {at // 4}", video=f"v{at // 4}") for at in range(200)]
    (row,) = solve_open(rows)
    assert (row.value, row.closed, row.verdict, row.why) == (0.0, 0.0, "cannot_tell", "open")


def test_few_videos_are_not_solved():
    (row,) = solve_open([record(at, "What?", "a", video=f"v{at % 2}") for at in range(9)])
    assert (row.verdict, row.why) == ("cannot_tell", "few")


@pytest.fixture
def mixed(tmp_path):
    """A third has options, a third asks for words, a third for numbers; one record cannot be read."""
    draw, rows = random.Random(2), []
    for number in range(90):
        thing = THINGS[number % len(THINGS)]
        about = {"video": f"v{number}", "id": str(number)}
        rows += [
            {**about, "type": "size", "question": f"How long is the {thing}?", "answer": SIZES[thing]},
            {**about, "type": "kind", "question": f"What is the {thing} made of?", "answer": f"made for {thing}s"},
            {**about, "type": "side", "question": f"Where is the {thing}?", "options": ["left", "right"],
             "answer": draw.choice(("left", "right"))},
        ]  # fmt: skip
    rows.append({"question": "Which?", "options": ["left", "right"], "answer": "up"})
    return written(tmp_path / "mixed.jsonl", rows)


def test_the_headline_names_the_share_of_the_records(mixed):
    result = audit([mixed], Options())
    assert result["records"] == {"options": 90, "open": 180, "unread": 1}
    text = sentence(result)
    assert text.count("33.2 % of all records") == 3
    assert "mean relative accuracy of 100.0 %" in text
    assert result["verdict"] == "fail"
    page = file_of(result)
    assert "best constant" in page
    assert "made for tables" in page


def test_a_file_of_open_questions_alone_is_audited(tmp_path, capsys):
    rows = [
        {"question": f"What is by the {THINGS[n % 8]}?", "answer": f"a {THINGS[n % 8]}", "id": n} for n in range(80)
    ]
    path = written(tmp_path / "open.jsonl", rows).path
    call_command("audit", str(path), "--html", str(tmp_path / "open.html"), "--markdown", str(tmp_path / "open.md"))
    out = capsys.readouterr().out
    assert out.startswith("Fail: 100.0 % of the open answers in words are given without the video")
    assert "words, exact match" in out
    assert "100.0 %" in (tmp_path / "open.html").read_text(encoding="utf-8")
    assert "open answers" in (tmp_path / "open.md").read_text(encoding="utf-8")
