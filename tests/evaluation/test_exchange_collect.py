"""A release out of the tables and into files, and what those files say when they are read again."""

import json

import pytest

from annotation.models import Vote, VoteState
from evaluation.cached_results.models import CachedResult
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Item, Release, Subtest
from foilworks.core.corpus.release_records import hash_of
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.hooks import TABLES_JOB
from foilworks.site.exports.recomputed import RECOMPUTED
from foilworks.site.imports.store import import_records
from tests import factories

pytestmark = pytest.mark.django_db

VOTES = {"valid": ("caption", "caption", "neither"), "invalid": ("foil", "foil", "caption")}


@pytest.fixture
def project():
    return factories.make_project(slug="moves")


@pytest.fixture
def people(project):
    return [factories.make_member(project, "validator", name=f"validator {i}") for i in range(3)]


def vote(item, person, choice, **fields):
    values = {"foil": item.foils.first(), "caption_first": True, "idempotency_key": f"k{item.pk}"}
    return Vote.objects.create(item=item, person=person, choice=choice, **{**values, **fields})


@pytest.fixture
def release(project, people):
    """One valid item with a valid proficiency pair, frozen; one that validators refused."""
    things = factories.make_subtest(
        project, name="things", kind=Subtest.Kind.PROFICIENCY, votes_wanted=1, votes_needed=1
    )
    moves = factories.make_subtest(project, name="moves", test="motion", proficiency_subtest=things)
    video = factories.make_video(project, key="clip", source_id="film", source_dataset="own")
    pair = factories.make_item(
        things, factories.make_caption(video, "a ball"), ("a cube",), key="p", state=ItemState.VALID, unanimous=True
    )
    vote(pair, people[0], "caption")
    for state, choices in VOTES.items():
        item = factories.make_item(
            moves,
            factories.make_caption(video, f"a ball rises {state}"),
            (f"a ball falls {state}",),
            key=state,
            state=state,
            unanimous=False,
            proficiency_item=pair,
        )
        for person, choice in zip(people, choices, strict=True):
            vote(item, person, choice, caption_first=choice != "neither", watch={"seconds": 2.0}, seconds_spent=4.0)
    return freeze_release(None, project)


def items_of(content):
    return {item["id"]: item for item in content.items}


def test_released_items_keep_their_frozen_records_with_their_status(release):
    item = items_of(collect_release(release))["moves:valid"]
    assert (item["released"], item["state"], item["unanimous"]) == (True, "valid", False)
    assert item["verdicts"] == [{"position": 0, "text": "a ball falls valid", "verdict": "pending"}]
    assert item["votes"] == {"caption": 2, "foil": 0, "other": 1}
    assert item["proficiency"]["votes"] == {"caption": 1, "foil": 0, "other": 0}
    assert release.content_hash == hash_of([item])


def test_items_that_validation_rejected_are_exported_with_the_release(release):
    item = items_of(collect_release(release))["moves:invalid"]
    assert (item["released"], item["state"], item["votes"]) == (False, "invalid", {"caption": 1, "foil": 2, "other": 0})


def test_later_events_change_the_status_and_not_the_record(release):
    before = items_of(collect_release(release))["moves:valid"]
    item = Item.objects.get(key="valid")
    item.caption.text = "changed"
    item.caption.save()
    Item.objects.filter(pk=item.pk).update(state=ItemState.RETRACTED)
    after = items_of(collect_release(release))["moves:valid"]
    assert after["caption"] == "a ball rises valid"
    assert (before["state"], after["state"]) == ("valid", "retracted")
    assert hash_of([after]) == release.content_hash


def test_an_item_whose_row_is_gone_is_still_released(release):
    Item.objects.filter(key="valid").delete()
    item = items_of(collect_release(release))["moves:valid"]
    assert (item["released"], item["state"], item["votes"]) == (True, None, None)


