"""`foilworks verify`: an export as it was written, and every way in which it may not be."""

import hashlib
import json
import shutil
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.models import PayPolicy, PayRate
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.pages import PAGES
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.foilworks import digests_of, figure_csv
from foilworks.core.corpus.export_formats.parts.folder import pretty, self_hash
from foilworks.core.corpus.models import Foil, Item
from foilworks.core.corpus.release_documents import Figure
from foilworks.site.exports.recomputed import RECOMPUTED, item_facts_of
from foilworks.site.exports.signature import public_key, sign
from foilworks.site.exports.verify import verify
from foilworks.site.imports.batch import text_sha256
from tests import factories
from tests.evaluation.older_exports import refresh, rewrite_table, without_unjudged
from tests.evaluation.test_exchange_collect import people, project, release, score, vote  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Where the one export lies that the tests of this file copy."""
    return tmp_path_factory.mktemp("whole") / "x"


@pytest.fixture
def export(request, whole, tmp_path):
    """A copy of an export with everything in it: scores, a human baseline, pay, a rejected candidate."""
    if not whole.exists():
        frozen = request.getfixturevalue("release")
        score(frozen, tmp_path, "good", 1.0)
        furnish(frozen)
        frozen = second_release(frozen)
        score(frozen, tmp_path, "good", 1.0, others=["moves:second"])
        args = ("export", "foilworks", "--project", "moves", "--release", str(frozen.pk), "--out", str(whole))
        call_command(*args)
    return Path(shutil.copytree(whole, tmp_path / "x"))


def furnish(frozen):
    item = frozen.members.get().item
    for number in range(3):
        person = factories.make_member(frozen.project, "annotator", name=f"annotator {number}")
        vote(item, person, "caption" if number else "foil", stage="baseline", foil=None)
    PayPolicy.objects.create(project=frozen.project)
    PayRate.objects.create(project=frozen.project, stage="validation", unit="piece", amount="0.25")
    group = factories.make_group(factories.make_run(item.subtest), item.caption)
    factories.make_candidate(group, state="filtered_out", rejected_by=["fluency"])


def second_release(frozen):
    """One item more than the release before it."""
    subtest = frozen.members.get().item.subtest
    video = factories.make_video(frozen.project, key="clip 2", source_id="film 2", source_dataset="own")
    factories.make_item(
        subtest,
        factories.make_caption(video, "a cube sinks."),
        ("a cube rises.",),
        key="second",
        state="valid",
        unanimous=True,
    )
    return freeze_release(None, frozen.project)


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path, records):
    text = "".join(
        json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records
    )
    path.write_text(text, encoding="utf-8")


def change_and_refresh(export):
    """A table that nobody can compute from the export, with its digest made anew as well."""
    path = export / "tables" / "checks.json"
    checks = json.loads(path.read_text(encoding="utf-8"))
    name = next(name for name in checks["tables"] if name not in RECOMPUTED and name not in ("leaderboard", "results"))
    table = export / "tables" / f"{name}.json"
    table.write_text(pretty({**json.loads(table.read_text(encoding="utf-8")), "added": 1}), encoding="utf-8")
    checks["tables"][name] = hashlib.sha256(table.read_bytes()).hexdigest()
    path.write_text(pretty(checks), encoding="utf-8")
    refresh(export)


def change(path, edit):
    records = lines(path)
    edit(records)
    write_lines(path, records)


def test_an_unchanged_export_is_verified(export, capsys):
    manifest = json.loads((export / "manifest.json").read_text(encoding="utf-8"))
    told = {"ok": True, "hash": manifest["content_hash"], "manifest": manifest["manifest_sha256"]}
    assert verify(export).items() >= told.items()
    capsys.readouterr()
    call_command("verify", str(export), "--expect", f"SHA256:{told['manifest']}", "--json")
    assert json.loads(capsys.readouterr().out).items() >= told.items()


def test_verification_says_what_it_recomputed_and_what_a_hash_holds(export, capsys):
    call_command("verify", str(export))
    first, *lists, last = capsys.readouterr().out.strip().split("\n\n")
    assert first.startswith("unchanged: ")
    recomputed, hash_only = (part.splitlines() for part in lists)
    assert recomputed[0] == "recomputed from the files:"
    assert "  README.md: items, subtests, release, date and content hash" in recomputed
    assert any("tables/validation.json" in line and line.endswith(": all cells") for line in recomputed)
    assert hash_only[0] == "covered by a hash only:"
    assert all(name in " ".join(hash_only) for name in ("datasheet.md", "tables/pay.json", "rejected.jsonl"))
    assert f"foilworks verify {export} --expect HASH" in last
    assert f"foilworks metrics pairwise --file {export}/scores/good.jsonl" in last
    (about, _) = verify(export, verify(export)["manifest"])["advice"]
    assert about.endswith("every byte of every file is as published.")


def test_every_file_of_an_export_is_recomputed_or_held_by_a_hash(export):
    told = verify(export)
    said = " ".join([*told["recomputed"], *told["hash_only"]])
    for path in sorted(path for path in export.rglob("*") if path.is_file() and path.name != "manifest.json"):
        name = path.relative_to(export).as_posix()
        assert name in said or f"{path.parent.name}/*{path.suffix} (" in said, name


def test_a_model_without_enough_scores_has_no_results_on_the_board(release, tmp_path):  # noqa: F811
    frozen = second_release(release)
    run = score(frozen, tmp_path, "few", 1.0)
    run.job.refresh_from_db()
    assert run.job.state == "partly"
    few = tmp_path / "few"
    call_command("export", "foilworks", "--project", "moves", "--release", str(frozen.pk), "--out", str(few))
    (row,) = json.loads((few / "tables" / "leaderboard.json").read_text(encoding="utf-8"))["models"]
    assert (row["T"], row["n_missing"]) == (None, 1)
    assert verify(few)["ok"]


def test_a_model_with_all_scores_has_results_on_the_board(export):
    path = export / "tables" / "leaderboard.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    table["models"][0].update(dict.fromkeys(("T", "P", "P+T", "n", "ties")))
    path.write_text(pretty(table), encoding="utf-8")
    refresh(export)
    assert verify(export)["difference"].startswith("tables/leaderboard.json: good.")


def test_an_archive_is_to_be_unpacked_first(export, tmp_path):
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", export)
    with pytest.raises(EvaluationError, match="unpack the archive, and give its folder"):
        verify(Path(packed))


def test_reordered_lines_are_found_even_with_new_hashes(export):
    change(export / "items.jsonl", list.reverse)
    refresh(export)
    assert verify(export)["difference"] == "items.jsonl: the order of its lines is not that of an export"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2 items in 1", "900 items in 1", "README.md: items is 900; computed again, it is 2"),
        ("2 items in 1", "Many items in 1", "README.md: does not say its items and subtests as an export does"),
        ("content hash `", "content hash `0", "README.md: content hash is 0"),
    ],
)
def test_a_changed_number_of_the_card_is_found_even_with_new_hashes(export, old, new, said):
    path = export / "README.md"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    refresh(export)
    assert verify(export)["difference"].startswith(said)


def as_layout_2(export):
    """The export as it was written before items said `found_valid` and the drawing of votes had its own numbers."""

    def without(records):
        for record in records:
            del record["found_valid"]

    rewrite_table(export, "blind", without_unjudged)
    change(export / "items.jsonl", without)
    table = json.loads((export / "tables/validation.json").read_text(encoding="utf-8"))
    # Intervals were over pairs.
    table["overall"]["alpha_all_ci"] = [-0.5, 0.5]
    (export / "tables/validation.json").write_text(pretty(table), encoding="utf-8")
    rows = tuple(map(tuple, PAGES["validation"].rows(table)))
    (export / "figures/validation-votes.csv").write_text(figure_csv(Figure(bytes, rows)), encoding="utf-8")
    path = export / "tables/checks.json"
    checks = json.loads(path.read_text(encoding="utf-8"))
    checks["lines"]["items"] = digests_of(export, {})["lines"]["items"]
    checks["tables"]["validation"] = hashlib.sha256(pretty(table).encode()).hexdigest()
    path.write_text(pretty(checks), encoding="utf-8")
    manifest = json.loads((export / "manifest.json").read_text(encoding="utf-8"))
    (export / "manifest.json").write_text(pretty({**manifest, "layout_version": 2}), encoding="utf-8")
    refresh(export)


def test_files_of_an_older_export_have_their_older_names(export):
    as_now = {name: (export / name).read_bytes() for name in ("tables/blind.json", "tables/checks.json")}
    rewrite_table(export, "blind", without_unjudged)
    (path,) = (export / "data").iterdir()
    path.rename(path.with_name("named-by-an-older-rule.jsonl"))
    manifest = json.loads((export / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"]["data/named-by-an-older-rule.jsonl"] = manifest["files"].pop(f"data/{path.name}")
    (export / "manifest.json").write_text(pretty({**manifest, "layout_version": 3}), encoding="utf-8")
    refresh(export)
    assert verify(export)["ok"]
    for name, content in as_now.items():
        (export / name).write_bytes(content)
    (export / "manifest.json").write_text(pretty({**manifest, "layout_version": 4}), encoding="utf-8")
    refresh(export)
    assert verify(export)["difference"].startswith(f"{path.name}: cannot be read")


def test_an_older_export_is_verified_by_its_own_rules(export):
    as_layout_2(export)
    assert verify(export)["ok"]
    figure = export / "figures/validation-votes.csv"
    figure.write_bytes(figure.read_bytes().replace(b"moves", b"Moves", 1))
    refresh(export)
    assert verify(export)["difference"] == "figures/validation-votes.csv: differs from the numbers of its table"


def test_an_older_export_counts_requeued_items_as_rejected(export):
    """Also one that went with its corrected caption: since then `found_valid` says that nobody had refused it."""
    item = {**lines(export / "items.jsonl")[0], "state": "requeued", "unanimous": True, "found_valid": None}
    (now,) = item_facts_of([item], [])
    del item["found_valid"]
    (then,) = item_facts_of([item], [])
    assert (now.valid, now.unanimous) == (None, None)
    assert (then.valid, then.unanimous) == (False, True)


def test_an_item_with_one_judged_foil_has_no_counts_except_in_older_exports(release, tmp_path):  # noqa: F811
    text = "a ball stands."
    Foil.objects.create(item=Item.objects.get(key="invalid"), position=1, text=text, text_sha256=text_sha256(text))
    out = tmp_path / "one"
    call_command("export", "foilworks", project="moves", release=str(release.pk), out=out)
    told = {line["id"]: line["votes"] for line in lines(out / "items.jsonl")}
    assert (told["moves:invalid"], told["moves:valid"]) == (None, {"caption": 2, "foil": 0, "other": 1})
    assert verify(out)["ok"]

    def count(records):
        next(record for record in records if record["id"] == "moves:invalid")["votes"] = {
            "caption": 1,
            "foil": 2,
            "other": 0,
        }

    change(out / "items.jsonl", count)
    refresh(out)
    assert "votes of moves:invalid" in verify(out)["difference"]
    as_layout_2(out)
    assert verify(out)["ok"]


def test_an_export_with_a_published_hash_cannot_be_forged(export):
    """Every digest refreshed, `tables/checks.json` too: that cannot be seen without the hash that was published."""
    published, content = (verify(export)[name] for name in ("manifest", "hash"))
    change_and_refresh(export)
    assert verify(export)["ok"]
    assert "not the expected one" in verify(export, published)["difference"]
    assert "the items' alone" in verify(export, content)["difference"]
    with pytest.raises(EvaluationError, match="is not a hash; give the 64"):
        verify(export, "v1")


def test_the_export_of_these_tests_has_every_kind_of_file(export):
    names = {path.relative_to(export).as_posix() for path in export.rglob("*") if path.is_file()}
    wanted = {
        "rejected.jsonl",
        "data/moves.jsonl",
        "figures/leaderboard.svg",
        "figures/leaderboard.csv",
        "README.md",
        "datasheet.md",
        "CHANGELOG.md",
        "LICENCES.md",
        "CITATION.cff",
        "citation.bib",
        "croissant.json",
        "load.py",
        *(
            f"tables/{name}.json"
            for name in (
                "human",
                "pay",
                "changes",
                "leaderboard",
                "gate",
                "validation",
                "agreement",
                "blind",
                "models",
                "funnel",
                "people",
            )
        ),
    }
    assert wanted <= names
    assert json.loads((export / "tables/changes.json").read_text())["added"] == ["moves:second"]
    assert json.loads((export / "rejected.jsonl").read_text())["rejected_by"] == ["fluency"]
    assert json.loads((export / "tables/human.json").read_text())["overall"]["T"] == pytest.approx(2 / 3)


def test_any_byte_of_any_file_counts(export):
    """Any file, any place in it, any other byte: what is named first is the file."""
    paths = sorted(path for path in export.rglob("*") if path.is_file())
    assert len(paths) > 30

    def spoil(path, content, place, flip):
        path.write_bytes(content[:place] + bytes([content[place] ^ flip]) + content[place + 1 :])
        answer = verify(export)
        path.write_bytes(content)
        assert not answer["ok"]
        assert answer["difference"].startswith(f"{path.relative_to(export).as_posix()}: "), path

    for path in paths:
        content = path.read_bytes()
        for place in (0, len(content) // 2, len(content) - 1):
            spoil(path, content, place, 1)

    @settings(max_examples=120, deadline=None, database=None)
    @given(data=st.data())
    def anywhere(data):
        path = data.draw(st.sampled_from(paths))
        content = path.read_bytes()
        spoil(path, content, data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(1, 255)))

    anywhere()
    assert verify(export)["ok"]


def leaves(value, place=()):
    """(place, value) of every cell of a JSON document."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from leaves(inner, (*place, key))
    else:
        yield place, value


