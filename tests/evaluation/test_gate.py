"""The gate of a release: what it stops, which words it names, and what becomes of an override."""

import json
import random
import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.blind.actions.score_texts import score_blind
from evaluation.blind.actions.set_limits import set_blind_limits
from evaluation.blind.scores import preferences_of, scorers_of
from evaluation.errors import EvaluationError
from evaluation.facts.stored_facts import item_facts
from evaluation.releases.actions.freeze_release import ItemSelection, freeze_release
from evaluation.releases.gate import inspect
from evaluation.releases.models import ReleaseGate
from evaluation.releases.snapshot import frozen_items
from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.models import Score
from foilworks.core.corpus.export_formats import foilworks
from foilworks.core.corpus.models import Caption, Release
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from foilworks.core.projects.pseudonyms import pseudonym
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.verify import verify
from generation.errors import GenerationError
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db
REASON = "the verbs of this collection cannot be balanced; reported beside every result"


@pytest.fixture
def project():
    return make_project(blind_bar=0.6)


@pytest.fixture
def researcher(project):
    return make_member(project, Role.RESEARCHER)


def fill(subtest, pairs):
    """Make an item per pair. Which ones are left out follows from their keys: the same in each run of the tests."""
    for n, (caption, foil) in enumerate(pairs, subtest.items.count()):
        key = f"{subtest.name}-{n}"
        row = make_caption(make_video(subtest.project, key=key), f"{caption} on day {n}.", key=key)
        make_item(subtest, row, (f"{foil} on day {n}.",), key=key, state=ItemState.VALID)


def asked(scorer):
    """Its job, run here, as often as it takes."""
    Job.objects.filter(pk=scorer.job_id).update(state=JobState.WAITING)
    return run_now(Job.objects.get(pk=scorer.job_id))


@pytest.fixture
def planted(project):
    """Captions fold, foils tear: one word tells them apart."""
    subtest = make_subtest(project, name="planted")
    fill(subtest, [("a man folds a shirt", "a man tears a shirt")] * 30)
    return subtest


@pytest.fixture
def balanced(project):
    subtest = make_subtest(project, name="balanced")
    fill(subtest, [("a dog sits", "a dog lies"), ("a dog lies", "a dog sits")] * 20)
    return subtest


def test_a_planted_subtest_stops_the_release_and_its_words_are_named(project, researcher, planted, balanced):
    with pytest.raises(EvaluationError) as stopped:
        freeze_release(researcher, project)
    said = str(stopped.value)
    assert "planted is solved without the video (solver 100%, the limit is 60%)" in said
    assert "folds (captions)" in said
    assert "tears (foils)" in said
    assert "balanced is solved" not in said
    assert not Release.objects.exists()


def test_an_override_is_in_the_audit_log_and_in_the_exported_datasheet(project, researcher, planted, tmp_path):
    release = freeze_release(researcher, project, override=f"  {REASON}\n")
    event = AuditEvent.objects.get(action="evaluation.override_gate")
    assert (event.actor, event.reason, event.details["stopped"]) == (researcher, REASON, ["planted"])
    assert "tears (foils)" in event.details["why"]
    content = collect_release(release)
    foilworks.write(content, tmp_path / "out", params={})
    sheet = (tmp_path / "out" / "datasheet.md").read_text(encoding="utf-8")
    assert f"> {REASON}" in sheet
    assert f"By {pseudonym(project, researcher.pk)}" in sheet
    assert researcher.username not in sheet
    assert "**solved without the video**" in sheet
    assert "Words that give **planted** away: folds (captions), tears (foils)." in sheet
    table = json.loads((tmp_path / "out" / "tables" / "gate.json").read_text(encoding="utf-8"))
    assert table["override"]["reason"] == REASON
    assert verify(tmp_path / "out")["ok"]


def test_a_reason_has_a_minimum_length_and_counts_only_if_needed(project, researcher, planted):
    with pytest.raises(EvaluationError, match="at least 20 characters"):
        freeze_release(researcher, project, override="because")
    set_blind_limits(researcher, project, 1.0, {})
    release = freeze_release(researcher, project, override=REASON)
    assert release.gate.override == ""
    assert not AuditEvent.objects.filter(action="evaluation.override_gate").exists()
    assert collect_release(release).gate["override"] is None


def test_the_limit_of_a_subtest_takes_precedence_over_the_projects(project, researcher, planted, balanced):
    set_blind_limits(researcher, project, 0.6, {planted.pk: 1.0})
    assert freeze_release(researcher, project).gate.data["stopped"] == []
    event = AuditEvent.objects.get(action="evaluation.set_blind_bars")
    assert event.details == {"changes": {"planted": [None, 1.0]}}
    with pytest.raises(EvaluationError, match=r"between 0\.5"):
        set_blind_limits(researcher, project, 0.4, {})
    with pytest.raises(EvaluationError, match="another project"):
        set_blind_limits(researcher, project, 0.6, {make_subtest(make_project()).pk: 0.7})
    with pytest.raises(AccessDenied):
        set_blind_limits(make_member(project, Role.REVIEWER), project, 0.9, {})


