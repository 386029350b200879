"""Random people over the real actions and the real tables: whatever they do, the database stays sound.

Each example runs in one transaction that is rolled back; time moves by steps that let leases expire.
"""

import itertools
from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models import Count, F, Q
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from annotation.actions.claims.claim import claim
from annotation.actions.decisions.items import adjudicate, requeue, retract
from annotation.actions.decisions.undo_decisions import undo_decision, undoable_decisions
from annotation.actions.leases.leasing import heartbeat, release
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.actions.undo import undo_edit, undo_review, undo_vote
from annotation.errors import AnnotationError
from annotation.models import Edit, Involvement, Lease, Review, Slot, SlotState, Stage, Task, TaskState, Vote
from annotation.rules.reviewing import DECISIONS
from annotation.rules.voting import ANSWERS
from foilworks.core.corpus.models import Foil, Item
from foilworks.core.corpus.rules.states import IllegalMove
from foilworks.core.projects.models import AuditEvent, Membership, Role
from generation.models import Candidate, CandidateGroup
from tests.annotation.world import make_world

NAMES = ("ann", "abe", "rita", "rob", "vera", "vic", "val")
people = st.sampled_from(NAMES)
stages = st.sampled_from([Stage.EDIT, Stage.REVIEW, Stage.VALIDATION])
VERBS = ("irons", "dyes", "sells", "burns", "rips", "eats", "hides", "washes")


