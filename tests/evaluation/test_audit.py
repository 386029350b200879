"""The audit of a benchmark file: what it reads, what it finds, and that it says so with chance and interval."""

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from evaluation.analyses import sampling
from evaluation.analyses.sampling import Sample
from evaluation.audit.audit import Options, audit
from evaluation.audit.check_texts import TEXTS
from evaluation.audit.checks import of_positions
from evaluation.audit.file_reader import Problems, formats, read_all
from evaluation.audit.gathering import Counts, script_of
from evaluation.audit.ladder import by_id, ladder_of, parse_rungs, read_rung
from evaluation.audit.model_probe import choice_credits
from evaluation.audit.pages import file_of
from evaluation.errors import EvaluationError
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.answer_styles import AnswerStyles, Choices, preferred, readings
from foilworks.core.corpus.import_formats.parsing.examples import EXAMPLES
from foilworks.core.corpus.import_formats.parsing.text_drafts import draft_of, record_of_draft
from foilworks.core.corpus.import_formats.parsing.text_files import Source, form_of
from foilworks.core.corpus.records import TextRecord

N = 80
SIDES = (("from left to right", "from right to left"), ("red", "green"))
THINGS = ("ring", "ball", "cup", "box", "car", "dog", "hat", "key", "leaf", "sock")


def planted() -> list[dict]:
    """A third is solved by a word that only foils have, a third by one frame, a third by the order of frames."""
    draw = random.Random(7)
    rows = []
    for number in range(N):
        thing, verb = draw.choice(THINGS), draw.choice(("moves", "rolls", "slides", "jumps"))
        scene = f"a {thing} {verb} past a {draw.choice(THINGS)}"
        ways, colours = (draw.sample(side, 2) for side in SIDES)
        texts = {
            "words": (scene, f"{scene} unicorn"),
            "frame": (f"{colours[0]} {scene}", f"{colours[1]} {scene}"),
            "order": (f"{scene} {ways[0]}", f"{scene} {ways[1]}"),
        }
        for subtest, (caption, foil) in texts.items():
            about = {"id": f"{subtest}-{number}", "video": f"v{number}-{subtest}", "subtest": subtest}
            rows.append({**about, "caption": caption, "foil": foil})
    return rows


def written(path: Path, rows: list[dict]) -> Source:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Source(path)


def found_of(result: dict, check: str, subtest: str = "") -> dict:
    rows = [finding for row in result["subtests"] for finding in row["findings"]] + result["findings"]
    return next(row for row in rows if row["check"] == check and row["subtest"] == subtest)


def records(*rows: dict, **columns: str) -> list[TextRecord]:
    styles, drafts = AnswerStyles(), [draft_of(row, line, columns, {}) for line, row in enumerate(rows, 1)]
    for draft in drafts:
        draft.note(styles)
    return [record_of_draft(draft, styles) for draft in drafts]


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    source = written(tmp_path_factory.mktemp("audit") / "planted.jsonl", planted())
    return source, audit([source], Options())