def test_length_alone_can_stop_a_release(project, researcher):
    subtest = make_subtest(project, name="long")
    short, long = ("a dog sits", "a dog lies down there"), ("a dog lies", "a dog sits down there")
    fill(subtest, [short, long] * 15)
    row = inspect(project, [one.record for one in frozen_items(project)]).rows[0]
    (solver,) = row["probes"]
    assert (solver["probe"], solver["value"], solver["over"]) == ("solver", 1.0, True)


def test_too_few_captions_give_no_result(project, researcher):
    fill(make_subtest(project, name="few"), [("a man folds a shirt", "a man tears a shirt")] * 5)
    release = freeze_release(researcher, project)
    (row,) = release.gate.data["rows"]
    assert (row["too_few"], row["stopped"]) == (True, False)


def test_a_probe_without_a_value_exceeds_no_limit(project):
    fill(make_subtest(project, name="one"), [("a man folds a shirt there", "a man tears a shirt")])
    row = inspect(project, [one.record for one in frozen_items(project)]).rows[0]
    (solver,) = row["probes"]
    assert (solver["value"], solver["ci"], solver["over"]) == (None, None, False)


def test_equal_content_is_inspected_once_per_limit(project, planted, monkeypatch):
    records = [one.record for one in frozen_items(project)]
    first = inspect(project, records)
    monkeypatch.setattr("evaluation.releases.gate.judge", None)
    assert inspect(project, records) == first
    monkeypatch.undo()
    project.blind_bar = 1.0
    project.save()
    assert inspect(project, records).stopped == []


def test_the_command_names_the_obstacle_and_accepts_a_reason(project, planted, capsys):
    with pytest.raises(SystemExit) as left:
        call_command("release", "--project", project.slug)
    assert left.value.code == 1
    assert "planted is solved without the video" in capsys.readouterr().err
    call_command("release", "--project", project.slug, "--override", REASON, "--json")
    assert json.loads(capsys.readouterr().out)["n_items"] == 30
    assert ReleaseGate.objects.get().overridden_by is None
    assert collect_release(Release.objects.get()).gate["override"]["by"] == "the operator"


class TestBalanced:
    @pytest.fixture
    def lopsided(self, project):
        """60 times on -> in, 30 times in -> on, and 10 of a word without a counterpart: 70 of 100 are answered."""
        subtest = make_subtest(project, name="relations")
        pairs = [("it is on", "it is in")] * 60 + [("it is in", "it is on")] * 30 + [("it is at", "it is in")] * 10
        # In this order, the number of the day would tell the answer.
        random.Random(0).shuffle(pairs)
        fill(subtest, pairs)
        return subtest

    def test_items_are_left_out_until_their_texts_do_not_tell_and_the_datasheet_notes_it(
        self, project, researcher, lopsided, tmp_path
    ):
        set_blind_limits(researcher, project, 0.55, {})
        with pytest.raises(EvaluationError, match="relations is solved without the video"):
            freeze_release(researcher, project)
        release = freeze_release(researcher, project, selection=ItemSelection(balance=["relations"]))
        gate, n_kept = release.gate.data, release.n_items
        assert gate["stopped"] == []
        assert gate["verdict"] != "fail"
        assert 50 <= n_kept == 100 - len(gate["selection"]["removed"]) < 90
        assert AuditEvent.objects.get(action="evaluation.freeze_release").details["balanced"] == {
            "relations": {"n": 100, "n_kept": n_kept}
        }
        foilworks.write(collect_release(release), tmp_path / "out", params={})
        sheet = (tmp_path / "out" / "datasheet.md").read_text(encoding="utf-8")
        assert f"Balanced: {n_kept} of 100 valid items of **relations** are released." in sheet
        assert f"(relations: {n_kept} of 100 items remain). {100 - n_kept} items were removed by chance, with" in sheet
        assert all(probe in sheet for probe in gate["selection"]["probes"])

    def test_balance_is_computed_again_over_what_people_accepted(self, project, researcher, balanced):
        """Each replacement and its opposite were made equally often; people accept one of them only."""
        assert inspect(project, [one.record for one in frozen_items(project)]).stopped == []
        balanced.items.filter(caption__text__startswith="a dog lies").update(state=ItemState.INVALID)
        with pytest.raises(EvaluationError, match="balanced is solved without the video") as stopped:
            freeze_release(researcher, project)
        assert "sits (captions)" in str(stopped.value)
        with pytest.raises(EvaluationError, match="balanced cannot be balanced: at most 0 of 20"):
            freeze_release(researcher, project, selection=ItemSelection(balance=["balanced"]))

    def test_a_subtest_that_cannot_be_balanced_is_reported(self, project, researcher, planted):
        with pytest.raises(EvaluationError, match="planted cannot be balanced: at most 0 of 30"):
            freeze_release(researcher, project, selection=ItemSelection(balance=["planted"]))
        with pytest.raises(EvaluationError, match="no valid item"):
            freeze_release(researcher, project, selection=ItemSelection(balance=["nowhere"]))

    def test_the_page_offers_it_with_the_number_that_remains(self, client, project, researcher, lopsided):
        set_blind_limits(researcher, project, 0.55, {})
        client.force_login(researcher)
        path = reverse("releases:freeze", args=[project.slug])
        n_kept = re.search(r"relations: (\d+) / 100", client.get(path).content.decode())[1]
        client.post(path, {"balance": ["relations"]})
        assert str(Release.objects.get().n_items) == n_kept


