"""The blind solver: planted shortcuts are found, fair sets are not failed, and no feature knows a held-out answer."""

import json
import os
import random
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.made_up_sets import FAIR, choice, label, mirrored_pairs
from benchmarks.planted_shortcuts import PLANTS
from foilworks.core.solver.design import NUMBER_FAMILIES, Design
from foilworks.core.solver.folds import folds_of, strata_of, structure_of
from foilworks.core.solver.keys import MAX_PARTS, differing_keys, key_matrix, names_and_options
from foilworks.core.solver.layout import Layout
from foilworks.core.solver.learner import Stack
from foilworks.core.solver.questions import Question, Row, separate_answers
from foilworks.core.solver.solve import certify, first_view, permute_labels, redraw
from scripts.doc_pages import DOCS

# Plant -> items: enough for the verdict "fail" with every seed that was tried.
FOUND = {
    "type in a later word": 160,
    "same answer for an entity": 240,
    "opposite rules in two subtests": 100,
    "yes by a word": 100,
    "edits of the right option": 60,
    "odd one out": 60,
    "repeats the question": 100,
    "capital letter": 60,
    "trailing blank": 60,
    "position by type": 120,
    "next question names the answer": 120,
    "cycle of positions": 60,
    "begins like the question": 160,
    "verbs of one tense": 60,
    "presupposed elsewhere": 200,
}


def made(make, n, seed=0):
    return separate_answers(make(random.Random(seed), n))


@pytest.mark.parametrize("name", FOUND)
def test_a_planted_shortcut_is_found(name):
    plant = PLANTS[name]
    solution = first_view(*made(plant.make, FOUND[name]))
    assert solution.tiers[plant.tier].verdict == "fail"
    if plant.tier == "file":
        assert solution.headline.verdict != "fail"


@pytest.mark.parametrize("name", FAIR)
def test_a_fair_set_is_not_failed(name):
    headline = first_view(*made(FAIR[name], 80)).headline
    assert headline.verdict in {"nothing_found_so_far", "cannot_tell"}
    assert headline.interval[0] <= headline.chance <= headline.interval[1]


def test_one_template_always_yes_is_answered_without_names_of_videos():
    rows = [label("Did anything unexpected happen in the video?", True, "", id=f"q{i}") for i in range(100)]
    rows += [label(f"Does the person {i}?", False, "", id=f"p{i}") for i in range(110)]
    assert first_view(*separate_answers(rows)).headline.value >= 0.98


def test_mirrored_pairs_read_50_and_hide_no_leak():
    solution = first_view(*made(PLANTS["mirrored pairs hide a word"].make, 200))
    assert solution.headline.value == pytest.approx(0.7, abs=0.01)
    assert [(part.name, part.value) for part in solution.parts] == [
        ("mirrored", 0.5),
        ("others", pytest.approx(1.0, abs=0.02)),
    ]
    assert solution.parts[0].n_sets == 60


def test_folds_never_split_a_mirrored_set_or_a_video():
    rows = mirrored_pairs(random.Random(0), 60)
    rows += [choice(random.Random(i), "What?", ["a", "b"], f"w{i // 3}") for i in range(60)]
    random.Random(1).shuffle(rows)
    questions, answers = separate_answers(rows)
    structure = structure_of(questions, answers)
    assert len(np.unique(structure.mirrored[structure.mirrored >= 0])) == 30
    folds = folds_of(structure.groups, strata_of(questions, answers), 5, seed=3)
    names = [question.video.partition("_")[0] for question in questions]
    fold_of_name = dict(zip(names, folds, strict=True))
    assert all(fold_of_name[name] == fold for name, fold in zip(names, folds, strict=True))
    assert len(set(folds)) == 5


def test_a_template_is_spread_over_folds():
    questions, answers = separate_answers([label("Is it?", True, f"v{i}") for i in range(50)])
    structure = structure_of(questions, answers)
    assert len(np.unique(structure.groups)) == 50
    assert np.bincount(folds_of(structure.groups, strata_of(questions, answers), 5, seed=0)).tolist() == [10] * 5


