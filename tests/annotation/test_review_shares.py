"""How much of the work reviewers see: what is not drawn is accepted by rule, and a share is decided on twice."""

import pytest

from annotation.actions.decisions.captions import correct_caption, drop_caption
from annotation.actions.settings.work_settings import set_review_sampling
from annotation.actions.undo import undo_edit, undo_review
from annotation.errors import AnnotationError, WorkRefused
from annotation.models import Involvement, Review, ReviewPolicy, ReviewRate, Stage, Task
from annotation.queries.cards import claim_card
from annotation.queries.work_rules import annotator_shares, review_rate
from annotation.rules.reviewing import drawn_for_a_second, drawn_for_review
from evaluation.releases.snapshot import frozen_items
from evaluation.reports.reports import project_report, review_facts
from foilworks.core.corpus.models import Caption, Item
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, User
from generation.models import Candidate
from tests import factories
from tests.annotation.world import World, make_world
from tests.invariants import broken_invariants

IRONS, TEARS, BURNS = "a man irons a shirt.", "a man tears a shirt.", "a man burns a shirt."


def shares(world: World, rate: float = 1.0, second: float = 0.0, **own: float) -> ReviewPolicy:
    rates = {world.people[name].pk: share for name, share in own.items()}
    return set_review_sampling(world.owner, world.project, rate=rate, second_share=second, own_rates=rates)


class TestDraws:
    def test_about_the_share_is_drawn_and_a_higher_one_keeps_what_a_lower_one_drew(self):
        drawn = {rate: {n for n in range(4000) if drawn_for_review(7, n, rate)} for rate in (0.0, 0.1, 0.3, 1.0)}
        assert (len(drawn[0.0]), len(drawn[1.0])) == (0, 4000)
        # Binomial: 3 standard deviations of 4000 draws at .3 are 87.
        assert abs(len(drawn[0.3]) - 1200) < 87
        assert drawn[0.1] < drawn[0.3]

    def test_the_second_draw_does_not_follow_the_first(self):
        first = {n for n in range(4000) if drawn_for_review(7, n, 0.3)}
        second = {n for n in range(4000) if drawn_for_a_second(7, n, 0.3)}
        # Independent: 360 of both, 3 standard deviations are 54.
        assert abs(len(first & second) - 360) < 54