class TestPlantedBenchmark:
    def test_the_part_that_words_solve_is_found_within_its_interval(self, audited):
        whole = audited[1]["without_video"]
        # A third is certain, the rest a guess.
        assert whole["interval"][0] <= 2 / 3 <= whole["interval"][1]
        assert whole["verdict"] == "fail"

    def test_the_shortcut_is_named_with_two_examples(self, audited):
        first = audited[1]["shortcuts"][0]
        # The word makes its text longer than the other one.
        assert first["title"] == "Form of the options"
        assert all("unicorn" in example["wrongs"][0] for example in first["examples"][:1])
        assert len(first["examples"]) == 2
        assert all(example["right"] and example["wrongs"] for example in first["examples"])
        assert sum(row["share"] for row in audited[1]["shortcuts"]) <= 1 + 1e-9

    def test_only_the_subtest_with_the_word_is_above_chance(self, audited):
        kinds = {row["name"]: row["without_video"] for row in audited[1]["subtests"]}
        assert kinds["words"]["value"] == 1.0
        assert {name: row["p_holm"] < 0.05 for name, row in kinds.items()} == {
            "words": True,
            "frame": False,
            "order": False,
        }

    def test_each_item_has_a_score_that_its_id_finds(self, audited):
        scores = {row["id"]: row for row in audited[1]["item_scores"]}
        assert len(scores) == 3 * N
        solved = [row["s"] for name, row in scores.items() if name.startswith("words")]
        others = [row["s"] for name, row in scores.items() if not name.startswith("words")]
        assert min(solved) > 0.7
        assert abs(np.mean(others) - 0.5) < 0.1
        assert all(row["reason"] for row in scores.values())

    def test_the_strongest_word_of_a_subtest_is_named(self, audited):
        assert found_of(audited[1], "cues", "words")["details"]["words"][0] == {
            "word": "unicorn",
            "side": "wrong",
            "pairs": N,
        }

    def test_a_prediction_belongs_to_one_record(self, tmp_path):
        rows = [{"id": id_, "question": "q", "options": ["a", "b"], "answer": "a"} for id_ in ("7", "7")]
        with pytest.raises(EvaluationError, match="two records have the id '7'"):
            by_id(read_all([written(tmp_path / "twice.jsonl", rows)], Problems()))

    def test_predictions_with_less_of_the_clip_give_the_ladder(self, audited, tmp_path):
        source, _result = audited
        solves = {"no_clip": {"words"}, "best_frame": {"words", "frame"}, "full": {"words", "frame", "order"}}
        items = by_id(read_all([source], Problems()))
        rungs = {}
        for rung, solved in solves.items():
            path = tmp_path / f"{rung}.jsonl"
            lines = [
                {"id": name, "scores": [1, 0 if record.subtest in solved else 1]} for name, record in items.items()
            ]
            written(path, lines)
            rungs[rung] = read_rung(path, items, {})
        found = ladder_of(rungs, items)
        assert [round(row["T"], 4) for row in found["rungs"].values()] == [0.6667, 0.8333, 1.0]

    def test_the_page_loads_nothing_and_runs_nothing(self, audited):
        page = file_of(audited[1])
        assert "What gives the answers away" in page
        assert "unicorn" in page
        assert not any(word in page for word in ("<script", "<link", "http://", "https://", "url(", "@import"))


class TestReading:
    @pytest.mark.parametrize("slug", sorted(set(formats()) - {"hf", "table"}))
    def test_every_format_with_items_can_be_audited(self, slug, tmp_path):
        path = tmp_path / ("example.jsonl" if "JSON lines" in formats()[slug].label else "example.json")
        path.write_text(EXAMPLES[slug], encoding="utf-8")
        assert list(read_all([Source(path, slug)], Problems()))

    @pytest.mark.parametrize(
        ("answer", "place"), [("kick", 1), ("B", 1), ("(B) kick", 1), ("B. kick", 1), (1, 1), ("2", 2), ("1.0", 1)]
    )
    def test_an_answer_is_a_text_a_letter_or_a_number(self, answer, place):
        assert preferred(readings(answer, Choices(("throw", "kick", "catch")))) == place

    @pytest.mark.parametrize("answer", [None, "", "D", 3, -1, True, "dance"])
    def test_an_answer_that_is_not_an_option_means_none(self, answer):
        assert preferred(readings(answer, Choices(("throw", "kick", "catch")))) is None

    @pytest.mark.parametrize(
        "row",
        [
            {"question": "What?", "options": ["(A) throw", "(B) kick"], "answer": "B"},
            {"question": "What?", "a0": "throw", "a1": "kick", "answer": 1},
            {"question": "What?\nA. throw\nB. kick", "answer": "B. kick"},
            {"question": "What?", "choice_a": "throw", "choice_b": "kick", "answer": "B"},
            {"question": "What?", "candidates": ["throw", "kick"], "answer": "kick"},
            {"question": "What?", "answer_a": "throw", "answer_b": "kick", "correct": "B"},
        ],
    )
    def test_questions_of_all_forms_are_one_record(self, row):
        (record,) = records(row)
        assert (record.question, record.right, record.wrongs, record.position) == ("What?", "kick", ("throw",), 1)

    def test_columns_can_be_mapped(self):
        (record,) = records({"yes": "a cup", "no1": "a hat", "no2": "a key"}, right="yes", wrongs="no1+no2")
        assert (record.right, record.wrongs) == ("a cup", ("a hat", "a key"))

    def test_lists_inside_objects_are_flattened(self, tmp_path):
        path = tmp_path / "nested.json"
        path.write_text('{"v1": {"speed": [{"question": "Q?", "options": ["a", "b"], "answer": 0}]}}', encoding="utf-8")
        (record,) = read_all([Source(path)], Problems())
        assert (record.video, record.subtest) == ("v1", "speed")

    def test_a_table_and_blocks_of_six_are_detected(self, tmp_path):
        path = tmp_path / "f.csv"
        path.write_text(EXAMPLES["feint6k"], encoding="utf-8")
        assert form_of(Source(path)) == "feint6k"
        table = tmp_path / "t.tsv"
        table.write_text("caption\tfoil\na, b\tc\n", encoding="utf-8")
        assert [record.right for record in read_all([Source(table)], Problems())] == ["a, b"]

    def test_bad_records_are_counted_and_named_by_line(self, tmp_path):
        source = written(tmp_path / "b.jsonl", [{"caption": "a", "foil": "b"}, {"caption": "c"}, {"x": "\x00"}])
        problems = Problems()
        assert len(list(read_all([source], problems))) == 1
        assert problems.n == 2
        assert "b.jsonl:2: record: has no caption with foils" in problems.examples[0]

    @pytest.mark.parametrize("text", ["", "{", "a,b\n", '{"x": 1}', "[1, 2]", "[[]]"])
    def test_a_file_without_items_is_one_clear_error(self, text, tmp_path):
        path = tmp_path / "odd.json"
        path.write_text(text, encoding="utf-8")
        with pytest.raises((CorpusError, EvaluationError), match=r"odd\.json"):
            audit([Source(path)], Options())


