"""Pages and an export that tell of the same votes tell the same numbers, whatever became of the items since."""

import pytest
from django.utils import timezone

from evaluation.facts.stored_facts import item_facts, vote_facts
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.releases.freezable import freezable
from evaluation.reports.reports import project_report
from foilworks.core.corpus.models import Foil, Item, MediaState, Subtest, Video
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import Role
from foilworks.site.dashboard.alarms import MIN_PAIRS, alarms_of
from foilworks.site.dashboard.counting import count
from foilworks.site.dashboard.stored_count import StoredCount
from foilworks.site.dashboard.views import context
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.recomputed import Evidence, item_facts_of, recomputed
from tests import factories
from tests.evaluation.test_reports import vote

pytestmark = pytest.mark.django_db

# What three people chose of each pair, by the state that its item is in now.
VOTES = {
    ItemState.VALID: ("caption caption caption", "caption caption foil"),
    ItemState.INVALID: ("foil foil caption", "neither neither neither"),
    ItemState.DISPUTED: ("caption foil both", "caption caption caption"),
    ItemState.REQUEUED: ("foil foil foil", "both both foil"),
    ItemState.IN_VALIDATION: ("caption caption caption", "caption foil"),
    ItemState.RETRACTED: ("caption caption caption", "caption caption caption"),
}


@pytest.fixture
def project():
    made = factories.make_project()
    people = [factories.make_member(made, Role.VALIDATOR) for _ in range(6)]
    subtest = factories.make_subtest(made, foils_per_item=2)
    for state, pairs in VOTES.items():
        caption = factories.make_caption(factories.make_video(made), f"a man folds a shirt, {state}.")
        item = factories.make_item(subtest, caption, (f"{state} one", f"{state} two"), state=state, key=state)
        for place, (foil, choices) in enumerate(zip(item.foils.all(), pairs, strict=True)):
            for person, choice in zip(people[3 * place :], choices.split(), strict=False):
                vote(item, person, choice, foil=foil)
    return made


def exported(project, kind):
    """The table of an export, made of the records and votes in it."""
    content = collect_release(project.releases.get(), tables=False)
    return recomputed(kind, Evidence(content.items, content.votes))


def test_every_page_has_the_same_agreement(project):
    (validation,) = project_report(project, "validation")["subtests"]
    agreement = project_report(project, "agreement")
    (counted,) = count(project)["subtests"]
    # 5 items of the 6: the retracted one is out, and of the requeued one the votes stay.
    assert (agreement["n_items"], agreement["n_units"], agreement["n_votes"]) == (5, 10, 29)
    assert agreement["alpha"] == pytest.approx(validation["alpha_all"])
    assert agreement["alpha"] == pytest.approx(counted["alpha"])
    assert agreement["coding"] == counted["coding"] == validation["alpha_coding"] == "truth"
    assert agreement["alpha_ci"] == pytest.approx(validation["alpha_all_ci"])
    assert agreement["choices"] == validation["votes"]
    assert agreement["n_votes"] == counted["n_votes"] == project_report(project, "position")["n"] + 6


def test_a_subtest_with_counts_of_a_file_has_one_coding_everywhere(project):
    caption = factories.make_caption(factories.make_video(project), "a dog digs.")
    counts = factories.make_item(Subtest.objects.get(), caption, ("a dog eats.",), state=ItemState.VALID, key="counts")
    for index, choice in enumerate(("caption", "other", "other")):
        vote(counts, None, choice, first=None, source="import", import_index=index)
    (validation,) = project_report(project, "validation")["subtests"]
    (counted,) = count(project)["subtests"]
    assert counted["coding"] == validation["alpha_coding"] == "truth3"
    assert counted["alpha"] == pytest.approx(validation["alpha_all"])
    found = {**count(project), "subtests": [{**counted, "n_pairs": MIN_PAIRS}]}
    shown = context(project, StoredCount({**found, "alarms": alarms_of(found)}, timezone.now()))["alarms"]
    assert "coding truth3." in next(alarm.text for alarm in shown if alarm.code == "agreement")


@pytest.mark.parametrize("kind", ["agreement", "position", "validation"])
def test_numbers_computed_from_an_export_equal_those_of_the_page(project, kind):
    freeze_release(None, project)
    pages, made = project_report(project, kind), exported(project, kind)
    if kind == "validation":
        pages, made = pages["overall"], made["overall"]
    assert pages["n_items" if kind != "position" else "n"]
    # People stand under pseudonyms there. A file of votes has none without the clip.
    for name in pages.keys() - {"pairs", "annotators", "without_clip"}:
        assert made[name] == pytest.approx(pages[name]), name