def test_a_skewed_kind_does_not_hide_that_another_one_is_balanced():
    """Kind "turn" has each answer 25 times; kind "count" nearly always the same one."""
    rows = [choice(random.Random(i), "Which way?", ["left", "right"][:: 1 - 2 * (i % 2)], f"t{i}") for i in range(50)]
    rows = [replace(row, kind="turn") for row in rows]
    rows += [
        replace(choice(random.Random(i), "How many?", ["two", "four", "five"], f"c{i}"), kind="count")
        for i in range(50)
    ]
    questions, answers = separate_answers(rows)
    folds = folds_of(structure_of(questions, answers).groups, strata_of(questions, answers), 5, seed=0)
    for right in ("left", "right"):
        of_answer = [fold for row, fold in zip(rows, folds, strict=True) if row.right == right]
        assert np.bincount(of_answer, minlength=5).tolist() == [5] * 5


def held_out_columns(questions, answers, folds, families=NUMBER_FAMILIES):
    stack = Stack(Design.of(questions, families), answers, folds)
    return stack.columns(0).values[folds[stack.design.layout.item] == 0]


@pytest.mark.parametrize("name", ["questions, 4 per clip", "templates, balanced answers"])
def test_answers_of_held_out_items_change_no_feature_of_theirs(name):
    questions, answers = made(FAIR[name], 60)
    folds = np.arange(60) // 4 % 5
    # Another answer for every held-out item.
    changed = np.where(folds == 0, (answers + 1) % [len(question.options) for question in questions], answers)
    before, after = (held_out_columns(questions, labels, folds) for labels in (answers, changed))
    assert np.array_equal(before, after)
    # The same test notices a feature that knows the answers.
    leaks = [
        {"leak": ("item", lambda layout, known=known: {"right": layout.right_rows(known)})}
        for known in (answers, changed)
    ]
    before, after = (
        held_out_columns(questions, labels, folds, {**NUMBER_FAMILIES, **leak})
        for labels, leak in zip((answers, changed), leaks, strict=True)
    )
    assert not np.array_equal(before, after)


def test_a_question_does_not_depend_on_which_option_is_right():
    options = ["first text", "second text", "a third"]
    ordered, sorted_rows = [], []
    for right in range(3):
        wrongs = tuple(text for at, text in enumerate(options) if at != right)
        ordered += separate_answers([Row(options[right], wrongs, right, "What?", "v")])[0]
        sorted_rows += separate_answers([Row(options[right], wrongs, None, "What?", "v")])[0]
    assert len(set(ordered)) == len(set(sorted_rows)) == 1
    # A file whose metadata repeat the answer leaks it: these questions differ.
    leaking = [Row(text, ("x",), None, "What?", "v", extra=(("key", text),)) for text in ("a", "b")]
    assert len(set(separate_answers(leaking)[0])) == 2


def test_metadata_that_repeat_the_answer_fail_the_file_alone():
    rows = made_rows = FAIR["pairs"](random.Random(4), 100)
    rows = [replace(row, extra=(("key", row.right.split()[-1]),)) for row in made_rows]
    solution = first_view(*separate_answers(rows))
    assert solution.tiers["file"].verdict == "fail"
    assert solution.headline.verdict != "fail"


def test_the_order_of_wrong_options_without_a_position_changes_nothing():
    rows = PLANTS["longest"].make(random.Random(2), 60)
    rows = [replace(row, position=None) for row in rows]
    turned = [replace(row, wrongs=row.wrongs[::-1]) for row in rows]
    assert first_view(*separate_answers(rows)).as_json() == first_view(*separate_answers(turned)).as_json()


def test_the_number_of_models_is_the_same_for_any_number_of_items():
    for n in (60, 240):
        questions, answers = made(FAIR["pairs"], n)
        stack = Stack(Design.of(questions), answers, np.arange(n) % 5)
        for outer in range(5):
            stack.columns(outer)
        # 5 models without one fold and 10 without two, of three families.
        assert len(stack.weights) == 45


def test_keys_grow_linearly_with_the_items():
    designs = [Design.of(made(FAIR["pairs"], n)[0]) for n in (480, 1920)]
    sizes = [sum(keys.matrix.nnz for keys in design.rates.values()) for design in designs]
    assert sizes[1] < 5 * sizes[0]


