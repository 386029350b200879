"""The quality page: what a folder of published files gives, on captions of our own in the published form."""

import importlib
import json
import re
from pathlib import Path

import pytest

from tests.generation.quality import __main__ as quality_page

ROOT = Path(__file__).resolve().parents[2]
CAPTION, FOIL, AUTHORS = (
    "A man in a hat pushes a boy.",
    "A boy pushes a man in a hat.",
    "The boy pushes a man in a hat.",
)
METHODS = [
    "actor_swap",
    "cos_caption",
    "existence",
    "gender_swap",
    "identity_swap",
    "mask_fill",
    "number",
    "preposition",
    "proficiency_object",
    "state_change",
]


@pytest.fixture
def quality(monkeypatch, tmp_path):
    monkeypatch.setattr(quality_page, "JUDGED", tmp_path / "judged.tsv")
    return quality_page


def counting(caption, foil):
    return {"caption": f"A man jumps exactly {caption} times.", "foils": [f"A man jumps exactly {foil} times."]}


@pytest.fixture
def folder(tmp_path):
    swaps = {
        "1": {"caption": CAPTION, "foils": [AUTHORS]},
        "2": {"caption": "A man hugs a woman.", "foils": ["A woman hugs a man."]},
    }
    verbs = {"1": {"caption": "A man wearing jeans kicked a ball.", "foils_info": {"mask_target": "kicked"}}}
    things = {
        str(at): {"youtube_id": f"clip {at}", "proficiency": {"caption": caption, "foils": [foil]}}
        for at, (caption, foil) in enumerate(
            [
                ("there is at least one drum", "there is at least one lemon"),
                ("there is at least one lemon", "there is at least one candle"),
            ]
        )
    }
    places = {
        at: {"caption": caption, "foils": [foil], "dataset_idx": at, "proficiency": {"mask_target": "bowl"}}
        for at, caption, foil in [
            ("1", "pouring milk into a bowl", "pouring milk out of a bowl"),
            ("2", "pouring tea into a cup", "pouring tea under a cup"),
        ]
    }
    states = {
        "1": {
            "original_sentence": "A man folds a red shirt.",
            "caption": "Someone folds the red shirt.",
            "foils": ["Someone unfolds the red shirt."],
        }
    }
    counts = {
        at: {**counting(*pair), "video_file": f"{at}.mp4"}
        for at, pair in {"1": ("two", "six"), "2": ("three", "nine")}.items()
    }
    found = tmp_path / "published"
    found.mkdir()
    files = {
        "actor-swap": swaps,
        "action-replacement": verbs,
        "rare-actions": things,
        "relations": places,
        "change-state-action": states,
        "counting-easy": counts,
    }
    for name, items in files.items():
        (found / f"{name}.json").write_text(json.dumps(items), encoding="utf-8")
    rows = (
        "clip\tending0\tending1\tlabel",
        "v1\ta dog sleeps\ta woman peels nine turnips\t1",
        "v2\ta dog sleeps\ta cat runs\t0",
    )
    (found / "msrvtt_human.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return found


@pytest.fixture
def answers(tmp_path):
    """Our foil and the authors', judged by two readers who agree on ours alone."""
    found = tmp_path / "answers"
    found.mkdir()
    lines = ("n\tcaption\tfoil", f"0\t{CAPTION}\t{FOIL}", f"1\t{CAPTION}\t{AUTHORS}")
    (found / "swap2.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (found / "swap2.key.json").write_text('["ours", "authors"]', encoding="utf-8")
    for reader, plausible in {"A": 1, "B": 0}.items():
        given = [{"n": 0, "g": 1, "f": 1, "p": 1}, {"n": 1, "g": 1, "f": plausible, "p": plausible}]
        text = "".join(json.dumps(one) + "\n" for one in given)
        (found / f"swap2.{reader}.jsonl").write_text(text, encoding="utf-8")
    return found


def section(text, head):
    """The rows of the table with this head, as lists of cells."""
    lines = text.split("| " + " | ".join(head) + " |\n")[1].splitlines()[1:]
    table = lines[: next((at for at, line in enumerate(lines) if not line.startswith("|")), len(lines))]
    return [line.strip("| ").split(" | ") for line in table]


def test_a_row_counts_results_and_those_of_the_authors(quality, folder, capsys):
    assert quality.main([str(folder)]) == 0
    rows = section(capsys.readouterr().out, quality.YIELD_HEAD)
    found = {(row[0].strip("`"), row[2].partition(".")[0], row[3].partition(";")[0]): row[4:] for row in rows}
    assert found["actor_swap", "actor-swap", "tagger offline"] == [
        "2",
        "1 (50.0 %)",
        "1 (50.0 %)",
        "… is symmetric, so a swap stays true (1)",
    ]
    assert found["mask_fill", "action-replacement", "blank only, tagger offline"][:3] == [
        "1",
        "1 (100.0 %)",
        "1 (100.0 %)",
    ]
    assert found["number", "counting-easy", "mode corrected, split=any"][:3] == ["2", "2 (100.0 %)", "0 (0.0 %)"]
    assert found["existence", "rare-actions", "without a detector"][:3] == ["2", "2 (100.0 %)", "1 (50.0 %)"]
    assert found["gender_swap", "msrvtt_human", "tagger offline"][:3] == ["2", "1 (50.0 %)", "–"]
    assert found["identity_swap", "msrvtt_human", "names put into captions"][:3] == ["1", "1 (100.0 %)", "–"]


def test_the_halves_of_a_file_are_all_of_its_captions(quality, folder, capsys):
    assert quality.main([str(folder)]) == 0
    rows = [row for row in section(capsys.readouterr().out, quality.YIELD_HEAD) if "relations.json" in row[2]]
    assert {(row[0], row[2]): row[4] for row in rows} == {
        (f"`{method}`", f"relations.json, {half} half"): "1"
        for method in ("preposition", "proficiency_object")
        for half in ("development", "held")
    }
    equal = {method: sum(int(row[6].split()[0]) for row in rows if method in row[0]) for method in METHODS}
    assert (equal["preposition"], equal["proficiency_object"]) == (1, 1)


def test_counts_of_foils_are_compared_with_the_released_counts(quality):
    apart = importlib.import_module("tests.generation.quality.number").total_variation
    assert apart({4: 2, 5: 2}, {4: 1, 5: 1}) == 0
    assert apart({4: 3, 5: 1}, {4: 1, 5: 3}) == 0.5
    assert apart({1: 1}, {4: 9}) == 1


def test_a_missing_file_gives_no_rows(quality, folder, capsys):
    (folder / "msrvtt_human.tsv").unlink()
    assert quality.main([str(folder)]) == 0
    text = capsys.readouterr().out
    assert "gender_swap" not in text
    assert "`preposition`" in text


def test_judged_foils_are_compared_with_the_foils_of_the_authors(quality, folder, answers, capsys):
    assert quality.main(["--judgements", str(answers)]) == 0
    assert quality.main([str(folder)]) == 0
    text = capsys.readouterr().out
    first, second = section(text, quality.ACCEPTABLE_HEAD)
    assert first[3:8] == ["A", "1", "1 (100.0 %)", "1 of 1: 100.0 % [20.7, 100.0]", "0, 0, 0"]
    assert (first[8][:15], second[8][:13]) == ("1 of 1: 100.0 %", "0 of 1: 0.0 %")
    assert section(text, quality.AGREEMENT_HEAD) == [["`actor_swap`", "2", "50.0 %", "-0.33"]]
    assert "\tours\tA\taccept\t-\n" in quality.JUDGED.read_text(encoding="utf-8")
    assert "\tauthors\tB\tfault\tfp\n" in quality.JUDGED.read_text(encoding="utf-8")
    assert CAPTION not in quality.JUDGED.read_text(encoding="utf-8")


def test_a_second_import_adds_nothing(quality, answers, capsys):
    assert quality.main(["--judgements", str(answers)]) == 0
    before = quality.JUDGED.read_text(encoding="utf-8")
    assert quality.main(["--judgements", str(answers)]) == 0
    assert capsys.readouterr().err.splitlines() == ["4 new judgements, 4 in all", "0 new judgements, 4 in all"]
    assert quality.JUDGED.read_text(encoding="utf-8") == before


def test_a_foil_that_changed_since_is_unjudged(quality, folder, answers, capsys):
    lines = (answers / "swap2.tsv").read_text(encoding="utf-8").replace(FOIL, "The boy pushes the man in a hat.")
    (answers / "swap2.tsv").write_text(lines, encoding="utf-8")
    assert quality.main(["--judgements", str(answers)]) == 0
    assert quality.main([str(folder)]) == 0
    text = capsys.readouterr().out
    assert section(text, quality.ACCEPTABLE_HEAD) == []
    assert [row[3:] for row in section(text, quality.FIRST_HEAD)] == [["1 (100.0 %)", "1"]] * 2
    assert quality.main([str(folder), "--unjudged", "actor_swap"]) == 0
    assert capsys.readouterr().out.splitlines() == ["n\tcaption\tfoil", f"0\t{CAPTION}\t{FOIL}"]


def test_no_folder_is_an_error(quality, capsys):
    with pytest.raises(SystemExit):
        quality.main([])
    assert "give the folder of the published files" in capsys.readouterr().err


def test_stored_judgements_have_keys_and_no_texts():
    lines = (ROOT / "tests" / "generation" / "quality" / "judged.tsv").read_text(encoding="utf-8").splitlines()
    form = re.compile(rf"({'|'.join(METHODS)})\t[0-9a-f]{{16}}\t(ours|authors)\t[AB]\t(accept\t-|fault\tg?f?p?)")
    assert [line for line in lines[1:] if not form.fullmatch(line)] == []
    assert len({tuple(line.split("\t")[:4]) for line in lines[1:]}) == len(lines) - 1


def test_the_page_has_the_rows_of_every_module(quality):
    text = quality.PAGE.read_text(encoding="utf-8")
    assert text.startswith(quality.INTRODUCTION)
    assert all(part in text for part in (quality.ACCEPTABILITY, quality.FIRST, quality.AGREEMENT))
    assert [module.METHOD for module in quality.modules()] == METHODS
    assert all(f"| `{method}` |" in text for method in METHODS)


def test_a_file_that_cannot_be_read_is_one_clear_line(quality, tmp_path):
    (tmp_path / "relations.json").write_text("not json", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"relations\.json: not JSON .*; give the published file"):
        quality.main([str(tmp_path)])
    (tmp_path / "swap.tsv").write_text("n\tcaption\tfoil\n0\ta\tb\n", encoding="utf-8")
    (tmp_path / "swap.A.jsonl").write_text('{"n": 0}\n', encoding="utf-8")
    with pytest.raises(SystemExit, match=r"swap\.A\.jsonl:1: not a judgement; write it as"):
        quality.main(["--judgements", str(tmp_path)])


def test_a_folder_that_does_not_exist_is_an_error(quality, tmp_path, capsys):
    with pytest.raises(SystemExit):
        quality.main([str(tmp_path / "nowhere")])
    assert "nowhere: not a folder" in capsys.readouterr().err
