"""The forms of public benchmark files that the audit reads: the right answer is right, and what is unclear is refused.

Each record is written here in the layout of a published file.
"""

import json
import random
from itertools import pairwise
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluation.analyses.questions import questions_of
from evaluation.audit.audit import Options, audit
from evaluation.audit.file_reader import Problems, read_all
from evaluation.audit.ladder import by_id, read_rung
from evaluation.audit.pages import file_of
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.answer_styles import AnswerStyles, label_of
from foilworks.core.corpus.import_formats.parsing.fields import ProblemError
from foilworks.core.corpus.import_formats.parsing.text_drafts import draft_of, listed, record_of_draft
from foilworks.core.corpus.import_formats.parsing.text_files import Source, form_of
from foilworks.core.corpus.records import TextRecord
from foilworks.core.solver.folds import structure_of
from foilworks.core.solver.solve import first_view

THINGS = ("dog", "cat", "cup", "key", "hat", "box", "car", "sock")


def saved(path: Path, value: object, **about: object) -> Source:
    lines = "\n".join(json.dumps(row) for row in value) if path.suffix == ".jsonl" else json.dumps(value, indent=1)
    path.write_text(lines, encoding="utf-8")
    return Source(path, **about)


def read(source: Source) -> list[TextRecord]:
    problems = Problems()
    found = list(read_all([source], problems))
    assert problems.examples == []
    return found


def parsed(row: dict) -> TextRecord:
    styles, draft = AnswerStyles(), draft_of(row, 1, {}, {})
    draft.note(styles)
    return record_of_draft(draft, styles)


def refused(source: Source) -> str:
    problems = Problems()
    assert list(read_all([source], problems)) == []
    return problems.examples[0]


def finding(result: dict, check: str) -> dict:
    return next(row for row in result["findings"] if row["check"] == check)