class TestUnreviewed:
    def test_work_not_drawn_is_accepted_by_rule_and_marked(self, world: World):
        shares(world, ann=0.0)
        group = world.group()
        world.edit("ann", IRONS)
        candidate = Candidate.objects.get(text=IRONS)
        assert (candidate.state, candidate.unreviewed) == ("accepted", True)
        row = AuditEvent.objects.get(action="pass_unreviewed")
        assert (row.actor, row.from_state, row.to_state) == (None, "in_review", "accepted")
        assert row.reason == "not drawn: 0 of the author's work is reviewed"
        group.refresh_from_db()
        assert group.item.state == "in_validation"
        (frozen,) = frozen_items(world.project)
        assert frozen.record["provenance"][0]["unreviewed"] is True
        assert world.claim("rita", Stage.REVIEW) is None
        assert broken_invariants() == []

    def test_others_work_and_a_reviewed_foils_provenance_are_as_before(self, world: World):
        shares(world, ann=0.0)
        world.group()
        world.edit("abe", IRONS)
        world.review("rita")
        (frozen,) = frozen_items(world.project)
        assert "unreviewed" not in frozen.record["provenance"][0]

    def test_a_returned_foil_goes_back_to_a_reviewer(self, world: World):
        world.group()
        world.edit("ann", IRONS)
        world.review("rita", "send_back", reasons=["grammar"])
        shares(world, rate=0.0)
        world.edit("ann", TEARS, parents=[Candidate.objects.get(text=IRONS).pk])
        assert Candidate.objects.get(text=TEARS).state == "in_review"

    def test_nor_does_an_undo_between_or_a_text_that_names_no_suggestion_pass_it(self, world: World):
        world.group()
        world.edit("ann", IRONS)
        world.review("rita", "send_back", reasons=["grammar"])
        shares(world, rate=0.0)
        edit = world.edit("ann", TEARS, parents=[Candidate.objects.get(text=IRONS).pk])
        undo_edit(world.ann, edit.pk)
        edit = world.edit("ann", BURNS, parents=[Candidate.objects.get(text=TEARS).pk])
        assert Candidate.objects.get(text=BURNS).state == "in_review"
        undo_edit(world.ann, edit.pk)
        world.edit("ann", "a man sells a shirt.")
        assert Candidate.objects.get(text="a man sells a shirt.").state == "in_review"

    def test_one_carried_over_to_a_corrected_caption_goes_back_to_a_reviewer_too(self, world: World):
        group = world.group()
        world.edit("ann", IRONS)
        world.review("rita", "send_back", reasons=["grammar"])
        shares(world, rate=0.0)
        Caption.objects.update(flagged_false=True)
        correct_caption(world.owner, group.caption_id, "a woman folds a shirt.")
        world.edit("abe", TEARS, parents=[Candidate.objects.get(text=IRONS, state="queued").pk])
        assert Candidate.objects.get(text=TEARS).state == "in_review"

    def test_a_return_that_was_undone_returns_nothing(self, world: World):
        world.group()
        world.edit("ann", IRONS)
        review = world.review("rita", "send_back", reasons=["grammar"])
        undo_review(world.rita, review.pk)
        world.review("rita", "drop", reasons=["grammar"])
        shares(world, rate=0.0)
        world.edit("ann", TEARS)
        assert Candidate.objects.get(text=TEARS).state == "accepted"

    def test_an_undo_also_removes_the_item_that_it_completed(self, world: World):
        shares(world, rate=0.0)
        group = world.group()
        edit = world.edit("ann", IRONS)
        undo_edit(world.ann, edit.pk)
        candidate = Candidate.objects.get(text=IRONS)
        assert (candidate.state, candidate.unreviewed, candidate.foil) == ("editing", False, None)
        group.refresh_from_db()
        assert (group.item, Item.objects.count()) == (None, 0)
        assert broken_invariants() == []

    def test_an_item_in_judgement_cannot_be_undone(self, world: World):
        shares(world, rate=0.0)
        world.group()
        edit = world.edit("ann", IRONS)
        world.claim("vera", Stage.VALIDATION)
        with pytest.raises(AnnotationError, match="already in use"):
            undo_edit(world.ann, edit.pk)
        assert Candidate.objects.get(text=IRONS).state == "accepted"

    def test_a_group_of_several_mixes_both_and_an_undo_takes_all_back(self, db):
        world = make_world(foils_per_item=5)
        shares(world, rate=0.5)
        world.group()
        texts = [f"a man {verb} a shirt." for verb in ("irons", "tears", "burns", "washes", "sells")]
        edit = world.edit("ann", *texts)
        states = list(edit.candidates.values_list("state", flat=True))
        assert set(states) <= {"accepted", "in_review"}
        assert Task.objects.filter(stage="review", state="open").count() == states.count("in_review")
        assert broken_invariants() == []
        undo_edit(world.ann, edit.pk)
        assert set(edit.candidates.values_list("state", flat=True)) == {"editing"}
        assert not Task.objects.filter(stage="review", state="open").exists()
        assert broken_invariants() == []


