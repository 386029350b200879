"""Texts that a model does not read to their end: what a run lists, leaves out and marks."""

import json
from pathlib import Path

import pytest
from django.conf import settings as installed
from django.test import Client
from django.urls import reverse

from evaluation.blind.actions.score_texts import score_blind
from evaluation.blind.scores import preferences_of
from evaluation.blind.scoring import preference_of_file
from evaluation.board.latex import as_csv, markdown
from evaluation.board.leaderboard import board
from evaluation.facts.stored_facts import item_facts
from evaluation.proximity.actions.measure_proximity import measure_proximity
from evaluation.proximity.stored_proximity import with_proximity
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Score
from evaluation.scoring.queries import records_of, release_scores, run_results
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.truncation import listed_cuts
from evaluation.utd.measuring import open_encoder
from foilworks.core.corpus.export_formats import foilworks
from foilworks.core.corpus.models import Subtest
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.hub.interfaces import TextRead
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import Role
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.verify import verify
from tests import factories
from tests.hub import folders, test_external
from tests.media.painted import painted_clip
from tests.pages import read_page

LONG = " and ".join(["a man folds a red shirt"] * 15)
PAIRS = (
    ("a red circle moves from left to right", "a red circle moves from right to left"),
    # The model reads 64 tokens and less: these are equal to it.
    (f"{LONG} while a dog jumps", f"{LONG} while two boys are lifting a box"),
    # Cut, and different before the cut.
    (f"a ring and {LONG}", f"a dog and {LONG}"),
    ("two boys are lifting a box", "two boys are lifting the table"),
)


@pytest.fixture
def release():
    project = factories.make_project(slug="long", blind_bar=1.0)
    simple = factories.make_subtest(project, name="things", kind=Subtest.Kind.PROFICIENCY)
    main = factories.make_subtest(project, name="moves")
    for number, (text, foil) in enumerate(PAIRS):
        name = f"videos/clip{number}.mp4"
        path = Path(installed.MEDIA_ROOT) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_mp4(path, painted_clip(8)[number:], fps=8)
        video = factories.make_video(project, key=f"clip{number}", file=name, sha256=f"{number:064d}", source_id="s")
        easy = None
        if number == 0:
            caption = factories.make_caption(video, f"{LONG} a ring")
            easy = factories.make_item(simple, caption, (f"{LONG} a dog",), state=ItemState.VALID)
        caption = factories.make_caption(video, text)
        factories.make_item(main, caption, (foil,), key=f"i{number}", state=ItemState.VALID, proficiency_item=easy)
    return freeze_release(None, project)


def score(release, spec, state=JobState.PARTLY, **options):
    """One item of four has no result: its two texts are equal once they are truncated."""
    run = start_run(None, release, RunRequest(spec, **options))
    assert run_now(run.job).state == state
    run.refresh_from_db()
    return run