def depth(cell):
    return len(cell[0])


def other(value):
    if isinstance(value, bool) or value is None:
        return not value
    return f"{value} x" if isinstance(value, str) else value + 1


def test_any_changed_table_cell_is_found_even_with_new_hashes(export):
    """A cell of each table near its top and one deep in it; what follows from votes and scores is named by place."""
    named = 0
    tables = sorted((export / "tables").glob("*.json"))
    for path in tables:
        content = path.read_bytes()
        cells = [(place, value) for place, value in leaves(json.loads(content))]
        for place, value in {min(cells, key=depth), max(cells, key=depth)}:
            table = json.loads(content)
            inner = table
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = other(value)
            path.write_text(pretty(table), encoding="utf-8")
            refresh(export)
            answer = verify(export)
            assert not answer["ok"], (path.name, place)
            assert path.stem in answer["difference"] or "figures/" in answer["difference"], answer
            named += "computed again" in answer["difference"]
        path.write_bytes(content)
    refresh(export)
    assert verify(export)["ok"]
    assert named > len(tables) // 2


def test_a_table_cell_is_named_by_its_place(export):
    path = export / "tables/validation.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    table["subtests"][0]["n_valid"] += 1
    path.write_text(pretty(table), encoding="utf-8")
    refresh(export)
    named = "tables/validation.json: subtests[0].n_valid is 3; computed again, it is 2"
    assert verify(export)["difference"] == named