def test_keys_that_all_options_of_each_item_share_are_left_out():
    texts = [("a man sits down", "a man stands up"), ("a dog sits down", "a dog stands up")] * 3
    questions = [Question(str(at), "", options, video=f"v{at}") for at, options in enumerate(texts)]
    keys = differing_keys(Layout.of(questions), [option.split() for options in texts for option in options])
    # "a", "man" and "dog" are in both texts of their items.
    assert keys.matrix.sum(axis=0).tolist() == [[6, 6, 6, 6]]
    assert keys.has_shared.all()


def test_a_certificate_resumes_and_alone_says_nothing_found():
    questions, answers = made(mirrored_pairs, 200)
    states = []
    settings = {"repeats": 2, "permutations": 2}
    solution = certify(
        questions,
        answers,
        progress=lambda done, total, state: states.append((done, total, json.dumps(state))),
        **settings,
    )
    assert [(done, total) for done, total, _ in states] == [(step, 4) for step in range(1, 5)]
    assert solution.headline.verdict == "nothing_found"
    assert solution.headline.p_value == 1.0
    assert solution.items[0].sd is not None
    resumed = certify(questions, answers, state=json.loads(states[2][2]), **settings)
    assert resumed.as_json() == solution.as_json()
    with pytest.raises(ValueError, match="another seed"):
        certify(questions, answers, seed=1, state=json.loads(states[2][2]), **settings)


def test_redrawn_answers_keep_mirrored_sets_and_permuted_labels_the_prior():
    questions, answers = made(mirrored_pairs, 40)
    structure = structure_of(questions, answers)
    redrawn = redraw(questions, answers, structure, seed=1)
    texts = [question.options[answer] for question, answer in zip(questions, redrawn, strict=True)]
    assert all(first != second for first, second in zip(texts[::2], texts[1::2], strict=True))
    assert not np.array_equal(redrawn, answers)
    labelled, labels = made(PLANTS["yes bias"].make, 50)
    permuted = permute_labels(labelled, labels, structure_of(labelled, labels), seed=1)
    assert permuted.sum() == labels.sum()
    assert not np.array_equal(permuted, labels)


def test_kinds_are_corrected_and_items_have_scores():
    questions, answers = made(PLANTS["opposite rules in two subtests"].make, 120)
    solution = first_view(questions, answers)
    assert [row.kind for row in solution.kinds] == ["begin", "end"]
    assert all(row.p_value <= row.p_holm < 0.01 and row.value > 0.75 for row in solution.kinds)
    assert [item.id for item in solution.items] == [question.id for question in questions]
    assert np.mean([item.s for item in solution.items]) > 0.7
    assert all(item.s_minus_chance == pytest.approx(item.s - 0.5) and item.reason for item in solution.items)
    assert solution.families[0].importance > 0.25