class TestFindings:
    def test_a_choice_is_right_only_if_it_beats_all_others(self):
        gaps = np.array([1.0, 2.0, 1.0, -1.0, 0.0, 1.0, 0.0])
        assert list(choice_credits(gaps, [2, 2, 3])) == [1.0, 0.0, pytest.approx(1 / 3)]

    def test_positions_have_an_exact_test(self):
        counts = Counts()
        for number in range(40):
            counts.add(TextRecord("a", ("b", "c"), number, position=0 if number < 30 else 1), ["a"], [["b"], ["c"]])
        found = of_positions(counts)
        assert (found.verdict, found.value, found.details["places"]) == ("fail", 0.75, [30, 10, 0])
        # Three times the smaller binomial tail of the extreme position, doubled: P(X >= 30), n = 40, p = 1/3.
        assert found.details["p"] < 1e-6

    def test_repeats_contradictions_and_leaks_are_counted(self, tmp_path):
        rows = [
            {"id": "1", "video": "v1", "split": "train", "caption": "a cup falls", "foil": "a cup rises"},
            {"id": "2", "video": "v1", "split": "test", "caption": "A cup rises!", "foil": "a hat falls"},
            {"id": "3", "video": "v2", "split": "test", "caption": "a key turns", "foil": "a key, turns"},
            {"id": "4", "video": "v2", "split": "test", "caption": "a key turns", "foil": "a key, turns"},
        ]
        result = audit([written(tmp_path / "r.jsonl", rows)], Options())
        assert found_of(result, "duplicates")["details"]["first"] == [{"item": 4, "line": 4}]
        assert found_of(result, "contradictions")["details"]["foils"] == 1
        assert found_of(result, "leakage")["value"] == pytest.approx(1 / 3)
        assert found_of(result, "same_texts")["details"]["same_words"] == 2

    @pytest.mark.parametrize(("video", "verdict"), [({"video": "v1"}, "fail"), ({}, "warn")])
    def test_equal_texts_fail_only_if_no_unnamed_video_can_tell_them_apart(self, video, verdict, tmp_path):
        rows = [{"caption": "a key turns", "foil": "a key turns", **video}] * 2
        result = audit([written(tmp_path / "e.jsonl", rows)], Options())
        assert {check: found_of(result, check)["verdict"] for check in ("same_texts", "duplicates")} == {
            "same_texts": verdict,
            "duplicates": verdict,
        }

    def test_each_check_says_what_it_means_and_what_to_do(self, audited):
        assert {finding["check"] for finding in audited[1]["findings"]} <= set(TEXTS)
        assert all(finding["means"] and finding["fix"] for finding in audited[1]["findings"])

    def test_a_language_model_is_a_probe_of_texts(self, tmp_path):
        source = written(tmp_path / "m.jsonl", planted())
        scorers = {"lm:test": lambda texts: [-float("unicorn" in text) for text in texts]}
        found = found_of(audit([source], Options(models=scorers)), "model", "words")
        assert (found["value"], found["verdict"]) == (1.0, "fail")

    @pytest.mark.parametrize(
        ("text", "script"),
        [("a cup", "Latin"), ("杯子", "Han"), ("カップ が", "Japanese"), ("чашка", "Cyrillic"), ("7", "none")],
    )
    def test_a_script_is_found_by_its_letters(self, text, script):
        assert script_of(text) == script

    def test_a_large_file_is_sampled_with_a_seed(self):
        rows = [TextRecord(f"a {number}", ("b",), number, subtest=str(number % 2)) for number in range(500)]
        drawn = []
        for _ in range(2):
            sample = Sample(seed=3, items=50)
            for row in rows:
                sample.add(row)
            drawn.append([row.where for row in sample.overall()])
            assert {name: len(part) for name, part in sample.subtests()} == {"0": 50, "1": 50}
        assert drawn[0] == drawn[1]
        assert len(drawn[0]) == 50
        assert max(drawn[0]) > 400

    def test_a_sample_has_all_items_of_a_video_or_none(self):
        sample = Sample(seed=1, items=40)
        for number in range(400):
            sample.add(TextRecord(f"a {number}", ("b",), number, video=f"v{number // 4}"))
        counts = Counter(record.video for record in sample.overall())
        assert set(counts.values()) == {4}
        assert len(counts) == 10

    def test_a_subtest_with_few_sampled_items_has_an_equal_part_of_a_second_sample(self, monkeypatch):
        monkeypatch.setattr(sampling, "FEW", 25)
        sample = Sample(items=60)
        for number in range(400):
            sample.add(TextRecord(f"a {number}", ("b",), number, subtest="small" if number % 10 == 0 else "large"))
        assert sample.few() == {"small"}
        assert Counter(record.subtest for record in sample.equal_parts()) == {"large": 30, "small": 30}
        n_large = Counter(record.subtest for record in sample.overall())["large"]
        assert Counter(record.subtest for record in sample.of_subtests()) == {"large": n_large, "small": 30}

    def test_a_sample_of_all_records_has_no_second_one(self):
        sample = Sample(items=60)
        for number in range(60):
            sample.add(TextRecord(f"a {number}", ("b",), number, subtest=str(number % 7)))
        assert sample.few() == set()
        assert sample.of_subtests() == sample.overall()

    def test_a_limit_on_pairs_names_the_command(self, audited):
        with pytest.raises(EvaluationError, match="foilworks audit FILE"):
            audit([audited[0]], Options(max_pairs=10))


