"""What stands in an export beside items, votes and scores: papers that people read, files that programs load."""

import errno
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from datasets import load_dataset

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats import foilworks
from foilworks.core.corpus.export_formats.parts.datasheet_questions import QUESTIONS, SECTIONS
from foilworks.core.corpus.export_formats.parts.documents import (
    NO_COMMENTS,
    UNANSWERED,
    bibtex,
    cff,
    datasheet,
    render,
    unanswered,
)
from foilworks.core.corpus.export_formats.parts.facts import facts_of
from foilworks.core.corpus.export_formats.parts.folder import manifest_hash, write_folder
from foilworks.core.corpus.release_documents import Citation, Figure, ReleaseDocuments, SourceTerms
from foilworks.core.text.atomic_folders import remove_folder
from tests.corpus.releases import release_of
from tests.corpus.test_exporters import ITEM, score
from tests.corpus.test_exporters_tables import FULL
from tests.kill_points import killed_at

HOSTILE = "</script><script>alert(1)</script> | `x` [a](javascript:b) } \\ \n# head"
PAPERS = ReleaseDocuments(
    citation=Citation(
        title='A "quoted": title, 100 %',
        authors=("Núñez, Ana", "The Lab"),
        year="2026",
        doi="https://doi.org/10.5555/a",
        url="https://example.org/x",
        licence="CC-BY-4.0",
        licence_url="https://creativecommons.org/licenses/by/4.0/",
        contact="ana@example.org",
    ),
    sources=(SourceTerms("d", "research only", "https://example.org/d", "ask first", n_items=1, n_videos=1),),
    answers={"motivation.funding": "Nobody.\nReally.", "uses.not_for": HOSTILE},
    changes={
        "before": {"name": "r0", "content_hash": "0" * 64},
        "added": ["direction:a"],
        "removed": ["gone"],
        "changed": [{"id": "=direction:b", "fields": ["caption", "foils"]}],
        "n_same": 0,
    },
    figures={"votes": Figure(lambda: b"<svg/>", (("name", "n"), ("=1+1", 3)))},
    known={"n_rejected": 1},
    rejected=lambda: iter([{"id": "c1", "text": "a ball", "state": "dropped", "reasons": ["not false"]}]),
)