class Workshop(RuleBasedStateMachine):
    """Everybody has every role, so that only the rules of leakage stand between a person and their own work."""

    def __init__(self) -> None:
        super().__init__()
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.world = make_world({"lease_seconds": 60, "undo_seconds": 30, "returned_hours": 1}, foils_per_item=2)
        for name in NAMES:
            person = getattr(self.world, name)
            Membership.objects.filter(person=person).delete()
            Membership.objects.bulk_create(
                Membership(project=self.world.project, person=person, role=role)
                for role in (Role.ANNOTATOR, Role.REVIEWER, Role.VALIDATOR)
            )
        self.now = timezone.now()
        self.keys = itertools.count()
        self.tokens: list[tuple[str, str, str]] = []
        for _ in range(2):
            self.world.group("a man unfolds a shirt.", "a man tears a shirt.")
        self.world.item()

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)

    def act(self, work) -> object:
        """What the action returns, or None where it says that this cannot be."""
        self.now += timedelta(seconds=1)
        try:
            return work()
        except (AnnotationError, IllegalMove):
            return None

    @rule(name=people, stage=stages)
    def claims(self, name: str, stage: str) -> None:
        self.claim(name, stage)

    def claim(self, name: str, stage: str) -> str | None:
        person = getattr(self.world, name)
        held = self.act(lambda: claim(person, self.world.project, stage, now=self.now))
        if held is None:
            return None
        self.tokens.append((name, stage, held.token))
        return held.token

    @rule(stage=stages, data=st.data())
    def somebody_does_the_next_piece(self, stage: str, data) -> None:
        """Most of what happens in a project: whoever gets something does it, and reviewers mostly accept."""
        for name in data.draw(st.permutations(NAMES)):
            token = self.claim(name, stage)
            if token is not None:
                decision = data.draw(st.sampled_from(["accept", "accept", "accept", *DECISIONS]))
                self.submit(name, stage, token, decision, data.draw(st.sampled_from(ANSWERS)), data)
                return

    @rule(data=st.data(), decision=st.sampled_from(DECISIONS), answer=st.sampled_from(ANSWERS))
    def somebody_submits_what_they_hold_or_held(self, data, decision: str, answer: str) -> None:
        if self.tokens:
            name, stage, token = data.draw(st.sampled_from(self.tokens[-8:]))
            self.submit(name, stage, token, decision, answer, data)

    def submit(self, name: str, stage: str, token: str, decision: str, answer: str, data) -> None:
        person, key = getattr(self.world, name), f"key-{next(self.keys)}"
        again = data.draw(st.booleans())
        fixed = f"a man mends {next(self.keys)} shirts."
        work = {
            Stage.EDIT: lambda: self.edit(person, token, key, data),
            Stage.REVIEW: lambda: submit_review(
                person, token, key, ReviewAnswer(decision, reasons=["grammar"], fixed_text=fixed), now=self.now
            ),
            Stage.VALIDATION: lambda: submit_vote(person, token, key, answer, now=self.now),
        }[stage]
        first = self.act(work)
        if first is not None and again:
            assert self.act(work) == first

    def edit(self, person, token: str, key: str, data) -> Edit:
        group = Lease.objects.get(token=token).task.group
        in_hand = list(group.candidates.filter(state="editing"))
        wanted = 2 - group.candidates.filter(Q(state="in_review") | Q(state="accepted", foil=None)).count()
        texts = [f"a man {data.draw(st.sampled_from(VERBS))} {next(self.keys)} shirts." for _ in range(wanted)]
        parents = [data.draw(st.sampled_from([None, *[c.pk for c in in_hand]])) for _ in range(wanted)]
        if in_hand and texts and data.draw(st.booleans()):
            texts[0], parents[0] = in_hand[0].text, in_hand[0].pk
        return submit_edit(person, token, key, texts, parents, now=self.now)

    @rule(data=st.data(), renew=st.booleans())
    def holds_on_or_lets_go(self, data, renew: bool) -> None:
        if self.tokens:
            name, _, token = data.draw(st.sampled_from(self.tokens[-8:]))
            action = heartbeat if renew else release
            self.act(lambda: action(getattr(self.world, name), token, now=self.now))

    @rule(data=st.data(), model=st.sampled_from([Edit, Review, Vote]))
    def undoes(self, data, model) -> None:
        done = list(model.objects.order_by("-pk")[:3])
        if done:
            work = data.draw(st.sampled_from(done))
            undo = {Edit: undo_edit, Review: undo_review, Vote: undo_vote}[model]
            self.act(lambda: undo(work.person, work.pk, now=self.now))

    @rule(data=st.data(), what=st.sampled_from(["valid", "invalid", "requeue", "retract"]))
    def settles(self, data, what: str) -> None:
        items = list(Item.objects.order_by("pk"))
        item, owner = data.draw(st.sampled_from(items)), self.world.owner
        if what == "requeue":
            self.act(lambda: requeue(owner, item.pk, now=self.now))
        elif what == "retract":
            self.act(lambda: retract(owner, item.pk, "reason", now=self.now))
        else:
            self.act(lambda: adjudicate(owner, item.pk, what, "reason", now=self.now))

    @rule()
    def undoes_the_last_decision(self) -> None:
        ids = list(Item.objects.values_list("pk", flat=True))
        decided = [event.pk for event in undoable_decisions(self.world.owner, Item, ids)]
        if decided:
            self.act(lambda: undo_decision(self.world.owner, max(decided)))

    @rule(seconds=st.sampled_from([10, 40, 90, 4000]))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @invariant()
    def a_slot_is_held_by_one_running_lease_or_none(self) -> None:
        for slot in Slot.objects.all():
            running = list(Lease.objects.filter(slot=slot, ending="").values_list("token", flat=True))
            assert running == ([slot.token] if slot.state == SlotState.LEASED else [])
            assert (slot.person_id is not None) == (slot.state in {SlotState.LEASED, SlotState.DONE})

    @invariant()
    def what_is_in_editing_is_in_somebodys_hands(self) -> None:
        held = Slot.objects.filter(stage=Stage.EDIT, state=SlotState.LEASED).values("task__group")
        assert not Candidate.objects.filter(state="editing").exclude(group__in=held).exists()

    @invariant()
    def no_task_counts_more_votes_than_its_overlap_and_nobody_votes_twice(self) -> None:
        counted = Vote.objects.filter(state="counted")
        assert not counted.values("foil").annotate(n=Count("pk")).filter(n__gt=3).exists()
        live = Vote.objects.exclude(state="undone").values("item", "person").annotate(n=Count("pk"))
        assert not live.filter(n__gt=1).exists()
        for vote in counted.select_related("slot"):
            assert (vote.slot.state, vote.slot.person_id) == (SlotState.DONE, vote.person_id)

    @invariant()
    def an_item_is_what_its_votes_say(self) -> None:
        for item in Item.objects.filter(state__in=["valid", "invalid", "disputed", "in_validation"]):
            verdicts = set(item.foils.values_list("verdict", flat=True))
            decided = item.state != "in_validation"
            assert decided == ("pending" not in verdicts)
            if item.state == "valid":
                assert verdicts == {"valid"}

    @invariant()
    def an_accepted_candidate_is_of_an_item_once_its_group_has_one(self) -> None:
        groups = CandidateGroup.objects.filter(item__isnull=False)
        for group in groups:
            foils = set(Foil.objects.filter(item=group.item).values_list("pk", flat=True))
            mine = set(group.candidates.filter(foil__item=group.item).values_list("foil", flat=True))
            assert foils == mine
            assert len(foils) == 2

    @invariant()
    def as_many_texts_in_review_as_are_missing_have_an_open_task_and_no_decided_one_has(self) -> None:
        """More than are missing wait where a drop was undone after its replacement was written."""
        open_reviews = Task.objects.filter(stage=Stage.REVIEW, state=TaskState.OPEN)
        assert not open_reviews.exclude(candidate__state="in_review").exists()
        for group in CandidateGroup.objects.filter(item=None):
            in_review = group.candidates.filter(state="in_review").count()
            missing = 2 - group.candidates.filter(state="accepted", foil=None).count()
            asked = open_reviews.filter(candidate__group=group).values("candidate").distinct().count()
            assert asked >= min(in_review, missing)

    @invariant()
    def work_that_waits_for_editors_can_be_claimed(self) -> None:
        """No group is forgotten: suggestions wait, foils are missing, and there is an open edit task."""
        for group in CandidateGroup.objects.filter(item=None, tasked=True):
            under_way = group.candidates.filter(Q(state="in_review") | Q(state="accepted", foil=None)).count()
            if under_way < 2 and group.candidates.filter(state__in=["queued", "returned", "editing"]).exists():
                assert Task.objects.filter(group=group, stage=Stage.EDIT, state=TaskState.OPEN).exists()

    @invariant()
    def nobody_judged_a_video_that_they_had_a_hand_in_before(self) -> None:
        """Counted work that stands: no reviewer of own texts, and who reviewed never validated after it."""
        own = Review.objects.filter(slot__isnull=False, candidate__author=F("person"))
        assert not own.exists()
        for vote in Vote.objects.filter(state="counted"):
            hands = Involvement.objects.filter(
                person=vote.person, video=vote.item.video_id, kind__in=["made", "reviewed"]
            )
            reviews = Review.objects.filter(
                person=vote.person, candidate__group__caption__video=vote.item.video_id, created_at__lt=vote.created_at
            )
            edits = Edit.objects.filter(
                person=vote.person, group__caption__video=vote.item.video_id, created_at__lt=vote.created_at
            )
            if hands.exists():
                assert not reviews.exists()
                assert not edits.exists()

    @invariant()
    def every_state_is_the_end_of_its_audit_trail(self) -> None:
        for model in (Candidate, Item):
            label = model._meta.label_lower
            last: dict[str, str] = {}
            for row in AuditEvent.objects.filter(target_type=label).exclude(action="take_apart").order_by("pk"):
                if row.target_id in last:
                    assert row.from_state == last[row.target_id]
                last[row.target_id] = row.to_state
            for pk, state in model.objects.filter(pk__in=last).values_list("pk", "state"):
                assert last[str(pk)] == state


@pytest.mark.django_db
def test_the_database_stays_consistent_whatever_people_do():
    run_state_machine_as_test(
        Workshop,
        settings=settings(
            max_examples=6, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