@pytest.mark.django_db
class TestRun:
    @pytest.fixture
    def run(self, release, tmp_path):
        return score(release, f"clip:{folders.clip(tmp_path / 'clip')}?frames=2")

    def test_it_lists_truncated_texts_and_leaves_out_equal_pairs(self, run):
        truncated, equal = (run.problems[name] for name in ("truncated_texts", "equal_after_truncation"))
        assert [found["item"] for found in truncated] == ["moves:i0", "moves:i1", "moves:i2"]
        assert truncated[1]["why"].startswith("main: 2 of 2 texts, up to ")
        assert [(found["item"], found["part"]) for found in equal] == [
            ("moves:i0", "proficiency"),
            ("moves:i1", "main"),
        ]
        # The scores are stored, and count for nothing.
        assert Score.objects.filter(model_key=run.model_key).count() == 2 * len(PAIRS) + 2
        rows, missing = release_scores(run)
        assert [row.id for row in rows] == ["moves:i0", "moves:i2", "moves:i3"]
        assert (missing, rows[0].proficiency_caption) == (["moves:i1"], None)
        results = run_results(run, draws=50)
        assert (results["overall"]["n"], results["overall"]["ties"], results["overall"]["P"]) == (3, 0.0, None)

    def test_pages_and_tables_mark_truncation(self, run, client):
        release = run.release
        client.force_login(factories.make_member(release.project, Role.RESEARCHER))
        read_page(client.get(reverse("board:leaderboard", args=["long", release.pk]))).check(
            "texts truncated in 3 items", "2 pairs left out, identical after truncation"
        )
        read_page(client.get(reverse("scoring:run", args=["long", run.pk]))).check(
            "Truncated texts (3).", "Equal after truncation (2)."
        )
        ranked = board(release)
        assert "(texts truncated in 3 items)" in markdown(ranked)
        assert as_csv(ranked).splitlines()[1].endswith(",3,2,,,,,,")

    @pytest.mark.full
    def test_exports_have_the_counted_scores_and_verify(self, run, tmp_path):
        foilworks.write(collect_release(run.release), tmp_path / "out", params={})
        lines = (tmp_path / "out" / "scores.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["id"] for line in lines] == ["moves:i0", "moves:i2", "moves:i3"]
        assert verify(tmp_path / "out")["ok"]

    def test_shards_list_the_same_truncations(self, run, settings):
        Score.objects.all().delete()
        settings.SHARD_ITEMS = 1
        again = score(run.release, run.spec)
        assert again.job.shards.count() > 1
        assert again.problems == run.problems


@pytest.mark.django_db
@pytest.mark.parametrize("protocol", ["foilworks", "vilma-2024-code"])
def test_a_language_model_lists_truncations_under_every_protocol(release, tmp_path, protocol):
    run = score(release, f"lm:{folders.causal_lm(tmp_path / 'lm')}", protocol=protocol)
    assert ("moves:i1", "main") in {(found["item"], found["part"]) for found in run.problems["equal_after_truncation"]}


@pytest.mark.django_db
def test_a_model_without_truncations_lists_nothing(release):
    assert score(release, "fake:1", JobState.DONE).problems == {}


@pytest.mark.django_db
def test_a_model_that_does_not_report_truncation_is_marked(release):
    run = score(release, f"external:{test_external.EXAMPLE}", JobState.DONE, label="theirs")
    assert run.problems["truncation_unknown"] == [
        {"item": "theirs", "why": "its adapter does not report truncated texts"}
    ]
    assert run_results(run, draws=50)["missing"] == []


def test_equal_texts_and_complete_texts_do_not_count_as_truncated():
    read = {"a b c": TextRead(3, 3, "abc"), "a b c d": TextRead(4, 3, "abc"), "a b d e": TextRead(4, 3, "abd")}
    parts = [
        ("same", "main", ("a b c d", "a b c d")),
        ("exact", "main", ("a b c", "a b c d", "a b d e")),
        ("short", "main", ("a b c", "a")),
    ]
    found = listed_cuts(parts, read)
    assert [row["item"] for row in found["truncated_texts"]] == ["same", "exact"]
    assert found["equal_after_truncation"] == [
        {"item": "exact", "part": "main", "why": "main: the model reads the same of the caption and 1 of 2 others"}
    ]


@pytest.mark.django_db
def test_the_blind_audit_leaves_out_pairs_that_are_equal_after_truncation(release, tmp_path):
    researcher = factories.make_member(release.project, Role.RESEARCHER)
    spec = f"lm:{folders.causal_lm(tmp_path / 'lm')}"
    scorer = score_blind(None, release.project, spec)
    assert run_now(scorer.job).state == JobState.DONE
    (found,) = preferences_of(release.project, item_facts(release.project))
    row = found["found"]["overall"]
    assert (row["n_pairs"], row["n_missing"], row["n_truncated"], row["n_equal_after_cut"]) == (3, 0, 2, 1)
    of_file = preference_of_file(spec, item_facts(release.project))["overall"]
    assert {**of_file, "ci": None} == {**row, "ci": None}
    client = Client()
    client.force_login(researcher)
    page = client.get(reverse("reports:report", args=["long", "blind"])).content.decode()
    assert "texts truncated in 2 pairs; 1 identical after truncation" in page


@pytest.mark.django_db
def test_proximity_lists_truncations_and_gives_equal_pairs_no_cosine(release, tmp_path):
    run = measure_proximity(None, release, f"sentence:{folders.sentence_encoder(tmp_path / 's')}", name="tiny")
    assert run_now(run.job).state == JobState.DONE
    run.refresh_from_db()
    assert [found["item"] for found in run.problems["truncated_texts"]] == ["moves:i1", "moves:i2"]
    assert [found["item"] for found in run.problems["equal_after_truncation"]] == ["moves:i1"]
    records = records_of(release)
    facts = [{} for _ in records]
    with_proximity(release, records, facts)
    assert [sorted(own.get("proximity", ())) for own in facts] == [["tiny"], [], ["tiny"], ["tiny"]]


def test_an_encoder_of_utd_counts_truncated_texts(tmp_path):
    embedding, _key, cuts = open_encoder(f"sentence:{folders.sentence_encoder(tmp_path / 's')}", {"device": "cpu"})
    embedding.rows(["a ring", f"{LONG} a ring"], "")
    embedding.rows([f"{LONG} a ring", "a dog"], "")
    found = cuts.facts()
    assert (found["n"], found["limit"], len(found["first"])) == (1, 64, 1)
    assert found["first"][0].endswith(f"{LONG} a ring")
    assert found["longest"] > 64
    whole, _key, cuts = open_encoder("fake-words:", {"device": "cpu"})
    whole.rows([f"{LONG} a ring"], "")
    assert cuts.facts() is None