def test_votes_name_nobody_and_record_the_order_shown(release, people):
    votes = [vote for vote in collect_release(release).votes if vote.item == "moves:valid"]
    assert [(v.choice, v.caption_first, v.foil, v.kind) for v in votes] == [
        ("caption", True, 0, "main"),
        ("caption", True, 0, "main"),
        ("neither", False, 0, "main"),
    ]
    assert (votes[0].watch, votes[0].seconds, votes[0].source) == ({"seconds": 2.0}, 4.0, "person")
    assert len({vote.annotator for vote in votes}) == 3
    content = collect_release(release)
    text = repr([content, *content.items, *content.votes])
    assert not any(person.username in text for person in people)


def test_one_person_has_one_pseudonym(release):
    votes = collect_release(release).votes
    first = [vote.annotator for vote in votes if vote.item == "moves:valid"]
    second = [vote.annotator for vote in votes if vote.item == "moves:invalid"]
    (able,) = [vote for vote in votes if vote.kind == "proficiency"]
    assert first == second
    assert (able.annotator, able.subtest) == (first[0], "things")


def test_undone_votes_are_left_out_and_surplus_ones_marked(release, project):
    late, gone = (factories.make_member(project, "validator") for _ in range(2))
    item = Item.objects.get(key="valid")
    vote(item, late, "foil", state=VoteState.SURPLUS)
    vote(item, gone, "both", state=VoteState.UNDONE)
    content = collect_release(release)
    assert [v.state for v in content.votes if v.item == "moves:valid"] == ["counted"] * 3 + ["surplus"]
    assert items_of(content)["moves:valid"]["votes"] == {"caption": 2, "foil": 0, "other": 1}


def test_simulated_people_are_marked(release, project):
    vote(Item.objects.get(key="valid"), factories.make_member(project, "validator", is_simulated=True), "caption")
    assert [v.simulated for v in collect_release(release).votes if v.item == "moves:valid"] == [False] * 3 + [True]


def test_votes_of_a_file_are_numbered_and_unnamed(project, tmp_path):
    path = tmp_path / "direction.jsonl"
    record = {"id": "a", "video": "a.mp4", "caption": "left", "foil": "right", "votes": {"caption": 2, "foil": 1}}
    path.write_text(json.dumps(record), encoding="utf-8")
    import_records(project, None, "jsonl", path)
    content = collect_release(freeze_release(None, project))
    assert [(v.annotator, v.choice, v.foil, v.source) for v in content.votes] == [
        ("unnamed-1", "caption", None, "import"),
        ("unnamed-2", "caption", None, "import"),
        ("unnamed-3", "foil", None, "import"),
    ]


def test_queries_do_not_grow_with_the_release(release, project, django_assert_max_num_queries):
    moves = Subtest.objects.get(name="moves")
    for number in range(30):
        caption = factories.make_caption(factories.make_video(project), f"a cube turns {number}")
        factories.make_item(moves, caption, ("not", "never"), state=ItemState.VALID)
    larger = freeze_release(None, project)
    with django_assert_max_num_queries(16):
        assert len(collect_release(larger, tables=False).items) == 32


def score(release, folder, label, caption, others=()):
    """A run of a score file that gives the released item's caption this value, and its foil 0; so for `others`."""
    path = folder / f"{label}.jsonl"
    pair = {"caption": 1.0, "foils": [0.5]}
    rows = [{"id": "moves:valid", "caption": caption, "foils": [0.0], "proficiency": pair}]
    rows += [{"id": name, "caption": caption, "foils": [0.0]} for name in others]
    path.write_text("\n".join(map(json.dumps, rows)))
    run = start_run(None, release, RunRequest(f"file:{path}", label=label))
    run_now(run.job)
    return run


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture
def exported(release, tmp_path, command):
    """The folder of `foilworks export` with two scored models."""
    score(release, tmp_path, "good", 1.0)
    score(release, tmp_path, "bad", -1.0)
    out = tmp_path / "deep" / "out"
    status, result, _ = command("export", "foilworks", "--project", "moves", "--release", release.pk, "--out", out)
    assert status == 0
    assert result["hash"] == release.content_hash
    assert sorted(result["files"]) == sorted(p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file())
    return out


