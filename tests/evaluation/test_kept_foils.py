"""What an item is left with where enough of its pairs are valid: one answer for models, people, reports and balance."""

from collections import Counter

import pytest

from annotation.actions.claims.claim import claim
from annotation.actions.studies import open_baseline
from annotation.actions.submissions.judgements import submit_choice
from annotation.models import Lease, Stage, Vote
from annotation.queries.cards import baseline_work
from annotation.rules.baseline import CAPTION
from evaluation.analyses.agreement_data import ONE_CATEGORY
from evaluation.analyses.analysis_inputs import valid_part
from evaluation.analyses.words import js_divergence
from evaluation.facts.stored_facts import item_facts
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.reports import project_report
from evaluation.utd.measuring import _sentences
from foilworks.core.corpus.models import DROPPED_OUT, Foil, Subtest
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState, drops_out
from foilworks.core.projects.models import Role
from foilworks.core.text.tokens import words
from foilworks.site.dashboard.counting import count
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.recomputed import Evidence, item_facts_of, recomputed
from foilworks.site.invariants.items import an_item_is_what_its_pairs_say
from generation.models import Selection
from generation.selections.open_candidates import pool_of
from tests import factories

pytestmark = pytest.mark.django_db

CHOICES = {
    "valid": ("caption", "caption", "caption"),
    "disputed": ("caption", "foil", "neither"),
    "invalid": ("foil", "foil", "caption"),
}
CAPTION_TEXT, VALID_FOIL = "a man folds a shirt.", "a man unfolds a shirt."
TEXTS = {"valid": VALID_FOIL, "disputed": "it rains.", "invalid": "a man folds a shirt there."}


@pytest.fixture
def researcher():
    return factories.make_member(factories.make_project(), Role.RESEARCHER)


@pytest.fixture
def project(researcher):
    return researcher.memberships.get().project


@pytest.fixture
def item(project):
    """Three pairs, of which one is enough: one valid, one that nobody settled, one invalid."""
    return make_item(project, "valid", "disputed", "invalid")


def make_item(project, *verdicts, state=ItemState.VALID, **fields):
    """An item with a foil of each verdict and the votes behind it."""
    rule = {"foils_per_item": len(verdicts), "valid_when": Subtest.ValidWhen.ENOUGH, **fields}
    foils = tuple(TEXTS.get(verdict, verdict) for verdict in verdicts)
    made = factories.make_item(factories.make_subtest(project, **rule), foils=foils, state=state)
    for foil, verdict in zip(made.foils.all(), verdicts, strict=True):
        Foil.objects.filter(pk=foil.pk).update(verdict=verdict)
        for choice in CHOICES.get(verdict, ()):
            person = factories.make_member(project, Role.VALIDATOR)
            Vote.objects.create(item=made, foil=foil, person=person, choice=choice, idempotency_key=f"k{person.pk}")
    return made


def released(item):
    return freeze_release(None, item.subtest.project).members.get(item=item).record


def kept(items):
    return {row.id: (row.foils, row.tallies) for row in valid_part(items)}


@pytest.mark.parametrize("state", ItemState)
def test_query_and_rule_agree_on_every_verdict_in_every_state(project, state):
    made = factories.make_item(factories.make_subtest(project), foils=tuple(FoilVerdict), state=state)
    for verdict in FoilVerdict:
        Foil.objects.filter(item=made, text=verdict).update(verdict=verdict)
    out = {verdict for verdict in FoilVerdict if drops_out(verdict, state)}
    assert set(Foil.objects.filter(DROPPED_OUT).values_list("verdict", flat=True)) == out
    assert out == ({"invalid", "disputed"} if state == ItemState.VALID else {"invalid"})


def test_released_items_are_those_that_reports_call_valid(item, project):
    assert released(item)["foils"] == [VALID_FOIL]
    (facts,) = item_facts(project)
    assert (len(facts.foils), len(facts.tallies)) == (3, 3)
    content = collect_release(project.releases.get())
    assert kept([facts]) == {facts.id: ((VALID_FOIL,), ((3, 0, 0, 0, 0),))}
    assert kept(item_facts_of(content.items, content.votes)) == kept([facts])


def test_all_pages_show_the_same_number_of_valid_items(item, project):
    (row,) = project_report(project, "validation")["subtests"]
    (counted,) = count(project)["subtests"]
    expected = pytest.approx(js_divergence(Counter(words(CAPTION_TEXT)), Counter(words(VALID_FOIL))))
    assert row["js_valid"] == counted["js_valid"] == project_report(project, "divergence")["js_valid"] == expected
    assert project_report(project, "blind")["overall"]["valid"]["n_pairs"] == 1
    # The pair that is left has three votes for its caption; the other two pairs have the spread.
    assert (row["alpha_valid"], row["alpha_valid_reason"]) == (None, ONE_CATEGORY)
    assert row["alpha_all"] is not None


def test_people_choose_among_the_texts_that_models_are_scored_on(item, project, researcher):
    open_baseline(researcher, project)
    person = factories.make_member(project, Role.ANNOTATOR)
    lease = Lease.objects.get(token=claim(person, project, Stage.BASELINE).token)
    shown = baseline_work(lease.task, lease).texts
    assert sorted(shown) == sorted([CAPTION_TEXT, *released(item)["foils"]])


