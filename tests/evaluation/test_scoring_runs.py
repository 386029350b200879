"""Runs on a release, with real clips, real decoding and the models that ship in the product."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring import jobs
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.clip_keys import clip_key, text_key
from evaluation.scoring.fetching import read_frames
from evaluation.scoring.models import Run, Score
from evaluation.scoring.queries import control_texts, records_of, release_named, release_scores, run_results
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.shards.pending_pairs import clip_as_frozen
from evaluation.scoring.standard_results import standard_of
from foilworks.core.corpus.models import Foil, MediaState, Subtest, Video
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.hub.adapters.fake import FakeEmbedder
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import Role
from foilworks.core.text.errors import ActionableError
from tests import factories
from tests.addresses import named
from tests.media.painted import painted_clip

pytestmark = pytest.mark.django_db

CAPTIONS = ("a ball rises", "a cube turns", "a cone shrinks")


@pytest.fixture
def release():
    """Three items of two foils each on three clips; the first two share one valid proficiency pair's texts."""
    project = factories.make_project(slug="scored")
    simple = factories.make_subtest(project, name="things", kind=Subtest.Kind.PROFICIENCY)
    main = factories.make_subtest(project, name="moves", foils_per_item=2)
    for number, text in enumerate(CAPTIONS):
        name = f"videos/clip{number}.mp4"
        path = Path(settings.MEDIA_ROOT) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_mp4(path, painted_clip(8)[number:], fps=8)
        video = factories.make_video(project, key=f"clip{number}", file=name, sha256=f"{number:064d}", source_id="s")
        easy = None
        if number < 2:
            noun = factories.make_caption(video, "a thing")
            easy = factories.make_item(simple, noun, ("a hole",), state=ItemState.VALID)
        caption = factories.make_caption(video, text)
        foils = (f"{text} not", f"{text} never")
        factories.make_item(main, caption, foils, key=f"i{number}", state=ItemState.VALID, proficiency_item=easy)
    return freeze_release(None, project)


def score(release, spec="fake:1", ends=JobState.DONE, **options):
    run = start_run(None, release, RunRequest(spec, **options))
    assert run_now(run.job).state == ends
    run.refresh_from_db()
    return run


def test_every_distinct_pair_is_scored_once(release):
    run = score(release)
    # 3 clips x 3 texts, and the proficiency pair of two texts on two of them.
    assert Score.objects.count() == 3 * 3 + 2 * 2
    assert run.model_key == "fake/1@1"
    assert run.problems == {}
    assert (run.job.done, run.job.total) == (13, 13)
    stored = Score.objects.first()
    assert (stored.kind, stored.higher_is_better, stored.protocol) == ("cosine", True, "foilworks")


def test_results_are_the_metrics_of_the_stored_scores(release):
    run = score(release)
    got = run_results(run, draws=200)
    rows, missing = release_scores(run)
    assert missing == []
    by_hand = [max(row.foils) < row.caption for row in rows]
    assert got["overall"]["T_all"] == pytest.approx(sum(by_hand) / 3)
    able = [row for row in rows if row.proficiency_caption is not None]
    assert (got["overall"]["n"], got["overall"]["n_all"], len(able)) == (2, 3, 2)
    # One source for the three clips: one cluster, so that no interval can be given.
    assert got["overall"]["n_clusters"] == 1
    record = records_of(release)[0]
    value = Score.objects.get(clip_key=clip_key(record["video"]), text_sha256=text_key(record["caption"])).value
    assert rows[0].caption == value


def test_a_rerun_scores_nothing_and_a_changed_caption_only_its_own_texts(release, monkeypatch):
    score(release)
    asked = []
    monkeypatch.setattr(jobs, "score_pairs", _spy(jobs.score_pairs, asked))
    again = score(release)
    assert asked == []
    assert again.job.done == 13
    Foil.objects.filter(text="a ball rises not").update(text="a ball sinks")
    successor = freeze_release(None, release.project)
    score(successor)
    assert [(clip.key.split("@")[0], texts) for clip, texts in asked] == [(f"{0:064d}", ["a ball sinks"])]