def test_the_ungrouped_value_is_beside_the_grouped_one():
    draw = random.Random(0)
    rows = [choice(draw, "What does he do?", ["left", "right"], f"v{i // 6}") for i in range(120)]
    # All answers of one video are equal, which folds by video hide.
    rows = [
        replace(row, right=side, wrongs=(other,), id=f"v{i // 6}", question=f"Where is v{i // 6}?")
        for i, row in enumerate(rows)
        for side, other in [("left", "right")[:: 1 if i // 6 % 2 else -1]]
    ]
    headline = certify(*separate_answers(rows), repeats=2, permutations=0).headline
    assert headline.value_ungrouped > headline.value + 0.2
    assert first_view(*separate_answers(rows)).headline.value_ungrouped is None


def test_keys_keep_their_order_so_that_sums_are_equal_in_every_process():
    words = [f"w{number}" for number in range(20)]
    assert key_matrix([words, words[::-1]]).indices.tolist() == [*range(20), *reversed(range(20))]


@pytest.mark.full
@pytest.mark.slow(seconds=30)
def test_every_processor_finds_the_same():
    """OpenBLAS adds in the order of its processor: last bits differ, which trees must not split."""
    program = (
        "import json, pathlib, foilworks; "
        "path = pathlib.Path('docs/examples/data/vilma-actor-swap.jsonl'); "
        "print(json.dumps(foilworks.audit(path)['item_scores']))"
    )
    scores = [
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=DOCS.parent,
            env={**os.environ, "OPENBLAS_CORETYPE": core},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for core in ("Prescott", "Haswell")
    ]
    assert len(scores[0]) > 1_000
    assert scores[0] == scores[1]


def test_equal_options_without_an_order_are_a_guess():
    rows = [Row("a", ("a",), None, "What?", f"v{i}") for i in range(12)]
    assert first_view(*separate_answers(rows)).tiers["file"].value == 0.5


def test_a_large_group_cannot_tell():
    rows = FAIR["pairs"](random.Random(0), 60)
    one_video = [replace(row, video="v" if i < 20 else row.video) for i, row in enumerate(rows)]
    headline = first_view(*separate_answers(one_video)).headline
    assert (headline.verdict, headline.why) == ("cannot_tell", "group")
    few = first_view(*separate_answers([replace(row, video=f"v{i % 4}") for i, row in enumerate(rows)])).headline
    assert (few.verdict, few.why, few.value) == ("cannot_tell", "few", 0.5)


def test_bad_input_gets_one_message():
    with pytest.raises(ValueError, match="no wrong option"):
        separate_answers([Row("a", ())])
    with pytest.raises(ValueError, match="position 2 is outside its 2 options"):
        separate_answers([Row("a", ("b",), 2)])
    questions, answers = made(FAIR["pairs"], 10)
    with pytest.raises(ValueError, match="9 answers"):
        first_view(questions, answers[:9])
    with pytest.raises(ValueError, match="no questions"):
        first_view([], answers[:0])
    with pytest.raises(ValueError, match="no valid answer"):
        first_view(questions, answers + 5)


def rows_with_names(n, of_item):
    """Return n rows of four options; `of_item`: draw -> (options, index of the right one, names and kind)."""
    draw, rows = random.Random(5), []
    for _ in range(n):
        options, right, names = of_item(draw)
        wrongs = tuple(options[:right] + options[right + 1 :])
        rows.append(Row(options[right], wrongs, right, "What happens?", **names))
    return [replace(row, id=row.id or f"q{draw.random()}", video=row.video or f"v{draw.random()}") for row in rows]


def last_character(draw):
    name = f"{draw.getrandbits(40):010x}"
    return draw.sample("abcdef", 4), int(name[-1], 16) % 4, {"video": name}


def folder_with_a_kind(draw):
    folder, kind, options = draw.randrange(4), draw.randrange(4), draw.sample("abcdef", 4)
    names = {"video": f"{'rstu'[folder]}x/{draw.getrandbits(40)}.mp4", "kind": f"kind{kind}"}
    return options, (folder + kind) % 4, names


def length_of_a_clip(draw):
    lengths, start, right = draw.sample(range(4, 96), 4), draw.randrange(900), draw.randrange(4)
    clip = f"v{draw.getrandbits(40)}_{start:06d}_{start + lengths[right]:06d}.mp4"
    return [f"{length} seconds" for length in lengths], right, {"clip": clip, "video": clip[:12]}


def number_with_a_word(draw):
    words = draw.sample(["at first", "before half", "after half", "at the end"], 4)
    right = draw.randrange(4)
    number = ["at first", "before half", "after half", "at the end"].index(words[right])
    options = [f"{draw.choice('klmnopqrst')} {draw.choice('klmnopqrst')} {word}" for word in words]
    return options, right, {"id": f"v{draw.getrandbits(40)}_q{number}"}


@pytest.mark.parametrize("rule", [last_character, folder_with_a_kind, length_of_a_clip, number_with_a_word])
def test_a_rule_of_names_fails_the_file_alone(rule):
    solution = first_view(*separate_answers(rows_with_names(120, rule)))
    assert solution.tiers["file"].verdict == "fail"
    assert solution.headline.verdict != "fail"


def test_keys_of_names_have_a_bound():
    rows = [Row("a b", ("c",), 0, "What?", "/".join(str(i % 5) for i in range(200)) + f"/{j}") for j in range(20)]
    layout = Design.of(separate_answers(rows)[0]).layout
    assert max(len(keys) for keys in names_and_options(layout)) <= 2 * 2 * MAX_PARTS * 2