class TestSecondReviews:
    def second(self, world: World, decision: str = "drop", **also) -> Review:
        return world.review("rob", decision, **({"reasons": ["still_true"]} if decision == "drop" else {}), **also)

    def test_a_second_reviewer_decides_beside_the_first_and_nothing_moves(self, world: World):
        shares(world, second=1.0)
        world.group()
        world.edit("ann", IRONS)
        world.review("rita")
        item = Item.objects.get()
        review = self.second(world)
        assert (review.second, review.decision) == (True, "drop")
        assert Candidate.objects.get(text=IRONS).state == "accepted"
        assert Item.objects.get() == item
        assert Involvement.objects.filter(person=world.rob, kind="reviewed").exists()
        assert broken_invariants() == []

    def test_a_second_review_is_blind_and_never_of_ones_own_work(self, world: World):
        shares(world, second=1.0)
        world.group()
        world.edit("ann", IRONS)
        world.review("rita", "send_back", reasons=["grammar"], comment="capital letter")
        assert world.claim("rita", Stage.REVIEW) is None
        world.project.memberships.create(person=world.ann, role="reviewer")
        world.people["ann"] = User.objects.get(pk=world.ann.pk)
        assert world.claim("ann", Stage.REVIEW) is None
        claim = world.claim("rob", Stage.REVIEW)
        card = claim_card(world.rob, claim)
        assert (card.review.foil.notes, card.review.others) == ((), [])

    def test_a_judge_of_the_video_gets_no_second_review_of_it(self, world: World):
        shares(world, second=1.0)
        world.made_item()
        world.project.memberships.create(person=world.rob, role="validator")
        world.people["rob"] = User.objects.get(pk=world.rob.pk)
        world.vote("rob")
        assert world.claim("rob", Stage.REVIEW) is None

    def test_a_second_fix_is_kept_as_words_and_makes_nothing(self, world: World):
        shares(world, second=1.0)
        world.made_item()
        review = self.second(world, "fix", fixed_text=TEARS)
        assert (review.child, review.comment) == (None, TEARS)
        assert not Candidate.objects.filter(text=TEARS).exists()

    def test_a_second_review_is_undone_without_touching_the_first(self, world: World):
        shares(world, second=1.0)
        world.made_item()
        review = self.second(world)
        undo_review(world.rob, review.pk)
        assert Item.objects.get().state == "in_validation"
        again = self.second(world, "accept")
        assert (again.second, Review.objects.filter(second=True, undone_at=None).count()) == (True, 1)
        assert broken_invariants() == []

    def test_a_second_review_of_a_caption_that_was_given_up_since_stays(self, world: World):
        shares(world, second=1.0)
        item = world.made_item()
        review = self.second(world)
        Caption.objects.update(flagged_false=True)
        drop_caption(world.owner, item.caption_id, "it is a cat")
        with pytest.raises(AnnotationError, match="The caption has been corrected"):
            undo_review(world.rob, review.pk)
        assert broken_invariants() == []

    def test_an_undone_first_review_asks_for_no_third(self, world: World):
        shares(world, second=1.0)
        world.group()
        world.edit("ann", IRONS)
        first = world.review("rita")
        undo_review(world.rita, first.pk)
        world.review("rita")
        assert Task.objects.filter(second=True).count() == 1

    def test_the_report_compares_them(self, world: World):
        shares(world, second=1.0, ann=1.0)
        groups = []
        for decision in ("accept", "drop"):
            groups.append(world.group().pk)
            world.edit("ann", IRONS)
            world.review("rita")
            self.second(world, decision)
        found = project_report(world.project, "reviewing")
        assert (found["n_reviewed"], found["n_twice"], found["decisions"]["accept"]) == (2, 2, 2)
        assert found["agreement"][0]["percent_agreement"] == 0.5
        assert review_facts(world.project).items == groups

    def test_late_and_unequal_claims_are_refused_at_submit_too(self, world: World):
        shares(world, second=1.0)
        world.made_item()
        world.project.memberships.create(person=world.rob, role="validator")
        world.people["rob"] = User.objects.get(pk=world.rob.pk)
        claim = world.claim("rob", Stage.REVIEW)
        world.vote("rob")
        with pytest.raises(WorkRefused) as refused:
            world.review("rob")
        assert refused.value.refusal == "judged_it"
        assert claim is not None


class TestSetting:
    def test_own_rates_come_before_the_projects_and_can_be_taken_away(self, world: World):
        shares(world, rate=0.5, ann=0.25)
        assert (review_rate(world.project, world.ann), review_rate(world.project, world.abe)) == (0.25, 0.5)
        shares(world, rate=0.75)
        assert (review_rate(world.project, world.ann), ReviewRate.objects.count()) == (0.75, 0)
        assert review_rate(make_world().project, world.ann) == 1.0
        assert AuditEvent.objects.filter(action="set_review_shares").count() == 2

    def test_only_a_researcher_sets_shares_of_the_projects_annotators(self, world: World):
        for wrong in ({"rate": 1.5}, {"rate": -0.1}, {"second": 2.0}, {"ann": 7.0}, {"rita": 0.5}):
            with pytest.raises(AnnotationError):
                shares(world, **wrong)
        with pytest.raises(AccessDenied):
            set_review_sampling(world.rita, world.project, rate=0.5, second_share=0.0)
        assert not ReviewPolicy.objects.exists()

    def test_the_numbers_of_each_annotator_take_a_steady_number_of_queries(self, world, django_assert_num_queries):
        shares(world, abe=0.0)
        for name in ("ann", "abe"):
            world.group()
            world.edit(name, IRONS)
        world.review("rita", "send_back", reasons=["grammar"])
        for _ in range(3):
            factories.make_member(world.project, "annotator")
        with django_assert_num_queries(5):
            found = {share.person.pk: share for share in annotator_shares(world.project)}
        ann, abe = found[world.ann.pk], found[world.abe.pk]
        assert (ann.rate, ann.n_edits, ann.n_reviewed, ann.n_returned, ann.n_unreviewed) == (None, 1, 1, 1, 0)
        assert (abe.rate, abe.n_edits, abe.n_reviewed, abe.n_unreviewed) == (0.0, 1, 0, 1)