class TestLabels:
    @pytest.mark.parametrize(
        ("row", "text", "right"),
        [
            ({"image": "1.jpg", "caption": "The cup is on the box.", "label": 0}, "The cup is on the box.", "false"),
            ({"sentence": "Two dogs.", "label": "True", "query": "row of dogs0"}, "Two dogs.", "true"),
            ({"question_id": 1, "image": "1.jpg", "text": "Is there a cup?", "label": "yes"}, "Is there a cup?", "yes"),
            ({"image_id": 7, "query": "Is there a cup?", "label": "No"}, "Is there a cup?", "no"),
            ({"question": "Is it larger?", "gt_answer": "1", "filename": None}, "Is it larger?", "yes"),
            ({"question": "Did it fall?", "answer": "No."}, "Did it fall?", "no"),
            ({"Question": "Did it fall?", "Answer": "no", "Video Path": "v1"}, "Did it fall?", "no"),
            ({"question": "Is it red?", "options": ["A. Yes", "B. No"], "answer": "B"}, "Is it red?", "no"),
        ],
    )
    def test_a_text_with_a_label_is_one_record(self, row, text, right):
        record = parsed(row)
        assert (record.is_label, record.question, record.right) == (True, text, right)
        assert {record.right, *record.wrongs} in ({"yes", "no"}, {"true", "false"})

    @pytest.mark.parametrize(("said", "label"), [("Yes.", True), (0, False), ("1.0", True), (2, None), ("maybe", None)])
    def test_a_label_is_yes_or_no_or_neither(self, said, label):
        assert label_of(said) is label

    def test_numbers_of_a_count_are_not_labels(self, tmp_path):
        rows = [{"question": f"Times {n}?", "answer": n % 4} for n in range(8)]
        assert "answer: is a number ('0')" in refused(saved(tmp_path / "count.jsonl", rows))

    def test_numbers_for_open_questions_are_not_labels(self, tmp_path):
        rows = [{"question": "Which caption is right?", "answer": n % 2} for n in range(8)]
        assert "no wrong texts" in refused(saved(tmp_path / "which.jsonl", rows))

    def test_two_texts_for_one_label_are_refused(self):
        with pytest.raises(ProblemError, match="several texts"):
            parsed({"caption": "a cup", "text": "Is there a cup?", "label": 1})

    def test_questions_inside_an_object_share_its_fields(self, tmp_path):
        one = {"video": "v.mp4", "question": "Is there a baby?", "answer": "yes"}
        other = {"video": "v.mp4", "question": "Is there a doll?", "answer": "no"}
        records = read(saved(tmp_path / "n.json", [{"basic": one, "hallucination": other, "type": "subject"}]))
        assert [(r.question, r.right, r.video, r.subtest) for r in records] == [
            ("Is there a baby?", "yes", "v.mp4", "subject"),
            ("Is there a doll?", "no", "v.mp4", "subject"),
        ]

    def test_a_prior_of_labels_is_a_shortcut(self, tmp_path):
        rows = [{"image": f"{n}", "caption": f"a {THINGS[n % 8]} moves", "label": int(n % 10 < 7)} for n in range(400)]
        result = audit([saved(tmp_path / "s.jsonl", rows)], Options())
        labels, solved = finding(result, "labels"), result["without_video"]
        assert (labels["value"], labels["chance"], labels["verdict"]) == (0.7, 0.5, "fail")
        assert labels["details"]["yes"] == 280
        assert (solved["chance"], solved["majority"], solved["verdict"]) == (0.5, 0.7, "fail")

    def test_words_that_tell_the_label_fail(self, tmp_path):
        draw = random.Random(3)
        rows = []
        for n in range(200):
            label = draw.choice(("yes", "no"))
            thing = draw.choice(THINGS[:4] if label == "yes" else THINGS[4:])
            rows.append({"image": f"{n}.jpg", "text": f"Is there a {thing} in the image?", "label": label})
        result = audit([saved(tmp_path / "p.jsonl", rows)], Options())
        solved = result["without_video"]
        assert (solved["value"], solved["verdict"], solved["unit"]) == (1.0, "fail", "labels")
        assert finding(result, "divergence")["value"] is None
        page = file_of(result)
        assert "Most frequent label" in page
        assert "Fail: 100.0" in page
        assert "()" not in page

    def test_labels_of_one_value_are_answered_without_the_video(self, tmp_path):
        rows = [{"id": f"{n}", "question": f"Is the {THINGS[n % 8]} {n} eating?", "answer": "No."} for n in range(60)]
        result = audit([saved(tmp_path / "o.jsonl", rows)], Options())
        assert (finding(result, "labels")["value"], result["without_video"]["verdict"]) == (1.0, "fail")

    def test_the_same_statement_about_other_pictures_is_not_a_repeat(self, tmp_path):
        rows = [{"sentence": "Two dogs sit.", "label": str(n % 2 == 0)} for n in range(4)]
        assert finding(audit([saved(tmp_path / "n.jsonl", rows)], Options()), "duplicates")["value"] == 0

    def test_a_statement_that_is_once_true_and_once_false_is_in_one_group(self):
        rows = [
            TextRecord(right, (wrong,), n, question=f"A {THINGS[n // 2]} is red.", video=f"{n}", is_label=True)
            for n in range(16)
            for right, wrong in [("true", "false")[:: 1 if n % 2 else -1]]
        ]
        questions, answers = questions_of(rows)
        groups = structure_of(questions, answers).groups
        assert len(set(groups)) == 8
        assert groups[0] == groups[1]
        assert first_view(questions, answers).headline.value == 0.5

    def test_few_questions_about_many_pictures_are_grouped_by_picture(self):
        rows = [
            TextRecord("yes", ("no",), n, question="Is there a dog?", video=f"{n}", is_label=True) for n in range(9)
        ]
        assert len(set(structure_of(*questions_of(rows)).groups)) == 9

    def test_a_prediction_of_a_label_is_a_word_or_a_number(self, tmp_path):
        rows = [{"id": n, "question": f"Is it {n}?", "answer": "yes" if n < 2 else "no"} for n in range(4)]
        items = by_id(read(saved(tmp_path / "q.jsonl", rows)))
        said = [{"id": f"{n}", "prediction": one} for n, one in enumerate(["1", "no", "No.", "A"])]
        answers = read_rung(saved(tmp_path / "p.jsonl", said).path, items, {})
        assert (answers.credits, set(answers.unread)) == ({"0": 1.0, "1": 0.0, "2": 1.0}, {"3"})