def full():
    items = [ITEM, FULL, replace(ITEM, id="count:a", subtest="count: easy")]
    return replace(release_of(items, scores=(score(), score(item="count:a"))), papers=PAPERS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("release") / "out"
    foilworks.write(full(), out, params={})
    return out


def text(folder, name):
    return (folder / name).read_text(encoding="utf-8")


def test_the_datasets_library_loads_the_folder_by_its_card(folder, tmp_path):
    rows = load_dataset(str(folder), "direction", split="test", cache_dir=str(tmp_path))
    assert rows["id"] == ["=direction:b", "direction:a"]
    assert rows[0]["foils"] == list(FULL.foils)
    assert (rows[0]["proficiency_caption"], rows[0]["proficiency_foils"]) == ("a ball is seen.", ["a cube is seen."])
    assert (rows[0]["votes_caption"], rows[0]["votes_foil"], rows[0]["votes_other"]) == (2, 1, 0)
    assert (rows[0]["start_time"], rows[1]["start_time"]) == (1.5, None)
    assert json.loads(rows[0]["extra"]) == FULL.extra
    assert len(load_dataset(str(folder), "count-easy", split="test", cache_dir=str(tmp_path))) == 1


def test_the_snippets_of_the_card_run(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    first, second = (part.split("```")[0] for part in text(folder, "README.md").split("```python\n")[1:])
    found: dict = {}
    exec(first.replace("path/to/this/folder", str(folder)), found)
    assert len(found["items"]) == 2
    exec(second.replace("path/to/this/folder", str(folder)), {})
    assert capsys.readouterr().out.count("a ball rolls left.") == 3


def test_the_loader_needs_python_alone(folder):
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(folder / "load.py")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "p, r1: 3 items, 10 judgements, 2 scores\n"


# In a process of its own: its logging library closes the stream that it found, which here is pytest's.
READ_CROISSANT = """
import json, sys
import mlcroissant
found = mlcroissant.Dataset(jsonld=sys.argv[1])
rows = list(found.records(record_set="direction"))
plain = lambda value: value.decode() if isinstance(value, bytes) else value
print(json.dumps({"errors": sorted(map(str, found.metadata.issues.errors)),
                  "ids": [plain(row["direction/id"]) for row in rows],
                  "captions": [plain(row["direction/caption"]) for row in rows]}))
"""


@pytest.mark.full
def test_croissant_is_valid_and_reads_the_records(folder):
    command = [sys.executable, "-W", "ignore", "-c", READ_CROISSANT, str(folder / "croissant.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["errors"], found["ids"]) == ([], ["=direction:b", "direction:a"])
    assert found["captions"][0] == FULL.caption


def test_the_citation_file_is_yaml_that_says_who_made_it(folder):
    cited = yaml.safe_load(text(folder, "CITATION.cff"))
    assert (cited["cff-version"], cited["type"], cited["title"]) == ("1.2.0", "dataset", PAPERS.citation.title)
    assert cited["authors"] == [{"family-names": "Núñez", "given-names": "Ana"}, {"name": "The Lab"}]
    assert (cited["doi"], cited["version"]) == ("10.5555/a", "r1")
    assert cited["identifiers"][0]["value"] == f"sha256:{full().content_hash}"


def test_a_citation_without_authors_says_so_and_hostile_text_stays_text():
    release = replace(full(), papers=replace(PAPERS, citation=Citation(title=HOSTILE, authors=(HOSTILE,))))
    cited = yaml.safe_load(cff(facts_of(release)))
    assert cited["title"] == " ".join(HOSTILE.split())
    entry = bibtex(facts_of(release))
    assert r"\# head" in entry
    assert entry.count("\n") == 7
    unnamed = replace(release, papers=ReleaseDocuments())
    assert yaml.safe_load(cff(facts_of(unnamed)))["authors"] == [{"name": "authors not stated"}]
    assert "author" not in bibtex(facts_of(unnamed))


def test_every_question_of_every_section_is_in_the_datasheet(folder):
    sheet = text(folder, "datasheet.md")
    assert [section.title for section in SECTIONS if f"\n## {section.title}\n" in sheet] == [s.title for s in SECTIONS]
    assert all(question.text in sheet for question in QUESTIONS.values())
    assert len(SECTIONS) == 7


def test_answers_are_unchanged_and_unanswered_questions_say_so(folder):
    sheet = text(folder, "datasheet.md")
    assert "> Nobody.\n> Really." in sheet
    assert "<script>" not in sheet
    assert "\n# head" not in sheet
    assert r"\[a\](javascript:b)" in sheet
    names = {question.slug for question in unanswered(facts_of(full()))}
    assert "motivation.funding" not in names
    assert {"collection.ethics", "composition.sensitive", "maintenance.who"} <= names
    assert sheet.count(UNANSWERED) == len(names)
    assert f"Of 50 questions {len(names)} are unanswered" in sheet
    assert sheet.count(NO_COMMENTS) == 7


def test_a_release_of_which_nothing_is_known_has_a_datasheet_too():
    assert datasheet(facts_of(release_of([ITEM]))).count(UNANSWERED) >= 16


def test_the_numbers_of_the_release_fill_the_datasheet(folder):
    sheet = text(folder, "datasheet.md")
    assert "| direction | 2 | 3 | 1 |" in sheet
    assert "| all | 3 | 4 | 1 |" in sheet
    assert "0 judgements by 0 annotators count" in sheet
    assert "10 more judgements were imported as counts without names. They count, too." in sheet
    assert "* d: research only. ask first" in sheet
    assert "1 items added, 1 removed, 1 changed" in sheet


def test_agreement_is_given_with_its_coding():
    whole = {"n_items": 3, "n_valid": 2, "n_unanimous": 1, "alpha_all": 0.5, "alpha_coding": "truth3"}
    release = replace(full(), tables={"validation": {"overall": whole}})
    assert "alpha over all of these items is 0.500 (coding truth3)." in datasheet(facts_of(release))


def test_the_changelog_names_what_came_went_and_changed(folder):
    log = text(folder, "CHANGELOG.md")
    assert "## Added: 1\n\n- `direction:a`" in log
    assert "## Removed: 1\n\n- `gone`" in log
    assert "- `=direction:b`: caption, foils" in log
    first = replace(full(), papers=ReleaseDocuments())
    assert "The first release of the project: 3 items." in render("exports/CHANGELOG.md", facts_of(first))


def test_figures_have_their_numbers_beside_and_no_cell_runs(folder):
    assert (folder / "figures/votes.svg").read_bytes() == b"<svg/>"
    assert text(folder, "figures/votes.csv") == "name,n\n'=1+1,3\n"


def test_rejected_candidates_and_licences_are_there(folder):
    assert json.loads(text(folder, "rejected.jsonl")) == next(iter(PAPERS.rejected()))
    assert "research only" in text(folder, "LICENCES.md")
    assert "CC-BY-4.0" in text(folder, "LICENCES.md")


def test_a_release_without_items_left_still_has_its_papers(tmp_path):
    empty = replace(release_of([ITEM]), items=())
    foilworks.write(empty, tmp_path / "out", params={})
    assert not (tmp_path / "out/croissant.json").exists()
    assert "0 items in 0 subtests" in text(tmp_path / "out", "README.md")


def test_an_export_that_is_killed_while_it_replaces_one_loses_neither(folder, tmp_path):
    """SIGKILL between the two renames, then a try that fails, then one that succeeds."""
    out = tmp_path / "out"
    shutil.copytree(folder, out)
    before, later = manifest_hash(out), replace(full(), items=full().items[:1])
    foilworks.write(later, tmp_path / "later" / "out", params={})
    after = manifest_hash(tmp_path / "later" / "out")
    shutil.rmtree(tmp_path / "later")
    killed_at(Path, "rename", lambda: foilworks.write(later, out, params={}), call=2)
    assert not out.exists()

    def fails(_work):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(CorpusError, match="No space left"):
        write_folder(out, {}, fails)
    # Both were complete: the one set aside, and the one that was about to take its place.
    assert manifest_hash(out) in (before, after)
    foilworks.write(later, out, params={})
    assert manifest_hash(out) == after != before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_half_a_folder_that_a_killed_removal_left_does_not_come_back(folder, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(folder, out)
    killed_at(shutil, "rmtree", lambda: remove_folder(out))
    (hidden,) = tmp_path.iterdir()
    (hidden / "items.jsonl").unlink()
    foilworks.write(full(), tmp_path / "another", params={})
    assert [path.name for path in tmp_path.iterdir()] == ["another"]
    shutil.copytree(folder, hidden)
    (hidden / "items.jsonl").unlink()
    with pytest.raises(CorpusError):
        write_folder(out, {}, lambda _work: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    assert not out.exists()


def test_a_bibtex_entry_repeats_neither_the_word_release_nor_the_project():
    release = replace(full(), release="release 1")
    assert f"note = {{Release 1, sha256:{release.content_hash[:16]}}}" in bibtex(facts_of(release))
    assert "note = {Release r1, sha256:" in bibtex(facts_of(full()))
    unsigned = replace(release, papers=replace(PAPERS, citation=replace(PAPERS.citation, authors=())))
    assert bibtex(facts_of(unsigned)).startswith("@misc{p")
    assert not bibtex(facts_of(unsigned)).startswith("@misc{p2024p,")