def test_a_killed_worker_loses_one_batch_and_its_successor_continues(release, monkeypatch):
    class KilledError(Exception):
        pass

    def dying(*arguments, **options):
        for number, each in enumerate(real(*arguments, **options)):
            if number == 7:
                raise KilledError
            yield each

    real = jobs.score_pairs
    monkeypatch.setattr(jobs, "SCORES_PER_WRITE", 3)
    monkeypatch.setattr(jobs, "score_pairs", dying)
    run = start_run(None, release, RunRequest("fake:1"))
    with pytest.raises(KilledError):
        run_now(run.job)
    assert Score.objects.count() == 6
    asked = []
    monkeypatch.setattr(jobs, "score_pairs", _spy(real, asked))
    score(release)
    assert sum(len(texts) for _, texts in asked) == 13 - 6
    assert Score.objects.count() == 13


def test_a_text_only_model_needs_no_media_and_one_score_per_text(release):
    Video.objects.update(media_state=MediaState.MISSING)
    run = score(release, "fake:text")
    assert set(Score.objects.values_list("clip_key", flat=True)) == {""}
    assert Score.objects.count() == 9 + 2
    assert run_results(run, draws=50)["overall"]["n_all"] == 3


def test_missing_and_unreadable_media_are_listed_and_the_rest_is_scored(release):
    Video.objects.filter(key="clip0").update(media_state=MediaState.MISSING)
    (Path(settings.MEDIA_ROOT) / "videos/clip1.mp4").write_bytes(b"no video")
    run = score(release, ends=JobState.PARTLY)
    assert run.problems["missing_media"] == ["moves:i0"]
    (unreadable,) = run.problems["unreadable"]
    assert unreadable["item"] == "moves:i1"
    got = run_results(run, draws=50)
    assert got["missing"] == ["moves:i0", "moves:i1"]
    assert got["overall"]["n_all"] == 1


def test_items_of_several_foils_have_ranks(release):
    run = score(release)
    rows, _missing = release_scores(run)
    ranks = [1 + sum(foil > row.caption for foil in row.foils) for row in rows]
    found = run_results(run, draws=50)["rcad"]
    assert found["mean_rank"] == pytest.approx(sum(ranks) / 3)
    assert found["R@2"] == pytest.approx(sum(rank <= 2 for rank in ranks) / 3)


@pytest.mark.parametrize(("protocol", "shared"), [("foilworks", True), ("vilma-2024-paper", False)])
def test_the_page_mentions_tied_ranks_only_if_there_are_some(release, client, protocol, shared):
    run = score(release, protocol=protocol)
    assert (run_results(run)["tie_policy"] == "half") is shared
    client.force_login(factories.make_member(release.project, "researcher"))
    html = client.get(reverse("scoring:run", args=[release.project.slug, run.pk])).content.decode()
    assert "Retrieval among counterfactuals" in html
    assert ("get their mean rank" in html) is shared


@pytest.fixture
def wide_release():
    """Seven items of two foils on seven videos of one clip each, and one of a single foil."""
    project = factories.make_project(slug="wide")
    main = factories.make_subtest(project, name="moves", foils_per_item=2)
    name = "videos/clip.mp4"
    path = Path(settings.MEDIA_ROOT) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_mp4(path, painted_clip(8), fps=8)
    for number in range(8):
        video = factories.make_video(
            project, key=f"clip{number}", file=name, sha256=f"{number:064d}", source_id=f"s{number}"
        )
        caption = factories.make_caption(video, f"a ball rises {number} times")
        foils = (f"a ball falls {number} times", f"a cube rises {number} times")[: 2 if number else 1]
        factories.make_item(main, caption, foils, key=f"i{number}", state=ItemState.VALID)
    return freeze_release(None, project)


