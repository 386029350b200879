"""`foilworks verify`: an export as it was written, and every way in which it may not be."""

import hashlib
import json
import shutil

import pytest
from django.core.management import call_command

from corpus.exporters._folder import pretty, self_hash
from evaluation.verify import verify
from tests.evaluation.test_exchange_collect import people, project, release, score  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db


@pytest.fixture
def export(release, tmp_path):  # noqa: F811
    score(release, tmp_path, "good", 1.0)
    call_command(
        "export", "foilworks", "--project", "moves", "--release", str(release.pk), "--out", str(tmp_path / "x")
    )
    return tmp_path / "x"


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path, records):
    text = "".join(
        json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records
    )
    path.write_text(text, encoding="utf-8")


def refresh(export):
    """Hashes made anew, as somebody would who wants a change to stay unseen."""
    manifest = json.loads((export / "manifest.json").read_text(encoding="utf-8"))
    for name in manifest["files"]:
        content = (export / name).read_bytes()
        manifest["files"][name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    manifest["manifest_sha256"] = self_hash(manifest)
    (export / "manifest.json").write_text(pretty(manifest), encoding="utf-8")


def change(path, edit):
    records = lines(path)
    edit(records)
    write_lines(path, records)


def test_an_export_as_it_was_written_is_what_it_says(export, release, capsys):  # noqa: F811
    assert verify(export) == {"ok": True, "hash": release.content_hash}
    capsys.readouterr()
    call_command("verify", str(export), "--json")
    assert json.loads(capsys.readouterr().out) == {"ok": True, "hash": release.content_hash}


def test_any_byte_of_any_file_counts(export):
    for path in sorted(path for path in export.rglob("*") if path.is_file()):
        content = path.read_bytes()
        assert content, path
        for place in (0, len(content) // 2, len(content) - 1):
            spoilt = bytearray(content)
            spoilt[place] ^= 1
            path.write_bytes(bytes(spoilt))
            answer = verify(export)
            assert not answer["ok"]
            assert answer["difference"].startswith(f"{path.relative_to(export).as_posix()}: "), path
        path.write_bytes(content)
    assert verify(export)["ok"]


def test_a_file_more_or_less_is_named(export, tmp_path):
    (export / "note.txt").write_text("x")
    assert verify(export)["difference"] == "note.txt: is not in the manifest"
    (export / "note.txt").unlink()
    (export / "votes.jsonl").rename(tmp_path / "votes.jsonl")
    assert verify(export)["difference"] == "votes.jsonl: is missing"
    (export / "votes.jsonl").symlink_to(tmp_path / "votes.jsonl")
    assert verify(export)["difference"] == "votes.jsonl: is a link, not a file"


def a_vote(records):
    first = next(record for record in records if record["choice"] == "caption" and record["kind"] == "main")
    first["choice"] = "both"


def a_score(records):
    records[0]["caption"] += 0.001


def test_a_changed_vote_with_new_hashes_is_found_by_the_tables(export):
    change(export / "votes.jsonl", a_vote)
    refresh(export)
    assert verify(export)["difference"].startswith("items.jsonl: votes of moves:")


def test_a_vote_given_to_somebody_else_is_found_too(export):
    """Nothing that the items say changes by it."""

    def swap(records):
        mine = [record for record in records if record["item"] == "moves:valid"]
        caption = next(record for record in mine if record["choice"] == "caption")
        neither = next(record for record in mine if record["choice"] == "neither")
        caption["annotator"], neither["annotator"] = neither["annotator"], caption["annotator"]

    change(export / "votes.jsonl", swap)
    refresh(export)
    assert verify(export)["difference"].startswith("tables/checks.json: choices of p-")


def test_a_changed_score_with_new_hashes_is_found_by_the_tables(export):
    change(export / "scores.jsonl", a_score)
    refresh(export)
    assert verify(export)["difference"].startswith("tables/checks.json: scores of moves / good")


def test_a_score_changed_everywhere_but_in_the_results_is_found(export):
    """Whoever makes the sums anew as well still has the results of the models against them."""
    from corpus.exporters.foilworks import checks
    from evaluation.verify import _score, _vote

    def turn(records):
        for record in records:
            record["caption"], record["foils"][0] = record["foils"][0], record["caption"]

    for path in [export / "scores.jsonl", *(export / "scores").glob("*.jsonl")]:
        change(path, turn)
    votes = [_vote("", record) for record in lines(export / "votes.jsonl")]
    scores = [_score("", record) for record in lines(export / "scores.jsonl")]
    (export / "tables/checks.json").write_text(pretty(checks(votes, scores)), encoding="utf-8")
    refresh(export)
    assert verify(export)["difference"].startswith("tables/models.json: good, overall.T is ")


def test_a_changed_caption_with_new_hashes_is_found_by_the_content_hash(export):
    def reword(records):
        next(record for record in records if record["released"])["caption"] = "x"

    change(export / "items.jsonl", reword)
    refresh(export)
    assert verify(export)["difference"].startswith("items.jsonl: content hash is ")


def test_a_missing_line_and_a_broken_one_are_named(export):
    whole = (export / "votes.jsonl").read_text(encoding="utf-8")
    change(export / "votes.jsonl", lambda records: records.pop())
    refresh(export)
    assert verify(export)["difference"].startswith("manifest.json: counts.votes is 7; computed again it is 6")
    (export / "votes.jsonl").write_text(whole[:-3] + "\n", encoding="utf-8")
    refresh(export)
    assert verify(export)["difference"].startswith("votes.jsonl:7: is no JSON")


def test_other_formats_are_held_to_their_bytes(export, release, tmp_path):  # noqa: F811
    out = tmp_path / "j"
    call_command("export", "jsonl", "--project", "moves", "--release", str(release.pk), "--out", str(out))
    assert verify(out)["ok"]
    (out / "records.jsonl").write_text("{}", encoding="utf-8")
    assert verify(out)["difference"] == "records.jsonl: was changed: its SHA-256 is not the manifest's"


def test_the_command_names_the_difference_and_ends_with_1(export, tmp_path, capsys):
    (export / "note.txt").write_text("x")
    capsys.readouterr()
    with pytest.raises(SystemExit) as leaving:
        call_command("verify", str(export), "--json")
    assert leaving.value.code == 1
    assert json.loads(capsys.readouterr().out) == {"ok": False, "difference": "note.txt: is not in the manifest"}
    shutil.rmtree(export)
    with pytest.raises(SystemExit):
        call_command("verify", str(export))
    words = f"foilworks: {export}: is no export (it has no manifest.json); name the folder that was exported\n"
    assert capsys.readouterr().err == words
