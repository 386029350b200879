"""The evidence ladder of a run and of a release: pages, files, lists of items, and releases of selected items."""

import csv
import io
import json

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.errors import EvaluationError
from evaluation.ladder.ladders import ladder_of_release, ladder_of_run, ladder_runs
from evaluation.releases.actions.freeze_release import ItemSelection, freeze_release
from evaluation.scoring.actions.import_scores import import_scores
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.models import Foil
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import AuditEvent
from foilworks.core.text.registry import load
from foilworks.site.exports.collect import collect_release
from foilworks.site.publishing.actions.set_public_page import set_public_page
from tests.evaluation.ladders import make_laddered
from tests.factories import make_caption, make_item, make_project, make_subtest, make_video
from tests.pages import read_page

pytestmark = pytest.mark.django_db
N = 24
EVERY_RUNG = ("no_clip", "other_clip", "first_frame", "middle_frame", "best_frame", "shuffled", "reversed", "full")


@pytest.fixture
def project():
    return make_project(slug="shapes")


@pytest.fixture
def release(project, person):
    for name in ("Left", "Right"):
        subtest = make_subtest(project, name=name)
        for _ in range(N // 2):
            video = make_video(project)
            caption = make_caption(video, f"a dog runs past number {video.pk}.")
            foil = f"a dog walks past number {video.pk}."
            make_item(subtest, caption, (foil,), state=ItemState.VALID)
    return freeze_release(person, project, name="v1", override="the words are those of a test of ladders")


def names(release):
    return [record["id"] for record in release.members.order_by("position").values_list("record", flat=True)]


def planted(release, rungs=EVERY_RUNG):
    """{rung: ids}: items 0 to 7 are solved by words, up to 15 from one frame, up to 19 shuffled, up to 22 in order."""
    ids = names(release)
    reach = {"no_clip": 8, "other_clip": 8, "first_frame": 12, "middle_frame": 14, "best_frame": 16}
    reach |= {"shuffled": 20, "reversed": 20, "full": 23}
    return {rung: ids[: reach[rung]] for rung in rungs}


@pytest.fixture
def run(person, release):
    return make_laddered(person, release, planted(release))


def page(owner, name, *args, **query):
    return owner.get(reverse(name, args=["shapes", *args]), query)


def listed(owner, **query):
    return {row.caption.text for row in page(owner, "items:items", **query).context["listing"].page.rows}


class TestRun:
    def test_the_parts_are_those_of_the_planted_items(self, run):
        found = ladder_of_run(run)
        assert (found["overall"]["n"], found["overall"]["chance"]) == (N, 0.5)
        assert [round(N * row["T"]) for row in found["overall"]["rungs"].values()] == [8, 8, 12, 14, 16, 20, 20, 23]
        assert [round(N * part["value"]) for part in found["overall"]["parts"]] == [-4, 8, 4, 3]
        assert found["needs"]["counts"] == {"unsolved": 1, "words": 8, "picture": 8, "frames": 4, "order": 3}

    def test_the_page_says_what_the_score_needs(self, owner, run):
        shown = page(owner, "ladder:run_ladder", run.pk)
        text = shown.content.decode()
        assert shown.status_code == 200
        assert shown.context["conclusion"] in text
        read_page(text).check(
            "The order of frames makes no detectable difference (12.5 points [0.0",
            "33.3 points [16.7, 54.2] of this score need one frame.",
        )
        assert text.count("<svg") >= 1
        assert shown.context["conclusion"] in page(owner, "scoring:run", run.pk).content.decode()

    def test_files_hold_the_same_numbers(self, owner, run):
        found = page(owner, "ladder:run_ladder_file", run.pk, "json").json()
        assert found["overall"]["rungs"]["full"]["T"] == pytest.approx(23 / 24)
        rows = list(csv.DictReader(io.StringIO(page(owner, "ladder:run_ladder_file", run.pk, "csv").content.decode())))
        assert [row["group"] for row in rows[:: len(EVERY_RUNG)]] == ["Left", "Right", "overall"]
        assert float(rows[-1]["T"]) == pytest.approx(23 / 24)
        assert page(owner, "ladder:run_ladder_file", run.pk, "svg").content.startswith(b"<?xml")
        assert page(owner, "ladder:run_ladder_file", run.pk, "pdf").status_code == 404

    def test_a_run_without_controls_offers_them(self, owner, person, release):
        plain = start_run(person, release, RunRequest("fake:text"))
        run_now(plain.job)
        assert ladder_of_run(plain) is None
        assert (
            reverse("ladder:add_controls", args=["shapes", plain.pk])
            in page(owner, "ladder:run_ladder", plain.pk).content.decode()
        )
        assert page(owner, "ladder:run_ladder_file", plain.pk, "json").status_code == 404
        assert page(owner, "ladder:release_ladder", release.pk).status_code == 200

    def test_parts_join_where_a_rung_has_no_scores(self, owner, person, release):
        run = make_laddered(person, release, planted(release, ("no_clip", "shuffled", "full")))
        parts = ladder_of_run(run)["overall"]["parts"]
        assert [part["parts"] for part in parts] == [["words"], ["picture", "frames"], ["order"]]
        assert (
            "come from these together: One frame, More frames."
            in page(owner, "ladder:run_ladder", run.pk).content.decode()
        )

    def test_without_lower_rungs_the_page_says_what_solves_items_and_not_what_they_need(self, owner, person, release):
        run = make_laddered(person, release, planted(release, ("shuffled", "full")))
        shown = page(owner, "ladder:run_ladder", run.pk)
        assert [(slug, str(label)) for slug, label, _ in shown.context["needs"]] == [
            ("frames", "solved from shuffled frames"),
            ("order", "solved with the full clip only"),
            ("unsolved", "not solved"),
        ]
        assert shown.context["luck"] is None
        assert "Show items that need the order" not in shown.content.decode()

    def test_a_run_whose_rungs_have_no_scores_yet_has_no_ladder(self, owner, person, release):
        run = make_laddered(person, release, planted(release, ("full",)))
        run.params = {**run.params, "ladder": {"rungs": ["no_clip", "shuffled"], "tried": 3}}
        run.save()
        assert ladder_of_run(run) is None
        assert ladder_runs(release) == []
        assert "Items by what they need" not in page(owner, "ladder:run_ladder", run.pk).content.decode()


class TestItems:
    def test_items_are_listed_by_need_and_by_rung(self, owner, run, release):
        captions = [
            record["caption"] for record in release.members.order_by("position").values_list("record", flat=True)
        ]
        assert listed(owner, ladder=run.pk, need="order") == set(captions[20:23])
        assert listed(owner, ladder=run.pk, need="picture") == set(captions[8:16])
        assert listed(owner, ladder=f"release-{release.pk}", need="unsolved") == {captions[23]}
        assert listed(owner, ladder=run.pk, rung="not shuffled") == set(captions[20:])
        assert listed(owner, ladder=run.pk, rung="first_frame", need="picture") == set(captions[8:12])
        assert len(listed(owner, ladder="0", need="order")) == N

    def test_the_list_reads_as_much_for_any_number_of_items(self, owner, run):
        def queries(need):
            with CaptureQueriesContext(
                connection,
            ) as found:
                page(owner, "items:items", ladder=run.pk, need=need)
            return len(found)

        queries("order")
        assert queries("words") == queries("unsolved") <= 20


class TestBenchmark:
    def test_some_model_solves_what_any_solves(self, person, release, run):
        ids = names(release)
        make_laddered(person, release, dict.fromkeys(planted(release), ids[20:]), label="other")
        found = ladder_of_release(release)
        shares = {rung: round(N * row["share"]) for rung, row in found["overall"]["rungs"].items()}
        assert shares == {"no_clip": 12, "best_frame": 20, "shuffled": 24, "full": 24}
        assert found["overall"]["luck"] == 0.75
        assert found["needs"]["counts"]["order"] == 0
        assert [row["n"] for row in found["subtests"].values()] == [12, 12]

    def test_models_without_the_whole_chain_do_not_narrow_it(self, person, release, run):
        make_laddered(person, release, planted(release, ("no_clip", "full")), label="partial")
        assert [one.pk for one in ladder_runs(release)] == [run.pk]

    def test_the_card_is_on_the_pages_of_the_release(self, client, owner, person, release, run):
        title, share = "What this benchmark measures", "95.8 %"
        for shown in (page(owner, "releases:release", release.pk), page(owner, "ladder:release_ladder", release.pk)):
            assert title in shown.content.decode()
            assert share in shown.content.decode()
        assert "Guesses alone would solve 50.0 %." in page(owner, "ladder:release_ladder", release.pk).content.decode()
        assert "This is not detectably more than guesses alone would solve (50.0 %)." in (
            page(owner, "ladder:release_ladder", release.pk).content.decode()
        )
        public = set_public_page(person, release, is_open=True, takes_scores=False, offers_export=False)
        client.logout()
        shown = client.get(reverse("publishing:public_release", args=[public.key])).content.decode()
        assert title in shown
        assert share in shown
        assert reverse("ladder:release_ladder", args=["shapes", release.pk]) not in shown

    def test_an_export_has_the_table_in_its_datasheet(self, release, run, tmp_path):
        content = collect_release(release)
        load(EXPORTERS["foilworks"]).write(content, tmp_path / "out", params={})
        table = json.loads((tmp_path / "out/tables/ladder.json").read_text())
        assert table["models"] == [{"model": "model", "model_key": "model@1", "protocol": "foilworks"}]
        assert "| overall | 33.3 % [16.7, 54.2] |" in (tmp_path / "out/datasheet.md").read_text()
        call_command("verify", str(tmp_path / "out"))


class TestSelection:
    def test_a_release_keeps_the_items_that_need_the_order(self, owner, person, project, release, run):
        frozen = freeze_release(person, project, selection=ItemSelection(needs="order"), name="ordered")
        assert names(frozen) == names(release)[20:23]
        chosen = frozen.gate.data["needs"]
        assert chosen["needs"] == "order"
        assert sum(row["n_kept"] for row in chosen["subtests"].values()) == 3
        assert chosen["luck"] == 0.25
        assert AuditEvent.objects.filter(action="evaluation.freeze_release").latest("pk").details["needs"] == chosen
        notice = "Items were selected with the scores of model: its score here is too high."
        for name in ("releases:release", "board:leaderboard"):
            assert notice in page(owner, name, frozen.pk).content.decode()
        assert notice not in page(owner, "releases:release", release.pk).content.decode()

    def test_manifest_and_datasheet_say_so(self, person, project, release, run, tmp_path):
        frozen = freeze_release(person, project, selection=ItemSelection(needs="clip"))
        load(EXPORTERS["foilworks"]).write(collect_release(frozen), tmp_path / "out", params={})
        manifest = json.loads((tmp_path / "out/manifest.json").read_text())
        assert manifest["selected"]["needs"] == "clip"
        assert "the scores of model: its score here is too high" in manifest["selected"]["note"]
        assert "Selected items:" in (tmp_path / "out/datasheet.md").read_text()

    def test_items_that_were_not_scored_as_they_are_now_do_not_qualify(self, owner, person, project, release, run):
        changed = release.members.get(position=21)
        Foil.objects.filter(item=changed.item).update(text="a dog sleeps.")
        new = make_item(changed.item.subtest, state=ItemState.VALID)
        offer = page(owner, "releases:freeze").context["ladder"]
        assert {need: each.n_kept for need, each in offer.selections.items()} == {"clip": 14, "frames": 6, "order": 2}
        assert offer.selections["order"].n_unknown == 2
        frozen = freeze_release(person, project, selection=ItemSelection(needs="order", ladder_runs=[run.pk]))
        assert frozen.n_items == 2
        assert new.pk not in frozen.members.values_list("item", flat=True)

    def test_the_form_shows_what_remains_and_selects(self, owner, project, release, run):
        shown = page(owner, "releases:freeze")
        assert "items that need the order of frames: 3 / 24" in shown.content.decode()
        data = {"name": "by form", "needs": "frames", "ladder_runs": [run.pk]}
        answer = owner.post(reverse("releases:freeze", args=["shapes"]), data)
        assert answer.status_code == 302
        assert project.releases.get(name="by form").n_items == 7

    @pytest.mark.parametrize(
        ("needs", "runs", "why"),
        [
            ("order", [0], "no run 0"),
            ("clip", "plain", "has no ladder"),
            ("order", "partial", "lack rungs"),
            ("x", [], "x"),
        ],
    )
    def test_what_cannot_be_selected_is_refused(self, person, project, release, run, needs, runs, why):
        others = {
            "plain": lambda: start_run(person, release, RunRequest("fake:text")),
            "partial": lambda: make_laddered(person, release, planted(release, ("no_clip", "full")), label="p"),
        }
        chosen = [others[runs]().pk] if isinstance(runs, str) else runs
        with pytest.raises(EvaluationError, match=why):
            freeze_release(person, project, selection=ItemSelection(needs=needs, ladder_runs=chosen))

    def test_without_a_ladder_nothing_can_be_selected(self, owner, person, project, release):
        assert page(owner, "releases:freeze").context["ladder"] is None
        with pytest.raises(EvaluationError, match="No run has a ladder yet"):
            freeze_release(person, project, selection=ItemSelection(needs="clip"))


class TestCommand:
    def test_the_ladder_of_a_run_is_printed(self, run, capsys):
        call_command("ladder", "--run", str(run.pk), "--items", "needs_order")
        out = capsys.readouterr().out
        assert "The order of frames makes no detectable difference" in out
        assert out.rstrip().splitlines()[-3:] == names(run.release)[20:23]

    def test_items_are_not_listed_if_lower_rungs_have_no_scores(self, person, release, capsys):
        run = make_laddered(person, release, planted(release, ("shuffled", "full")))
        with pytest.raises(SystemExit):
            call_command("ladder", "--run", str(run.pk), "--items", "needs_order")
        assert "no scores for Texts alone, One frame; score these rungs" in capsys.readouterr().err

    def test_the_ladder_of_a_release_as_json(self, run, capsys):
        call_command("ladder", "--release", str(run.release_id), "--json")
        found = json.loads(capsys.readouterr().out)
        assert found["overall"]["rungs"]["full"]["share"] == pytest.approx(23 / 24)

    def test_a_release_of_the_command_line_says_what_remains(self, run, capsys):
        options = ("--needs", "order", "--ladder-runs", str(run.pk))
        call_command("release", "--project", "shapes", *options)
        out, err = capsys.readouterr()
        assert "its score here is too high" in out
        assert "Right: 3 of 12 items need it" in err

    @pytest.mark.parametrize("asked", [("--run", "0"), ("--release", "v1")])
    def test_nothing_to_show_is_an_error(self, release, asked, capsys):
        with pytest.raises(SystemExit):
            call_command("ladder", *asked)
        assert "foilworks evaluate" in capsys.readouterr().err


class TestRungs:
    def test_a_file_of_one_rung_joins_the_ladder(self, owner, person, release, tmp_path):
        def file(rung):
            rows = [{"id": name, "caption": float(name in rung), "foils": [0.5]} for name in names(release)]
            return ContentFile("\n".join(map(json.dumps, rows)).encode(), name="scores.jsonl")

        solved = planted(release)
        run = import_scores(person, release, SimpleUploadedFile("s.jsonl", file(solved["full"]).read()), form="auto")
        run_now(run.job)
        assert "Import scores of a rung" in page(owner, "ladder:run_ladder", run.pk).content.decode()
        url = reverse("ladder:run_ladder", args=["shapes", run.pk])
        assert owner.post(url, {"rung": "no_clip", "scores": file(solved["no_clip"])}).status_code == 302
        run_now(Run.objects.get(pk=run.pk).job)
        found = page(owner, "ladder:run_ladder", run.pk)
        assert [row["slug"] for row in found.context["rungs"]] == ["no_clip", "full"]
        assert owner.post(url, {"rung": "full"}).status_code == 422

    def test_the_button_scores_the_rungs_of_a_model(self, owner, person, release):
        run = start_run(person, release, RunRequest("fake:text"))
        run_now(run.job)
        url = reverse("ladder:add_controls", args=["shapes", run.pk])
        assert owner.post(url).status_code == 302
        run_now(Run.objects.get(pk=run.pk).job)
        overall = page(owner, "ladder:run_ladder", run.pk).context["ladder"]
        assert len({row["T"] for row in overall["rungs"].values()}) == 1
        assert set(overall["rungs"]) == set(EVERY_RUNG)

    def test_an_evaluation_with_controls_says_what_the_score_needs(self, release, capsys):
        call_command("evaluate", "model", "fake:text", "--release", str(release.pk), "--controls", "--sync")
        assert "The order of frames makes no detectable difference (0.0 points" in capsys.readouterr().out