def test_texts_shown_before_can_still_be_chosen(item, project, researcher):
    open_baseline(researcher, project)
    person = factories.make_member(project, Role.ANNOTATOR)
    work = claim(person, project, Stage.BASELINE)
    disputed = item.foils.get(verdict=FoilVerdict.DISPUTED)
    Lease.objects.filter(token=work.token).update(order_shown=[disputed.pk, CAPTION])
    lease = Lease.objects.get(token=work.token)
    assert baseline_work(lease.task, lease).texts == (disputed.text, CAPTION_TEXT)
    assert submit_choice(person, work.token, "key", 1).foil == disputed


def test_an_item_is_asked_with_its_remaining_texts(project, researcher):
    made = make_item(project, *["valid"] * 9, "disputed")
    assert open_baseline(researcher, project) == 0
    Foil.objects.filter(item=made, position=0).update(verdict=FoilVerdict.DISPUTED)
    assert open_baseline(researcher, project) == 1


def test_descriptions_are_compared_with_the_remaining_texts(item):
    assert _sentences(item) == [CAPTION_TEXT, VALID_FOIL]


def test_a_balance_is_found_among_the_remaining_foils(item, project):
    imported = pool_of(Selection(project=project, subtest=item.subtest)).fixed
    assert [pair.foil for pair in imported] == [VALID_FOIL]
    group = factories.make_group(factories.make_run(item.subtest), item.caption)
    for foil in item.foils.all():
        factories.make_candidate(group, foil.text, state="accepted", foil=foil)
    made_here = pool_of(Selection(project=project, subtest=item.subtest)).fixed
    assert [pair.foil for pair in made_here] == [VALID_FOIL]


class TestProficiency:
    """The pair of a main item is told of by the same rule."""

    def main_with(self, pair):
        subtest = factories.make_subtest(pair.subtest.project, votes_wanted=0, votes_needed=0)
        caption = factories.make_caption(pair.video, "a man folds a blue shirt.")
        return factories.make_item(
            subtest, caption, ("a man folds a red shirt.",), state=ItemState.VALID, proficiency_item=pair
        )

    def test_a_model_scores_the_remaining_texts_of_a_valid_pair(self, project):
        main = self.main_with(make_item(project, "invalid", "valid", "disputed", kind=Subtest.Kind.PROFICIENCY))
        pair = released(main)["proficiency"]
        assert (pair["foils"], pair["foil_positions"], pair["valid"]) == ([VALID_FOIL], [1], True)

    def test_reports_and_their_recomputation_use_the_same_foils(self, project):
        self.main_with(make_item(project, "invalid", "valid", "disputed", kind=Subtest.Kind.PROFICIENCY))
        (row,) = project_report(project, "validation")["subtests"]
        js = js_divergence(Counter(words(CAPTION_TEXT)), Counter(words(VALID_FOIL)))
        assert row["proficiency"]["js_valid"] == pytest.approx(js)
        content = collect_release(freeze_release(None, project))
        assert recomputed("validation", Evidence(content.items, content.votes))["subtests"] == [row]

    @pytest.mark.parametrize("state", [ItemState.IN_VALIDATION, ItemState.INVALID, ItemState.DISPUTED])
    def test_an_invalid_pair_keeps_every_text(self, project, state):
        pair = make_item(project, "invalid", "valid", "disputed", kind=Subtest.Kind.PROFICIENCY, state=state)
        record = released(self.main_with(pair))["proficiency"]
        assert record["foils"] == [TEXTS["invalid"], VALID_FOIL, TEXTS["disputed"]]
        assert "foil_positions" not in record
        (facts,) = item_facts(project)
        assert list(facts.proficiency.foils) == record["foils"]


@pytest.mark.parametrize("fields", [{"valid_when": "all"}, {"votes_wanted": 0, "votes_needed": 0}])
@pytest.mark.parametrize("verdicts", [("valid", "valid"), ("pending", "pending")])
def test_an_item_without_a_rejected_pair_keeps_all_of_them(project, researcher, fields, verdicts):
    """Every pair valid, as where all have to be, and items that nobody was asked about."""
    made = make_item(project, *verdicts, **fields)
    texts = [foil.text for foil in made.foils.all()]
    assert released(made)["foils"] == texts
    assert [list(row.foils) for row in valid_part(item_facts(project))] == [texts]
    assert open_baseline(researcher, project) == 1
    work = claim(factories.make_member(project, Role.ANNOTATOR), project, Stage.BASELINE)
    assert len(Lease.objects.get(token=work.token).order_shown) == 3


@pytest.mark.parametrize("state", [ItemState.IN_VALIDATION, ItemState.INVALID, ItemState.DISPUTED])
def test_an_invalid_item_keeps_every_text(project, state):
    made = make_item(project, "valid", "disputed", "invalid", state=state)
    factories.make_item(factories.make_subtest(project), state=ItemState.VALID)
    content = collect_release(freeze_release(None, project))
    (record,) = [row for row in content.items if row["id"].endswith(made.key)]
    assert len(record["foils"]) == 3


def test_the_items_of_these_tests_are_lawful(item):
    assert list(an_item_is_what_its_pairs_say()) == []