class TestOptions:
    @pytest.mark.parametrize(
        ("row", "right"),
        [
            ({"options": ["A.A dog", "B.A cat", "C.A cup"], "answer": "A cat", "correct_option": "B"}, "A cat"),
            ({"options": ["a dog", "a cat"], "answer": "He saw a cat.", "gt": 1}, "a cat"),
            ({"options": ["A Ella", "B Lucy"], "correct_option": "B"}, "Lucy"),
            ({"options": ["(B) cat", "(A) dog"], "answer": "A"}, "dog"),
            ({"options": {"1": "dog", "2": "cat"}, "answer": "1"}, "dog"),
            ({"options": {"A": "dog", "B": "cat"}, "answer": "(B)"}, "cat"),
            ({"options": "(a) Open (b) Closed", "answer": "(b)"}, "Closed"),
            ({"options": "['a dog', 'a cat']", "answer": "1"}, "a cat"),
            ({"options": ["Black.", "White."], "answer": "white"}, "White."),
            ({"options": ["2", "1", "5"], "answer": "1"}, "1"),
            ({"options": ["2", "1", "5"], "answer": 2}, "5"),
            ({"choice_a": "dog", "choice_b": "cat", "answer": "choice_b"}, "cat"),
        ],
    )
    def test_options_and_answers_in_published_ways(self, row, right):
        assert parsed({"question": "What is it?", **row}).right == right

    def test_options_in_one_line_of_the_question(self):
        row = {"question": "What do they do? A. Sew. B. Tie hair. C. Cook.", "answer": "B"}
        record = parsed(row)
        assert (record.question, record.right, record.wrongs) == ("What do they do?", "Tie hair.", ("Sew.", "Cook."))

    @pytest.mark.parametrize(
        "question",
        [
            "Who is it? A. Tom. B. Ann.C. Sue.",
            "Who is it? A. Tom.\nB. Ann.\nC. Sue.",
            "In the U.S.A. who? A. Tom. B. Ann. C. Sue.",
        ],
    )
    def test_no_option_of_a_line_is_lost(self, question):
        record = parsed({"question": question, "answer": "C"})
        assert (record.right, record.wrongs) == ("Sue.", ("Tom.", "Ann."))

    def test_numbers_from_1_are_found_from_all_records(self, tmp_path):
        rows = [{"question": f"Q{n}?", "options": ["a", "b", "c"], "answer": n % 3 + 1} for n in range(30)]
        assert [record.right for record in read(saved(tmp_path / "one.jsonl", rows))] == ["a", "b", "c"] * 10

    def test_numbers_from_0_stay_numbers_from_0(self, tmp_path):
        rows = [{"question": f"Q{n}?", "options": ["a", "b", "c"], "answer": str(n % 3)} for n in range(30)]
        assert [record.right for record in read(saved(tmp_path / "zero.jsonl", rows))] == ["a", "b", "c"] * 10

    def test_numbers_that_can_count_from_0_or_1_are_refused(self, tmp_path):
        rows = [{"question": f"Q{n}?", "options": ["a", "b", "c"], "answer": n % 2 + 1} for n in range(30)][1:]
        with pytest.raises(CorpusError, match=r"number from 0 .* or number from 1"):
            read(saved(tmp_path / "unclear.jsonl", rows[::2] + rows[::2]))

    def test_letters_that_are_options_too_are_letters_as_in_the_other_records(self, tmp_path):
        rows = [{"question": f"Q{n}?", "options": ["x", "y", "z"], "answer": "ABC"[n % 3]} for n in range(9)]
        rows.append({"question": "Which letter?", "options": ["B", "A", "C"], "answer": "A"})
        assert read(saved(tmp_path / "l.jsonl", rows))[-1].right == "B"

    def test_two_answer_columns_that_differ_are_refused(self, tmp_path):
        rows = [{"question": "Q?", "options": ["a", "b"], "answer": "ab"[n % 2], "gt": n % 2} for n in range(6)]
        rows.append({"question": "Q?", "options": ["a", "b"], "answer": "a", "gt": 1})
        problems = Problems()
        assert len(list(read_all([saved(tmp_path / "two.jsonl", rows)], problems))) == 6
        assert "answer means option 1, gt means option 2" in problems.examples[0]

    def test_an_answer_with_the_letter_of_another_option_is_refused(self):
        with pytest.raises(ProblemError, match="names option 1, and has the text of option 2"):
            parsed({"question": "Q?", "options": ["A. dog", "B. cat"], "answer": "A. cat"})

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("['a b', \"it's\"]", ["a b", "it's"]),
            ('["a", "b"]', ["a", "b"]),
            ("[laughs] and goes [away]", "[laughs] and goes [away]"),
            ("[" * 9000 + "]" * 9000, "[" * 9000 + "]" * 9000),
        ],
    )
    def test_a_list_in_a_cell_is_a_list(self, text, found):
        assert listed(text) == found