class TestLanguageModel:
    """The fake text model: every word has a cost by its letters, so that a preference can be planted."""

    def test_its_preference_is_stored_once_and_used_by_the_gate(self, project, researcher, balanced):
        scorer = score_blind(researcher, project, "fake:text")
        assert asked(scorer).state == JobState.DONE
        values = dict(Score.objects.values_list("text_sha256", "value"))
        assert len(values) == 80
        (found,) = preferences_of(project, item_facts(project))
        # In a balanced pair of swaps the likelier word wins every time it stands in the caption: one in two.
        assert found["found"]["overall"]["preference"] == 0.5
        assert found["found"]["overall"]["valid"]["n_pairs"] == 40
        row = inspect(project, [one.record for one in frozen_items(project)]).rows[0]
        assert [probe["probe"] for probe in row["probes"]] == ["solver", "text"]
        before = Score.objects.count()
        assert asked(scorer).state == JobState.DONE
        assert Score.objects.count() == before

    def test_only_new_texts_are_scored(self, project, researcher, balanced):
        scorer = score_blind(researcher, project, "fake:text")
        assert asked(scorer).state == JobState.DONE
        Score.objects.update(value=-1.0)
        fill(balanced, [("a cat sits", "a cat lies")])
        assert asked(scorer).state == JobState.DONE
        assert Score.objects.filter(value=-1.0).count() == 80
        assert Score.objects.count() == 82

    @pytest.fixture
    def sure(self, project, researcher, balanced):
        """A model that finds each of the 40 captions likelier than its foil."""
        asked(score_blind(researcher, project, "fake:text"))
        Score.objects.update(value=-1.0)
        captions = Caption.objects.filter(items__subtest=balanced).values_list("text", flat=True)
        Score.objects.filter(text_sha256__in=[text_key(text) for text in captions]).update(value=0.0)

    @staticmethod
    def forget(n, texts):
        """All but the first n texts are not scored yet."""
        Score.objects.filter(text_sha256__in=[text_key(text) for text in texts[n:]]).delete()

    def gate_of(self, project, name):
        finding = inspect(project, [one.record for one in frozen_items(project)])
        row = next(row for row in finding.rows if row["name"] == name)
        return row, next(probe for probe in row["probes"] if probe["probe"] == "text")

    @pytest.mark.parametrize(("n_read", "stops"), [(40, True), (20, True), (19, False), (2, False), (1, False)])
    def test_a_model_with_too_few_scores_stops_nothing(self, project, sure, n_read, stops):
        self.forget(n_read, list(Caption.objects.order_by("pk").values_list("text", flat=True)))
        row, probe = self.gate_of(project, "balanced")
        assert (probe["value"], probe["over"], probe["n_missing"]) == (1.0, stops, 40 - n_read)
        assert (row["stopped"], row["unread"]) == (stops, n_read < 40)

    def test_texts_added_after_scoring_are_not_passed(self, client, project, researcher, sure, tmp_path):
        set_blind_limits(researcher, project, 1.0, {})
        fill(make_subtest(project, name="newer"), [("a cat sits", "a cat lies"), ("a cat lies", "a cat sits")] * 10)
        row, probe = self.gate_of(project, "newer")
        assert (probe["value"], probe["over"], probe["n_missing"]) == (None, False, 20)
        assert (row["stopped"], row["unread"]) == (False, True)
        client.force_login(researcher)
        frozen = client.get(reverse("releases:freeze", args=[project.slug])).content.decode()
        audit = client.get(reverse("reports:report", args=[project.slug, "blind"])).content.decode()
        for html in (frozen, audit):
            assert "passes on the scored pairs" in html
            assert "20 pairs not scored" in html
        foilworks.write(collect_release(freeze_release(researcher, project)), tmp_path / "out", params={})
        sheet = (tmp_path / "out" / "datasheet.md").read_text(encoding="utf-8")
        assert "text (not asked about 20 pairs) | passed on the scored pairs |" in sheet

    def test_a_model_whose_job_has_no_scores_yet_is_listed_as_well(self, project, sure):
        Score.objects.all().delete()
        row, probe = self.gate_of(project, "balanced")
        assert (probe["value"], probe["n_missing"], row["unread"]) == (None, 40, True)

    def test_a_model_that_reads_videos_is_not_blind(self, project, researcher, balanced):
        scorer = score_blind(researcher, project, "fake:")
        with pytest.raises(EvaluationError, match="reads videos"):
            asked(scorer)

    def test_who_may_score_with_which_model(self, project, researcher):
        with pytest.raises(AccessDenied):
            score_blind(make_member(project, Role.VALIDATOR), project, "fake:text")
        with pytest.raises(GenerationError, match="neither a model of this project nor a shared one"):
            score_blind(researcher, project, "lm:/etc")
        first = score_blind(researcher, project, "fake:text")
        assert score_blind(researcher, project, "fake:text").job == first.job
        assert scorers_of(project) == [first]


