"""The page of the papers' tables: its first commands, run in their order on folders that hold few sources or none."""

import json
import shlex
from pathlib import Path

import pytest

from foilworks.site import cli
from foilworks.site.reproduction.registry import PAPERS
from scripts.doc_pages import DOCS, command_lines, split
from tests.reproduction.test_contrast_sets import write_published

TEXT = (DOCS / "how-to" / "reproduce.md").read_text(encoding="utf-8")


@pytest.mark.django_db(transaction=True)
def test_every_paper_has_a_command_that_writes_its_report_without_most_sources(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    commands = [shlex.split(line) for line in command_lines(split(TEXT)[1][0])]
    assert [words[:2] for words in commands] == [["reproduce", paper] for paper in PAPERS]
    for words in commands:
        sources, out = (Path(words[words.index(name) + 1]) for name in ("--sources", "--out"))
        sources.mkdir(parents=True)
        if words[1] == "contrast-sets":
            write_published(sources)
        assert cli.run(words) == 0, words
        assert json.loads((out / "report.json").read_text(encoding="utf-8"))["paper"]
        printed = capsys.readouterr().out
        assert "report.html" in printed
        assert ("none of the paper's files" in printed) == (words[1] != "contrast-sets")
