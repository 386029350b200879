"""The quality page: what a folder of published files gives, on captions of our own in the published form."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def quality(monkeypatch):
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    spec = importlib.util.spec_from_file_location("quality", ROOT / "scripts" / "quality.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path):
    swaps = {
        "1": {"caption": "A man in a hat pushes a boy.", "foils": ["The boy pushes a man in a hat."]},
        "2": {"caption": "A man hugs a woman.", "foils": ["A woman hugs a man."]},
    }
    verbs = [{"caption": "A man wearing jeans kicked a ball.", "foils": [], "foils_info": {"mask_target": "kicked"}}]
    (tmp_path / "actor-swap.json").write_text(json.dumps(swaps), encoding="utf-8")
    (tmp_path / "action-replacement.json").write_text(json.dumps(verbs), encoding="utf-8")
    return tmp_path


def test_a_row_counts_results_and_those_of_the_authors(quality, folder, capsys):
    assert quality.main([str(folder)]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| `")]
    assert [row.split(" | ")[4:7] for row in rows] == [
        ["2", "1 (50.0 %)", "1 (50.0 %)"],
        ["1", "1 (100.0 %)", "1 (100.0 %)"],
    ]
    assert "'hug' is symmetric, so a swap stays true (1)" in rows[0]


def test_foils_that_nobody_has_judged_are_listed(quality, folder, capsys):
    assert quality.main([str(folder), "--unjudged", "actor_swap"]) == 0
    method, key, verdict, _, foil = capsys.readouterr().out.strip().split("\t")
    assert (method, verdict, foil) == ("actor_swap", "?", "A boy pushes a man in a hat.")
    assert key == quality.key("A man in a hat pushes a boy.", "A boy pushes a man in a hat.")


def test_every_judgement_is_accept_or_fault(quality):
    found = quality.judgements()
    lines = (quality.ROWS / "judged.tsv").read_text(encoding="utf-8").splitlines()
    assert {line.split("\t")[2] for line in lines if not line.startswith("#")} <= {"accept", "fault"}
    assert all(re.fullmatch(r"[0-9a-f]{16}", pair) for _, pair in found)


def test_the_page_has_the_rows_of_every_module(quality):
    text = quality.PAGE.read_text(encoding="utf-8")
    assert text.startswith(quality.INTRODUCTION)
    assert all(f"| `{module.METHOD}` |" in text for module in quality.modules())