class TestPages:
    @pytest.fixture
    def owner(self, client, researcher):
        client.force_login(researcher)
        return client

    def test_the_audit_shows_before_and_after_with_intervals_and_gate_results(self, owner, project, planted):
        for n in range(3):
            make_item(planted, make_caption(make_video(project), f"a cat sits {n}."), state=ItemState.INVALID)
        answer = owner.get(reverse("reports:report", args=[project.slug, "blind"]))
        html = " ".join(answer.content.decode().split())
        (row,) = answer.context["rows"]
        assert (row["before"]["n_items"], row["after"]["n_items"]) == (33, 30)
        assert "solved without the video" in html
        assert "<strong>folds</strong>" in html
        assert row["after"]["solver_accuracy"] == 1.0
        low, high = row["after"]["ci"]
        assert f"[{100 * low:.1f}, {100 * high:.1f}] %" in html
        chart = owner.get(reverse("reports:report_chart", args=[project.slug, "blind", "solved"]))
        assert b"after validation" in chart.content
        table = owner.get(reverse("reports:report_file", args=[project.slug, "blind", "csv"])).content.decode()
        assert table.splitlines()[1].startswith("planted,all,33,")
        assert table.splitlines()[2].startswith(f"planted,valid,30,1.0,{low},1.0,")

    def test_limits_and_language_models_are_set_there(self, owner, project, planted):
        fields = {"bar": "0.7", f"subtest-{planted.pk}": "0.9"}
        owner.post(reverse("blind:blind_bars", args=[project.slug]), fields)
        project.refresh_from_db()
        planted.refresh_from_db()
        assert (project.blind_bar, planted.blind_bar) == (0.7, 0.9)
        wrong = owner.post(reverse("blind:blind_bars", args=[project.slug]), {"bar": "0.2"})
        assert (wrong.status_code, list(wrong.context["form"].errors)) == (422, ["bar"])
        for spec in ("", "lm:two words", "nonsense:x"):
            wrong = owner.post(reverse("blind:blind_scorer", args=[project.slug]), {"spec": spec})
            assert (wrong.status_code, list(wrong.context["form"].errors)) == (422, ["spec"])
        owner.post(reverse("blind:blind_scorer", args=[project.slug]), {"spec": "fake:text"})
        assert asked(scorers_of(project)[0]).state == JobState.DONE
        page = owner.get(reverse("reports:report", args=[project.slug, "blind"])).content.decode()
        assert '<th scope="col" class="num">text</th>' in page

    def test_freezing_shows_the_closed_gate_and_asks_for_the_reason(self, owner, project, planted):
        path = reverse("releases:freeze", args=[project.slug])
        assert "The release gate is closed" in owner.get(path).content.decode()
        refused = owner.post(path, {"name": "v1"})
        assert refused.status_code == 422
        assert "tears (foils)" in refused.content.decode()
        done = owner.post(path, {"name": "v1", "override": REASON}, follow=True)
        assert done.status_code == 200
        release = Release.objects.get()
        assert release.gate.override == REASON
        page = owner.get(reverse("releases:release_validation", args=[project.slug, release.pk])).content.decode()
        assert "Released although the gate was closed" in page

    def test_an_open_gate_needs_no_reason(self, owner, project, balanced):
        html = owner.get(reverse("releases:freeze", args=[project.slug])).content.decode()
        assert 'name="override"' not in html
        assert "passes" in html
