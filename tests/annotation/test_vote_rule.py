"""The votes that a pair takes can be changed until somebody has been shown one: places follow, and nothing later."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.leases.leasing import release
from annotation.actions.settings.work_settings import set_vote_rule
from annotation.actions.workflow.groups import assemble
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.errors import AnnotationError
from annotation.models import Slot, Stage, Task, TaskState
from annotation.rules.voting import VoteRule
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent
from generation.models import CandidateGroup
from tests import factories
from tests.annotation.world import World, make_world
from tests.invariants import broken_invariants
from tests.pages import read_page

TWO = VoteRule(wanted=2, needed=2)


@pytest.fixture
def world(db) -> World:
    """Three votes are wanted, two needed."""
    return make_world(name="direction")


def places(world: World) -> list[int]:
    tasks = Task.objects.filter(project=world.project, stage=Stage.VALIDATION).order_by("pk")
    return [task.slots.filter(state="free").count() for task in tasks]


def change(world: World, rule: VoteRule = TWO) -> Subtest:
    subtest = set_vote_rule(world.owner, world.subtest, rule)
    world.subtest.refresh_from_db()
    return subtest


class TestBeforeAnybodyHasSeenAPair:
    @pytest.mark.parametrize(("wanted", "needed"), [(1, 1), (2, 2), (5, 3)])
    def test_waiting_pairs_get_as_many_slots_and_follow_the_rule(self, world: World, wanted: int, needed: int):
        items = [world.item(), world.item("a man irons a shirt.", "a man tears a shirt.")]
        make_tasks(world.project)
        assert places(world) == [3, 3, 3]
        change(world, VoteRule(wanted=wanted, needed=needed))
        assert places(world) == [wanted] * 3
        assert broken_invariants() == []
        late = world.item()
        make_tasks(world.project)
        assert places(world) == [wanted] * 4
        assert {item.state for item in (*items, late)} == {"in_validation"}

    def test_two_judges_end_what_three_were_wanted_for(self, world: World):
        item = world.item()
        make_tasks(world.project)
        change(world)
        world.vote("vera")
        world.vote("vic")
        item.refresh_from_db()
        assert (item.state, item.unanimous) == ("valid", True)
        assert claim(world.val, world.project, Stage.VALIDATION) is None
        assert broken_invariants() == []

    def test_all_of_the_rule_is_stored_with_one_row_that_says_what_was(self, world: World):
        world.item()
        make_tasks(world.project)
        made = change(world, VoteRule(wanted=4, needed=3, all_pairs=False, pairs_enough=2, stop_early=True))
        assert (made.votes_wanted, made.votes_needed, made.valid_when) == (4, 3, "enough")
        assert (made.foils_enough, made.stop_early) == (2, True)
        row = AuditEvent.objects.get(action="set_vote_rule")
        assert (row.actor, row.target_id) == (world.owner, str(made.pk))
        assert (row.details["before"]["wanted"], row.details["rule"]["wanted"], row.details["pairs"]) == (3, 4, 1)

    def test_other_subtests_and_finished_tasks_keep_their_slots(self, world: World):
        world.item()
        other = factories.make_subtest(world.project)
        factories.make_item(other, foils=("a man unfolds a shirt.",))
        cancelled = world.item()
        make_tasks(world.project)
        Task.objects.filter(item=cancelled).update(state=TaskState.CANCELLED)
        Slot.objects.filter(item=cancelled).update(state="cancelled")
        change(world)
        found = dict(Task.objects.values_list("item__subtest__name", "overlap").exclude(item=cancelled))
        assert found == {"direction": 2, other.name: 3}
        assert Task.objects.get(item=cancelled).overlap == 3
        assert broken_invariants() == []

    def test_an_item_that_was_taken_out_does_not_fix_it(self, world: World):
        factories.make_item(world.subtest, foils=("a man unfolds a shirt.",), state="retracted")
        assert change(world).votes_wanted == 2

    def test_no_vote_at_all_while_there_is_no_item(self, world: World):
        assert change(world, VoteRule(wanted=0, needed=0)).votes_wanted == 0
        assert world.made_item().state == "valid"

    def test_its_cost_does_not_grow_with_the_pairs(self, world: World, django_assert_max_num_queries):
        for _ in range(30):
            world.item()
        make_tasks(world.project)
        with django_assert_max_num_queries(24):
            change(world)


class TestWhyNot:
    def refused(self, world: World, why: str, rule: VoteRule = TWO) -> None:
        before = places(world)
        with pytest.raises(AnnotationError, match=why):
            change(world, rule)
        world.subtest.refresh_from_db()
        assert (world.subtest.votes_wanted, places(world)) == (3, before)
        assert not AuditEvent.objects.filter(action="set_vote_rule").exists()

    def test_a_pair_was_shown_though_it_was_skipped(self, world: World):
        world.item()
        make_tasks(world.project)
        work = world.claim("vera", Stage.VALIDATION)
        self.refused(world, "Someone has already seen a pair of this subtest")
        release(world.vera, work.token)
        self.refused(world, "Someone has already seen a pair of this subtest")

    def test_items_were_decided_without_a_vote(self, world: World):
        factories.make_item(world.subtest, foils=("a man unfolds a shirt.",), state="valid")
        self.refused(world, "Items of this subtest are already decided")

    def test_items_wait_and_no_vote_is_asked_for(self, world: World):
        world.item()
        self.refused(world, "Items of this subtest are waiting for votes", VoteRule(wanted=0, needed=0))

    def test_a_rule_that_no_vote_can_satisfy(self, world: World):
        self.refused(world, "more than the votes per pair", VoteRule(2, 3))

    @pytest.mark.parametrize(
        "rule", [VoteRule(100, 2), VoteRule(2, -1), VoteRule(2, 2, pairs_enough=0), VoteRule(2, 2, pairs_enough=100)]
    )
    def test_impossible_numbers_are_rejected(self, world: World, rule: VoteRule):
        self.refused(world, "Set 0 to 99 votes per pair and a minimum of 1 to 99 valid pairs", rule)

    @pytest.mark.parametrize("name", ["ann", "rita", "vera"])
    def test_only_researchers(self, world: World, name: str):
        with pytest.raises(AccessDenied):
            set_vote_rule(getattr(world, name), world.subtest, TWO)


class TestAnOldRuleInHand:
    """What happens in the very moment: test_parallel.py."""

    def accepted(self, world: World) -> CandidateGroup:
        """A group whose foil was accepted, with the subtest as it is now."""
        group = world.group()
        group.candidates.update(state="accepted")
        return CandidateGroup.objects.select_related("run__subtest__project", "run__project").get(pk=group.pk)

    def test_an_item_made_under_the_old_rule_gets_the_slots_of_the_new_one(self, world: World):
        stale = self.accepted(world)
        change(world)
        assert stale.run.subtest.votes_wanted == 3
        assemble(stale, None, timezone.now())
        assert places(world) == [2]
        assert broken_invariants() == []

    def test_votes_that_are_wanted_since_are_wanted_of_it(self, world: World):
        change(world, VoteRule(wanted=0, needed=0))
        stale = self.accepted(world)
        change(world)
        assert stale.run.subtest.votes_wanted == 0
        assert assemble(stale, None, timezone.now()).state == "in_validation"
        assert places(world) == [2]
        assert broken_invariants() == []


class TestPage:
    def url(self, world: World) -> str:
        return reverse("annotation:vote_rule", args=[world.project.slug, world.subtest.pk])

    @pytest.fixture
    def browser(self, world: World) -> Client:
        client = Client()
        client.force_login(world.owner)
        return client

    def test_a_changed_rule_is_stored_and_said(self, world: World, browser: Client):
        form = {"votes_wanted": 2, "votes_needed": 2, "valid_when": "all", "foils_enough": 1}
        listed = browser.post(self.url(world), form, follow=True)
        world.subtest.refresh_from_db()
        assert (world.subtest.votes_wanted, world.subtest.stop_early) == (2, False)
        text = listed.content.decode()
        read_page(text).check("Vote rule of direction saved.", "2 of 2 votes")
        assert self.url(world) in text

    @pytest.mark.parametrize(("field", "number"), [("votes_wanted", 100), ("votes_needed", -1), ("foils_enough", 0)])
    def test_an_impossible_number_is_reported_beside_its_field(self, world, browser, field: str, number: int):
        form = {"votes_wanted": 3, "votes_needed": 2, "valid_when": "all", "foils_enough": 1, field: number}
        answer = browser.post(self.url(world), form)
        assert answer.status_code == 422
        assert list(answer.context["form"].errors) == [field]

    def test_a_rule_that_no_vote_can_satisfy_stays_in_the_form(self, world: World, browser: Client):
        form = {"votes_wanted": 2, "votes_needed": 3, "valid_when": "all", "foils_enough": 1}
        answer = browser.post(self.url(world), form)
        assert answer.status_code == 422
        assert "Lower this number or raise the votes per pair" in answer.content.decode()
        assert answer.context["form"]["votes_needed"].value() == "3"

    def test_a_fixed_rule_is_read_with_its_reason(self, world: World, browser: Client):
        world.item()
        make_tasks(world.project)
        world.claim("vera", Stage.VALIDATION)
        page = browser.get(self.url(world)).content.decode()
        read_page(page).check("This rule is fixed.", "Someone has already seen a pair of this subtest.")
        assert "<button" not in page.partition('class="facts"')[2].partition("</main>")[0]
        form = {"votes_wanted": 2, "votes_needed": 2, "valid_when": "all", "foils_enough": 1}
        answer = browser.post(self.url(world), form)
        assert answer.status_code == 422
        assert "Not saved." in answer.content.decode()
        assert ">3<" in answer.content.decode().replace("</dt><dd>", ">").replace("</dd>", "<")

    def test_another_projects_subtest_is_not_there(self, world: World, browser: Client):
        other = factories.make_subtest(factories.make_project())
        assert browser.get(reverse("annotation:vote_rule", args=[world.project.slug, other.pk])).status_code == 404