class TestNested:
    def test_lists_of_lists_with_questions_inside(self, tmp_path):
        one = {"question": "Who?", "answer": "A", "options": ["Ma.", "Xu."], "task_type": "SQA"}
        other = {"question": "How many?", "answer": "B", "options": ["2.", "6."], "task_type": "SQA"}
        value = [[{"questions": [one], "video_path": "s.mp4"}, {"questions": [other], "video_path": "s.mp4"}]]
        records = read(saved(tmp_path / "sqa.json", value))
        assert [(r.right, r.video, r.subtest) for r in records] == [("Ma.", "s.mp4", "SQA"), ("6.", "s.mp4", "SQA")]

    def test_lists_beside_an_item_are_not_items(self, tmp_path):
        steps = [{"modality": "vision", "evidence": "a sign", "inference": "a cat"}]
        asked = {
            "question": "What?",
            "options": ["A.a cat", "B.a dog"],
            "correct_option": "A",
            "reasoning_steps": steps,
        }
        (record,) = read(saved(tmp_path / "o.json", [{"id": 4, "video": "v", "questions": [asked]}]))
        assert (record.right, record.video, record.id) == ("a cat", "v", "4")

    def test_questions_of_one_object_have_ids_of_their_own(self, tmp_path):
        asked = [{"question": f"Is it {n}?", "answer": "No."} for n in range(2)]
        records = read(saved(tmp_path / "e.json", [{"id": "e1", "event_info": {"caption": "x"}, "questions": asked}]))
        assert [record.id for record in records] == ["e1-0", "e1-1"]

    @pytest.mark.parametrize(
        "rows",
        [
            [
                {
                    "id": n,
                    "caption_0": f"a {a} on {b}",
                    "caption_1": f"a {b} on {a}",
                    "image_0": f"{n}a",
                    "image_1": f"{n}b",
                }
                for n, (a, b) in enumerate(pairwise(THINGS))
            ],
            [
                [f"https://x.org/{n}a.jpg", f"a {a} on {b}", f"https://x.org/{n}b.jpg", f"a {b} on {a}"]
                for n, (a, b) in enumerate(pairwise(THINGS))
            ],
        ],
    )
    def test_two_pictures_with_two_captions_tell_nothing_by_their_words(self, rows, tmp_path):
        records = read(saved(tmp_path / "w.json", rows))
        assert [(r.right, r.wrongs) for r in records[:2]] == [
            ("a dog on cat", ("a cat on dog",)),
            ("a cat on dog", ("a dog on cat",)),
        ]
        assert len({record.video for record in records}) == len(records) == 14
        assert first_view(*questions_of(records)).headline.value == 0.5

    def test_pairs_of_two_clips_by_format_are_one_group(self, tmp_path):
        path = tmp_path / "v.csv"
        path.write_text(
            "index,major,pos_cap,neg_cap\n0,object,a dog before a cat,a cat before a dog\n", encoding="utf-8"
        )
        assert form_of(Source(path)) == "vinoground"
        one, other = read(Source(path))
        assert one.group == other.group != ""