def test_figures_and_flat_rows_are_compared_with_tables_and_items(export):
    figure = export / "figures/leaderboard.csv"
    whole = figure.read_bytes()
    figure.write_bytes(whole.replace(b"good", b"best", 1))
    refresh(export)
    assert verify(export)["difference"] == "figures/leaderboard.csv: differs from the numbers of its table"
    figure.write_bytes(whole)

    def reword(records):
        records[0]["caption"] = "another"

    change(export / "data/moves.jsonl", reword)
    refresh(export)
    assert verify(export)["difference"].startswith("data/moves.jsonl: moves:second.caption is ")


def test_a_changed_vote_time_is_found_although_no_count_changes(export):
    def slower(records):
        next(record for record in records if record["seconds"])["seconds"] += 1

    change(export / "votes.jsonl", slower)
    refresh(export)
    assert verify(export)["difference"].startswith("votes.jsonl: was changed: tables/checks.json")


def test_an_added_or_missing_file_is_named(export, tmp_path):
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
    from foilworks.core.corpus.export_formats.foilworks import checks, score_of, vote_of

    def turn(records):
        for record in records:
            record["caption"], record["foils"][0] = record["foils"][0], record["caption"]

    for path in [export / "scores.jsonl", *(export / "scores").glob("*.jsonl")]:
        change(path, turn)
    votes = [vote_of(record) for record in lines(export / "votes.jsonl")]
    scores = [score_of(record) for record in lines(export / "scores.jsonl")]
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
    assert verify(export)["difference"].startswith("manifest.json: counts.votes is 10; computed again, it is 9")
    (export / "votes.jsonl").write_text(whole[:-3] + "\n", encoding="utf-8")
    refresh(export)
    assert verify(export)["difference"].startswith("votes.jsonl:10: is not JSON")