class TestPredictions:
    def test_a_prediction_is_compared_with_the_place_of_the_answer(self, tmp_path):
        rows = [{"id": str(n), "question": "Q?", "options": ["a", "b", "c"], "answer": n} for n in range(3)]
        items = by_id(read_all([written(tmp_path / "q.jsonl", rows)], Problems()))
        said = [{"id": "0", "prediction": "A"}, {"id": "1", "prediction": "b"}, {"id": "2", "prediction": "no idea"}]
        path = written(tmp_path / "p.jsonl", said).path
        answers = read_rung(path, items, {})
        assert (answers.credits, answers.unread) == ({"0": 1.0, "1": 1.0}, {"2": "no option"})

    def test_unreadable_answers_have_two_bounds_and_too_many_of_them_no_number(self, tmp_path):
        rows = [{"id": str(n), "question": "Q?", "options": ["a cat", "a dog"], "answer": 0} for n in range(30)]
        items = by_id(read_all([written(tmp_path / "q.jsonl", rows)], Problems()))

        def answered(n_unread):
            texts = ["no idea"] * n_unread + ["A"] * (30 - n_unread)
            predictions = [{"id": str(n), "prediction": text} for n, text in enumerate(texts)]
            return {"full": read_rung(written(tmp_path / "p.jsonl", predictions).path, items, {})}

        (row,) = ladder_of(answered(3), items)["rungs"].values()
        assert (row["T"], row["n_unread"], row["all_wrong"]) == (1.0, 3, 0.9)
        with pytest.raises(EvaluationError, match=r"full: 4 of 30 .* '0': no option.*--set partly=1"):
            ladder_of(answered(4), items)
        assert ladder_of(answered(4), items, with_partly=True)["rungs"]["full"]["T"] == 1.0

    def test_answers_to_other_questions_are_refused(self, tmp_path):
        rows = [{"id": str(n), "question": f"Q{n}?", "options": ["a", "b"], "answer": 0} for n in range(3)]
        items = by_id(read_all([written(tmp_path / "q.jsonl", rows)], Problems()))
        path = written(tmp_path / "p.jsonl", [{"index": 1, "question": "Q9?", "prediction": "A"}]).path
        with pytest.raises(EvaluationError, match="question: is 'Q9\\?', but that of '1' is 'Q1\\?'"):
            read_rung(path, items, {})

    def test_predictions_of_other_items_are_refused(self, tmp_path):
        path = written(tmp_path / "p.jsonl", [{"id": "x", "prediction": "A"}]).path
        with pytest.raises(EvaluationError, match="not in the benchmark"):
            read_rung(path, {}, {})

    @pytest.mark.parametrize("given", ["full", "upside_down=a.jsonl", "full="])
    def test_an_unknown_rung_is_refused(self, given):
        with pytest.raises(EvaluationError, match="rung"):
            parse_rungs([given])