class TestAnswersFile:
    ROWS = (
        {"id": 1, "image": "1.jpg", "query": "Is it red?"},
        {"id": 2, "image": "2.jpg", "query": "Is it blue?"},
    )

    def test_answers_are_joined_by_id(self, tmp_path):
        answers = saved(tmp_path / "a.json", [{"id": 2, "type": "colour", "truth": "no"}, {"id": 1, "truth": "yes"}])
        records = read(saved(tmp_path / "q.json", list(self.ROWS), answers=answers.path))
        assert [(r.id, r.right, r.subtest) for r in records] == [("1", "yes", "q"), ("2", "no", "colour")]

    def test_answers_can_be_an_object_of_numbers(self, tmp_path):
        rows = [
            {"q_uid": f"u{n}", "question": "Q?", **{f"option {k}": f"text {k}" for k in range(5)}} for n in range(3)
        ]
        answers = saved(tmp_path / "a.json", {"u0": 3, "u1": 0, "u2": 4})
        records = read(saved(tmp_path / "q.json", rows, answers=answers.path))
        assert [record.right for record in records] == ["text 3", "text 0", "text 4"]

    def test_a_record_without_its_answer_is_named(self, tmp_path):
        answers = saved(tmp_path / "a.json", {"7": "yes"})
        assert "of id '1' is not in a.json" in refused(
            saved(tmp_path / "q.json", list(self.ROWS), answers=answers.path)
        )

    def test_ids_that_repeat_cannot_join_answers(self, tmp_path):
        answers = saved(tmp_path / "a.json", {"1": "yes"})
        with pytest.raises(CorpusError, match="that of two records"):
            read(saved(tmp_path / "q.json", [self.ROWS[0], self.ROWS[0]], answers=answers.path))

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            ([{"id": 1, "truth": "yes"}, {"id": 1, "truth": "no"}], "two different answers"),
            ([{"truth": "yes"}], "id: is missing"),
        ],
    )
    def test_a_file_of_answers_that_is_not_clear_is_refused(self, rows, said, tmp_path):
        answers = saved(tmp_path / "a.json", rows)
        with pytest.raises(CorpusError, match=said):
            read(saved(tmp_path / "q.json", list(self.ROWS), answers=answers.path))

    def test_the_command_takes_one_file_of_answers(self, tmp_path, capsys):
        source = saved(tmp_path / "q.json", list(self.ROWS))
        answers = saved(tmp_path / "a.json", {"1": "yes", "2": "no"})
        call_command("audit", str(source.path), "--answers", str(answers.path), "--json")
        assert json.loads(capsys.readouterr().out)["items"] == 2
        with pytest.raises(CommandError, match="--answers needs one file"):
            call_command("audit", str(source.path), str(source.path), "--answers", str(answers.path))


class TestMessages:
    @pytest.mark.parametrize(
        ("value", "said", "fix"),
        [
            ([{"question": "What?", "answer": "couch"}], "answer: is free text ('couch')", "add options or foils"),
            ([{"question": "What?", "options": ["a", "b"]}], "answer: is missing", "--answers FILE"),
            ([{"id": 1, "query": "Describe it."}], "answer: is missing", "--answers FILE"),
            (
                [{"question": "Q?", "answer0": "Yes.", "answer1": "Sure."}],
                "several columns (answer0, answer1)",
                "free text",
            ),
            ([{"id": 1, "caption_0": "a", "caption_1": "b"}], "the pictures of caption_0, caption_1", "image_0 and"),
            ([{"id": 1, "truth": "yes"}], "has an answer (truth), but no question", "--answers FILE"),
            ({"u1": 3}, "record: is not an object", "--answers FILE"),
            ([{"clip": "v", "says": "a cup"}], "(fields: clip, says; known: video=clip)", "--column right="),
            ([{"question": "Q?", "options": ["a", "b"], "answer": "c"}], "answer: is 'c'", "its letter (A to B)"),
            ([{"question": "Q?", "options": ["a"], "answer": "a"}], "options: has fewer than two", "one wrong option"),
            ([{"question": "Q?", "options": "a or b", "answer": "a"}], "options: is one text, not a list", "a0, a1"),
        ],
    )
    def test_each_cause_has_a_message_of_its_own(self, value, said, fix, tmp_path):
        problem = refused(saved(tmp_path / "m.json", value))
        assert said in problem
        assert fix in problem

    def test_rows_numbered_by_a_column_without_a_name_are_read(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text(",caption,foils\n0,a dog,\"['a cat', 'a cup']\"\n", encoding="utf-8")
        (record,) = read(Source(path))
        assert (record.id, record.wrongs) == ("0", ("a cat", "a cup"))