def test_the_control_ranks_the_same_captions_among_those_of_other_videos(wide_release):
    plain = score(wide_release)
    assert run_results(plain, draws=50)["control"] is None
    before = Score.objects.count()
    run = score(wide_release, control=True)
    # The single-foil item has no rank: 7 items ask for 5 captions more.
    assert Score.objects.count() - before == 7 * 5
    got = run_results(run, draws=50)
    texts = control_texts(records_of(wide_release), run.params["control"])
    ranks = []
    for record in records_of(wide_release)[1:]:
        key = clip_key(record["video"])
        own, *others = (Score.objects.get(clip_key=key, text_sha256=text_key(t)).value for t in texts[record["id"]])
        assert len(others) == 5
        ranks.append(1 + sum(other > own for other in others))
    assert got["control"]["mean_rank"] == pytest.approx(sum(ranks) / 7)
    assert (got["control"]["n"], got["rcad"]["n"], got["control"]["candidates"]) == (7, 7, 6)
    assert got["control"]["drop"]["value"] == pytest.approx(got["control"]["R@1"] - got["rcad"]["R@1"])
    assert got["overall"]["T"] == run_results(plain, draws=50)["overall"]["T"]
    # The stored scores answer a second run.
    score(wide_release, control=True)
    assert Score.objects.count() - before == 7 * 5


def test_standard_retrieval_ranks_each_caption_among_all_captions(wide_release, client):
    run = score(wide_release, standard=True)
    stored = Score.objects.count()
    model = FakeEmbedder(1)
    captions = [record["caption"] for record in records_of(wide_release)]
    texts = model.encode_text(captions)
    above = []
    for number, record in enumerate(records_of(wide_release)):
        clip = clip_as_frozen(clip_key(record["video"]), Video.objects.get(key=f"clip{number}"), record["video"])
        frames, meta = read_frames(clip, model.info)
        values = model.score(model.encode_video([frames], [meta]), texts)[0]
        above.append(int((values > values[number]).sum()))
    assert run.params["standard"]["above"] == above
    found = standard_of(run)
    assert (found["n"], found["choices"]) == (8, 8)
    assert found["R@1"] == pytest.approx(sum(not each for each in above) / 8)
    # Counts are stored, no pairs of clips and captions.
    assert stored == 2 + 7 * 3
    client.force_login(factories.make_member(wide_release.project, Role.RESEARCHER))
    page = client.get(reverse(named("run"), args=["wide", run.pk])).content.decode()
    assert "The caption of each of 8 clips is ranked" in " ".join(page.split())
    files = client.get(reverse(named("run_file"), args=["wide", run.pk, "json"])).json()
    assert files["standard"]["R@1"] == found["R@1"]


