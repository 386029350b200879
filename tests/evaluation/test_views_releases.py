"""Freezing, scoring and exporting from the pages; the leaderboard; what a page must not read."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
import zipfile

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.urls import reverse
from huggingface_hub import constants

from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.clip_keys import item_key
from evaluation.scoring.models import Run, Score
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import AuditEvent
from tests.addresses import named
from tests.factories import make_caption, make_item, make_project, make_subtest, make_video
from tests.pages import read_page

pytestmark = pytest.mark.django_db
# Formats for items with five foils, of two clips, and for scores.
NEED_MORE = {"feint6k", "winoground", "every-eval-ever"}


@pytest.fixture
def project():
    return make_project(slug="shapes")


@pytest.fixture
def subtest(project):
    return make_subtest(project, name="Direction")


@pytest.fixture
def watchable(release, tmp_path):
    """The release's videos have a file, so that models which look score them."""
    path = tmp_path / "clip.mp4"
    write_mp4(path, np.zeros((4, 32, 32, 3), np.uint8), fps=4)
    for member in release.members.select_related("video"):
        member.video.file.save(f"{member.video.key}.mp4", ContentFile(path.read_bytes()))
    return release


def valid_items(subtest, n: int, **fields) -> None:
    for _ in range(n):
        video = make_video(subtest.project)
        caption = make_caption(video, f"a dog runs left past number {video.pk}.")
        make_item(subtest, caption, (caption.text.replace("left", "right"),), state=ItemState.VALID, **fields)


@pytest.fixture
def release(project, person, subtest):
    valid_items(subtest, 4)
    return freeze_release(person, project, name="v1")


def scored(person, release, spec: str = "fake:text", label: str = "") -> Run:
    """A text-only fake needs no video file."""
    run = start_run(person, release, RunRequest(spec, label=label))
    assert run_now(run.job).state == JobState.DONE
    return run


def url(name: str, project, *args) -> str:
    return reverse(named(name), args=[project.slug, *args])


class TestFreeze:
    def test_the_form_previews_the_release(self, owner, project, subtest):
        simpler = make_subtest(project, kind="proficiency", name="Objects")
        pair = make_item(simpler, state=ItemState.VALID)
        valid_items(subtest, 2)
        valid_items(subtest, 1, proficiency_item=pair)
        make_item(subtest, state=ItemState.INVALID)
        (row,) = owner.get(url("freeze", project)).context["content"]
        assert (row.name, row.n_valid, row.n_paired) == ("Direction", 3, 1)

    def test_one_line_lists_the_items_left_out(self, owner, project, subtest):
        valid_items(subtest, 1)
        assert "Left out:" not in owner.get(url("freeze", project)).content.decode()
        states = (
            ItemState.IN_VALIDATION,
            ItemState.DISPUTED,
            ItemState.DISPUTED,
            ItemState.INVALID,
            ItemState.REQUEUED,
        )
        for state in (*states, ItemState.RETRACTED):
            make_item(subtest, state=state).foils.update(verdict="invalid")
        # Proficiency items go with their main items, and are no content of their own.
        make_item(make_subtest(project, kind="proficiency"), state=ItemState.INVALID)
        page = owner.get(url("freeze", project)).content.decode()
        assert "Left out: 1 in validation, 2 disputed, 2 invalid." in page

    def test_freezing_stores_the_valid_items(self, owner, project, subtest):
        valid_items(subtest, 3)
        make_item(subtest)
        answer = owner.post(url("freeze", project), {"name": "v1"})
        release = Release.objects.get()
        assert answer["Location"] == url("release", project, release.pk)
        assert (release.name, release.n_items) == ("v1", 3)
        assert AuditEvent.objects.filter(action="evaluation.freeze_release").count() == 1

    def test_freezing_twice_is_one_release(self, owner, project, release):
        answer = owner.post(url("freeze", project), {"name": "v2"}, follow=True)
        assert Release.objects.get() == release
        assert "v1" in answer.content.decode()

    def test_freeze_errors_appear_next_to_the_name(self, owner, project, subtest, release):
        valid_items(subtest, 1)
        answer = owner.post(url("freeze", project), {"name": "v1"})
        assert answer.status_code == 422
        assert "Choose another name" in answer.content.decode()

    def test_with_nothing_valid_there_is_nothing_to_freeze(self, owner, project):
        answer = owner.post(url("freeze", project), {})
        assert answer.status_code == 422
        assert not Release.objects.exists()


