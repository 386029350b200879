"""Scores of sets of answers. Expected values follow the published code: tasks/mvp/utils.py of MVP, utils.py of
TimeBlind, get_score_all.py of Vinoground, test_video_mme_v2.py of Video-MME-v2."""

import json
from itertools import product

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.metrics.sets import CHAINS, set_score
from foilworks import metrics
from foilworks.site.management.commands.metrics import Command


def written(tmp_path, rows, name="samples.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def mvp(tmp_path, answers):
    """Write samples of lmms-eval's task of MVP: (answer to clip 1, answer to clip 2) per pair; A and B are right."""
    rows = []
    for number, pair in enumerate(answers):
        for clip, (right, text) in enumerate(zip("AB", pair, strict=True), 1):
            result = {"video_id": f"pair_{number}_{clip}", "rating": int(right == text), "answer_idx": "01"[clip - 1]}
            prompt = "Question: What moves?\nOption:\n(A) a cup\n(B) a ball\nAnswer with the option's letter."
            target = {"A": "a cup", "B": "a ball"}[right]
            rows.append({"doc_id": len(rows), "target": target, "filtered_resps": text, "pair_accuracy": result})
            rows[-1]["input"] = prompt
    return written(tmp_path, rows)


def test_pair_accuracy_of_mvp_from_samples_of_lmms_eval(tmp_path):
    result = metrics.sets(mvp(tmp_path, ["AB", "AA", "BB", "AB", "BA"]))["overall"]
    assert (result["accuracy"], result["group"], result["question"]) == (0.6, 0.4, 0.4)
    assert result["chance"]["group"] == 0.25
    assert result["luck"]["group"] == pytest.approx(0.36)
    assert (result["n"], result["n_sets"]) == (10, 5)


def test_unreadable_answers_count_as_wrong_and_have_a_second_bound(tmp_path):
    result = metrics.sets(mvp(tmp_path, ["AB", ("A", "I cannot see it."), "BA", "AB"]))["overall"]
    assert (result["group"], result["n_unread"], result["if_unread_right"]["group"]) == (0.5, 1, 0.75)


def timeblind(right, *, letters=False):
    """Return four answers: right or wrong to question 0 on clips 0 and 1, then to question 1."""
    words = ("A", "B") if letters else ("Yes", "No.")
    expected = (True, False, False, True)
    prompt = "Which one? Please output A or B." if letters else "Is it so? Please output Yes or No."
    return [
        {"video_path": f"v_{role % 2}.mp4", "question": prompt, "model_output": words[bool(is_right) != yes]}
        for role, (is_right, yes) in enumerate(zip(right, expected, strict=True))
    ]


def test_instance_accuracy_of_timeblind_from_its_results(tmp_path):
    rows = [*timeblind([1, 1, 1, 1]), *timeblind([1, 1, 0, 1], letters=True), *timeblind([1, 0, 1, 0])]
    numbered = [{"index": index, **row} for index, row in enumerate(rows)]
    result = metrics.sets(written(tmp_path, reversed(numbered)))["overall"]
    values = {name: result[name] for name in ("accuracy", "question", "clip", "group")}
    assert values == {"accuracy": 9 / 12, "question": 3 / 6, "clip": 4 / 6, "group": 1 / 3}
    assert result["chance"] == {"accuracy": 0.5, "question": 0.25, "clip": 0.25, "group": 1 / 16}


def test_text_video_and_group_score_of_answers():
    right = {"1": (1, 1, 1, 1), "2": (1, 1, 1, 0), "3": (0, 1, 1, 1), "4": (1, 0, 0, 0)}
    rows = [
        {"id": f"{name}-{at}", "set": name, "part": "text" if at < 2 else "video", "correct": is_right}
        for name, answers in right.items()
        for at, is_right in enumerate(answers)
    ]
    result = metrics.sets(rows)["overall"]
    assert [result[name] for name in ("text", "video", "group")] == [0.5, 0.5, 0.25]
    assert [result["chance"][name] for name in ("text", "video", "group")] == [0.25, 0.25, 1 / 16]


def test_text_video_and_group_score_from_samples_of_lmms_eval_of_vinoground(tmp_path):
    answers = {"0_pos": "AA", "0_neg": "BB", "1_pos": "AB", "1_neg": "BB"}
    rows = [
        {
            "doc_id": 2 * at + place,
            "target": "A" if "pos" in index else "B",
            "filtered_resps": said[place],
            "input": "Which one?\nPlease only output one English character.",
            "vinoground_score": {"index": index, "question_type": part, "categories": ["all"], "pred": said[place]},
        }
        for at, (index, said) in enumerate(answers.items())
        for place, part in enumerate(("text", "video"))
    ]
    result = metrics.sets(written(tmp_path, rows))["overall"]
    assert [result[name] for name in ("text", "video", "group")] == [1.0, 0.5, 0.5]


def test_a_set_that_lacks_an_answer_is_refused(tmp_path):
    rows = [{"index": index, **row} for index, row in enumerate(timeblind([1, 1, 1, 1]))]
    with pytest.raises(EvaluationError, match="set '0' has 3 answers; give all 4 of each set"):
        metrics.sets(written(tmp_path, rows[:3]))


def video_mme_v2(tmp_path, groups):
    rows = []
    for number, (structure, right) in enumerate(groups):
        for place, is_right in reversed(list(enumerate(right, 1))):
            about = {"video_id": f"{number}", "question_id": f"{number}-{place}"}
            about |= {"group_type": "logic" if structure else "relevance", "group_structure": structure}
            prompt = f"Question: {number} {place}?\n" + "\n".join(
                f"{letter}. {letter}{number}" for letter in "ABCDEFGH"
            )
            rows.append({"doc_id": len(rows), "target": "C", "filtered_resps": "C" if is_right else "D", "s": about})
            rows[-1]["input"] = prompt
    return written(tmp_path, rows)


def test_group_scores_of_video_mme_v2_from_samples_of_lmms_eval(tmp_path):
    groups = [("", (1, 1, 0, 1)), ("[1, 2, 3, 4]", (1, 0, 1, 1)), ("[1, [2, 3], 4]", (1, 0, 1, 1))]
    result = metrics.sets(video_mme_v2(tmp_path, groups))["overall"]
    assert result["consistency"] == 9 / 16
    assert result["first_error"] == pytest.approx((1 / 16 + 4 / 12) / 2)
    assert result["score"] == pytest.approx((9 / 16 + 1 / 16 + 4 / 12) / 3)
    assert result["chance"]["accuracy"] == 1 / 8
    # E[(k/4)^2] of k right of 4 guesses: (variance + mean^2) / 16.
    assert result["chance"]["consistency"] == pytest.approx((4 * (1 / 8) * (7 / 8) + 0.25) / 16)


@pytest.mark.parametrize("structure", CHAINS)
def test_a_chain_scores_the_links_before_its_first_error(structure):
    scores = {right: set_score(right, structure) for right in product((0, 1), repeat=4)}
    assert (scores[0, 0, 0, 0], scores[1, 1, 1, 1]) == (0.0, 1.0)
    assert scores[1, 1, 1, 0] == CHAINS[structure][3]
    parallel = {"[1,[2,3],4]": (1, 0, 1, 1), "[[1,2],3,4]": (0, 1, 1, 1)}.get(structure)
    links = {"[1,[2,3],4]": 2, "[[1,2],3,4]": 1}.get(structure)
    assert parallel is None or scores[parallel] == CHAINS[structure][links]


def test_intervals_draw_whole_sets_or_clusters():
    draw = np.random.default_rng(0)
    rows = [
        {"id": f"{name}-{at}", "set": f"{name}", "correct": bool(is_right), "cluster": f"{name // 10}"}
        for name, is_right in enumerate(draw.random(200) < 0.5)
        for at in range(2)
    ]
    by_cluster = metrics.sets(rows)["overall"]["group_ci"]
    by_set = metrics.sets([{**row, "cluster": ""} for row in rows])["overall"]["group_ci"]
    assert by_set[0] < metrics.sets(rows)["overall"]["group"] < by_set[1]
    assert by_cluster != by_set


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"correct": True}, "set: is missing"),
        ({"set": "1", "correct": "maybe"}, "correct: is 'maybe'; give 0 or 1"),
        ({"set": "1", "correct": True, "part": "sound"}, "part: is 'sound'; give one of: text, video"),
        ({"set": "1", "correct": True, "structure": "[4]"}, "structure: is '\\[4\\]'"),
        ({"set": "1", "correct": True, "structure": "consistency"}, "set '1' has 1 answers; give its 4 answers"),
        ({"set": "1", "correct": True, "options": 0.5}, "options: is 0.5; give the number of options"),
    ],
)
def test_a_bad_record_says_what_to_do(row, problem):
    with pytest.raises(EvaluationError, match=problem):
        metrics.sets([{"id": "a", **row}])


def test_another_log_names_no_sets(tmp_path):
    rows = [{"doc_id": 0, "target": "A", "filtered_resps": "A", "input": "A. a\nB. b"}]
    with pytest.raises(EvaluationError, match=r"samples\.jsonl:1: set: the log names no sets"):
        metrics.sets(written(tmp_path, rows))


def test_the_command_shows_each_value_with_chance_and_luck(tmp_path):
    text = Command().render(metrics.sets(mvp(tmp_path, ["AB", "AA", "BB", "AB"])).document)
    assert "8 answers in 4 sets" in text
    assert [line.split()[0] for line in text.splitlines()[-4:]] == ["accuracy", "question", "clip", "group"]