def test_standard_retrieval_needs_vectors(wide_release, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text("{}")
    with pytest.raises(EvaluationError, match="needs the vectors of a dual encoder"):
        start_run(None, wide_release, RunRequest(f"file:{path}", standard=True))
    run = start_run(None, wide_release, RunRequest("fake:text", standard=True))
    with pytest.raises(EvaluationError, match="gives no vectors of clips and texts"):
        run_now(run.job)
    assert standard_of(Run.objects.get(pk=run.pk)) is None


def test_a_control_of_shares_has_the_key_of_all_its_texts(wide_release, monkeypatch):
    """A model that only says that its scores depend on each other: the same numbers, each kept for its own question."""
    plain = run_results(score(wide_release, control=True), draws=50)
    Score.objects.all().delete()
    model = FakeEmbedder(1)
    model.info = replace(model.info, by_item=True, revision="shares")
    monkeypatch.setattr(jobs, "open_adapter", lambda spec, **_: model)
    got = run_results(score(wide_release, control=True), draws=50)
    assert (got["control"], got["rcad"]) == (plain["control"], plain["rcad"])
    # The captions of the 7 ranked items are asked twice: among their foils, and among others' captions.
    assert Score.objects.count() == (2 + 7 * 3) + 7 * 6


def test_a_control_that_cannot_be_sampled_is_refused_at_once(release, tmp_path):
    with pytest.raises(EvaluationError, match="captions of other videos"):
        start_run(None, release, RunRequest("fake:1", control=True))
    path = tmp_path / "s.jsonl"
    path.write_text("{}")
    with pytest.raises(EvaluationError, match="score file"):
        start_run(None, release, RunRequest(f"file:{path}", control=True))
    assert not Run.objects.exists()


def test_a_run_that_scored_nothing_has_no_overall(release):
    run = start_run(None, release, RunRequest("fake:1"))
    got = run_results(run)
    assert got["overall"] is None
    assert len(got["missing"]) == 3


def test_an_item_without_pair_scores_is_missing_if_others_have_them(release):
    """A run that is still at work, or a value that was no number: such an item is not one without a pair."""
    run = score(release)
    first, second, _third = records_of(release)
    Score.objects.filter(clip_key=clip_key(first["video"]), text_sha256=text_key("a hole")).delete()
    got = run_results(run, draws=50)
    assert got["missing"] == [first["id"]]
    assert (got["overall"]["n"], got["overall"]["n_all"]) == (1, 2)
    rows, missing = release_scores(run, [first, second], few=True)
    assert ([row.id for row in rows], missing) == ([second["id"]], [first["id"]])
    Score.objects.filter(text_sha256=text_key("a hole")).delete()
    assert run_results(run, draws=50)["missing"] == []


def test_a_perplexity_ranks_the_other_way(release):
    run = Run.objects.create(release=release, spec="fake:", label="m", model_key="ppl", protocol="foilworks")
    for record in records_of(release):
        for number, text in enumerate((record["caption"], *record["foils"])):
            Score.objects.create(
                model_key="ppl",
                protocol="foilworks",
                clip_key="",
                text_sha256=text_key(text),
                value=10.0 + number,
                kind="perplexity",
                higher_is_better=False,
            )
    assert run_results(run, draws=50)["overall"]["T"] == 1


class TestScoreFiles:
    def test_values_of_a_file_with_mismatched_ids_listed(self, release, tmp_path):
        path = tmp_path / "clip.jsonl"
        simpler = {"caption": 2, "foils": [1]}
        lines = [
            {"id": "moves:i0", "caption": 3, "foils": [2, 1], "proficiency": simpler},
            {"id": "moves:i1", "caption": 1, "foils": [2]},
            {"id": "elsewhere", "caption": 1, "foils": [2, 3]},
        ]
        path.write_text("\n".join(map(json.dumps, lines)))
        run = score(release, f"file:{path}", ends=JobState.PARTLY)
        assert run.label == "clip"
        assert run.problems == {
            "not_in_file": ["moves:i2", "moves:i1 (proficiency)"],
            "not_in_release": ["elsewhere"],
            "wrong_number_of_texts": ["moves:i1 (main)"],
        }
        got = run_results(run, draws=50)
        assert (got["overall"]["T"], got["overall"]["P"], got["overall"]["n_all"]) == (1, 1, 1)
        assert got["missing"] == ["moves:i1", "moves:i2"]

    def test_vilmas_format_is_matched_within_the_subtest_of_the_file_name(self, release, tmp_path):
        path = tmp_path / "moves.json"
        path.write_text(json.dumps({f"i{n}": {"scores": [n, 1, 1]} for n in range(3)}))
        got = run_results(score(release, f"file:{path}"), draws=50)
        # 0 loses, 1 ties with both foils (a third), 2 wins.
        assert got["overall"]["T_all"] == pytest.approx((0 + 1 / 3 + 1) / 3)

    def test_exported_scores_can_be_imported(self, release, tmp_path):
        run = score(release)
        rows, _ = release_scores(run)
        path = tmp_path / "back.jsonl"
        lines = [
            {
                "id": row.id,
                "caption": row.caption,
                "foils": list(row.foils),
                "subtest": row.subtest,
                "higher_is_better": row.higher_is_better,
            }
            for row in rows
        ]
        path.write_text("\n".join(map(json.dumps, lines)))
        back = run_results(score(release, f"file:{path}"), draws=50)
        assert back["overall"]["T_all"] == run_results(run, draws=50)["overall"]["T_all"]

    def test_a_file_without_any_id_of_the_release_fails(self, release, tmp_path):
        path = tmp_path / "x.jsonl"
        path.write_text('{"id": "q", "caption": 1, "foils": [0]}\n')
        run = start_run(None, release, RunRequest(f"file:{path}"))
        with pytest.raises(EvaluationError, match="none of its ids is in the release"):
            run_now(run.job)


class TestStarting:
    @pytest.mark.parametrize(
        ("spec", "options", "complaint"),
        [
            ("nothing", {}, "names no model"),
            ("gpt9:", {}, "names no model"),
            ("file:", {}, "names no score file"),
            ("file:/no/such.jsonl", {}, "no such score file"),
            ("fake:1", {"protocol": "mine"}, "unknown protocol 'mine'; choose one of: foilworks"),
            ("fake:1", {"device": "tpu"}, "unknown device 'tpu'"),
            ("fake:\x00", {}, "printable"),
        ],
    )
    def test_a_run_that_cannot_start_is_explained(self, release, spec, options, complaint):
        with pytest.raises(ActionableError, match=complaint):
            start_run(None, release, RunRequest(spec, **options))
        assert not Run.objects.exists()

    def test_only_a_researcher_starts(self, release):
        with pytest.raises(AccessDenied):
            start_run(factories.make_member(release.project, "validator"), release, RunRequest("fake:1"))
        researcher = factories.make_member(release.project, "researcher")
        assert start_run(researcher, release, RunRequest("fake:1")).created_by == researcher

    def test_a_relative_path_is_stored_as_an_absolute_one(self, release, tmp_path, monkeypatch):
        (tmp_path / "s.jsonl").write_text("{}")
        (tmp_path / "text").mkdir()
        (tmp_path / "models/clip").mkdir(parents=True)
        monkeypatch.chdir(tmp_path)
        spec = start_run(None, release, RunRequest("clip:models/clip?frames=4")).spec
        assert spec == f"clip:{tmp_path}/models/clip?frames=4"
        assert start_run(None, release, RunRequest("file:s.jsonl")).spec == f"file:{tmp_path}/s.jsonl"
        assert start_run(None, release, RunRequest("fake:text")).spec == "fake:text"

    def test_a_page_cannot_name_files_of_the_server(self, release, tmp_path):
        researcher = factories.make_member(release.project, "researcher")
        for spec in (
            "file:/etc/passwd",
            "file:../x",
            "tiny:/etc",
            "tiny:a/../../b",
            "external:docs/examples/external_model",
            "external:nowhere",
            "clip:/etc?frames=4",
            "clip:tests/hub?frames=4",
        ):
            with pytest.raises(ActionableError, match="neither a model of this project nor a shared one"):
                start_run(researcher, release, RunRequest(spec))
        inside = Path(settings.MODEL_ROOT) / "scores.jsonl"
        inside.parent.mkdir(parents=True, exist_ok=True)
        inside.write_text("{}")
        assert start_run(researcher, release, RunRequest(f"file:{inside}")).label == "scores"


def test_the_number_of_queries_of_results_does_not_grow(release):
    run = score(release)
    run = Run.objects.select_related("release").get(pk=run.pk)
    with CaptureQueriesContext(connection) as seen:
        run_results(run, draws=50)
    assert len(seen) == 2


def test_a_release_is_found_by_id_hash_and_name(release):
    for name in (str(release.pk), release.content_hash, release.content_hash[:12], release.name):
        assert release_named(name) == release
    wanted = rf"'v9' is not a release; the releases are: {release.name} \(id {release.pk}, of scored\)"
    with pytest.raises(EvaluationError, match=wanted):
        release_named("v9")
    with pytest.raises(EvaluationError, match="the releases are: none yet; create one with `foilworks release`"):
        release_named("v9", factories.make_project())


def test_the_command_scores_and_prints_the_metrics(release, capsys):
    call_command("evaluate", "model", "fake:1", "--release", str(release.pk), "--sync", "--json")
    got = json.loads(capsys.readouterr().out)
    assert got["state"] == "done"
    assert got["overall"]["n_all"] == 3
    call_command("evaluate", "model", "fake:text", "--release", release.name, "--sync")
    assert "overall" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        call_command("evaluate", "model", "fake:1", "--release", "v9")


def test_the_command_says_why_nothing_could_be_scored(release, capsys):
    for path in (Path(settings.MEDIA_ROOT) / "videos").iterdir():
        path.write_bytes(b"no film")
    with pytest.raises(SystemExit) as ended:
        call_command("evaluate", "model", "fake:1", "--release", str(release.pk), "--sync")
    assert ended.value.code == 1
    assert re.search(r"No result for any of 3: unreadable: moves:i0: .+", capsys.readouterr().err)


def _spy(real, asked):
    def spied(adapter, requests, **options):
        requests = list(requests)
        asked.extend((clip, list(texts)) for clip, texts in requests)
        return real(adapter, requests, **options)

    return spied