class TestRelease:
    def test_it_shows_its_hash_and_its_items(self, owner, project, release):
        page = read_page(owner.get(url("release", project, release.pk)))
        page.check(release.content_hash)
        assert "removed: left" in [element.text for element in page.all("del")]

    def test_the_list_counts_runs(self, owner, project, person, release):
        start_run(person, release, RunRequest("fake:"))
        (row,) = owner.get(url("releases", project)).context["releases"]
        assert (row.name, row.n_runs) == ("v1", 1)

    def test_a_model_is_scored_from_the_form(self, owner, project, release):
        data = {"spec": "fake:7", "label": "Seven", "protocol": "foilworks", "device": "cpu"}
        answer = owner.post(url("release", project, release.pk), data)
        run = Run.objects.get()
        assert answer["Location"] == url("run", project, run.pk)
        assert (run.spec, run.label, run.device, run.job.state) == ("fake:7", "Seven", "cpu", JobState.WAITING)

    @pytest.mark.parametrize(("device", "unfolded"), [("auto", False), ("tpu", True)])
    def test_options_are_folded_unless_one_is_wrong(self, owner, project, release, device, unfolded):
        data = {"spec": "nonsense", "protocol": "foilworks", "device": device}
        html = owner.post(url("release", project, release.pk), data).content.decode()
        options = html[: html.index('name="device"')].rpartition("<details")[2]
        assert options.startswith(' class="disclosure" open>') is unfolded

    def test_every_format_is_offered_and_the_common_ones_first(self, owner, project, release):
        html = owner.get(url("release", project, release.pk)).content.decode()
        shown = re.findall(rf'action="{re.escape(url("release", project, release.pk))}export/([\w-]+)/"', html)
        # One click downloads JSON lines; the menu has all formats.
        direct, *shown = shown
        assert direct == "jsonl"
        assert shown[:4] == ["foilworks", "jsonl", "csv", "hf"]
        assert sorted(shown) == sorted(EXPORTERS)
        more = html.index("More formats")
        assert [html.index(f"/export/{slug}/") < more for slug in shown] == [True] * 4 + [False] * (len(EXPORTERS) - 4)

    @pytest.mark.parametrize(
        "spec", ["nonsense", "nonsense:x", "file:/etc/passwd", "tiny:/etc", "file:../../etc/passwd"]
    )
    def test_an_invalid_model_name_is_reported_next_to_the_field(self, owner, project, release, spec):
        data = {"spec": spec, "protocol": "foilworks", "device": "auto"}
        answer = owner.post(url("release", project, release.pk), data)
        assert answer.status_code == 422
        assert list(answer.context["form"].errors) == ["spec"]
        assert not Run.objects.exists()

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ("clip:", "“clip:” names no model"),
            ("tiny:no-such-model", "There is no model folder no-such-model"),
            ("clip:{root}/gone", "There is no model folder {root}/gone"),
            ("clip:{root}/empty", "The folder {root}/empty has no config.json"),
            ("external:{root}/empty", "The folder {root}/empty has no foilworks.json"),
            ("vlm:owner/name/more", "“owner/name/more” is not a Hugging Face ID"),
            ("clip:two words", "“two words” is not a Hugging Face ID"),
        ],
    )
    def test_a_model_that_cannot_be_there_is_refused_before_a_run_exists(
        self, owner, project, release, settings, tmp_path, spec, message
    ):
        settings.MODEL_ROOT = tmp_path
        (tmp_path / "empty").mkdir()
        data = {"spec": spec.format(root=tmp_path), "protocol": "foilworks", "device": "auto"}
        answer = owner.post(url("release", project, release.pk), data)
        assert answer.status_code == 422
        assert message.format(root=tmp_path) in answer.context["form"].errors["spec"][0]
        assert not Run.objects.exists()

    @pytest.mark.parametrize("offline", [False, True])
    def test_an_offline_machine_refuses_a_hub_id_that_is_not_downloaded(
        self, owner, project, release, monkeypatch, tmp_path, offline
    ):
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
        (tmp_path / "models--owner--there").mkdir()
        refused = offline and connection.vendor == "sqlite"
        for name, status in (("owner/there@main", 302), ("nothing/here", 422 if refused else 302)):
            data = {"spec": f"clip:{name}", "protocol": "foilworks", "device": "auto"}
            assert owner.post(url("release", project, release.pk), data).status_code == status

    def test_the_models_of_the_installation_are_offered_with_size_and_licence(
        self, owner, project, person, release, settings, monkeypatch, tmp_path
    ):
        settings.MODEL_ROOT = tmp_path / "models"
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        folder = tmp_path / "models/demo/average"
        cached = tmp_path / "hub/models--openai--clip/snapshots/abc"
        for one, config in (
            (folder, {"architecture": "average", "card": {"parameters": 95384}}),
            (cached, {"model_type": "clip"}),
            (tmp_path / "models/other", {"model_type": "resnet"}),
        ):
            one.mkdir(parents=True)
            (one / "config.json").write_text(json.dumps(config))
        (cached / "model.safetensors").write_bytes(b"x" * 2048)
        (cached / "README.md").write_text("---\nlicense: mit\n---\n# CLIP")
        # Without video files the run fails; its model was tried all the same.
        with pytest.raises(JobError, match="missing media"):
            scored(person, release, "fake:3")
        models = owner.get(url("release", project, release.pk)).context["form"].suggestions
        assert [(model.spec, model.about.replace("\xa0", " ")) for model in models] == [
            ("fake:3", "scored before"),
            ("tiny:demo/average", "95,384 parameters"),
            ("clip:openai/clip", "2.0 KB, mit"),
            ("fake:", "for trials, without weights"),
        ]

    def test_the_table_has_the_memory_of_the_weights_and_fills_in_the_name(self, owner, project, release, settings):
        folder = settings.MODEL_ROOT / "heads"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text('{"model_type": "clip"}')
        header = json.dumps(
            {"a": {"shape": [512, 1024]}, "b": {"shape": []}, "__metadata__": {"format": "pt"}}
        ).encode()
        (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
        page = owner.get(url("release", project, release.pk))
        (model,) = [one for one in page.context["form"].suggestions if one.spec == "clip:heads"]
        assert (model.size, model.memory.replace("\xa0", " ")) == ("524,289 parameters", "1.0 MB")
        assert 'data-fills="id_spec" value="clip:heads"' in page.content.decode()

    def test_model_names_are_explained_in_a_closed_section(self, owner, project, release):
        html = " ".join(owner.get(url("release", project, release.pk)).content.decode().split())
        folded = html.index("Models that you can score, and how to name them")
        assert html.index("for example clip:openai/clip-vit-base-patch32") < folded
        for kind in ("clip:HUB_ID_OR_FOLDER", "fake:SEED", "vlm:HUB_ID_OR_FOLDER"):
            assert html.index(f'<code class="hash">{kind}</code>') > folded
        data = {"spec": "openai/clip-vit-base-patch32", "protocol": "foilworks", "device": "auto"}
        (complaint,) = owner.post(url("release", project, release.pk), data).context["form"].errors["spec"]
        assert "is not a model name. Start with the kind, as in clip:openai/clip-vit-base-patch32" in complaint
        assert len(complaint) < 150

    def test_the_exports_say_that_they_contain_no_videos(self, owner, project, release):
        assert "These files contain no videos" in owner.get(url("release", project, release.pk)).content.decode()

    def test_models_of_the_installation_are_suggested(self, owner, project, release, settings):
        folder = settings.MODEL_ROOT / "temporal"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text('{"architecture": "temporal"}')
        foreign = settings.MODEL_ROOT / f"projects/{project.pk + 1}/taught/theirs"
        foreign.mkdir(parents=True)
        (foreign / "config.json").write_text('{"architecture": "temporal"}')
        page = owner.get(url("release", project, release.pk))
        assert "tiny:temporal" in read_page(page).options
        assert "theirs" not in page.content.decode()
        # Another project's model does not run, by whichever name; no page has the path of a shared one.
        for spec in (f"tiny:{foreign}", f"tiny:projects/{project.pk + 1}/taught/theirs"):
            data = {"spec": spec, "protocol": "foilworks", "device": "auto"}
            assert owner.post(url("release", project, release.pk), data).status_code == 422
        assert owner.post(url("release", project, release.pk), data | {"spec": "tiny:temporal"}).status_code == 302
        run = Run.objects.get()
        assert run.spec == f"tiny:{folder}"
        assert AuditEvent.objects.get(action="evaluation.start_run").details["spec"] == "tiny:temporal"
        for address in (url("release", project, release.pk), url("run", project, run.pk)):
            text = owner.get(address).content.decode()
            assert (str(settings.MODEL_ROOT) in text, "tiny:temporal" in text) == (False, True), address

    def test_the_best_model_is_first_and_the_unscored_last(self, owner, project, person, watchable):
        waiting = start_run(person, watchable, RunRequest("fake:", label="Waiting"))
        runs = [scored(person, watchable, f"fake:{n}") for n in range(5)]
        standings = owner.get(url("release", project, watchable.pk)).context["standings"]
        assert standings[-1].run == waiting
        values = [standing.overall["T"] for standing in standings[:-1]]
        assert values == sorted(values, reverse=True)
        assert len(set(values)) > 1
        assert {standing.run.pk for standing in standings[:-1]} == {run.pk for run in runs}

    def test_its_chart_is_svg(self, owner, project, person, release):
        scored(person, release)
        response = owner.get(url("release_chart", project, release.pk))
        assert ET.fromstring(response.content).tag.endswith("svg")

    def test_results_of_runs_that_are_over_are_computed_once(
        self, owner, project, person, release, django_assert_max_num_queries
    ):
        for _ in range(3):
            scored(person, release)
        owner.get(url("release", project, release.pk))
        # Session, person, project, roles, release, runs, withheld items, what the gate found, models scored, citation
        # twice, examples with their choice, runs with a ladder.
        for name, most in (("release", 16), ("release_data", 10), ("release_validation", 8), ("leaderboard", 14)):
            owner.get(url(name, project, release.pk))
            with django_assert_max_num_queries(most):
                assert owner.get(url(name, project, release.pk)).status_code == 200


class TestRun:
    def test_results_are_shown_per_subtest_and_overall(self, owner, project, person, release):
        run = scored(person, release)
        context = owner.get(url("run", project, run.pk)).context
        assert [(kind, name, group["n"]) for kind, name, group in context["groups"]] == [
            ("subtest", "Direction", 4),
            ("overall", "overall", 4),
        ]

    def test_files_have_the_same_numbers(self, owner, project, person, release):
        run = scored(person, release)
        results = owner.get(url("run_file", project, run.pk, "json")).json()
        rows = list(csv.DictReader(io.StringIO(owner.get(url("run_file", project, run.pk, "csv")).content.decode())))
        assert float(rows[-1]["T"]) == results["overall"]["T"]
        assert rows[0]["name"] == "Direction"
        chart = owner.get(url("run_file", project, run.pk, "svg"))
        assert chart["Content-Type"] == "image/svg+xml"
        assert owner.get(url("run_file", project, run.pk, "exe")).status_code == 404

    def test_a_waiting_run_polls_and_a_finished_one_reloads_the_page(self, owner, project, person, release):
        run = start_run(person, release, RunRequest("fake:text"))
        progress = url("run_progress", project, run.pk)
        waiting = owner.get(progress)
        assert progress in waiting.content.decode()
        assert "HX-Refresh" not in waiting
        run_now(run.job)
        ended = owner.get(progress)
        assert progress not in ended.content.decode()
        assert ended["HX-Refresh"] == "true"

    def test_items_without_a_file_are_listed(self, owner, project, person, release):
        run = start_run(person, release, RunRequest("fake:1"))
        with pytest.raises(JobError, match="No result for any of 4: missing media"):
            run_now(run.job)
        read_page(owner.get(url("run", project, run.pk))).check("No scores", "Missing media (4)")

    def test_a_run_under_an_earlier_version_of_its_protocol_says_so(self, owner, project, person, release):
        run = start_run(person, release, RunRequest("fake:text", protocol="vilma-2024-code"))
        run_now(run.job)
        said = "This run used an earlier version"
        assert said not in owner.get(url("run", project, run.pk)).content.decode()
        Run.objects.filter(pk=run.pk).update(model_key="fake/text/0@1")
        html = owner.get(url("run", project, run.pk)).content.decode()
        assert said in html
        assert "8 consecutive frames" not in html

    def test_scores_in_an_older_format_are_not_reported_as_missing(self, owner, project, person, release):
        run = start_run(person, release, RunRequest("fake:1"))
        with pytest.raises(JobError, match="missing media"):
            run_now(run.job)
        run.refresh_from_db()
        Run.objects.filter(pk=run.pk).update(params={**run.params, "by_item": True})
        assert "No scores" in owner.get(url("run", project, run.pk)).content.decode()
        key = item_key(release.members.first().record, "main")
        Score.objects.create(
            model_key=run.model_key, protocol=run.protocol, clip_key=key, text_sha256="0" * 64, value=0.5, kind="p_yes"
        )
        html = owner.get(url("run", project, run.pk)).content.decode()
        assert "The scores of this run have an older format" in html
        assert "No scores" not in html


class TestExport:
    @pytest.mark.parametrize("slug", [slug for slug in EXPORTERS if slug not in NEED_MORE])
    def test_every_format_is_downloaded_as_a_zip(self, owner, project, release, slug):
        response = owner.post(url("export", project, release.pk, slug))
        assert response["Content-Disposition"] == f'attachment; filename="shapes-v1-{slug}.zip"'
        archive = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))
        assert archive.testzip() is None
        names = archive.namelist()
        assert names
        assert all(name.startswith(f"shapes-v1-{slug}/") and ".." not in name for name in names)

    def test_a_parameter_of_the_format_is_a_box_to_tick(self, owner, project, release):
        assert 'type="checkbox" name="bom"' in owner.get(url("release", project, release.pk)).content.decode()
        for ticked, begins in (({"bom": "true"}, b"\xef\xbb\xbfid,"), ({}, b"id,")):
            response = owner.post(url("export", project, release.pk, "csv"), ticked)
            archive = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))
            assert archive.read("shapes-v1-csv/records.csv").startswith(begins)

    def test_a_format_without_any_of_the_items_says_so(self, owner, project, release):
        response = owner.post(url("export", project, release.pk, "feint6k"))
        assert response.status_code == 400
        assert "no released item has 5 foils" in response.content.decode()

    def test_the_folder_contains_the_hash_of_the_release(self, owner, project, release):
        response = owner.post(url("export", project, release.pk, "foilworks"))
        archive = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))
        manifest = json.loads(archive.read("shapes-v1-foilworks/manifest.json"))
        assert release.content_hash in json.dumps(manifest)

    def test_a_get_request_starts_no_export(self, owner, project, release):
        assert owner.get(url("export", project, release.pk, "jsonl")).status_code == 405

    def test_an_unknown_format_is_named(self, owner, project, release):
        answer = owner.post(url("export", project, release.pk, "exe"))
        assert answer.status_code == 400
        assert "choose one of" in answer.content.decode()