def test_the_export_has_the_scores_of_every_model(exported):
    shown = [(line["model"], line["id"], line["caption"], line["foils"]) for line in lines(exported / "scores.jsonl")]
    assert shown == [("bad", "moves:valid", -1.0, [0.0]), ("good", "moves:valid", 1.0, [0.0])]
    assert lines(exported / "scores" / "good.jsonl")[0]["proficiency"] == {"caption": 1.0, "foils": [0.5]}
    models = json.loads((exported / "tables" / "models.json").read_text())
    assert {model["model"]: model["overall"]["T"] for model in models} == {"good": 1.0, "bad": 0.0}


def test_reports_from_the_exported_files_equal_those_from_the_tables(exported, command):
    tables = {path.stem: json.loads(path.read_text()) for path in (exported / "tables").glob("*.json")}
    _, agreement, _ = command("report", "agreement", "--file", exported / "votes.jsonl")
    assert agreement["alpha"] == tables["agreement"]["alpha"]
    _, divergence, _ = command("report", "divergence", "--file", exported / "items.jsonl")
    assert divergence["js"] == tables["divergence"]["js"]
    _, validation, _ = command("report", "validation", "--file", exported / "items.jsonl")
    for name in ("n_items", "n_valid", "n_unanimous", "n_valid_proficiency", "n_both", "js_all", "js_valid"):
        assert validation["overall"][name] == tables["validation"]["overall"][name], name
    _, pairwise, _ = command("metrics", "pairwise", "--file", exported / "scores" / "bad.jsonl")
    (bad,) = [model for model in tables["models"] if model["model"] == "bad"]
    assert (pairwise["overall"]["T"], pairwise["overall"]["P"]) == (bad["overall"]["T"], bad["overall"]["P"]) == (0, 1)


def test_nobody_is_named_in_any_file(exported, people):
    for path in exported.rglob("*.json*"):
        text = path.read_text(encoding="utf-8")
        assert not any(person.username in text for person in people), path


def test_a_second_run_of_the_same_model_is_written_once(release, tmp_path):
    score(release, tmp_path, "good", 1.0)
    run = start_run(None, release, RunRequest(f"file:{tmp_path / 'good.jsonl'}", label="good again"))
    run_now(run.job)
    assert [row.model for row in collect_release(release).scores] == ["good again"]


def test_bad_export_input_gives_one_line(release, tmp_path, command):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("x")
    for arguments, words in (
        (
            ("--project", "nobody", "--release", release.pk, "--out", tmp_path / "a"),
            "--project: project 'nobody' not found",
        ),
        (("--project", "moves", "--release", "99", "--out", tmp_path / "a"), "'99' is not a release"),
        (("--project", "moves", "--release", release.pk, "--out", out), "contains other files"),
    ):
        status, result, err = command("export", "foilworks", *arguments)
        assert (status, result) == (1, None)
        assert words in err
        assert err.count("\n") == 1
    assert (out / "thesis.txt").exists()