def test_votes_on_an_item_that_is_retracted_leave_every_table_of_an_export_too(project):
    """It is in the release, so that the export holds its votes; no table tells of them."""
    Item.objects.filter(state=ItemState.RETRACTED).update(state=ItemState.VALID)
    freeze_release(None, project)
    Item.objects.filter(key=ItemState.RETRACTED).update(state=ItemState.RETRACTED)
    content = collect_release(project.releases.get(), tables=False)
    assert any(vote.item.endswith(ItemState.RETRACTED) for vote in content.votes)
    assert exported(project, "agreement")["n_votes"] == project_report(project, "agreement")["n_votes"] == 29
    assert exported(project, "position")["n"] == project_report(project, "position")["n"]


def test_items_requeued_before_a_takedown_appear_nowhere(project):
    requeued = Item.objects.get(state=ItemState.REQUEUED)
    Foil.objects.filter(item=requeued).update(verdict="invalid")
    assert count(project)["subtests"][0]["n_invalid"] == freezable(project)[0].n_invalid == 2
    Video.objects.filter(pk=requeued.video_id).update(media_state=MediaState.TAKEN_DOWN)
    (counted,) = count(project)["subtests"]
    assert counted["n_invalid"] == freezable(project)[0].n_invalid == 1
    agreement, validation = project_report(project, "agreement"), project_report(project, "validation")["overall"]
    assert (agreement["n_items"], agreement["n_votes"], counted["n_votes"], validation["n_items"]) == (4, 23, 23, 4)
    assert agreement["alpha"] == pytest.approx(counted["alpha"])
    assert counted["js_all"] == pytest.approx(project_report(project, "divergence")["js"])


def test_the_votes_of_a_subtest_are_those_of_its_existing_items(project):
    assert len(vote_facts(project, project.subtests.get()).choice) == len(vote_facts(project).choice) == 29


@pytest.mark.parametrize(
    ("rule", "verdicts", "refused"),
    [
        (Subtest.ValidWhen.ALL, "valid invalid", True),
        (Subtest.ValidWhen.ALL, "valid valid", False),
        (Subtest.ValidWhen.ALL, "valid disputed", False),
        (Subtest.ValidWhen.ALL, "invalid pending", False),
        (Subtest.ValidWhen.ENOUGH, "invalid invalid", True),
        (Subtest.ValidWhen.ENOUGH, "valid invalid", False),
    ],
)
def test_an_item_requeued_with_its_caption_does_not_count_as_rejected(rule, verdicts, refused):
    """Its validators had found it valid, or had not said: it is neither invalid nor one of the unanimous."""
    made = factories.make_project()
    subtest = factories.make_subtest(made, foils_per_item=2, valid_when=rule)
    for state, found in ((ItemState.REQUEUED, verdicts.split()), (ItemState.VALID, ["valid", "valid"])):
        unanimous = set(found) == {"valid"}
        caption = factories.make_caption(factories.make_video(made), f"a man folds a shirt, {state}.")
        item = factories.make_item(subtest, caption, ("one", "two"), state=state, key=state, unanimous=unanimous)
        for foil, verdict in zip(item.foils.all(), found, strict=True):
            Foil.objects.filter(pk=foil.pk).update(verdict=verdict)
    counted = count(made)
    assert counted["subtests"][0]["n_invalid"] == freezable(made)[0].n_invalid == int(refused)
    assert (counted["funnel"]["items"], counted["funnel"]["judged"]) == (2, 1 + refused)
    whole = project_report(made, "validation")["overall"]
    assert (whole["n_items"], whole["n_valid"], whole["n_unanimous"]) == (2, 1, 1)
    facts = {row.id: (row.valid, row.unanimous) for row in item_facts(made)}
    assert facts[f"{subtest.name}:requeued"] == ((False, False) if refused else (None, None))
    freeze_release(None, made)
    content = collect_release(made.releases.get(), tables=False)
    assert {row.id: (row.valid, row.unanimous) for row in item_facts_of(content.items, content.votes)} == facts
    assert recomputed("validation", Evidence(content.items, content.votes))["overall"]["n_unanimous"] == 1
