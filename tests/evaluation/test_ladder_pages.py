"""The evidence ladder of a run and of a release: pages, files, lists of items, and releases of selected items."""

import csv
import io
import json
from html import unescape

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evaluation.errors import EvaluationError
from evaluation.ladder.ladders import ladder_of_release, ladder_of_run, ladder_runs
from evaluation.ladder.wording import need_headline
from evaluation.metrics import need_evidence
from evaluation.metrics.need_evidence import FALSE_SHARE
from evaluation.releases.actions.freeze_release import ItemSelection, freeze_release
from evaluation.scoring.actions.import_scores import import_scores
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.models import Foil, Release
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
        for number in range(N // 2):
            video = make_video(project)
            # Each word is right as often as wrong, so that no solver of texts answers the items.
            right, wrong = ("runs", "walks") if number % 2 else ("walks", "runs")
            caption = make_caption(video, f"a dog {right} past number {video.pk}.")
            foil = f"a dog {wrong} past number {video.pk}."
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


SOLVED_BY_WORDS = 4
# Of twelve models; more would take long to store.
FEW_LOOKS = 3.0


@pytest.fixture
def models(person, release, monkeypatch):
    """Models that answer four items from their texts and the others from the order of frames, and guess with less."""
    monkeypatch.setattr(need_evidence, "MIN_LOOKS", FEW_LOOKS)
    random = np.random.default_rng(0)
    ids = names(release)
    guesses = {label: {rung: random.random(N) < 0.5 for rung in EVERY_RUNG[:-1]} for label in range(12)}
    return [
        make_laddered(
            person,
            release,
            {"full": ids, **{rung: [*ids[:SOLVED_BY_WORDS], *_at(ids, hits)] for rung, hits in by_rung.items()}},
            label=f"model {label}",
        )
        for label, by_rung in guesses.items()
    ]


def _at(ids, hits):
    return [name for name, hit in zip(ids[SOLVED_BY_WORDS:], hits[SOLVED_BY_WORDS:], strict=True) if hit]


def escaped(response):
    return unescape(response.content.decode())


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

    def test_every_page_has_the_same_sentence_about_the_benchmark(self, owner, run, release):
        shown = page(owner, "ladder:run_ladder", run.pk)
        measured = shown.context["measured"]
        assert [round(part["share"], 2) for part in measured["overall"]["parts"]] == [0.0, 0.36, 0.36, 0.27]
        pages = [
            shown,
            page(owner, "scoring:run", run.pk),
            page(owner, "releases:release", release.pk),
            page(owner, "ladder:release_ladder", release.pk),
            page(owner, "releases:freeze"),
            page(owner, "dashboard:dashboard"),
        ]
        assert [measured["headline"] in escaped(found) for found in pages] == [True] * len(pages)
        read_page(shown.content.decode()).check("33.3 points [16.7, 54.2] of this score need one frame.")

    def test_files_hold_the_same_numbers(self, owner, run):
        found = page(owner, "ladder:run_ladder_file", run.pk, "json").json()
        assert found["overall"]["rungs"]["full"]["T"] == pytest.approx(23 / 24)
        rows = list(csv.DictReader(io.StringIO(page(owner, "ladder:run_ladder_file", run.pk, "csv").content.decode())))
        assert [row["group"] for row in rows[:: len(EVERY_RUNG)]] == ["Left", "Right", "overall"]
        assert float(rows[-1]["T"]) == pytest.approx(23 / 24)
        for name, pk in (("ladder:run_ladder_file", run.pk), ("ladder:release_ladder_file", run.release_id)):
            assert page(owner, name, pk, "svg").content.startswith(b"<?xml")
            assert page(owner, name, pk, "tex").content.startswith(b"\\begin{tikzpicture}")
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

    def test_a_run_whose_rungs_have_no_scores_yet_has_no_ladder(self, owner, person, release):
        run = make_laddered(person, release, planted(release, ("full",)))
        run.params = {**run.params, "ladder": {"rungs": ["no_clip", "shuffled"], "tried": 3}}
        run.save()
        assert ladder_of_run(run) is None
        assert ladder_runs(release) == []
        assert "measured" not in page(owner, "ladder:run_ladder", run.pk).context


class TestItems:
    def test_items_are_listed_by_need_and_by_rung(self, owner, run, release):
        captions = [
            record["caption"] for record in release.members.order_by("position").values_list("record", flat=True)
        ]
        assert listed(owner, ladder=run.pk, need="order") == set()
        assert listed(owner, ladder=run.pk, rung="not shuffled") == set(captions[20:])
        assert listed(owner, ladder=run.pk, rung="first_frame") == set(captions[:12])
        assert len(listed(owner, ladder="0", need="order")) == N

    def test_the_list_reads_as_much_for_any_number_of_items(self, owner, run):
        def queries(need):
            with CaptureQueriesContext(
                connection,
            ) as found:
                page(owner, "items:items", ladder=run.pk, need=need)
            return len(found)

        queries("order")
        assert queries("clip") == queries("frames") <= 24


class TestBenchmark:
    def test_a_model_at_luck_gives_no_evidence_for_a_need(self, person, release, run):
        alone = ladder_of_release(release)["overall"]
        make_laddered(person, release, {rung: names(release)[::2] for rung in EVERY_RUNG}, label="guesser")
        overall = ladder_of_release(release)["overall"]
        assert (overall["leaders"], overall["guessers"]) == (["model"], ["guesser"])
        assert [part["share"] for part in overall["parts"]] == [part["share"] for part in alone["parts"]]

    def test_a_solver_above_luck_without_the_clip_counts_against_a_need(self, person, release, run):
        make_laddered(person, release, dict.fromkeys(EVERY_RUNG, names(release)[:22]), label="reader of texts")
        overall = ladder_of_release(release)["overall"]
        assert overall["against"]["words"]["solver"] == "reader of texts"
        assert overall["parts"][0]["share"] > 0.8
        assert overall["parts"][-1]["shown"] is False

    def test_models_without_the_whole_chain_do_not_narrow_it(self, person, release, run):
        make_laddered(person, release, planted(release, ("no_clip", "full")), label="partial")
        assert [one.pk for one in ladder_runs(release)] == [run.pk]

    def test_the_card_is_on_the_public_page(self, client, owner, person, release, run):
        headline = page(owner, "ladder:release_ladder", release.pk).context["measured"]["headline"]
        public = set_public_page(person, release, is_open=True, takes_scores=False, offers_export=False)
        client.logout()
        shown = client.get(reverse("publishing:public_release", args=[public.key]))
        assert headline in escaped(shown)
        assert reverse("ladder:release_ladder", args=["shapes", release.pk]) not in shown.content.decode()

    def test_an_export_has_the_table_in_its_datasheet(self, release, run, tmp_path):
        content = collect_release(release)
        load(EXPORTERS["foilworks"]).write(content, tmp_path / "out", params={})
        table = json.loads((tmp_path / "out/tables/ladder.json").read_text())
        assert table["models"] == [{"model": "model", "model_key": "model@1", "protocol": "foilworks"}]
        share, (low, high) = table["overall"]["parts"][1]["share"], table["overall"]["parts"][1]["ci"]
        cell = f"{100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        assert cell in (tmp_path / "out/datasheet.md").read_text()
        assert (tmp_path / "out/figures/ladder.svg").is_file()
        call_command("verify", str(tmp_path / "out"))


class TestSelection:
    def test_what_is_supported_is_the_same_everywhere(self, owner, release, models, capsys):
        ids, captions = names(release), [member.record["caption"] for member in release.members.order_by("position")]
        changed = release.members.get(position=21)
        assert listed(owner, ladder=f"release-{release.pk}", need="order") == set(captions[SOLVED_BY_WORDS:])
        call_command("ladder", "--release", str(release.pk), "--items", "needs_order", "--json")
        found = json.loads(capsys.readouterr().out)
        assert found["items"] == ids[SOLVED_BY_WORDS:]
        assert found["evidence"]["needs"]["order"]["supported"] == N - SOLVED_BY_WORDS
        # An item that is not as it was scored does not qualify.
        Foil.objects.filter(item=changed.item).update(text="a dog sleeps.")
        make_item(changed.item.subtest, state=ItemState.VALID)
        offer = page(owner, "releases:freeze").context["ladder"]
        kept = {need: selection.n_kept for need, selection in offer.possible.items()}
        assert kept == dict.fromkeys(("clip", "frames", "order"), N - SOLVED_BY_WORDS - 1)
        assert sum(row.n_unknown for row in offer.possible["order"].subtests) == 2
        data = {"name": "by form", "needs": "frames", "override": "words of a test of ladders"}
        assert owner.post(reverse("releases:freeze", args=["shapes"]), data).status_code == 302
        assert Release.objects.get(name="by form").n_items == N - SOLVED_BY_WORDS - 1

    def test_a_release_keeps_supported_items_and_marks_their_models(self, owner, person, release, models, tmp_path):
        call_command("release", "--project", "shapes", "--needs", "order", "--name", "ordered")
        frozen = Release.objects.get(name="ordered")
        assert names(frozen) == names(release)[SOLVED_BY_WORDS:]
        selection = frozen.gate.data["needs"]
        assert (selection["needs"], selection["false_share"]) == ("order", FALSE_SHARE)
        assert selection["looks"] >= FEW_LOOKS
        assert AuditEvent.objects.filter(action="evaluation.freeze_release").latest("pk").details["needs"] == selection
        reported = start_run(person, frozen, RunRequest("fake:", label="model 0"))
        Run.objects.filter(pk=reported.pk).update(model_key=models[0].model_key, scored_at=timezone.now())
        board = page(owner, "board:leaderboard", frozen.pk)
        assert board.content.decode().count("optimistic: selected the items") == 1
        load(EXPORTERS["foilworks"]).write(collect_release(frozen), tmp_path / "out", params={})
        manifest = json.loads((tmp_path / "out/manifest.json").read_text())
        assert manifest["selected"]["needs"] == "order"
        assert "are optimistic" in manifest["selected"]["note"]
        assert "Selected items:" in (tmp_path / "out/datasheet.md").read_text()

    def test_with_few_looks_the_form_offers_looks_and_no_selection(self, owner, run):
        shown = page(owner, "releases:freeze")
        assert shown.context["ladder"].possible == {}
        assert "needs" not in shown.context["form"].fields
        assert shown.context["may_add"] == [run]
        assert reverse("ladder:add_controls", args=["shapes", run.pk]) in shown.content.decode()

    @pytest.mark.parametrize(
        ("needs", "runs", "why"),
        [
            ("order", [0], "no run 0"),
            ("clip", "plain", "has no ladder"),
            ("order", [], "independent answers"),
            ("x", [], "x"),
        ],
    )
    def test_what_cannot_be_selected_is_refused(self, person, project, release, run, needs, runs, why):
        selecting_runs = [start_run(person, release, RunRequest("fake:text")).pk] if runs == "plain" else runs
        with pytest.raises(EvaluationError, match=why):
            freeze_release(person, project, selection=ItemSelection(needs=needs, ladder_runs=selecting_runs))

    def test_without_a_ladder_nothing_can_be_selected(self, owner, person, project, release):
        assert page(owner, "releases:freeze").context["ladder"] is None
        with pytest.raises(EvaluationError, match="No run has a ladder yet"):
            freeze_release(person, project, selection=ItemSelection(needs="clip"))


class TestCommand:
    def test_the_ladder_of_a_run_is_printed(self, run, capsys):
        call_command("ladder", "--run", str(run.pk))
        assert "The order of frames makes no detectable difference" in capsys.readouterr().out

    def test_items_are_not_named_with_few_looks(self, run, capsys):
        with pytest.raises(SystemExit):
            call_command("ladder", "--run", str(run.pk), "--items", "needs_order")
        assert "independent answers" in capsys.readouterr().err

    def test_the_ladder_of_a_release_is_printed(self, run, capsys):
        call_command("ladder", "--release", str(run.release_id))
        assert need_headline(ladder_of_release(run.release)) in capsys.readouterr().out

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


class TestThoughts:
    """Two runs of one model, at once and after a thought, in one picture."""

    @pytest.fixture
    def runs(self, person, release):
        ids = names(release)
        after = {"no_clip": ids[:8], "best_frame": ids[:18], "full": ids}
        specs = {
            "endpoint:lab/m?frames=4&thinking=off": planted(release, ("no_clip", "best_frame", "shuffled", "full")),
            "endpoint:lab/m?thinking=read&max_tokens=512&frames=4": after,
            # Other frames, and a server that is not told how to think: no pairs.
            "endpoint:lab/m?thinking=read&frames=8": after,
            "endpoint:lab/m?frames=4": after,
        }
        runs = [make_laddered(person, release, solved, label=f"m {n}") for n, solved in enumerate(specs.values())]
        for run, run.spec in zip(runs, specs, strict=True):
            run.save()
        return runs

    def test_rungs_of_both_are_side_by_side(self, owner, release, runs):
        shown = page(owner, "ladder:release_ladder", release.pk)
        (pair,) = shown.context["pairs"]
        assert pair["runs"] == [runs[0].pk, runs[1].pk]
        assert (pair["how"], pair["n"]) == (["at once", "thinking=read, max_tokens=512"], N)
        counts = [
            (row["rung"], [round(N * value) for value in row["T"]], round(N * row["gap"])) for row in pair["rungs"]
        ]
        # Only the first was shown shuffled frames.
        assert counts == [("no_clip", [8, 8], 0), ("best_frame", [16, 18], 2), ("full", [23, 24], 1)]
        text = shown.content.decode()
        assert "With and without a thought: m 0" in text
        drawing = text[text.index("<h2>With and without a thought") :]
        assert drawing.count("<svg") >= 1
        assert "at once: 33.3\u202f%" in pair["alt"]
        file = page(owner, "ladder:release_ladder_file", release.pk, "json").json()
        assert [row["T"] for row in file["thoughts"][0]["rungs"]] == [row["T"] for row in pair["rungs"]]

    def test_a_model_without_a_partner_has_no_picture(self, owner, release, runs):
        runs[0].spec = "endpoint:lab/m?frames=4&thinking=off&temperature=0.5"
        runs[0].save()
        shown = page(owner, "ladder:release_ladder", release.pk)
        assert shown.context["pairs"] == []
        assert "With and without a thought" not in shown.content.decode()