def test_an_imported_file_is_exported_and_imported_to_the_same_release(project, tmp_path, command):
    path = tmp_path / "direction.jsonl"
    rows = [
        {
            "id": f"r{i}",
            "video": f"{i}.mp4",
            "start_time": i,
            "caption": "<b>a ball rolls left</b>",
            "foils": ["=right", "\u202eup"],
            "votes": {"caption": 3},
            "proficiency": {"caption": "a ball", "foils": ["a cube"], "votes": {"caption": 1}, "by": "us"},
            "extra": {"note": i},
            "count": i,
        }
        for i in range(3)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    status, imported, _ = command("import", "jsonl", path, "--project", "moves")
    assert (status, imported["created"]["items"], imported["errors"]) == (0, 3, [])
    _, first, _ = command("release", "--project", "moves")
    command("export", "jsonl", "--project", "moves", "--release", first["id"], "--out", tmp_path / "out")
    command("import", "jsonl", tmp_path / "out" / "records.jsonl", "--project", "second", "--create")
    _, second, _ = command("release", "--project", "second")
    assert second["hash"] == first["hash"]
    assert Release.objects.count() == 2


def test_import_reports_what_it_did_and_did_not_do(project, tmp_path, command):
    path = tmp_path / "direction.jsonl"
    path.write_text(
        '{"id": "a", "video": "a.mp4", "caption": "x", "foils": ["y", "y"]}\n{"id": "b"}\n', encoding="utf-8"
    )
    status, result, _ = command("import", "jsonl", path, "--project", "moves")
    assert status == 0
    assert (result["created"]["items"], result["records"]) == (1, 2)
    assert result["errors"] == [f"{path}:2: video: is missing; name the file, or give url, source_id or video_key"]
    assert result["warnings"] == [f"{path}:1: foils: two foils are equal"]
    status, result, err = command("import", "jsonl", path, "--project", "moves", "--strict")
    assert (status, result) == (1, None)
    assert "2: video: is missing" in err
    assert err.count("\n") == 1


def test_import_into_a_missing_project_needs_an_option(tmp_path, command):
    path = tmp_path / "direction.jsonl"
    path.write_text('{"id": "a", "video": "a.mp4", "caption": "x", "foil": "y"}', encoding="utf-8")
    status, _, err = command("import", "jsonl", path, "--project", "new")
    assert status == 1
    assert "project 'new' not found; add --create" in err
    status, result, _ = command("import", "jsonl", path, "--project", "new", "--create")
    assert (status, result["project"]) == (0, "new")
    status, _, err = command("import", "jsonl", path, "--project", "no slug!", "--create")
    assert status == 1
    assert "slug" in err


def test_a_broken_file_is_one_line_and_stores_nothing(project, tmp_path, command):
    path = tmp_path / "broken.json"
    path.write_text('{\n"a": {"caption": "x"\n"foils": ["y"]}}', encoding="utf-8")
    status, result, err = command("import", "vilma", path, "--project", "moves")
    assert (status, result) == (1, None)
    assert err.startswith(f"foilworks: {path}:3: JSON: ")
    assert err.count("\n") == 1
    assert Item.objects.count() == 0


def test_a_job_of_the_freeze_stores_the_tables_that_exports_contain(release):
    computed = collect_release(release).tables
    stored = CachedResult.objects.filter(kind="exported")
    stored.delete()
    run_now(Job.objects.get(dotted=TABLES_JOB, target_id=release.pk))
    as_stored = set(stored.values_list("params_key", "fingerprint"))
    assert len(as_stored) == len(RECOMPUTED)
    again = collect_release(release)
    assert again.tables == computed
    drawn = {f"{release.pk}:{name}": figure.drawn().decode() for name, figure in again.papers.figures.items()}
    figures = CachedResult.objects.filter(kind="figure")
    assert {row.params["about"]: row.data["svg"] for row in figures} == drawn
    assert drawn
    assert all(svg.rstrip().endswith("</svg>") for svg in drawn.values())
    assert set(stored.values_list("params_key", "fingerprint")) == as_stored, "nothing was computed again"
    vote(Item.objects.get(key="invalid"), factories.make_member(release.project, "validator", name="late"), "caption")
    assert collect_release(release).tables["validation"] != computed["validation"], "a later vote counts"
    missing = Release.objects.order_by("-pk").values_list("pk", flat=True)[0] + 1
    assert run_now(Job.objects.create(dotted=TABLES_JOB, target_id=missing)).state == JobState.DONE