def test_other_formats_are_verified_by_their_bytes(export, release, tmp_path):  # noqa: F811
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
    words = f"foilworks: {export}: is not an export (it has no manifest.json); give the exported folder\n"
    assert capsys.readouterr().err == words


def test_an_export_is_signed_and_another_signer_is_refused(export, capsys, settings, monkeypatch):
    announced = public_key()
    call_command("verify", str(export), "--key", announced)
    assert f"signed by: {announced}" in capsys.readouterr().out
    settings.DERIVATION_KEY = "of another installation"
    assert verify(export, key=public_key())["difference"] == f"manifest.json: is signed by another key, {announced}"
    path = export / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))

    def rewritten(**changes):
        changed = {name: value for name, value in (manifest | changes).items() if value is not None}
        path.write_text(pretty(changed | {"manifest_sha256": self_hash(changed)}), encoding="utf-8")
        return verify(export, key=announced).get("difference", "")

    # Whoever changes a fact can compute all hashes again, but not the signature.
    assert rewritten(note="not ours") == "manifest.json: was changed: its signature differs"
    assert rewritten(signature=manifest["signature"] | {"value": "00" * 64}).endswith("its signature differs")
    assert rewritten(signature=sign("x")) == f"manifest.json: is signed by another key, {public_key()}"
    assert rewritten(signature=None) == "manifest.json: is not signed"
    assert verify(export)["signed_by"] == ""
    assert rewritten() == ""
    with pytest.raises(CorpusError, match="64 hexadecimal digits"):
        verify(export, key="mine")
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    assert verify(export)["signed_by"] == "not checked: signatures cannot be checked; install foilworks[web]"
    with pytest.raises(CorpusError, match="install foilworks"):
        verify(export, key=announced)
