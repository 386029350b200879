"""Random actors over the pure rules alone: a small model of one video's candidates and items, without a database."""

from collections import Counter
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from annotation.rules.eligibility import PersonFacts, PriorInvolvement, TaskFacts, why_not
from annotation.rules.voting import VoteRule, item_outcome, pair_verdict
from foilworks.core.corpus.rules.states import (
    CANDIDATE_MOVES,
    ITEM_MOVES,
    TERMINAL_CANDIDATE_STATES,
    CandidateState,
    FoilVerdict,
    IllegalMove,
    ItemState,
    first_item_state,
    next_candidate_state,
    next_item_state,
)

PEOPLE = st.integers(0, 4)
CHOICES = st.sampled_from(["caption", "foil", "neither", "both", "cannot_tell"])
RULE = VoteRule(wanted=3, needed=2)
C, I = CandidateState, ItemState  # noqa: E741


class OneCandidate(RuleBasedStateMachine):
    """A candidate under random moves: the table alone decides, and a terminal state is left by an undo only."""

    def __init__(self) -> None:
        super().__init__()
        self.state = C.GENERATED

    @rule(move=st.sampled_from(sorted(CANDIDATE_MOVES)))
    def try_to_move(self, move: str) -> None:
        before = self.state
        try:
            self.state = next_candidate_state(before, move)
        except IllegalMove:
            assert before not in CANDIDATE_MOVES[move].origins
            return
        assert before in CANDIDATE_MOVES[move].origins
        if before in TERMINAL_CANDIDATE_STATES:
            assert move in {"undo_review", "withdraw", "undo_pass", "recaption", "drop_with_video"}

    @invariant()
    def stands_in_a_known_state(self) -> None:
        assert self.state in set(C)


class OneItem(RuleBasedStateMachine):
    """Foils are made, reviewed and judged by five people; nobody ever judges what they had a hand in."""

    def __init__(self) -> None:
        super().__init__()
        self.hand = PriorInvolvement(1, 10)
        self.people = {n: PersonFacts(n) for n in range(5)}
        self.author: int | None = None
        self.candidate = C.QUEUED
        self.item: ItemState | None = None
        self.verdict = FoilVerdict.PENDING
        self.votes: dict[int, str] = {}

    def involve(self, person: int, kind: str) -> None:
        facts = self.people[person]
        self.people[person] = replace(facts, **{kind: getattr(facts, kind) | {self.hand}})

    @precondition(lambda self: self.candidate in {C.QUEUED, C.RETURNED})
    @rule(person=PEOPLE)
    def edit(self, person: int) -> None:
        assert why_not(self.people[person], TaskFacts("edit", self.hand), "video") is None
        self.candidate = next_candidate_state(next_candidate_state(self.candidate, "claim"), "submit")
        self.author = person
        self.involve(person, "made")
        facts = self.people[person]
        self.people[person] = replace(facts, wrote=facts.wrote | {1})

    @precondition(lambda self: self.candidate == C.IN_REVIEW)
    @rule(person=PEOPLE, decision=st.sampled_from(["accept", "send_back", "drop"]))
    def review(self, person: int, decision: str) -> None:
        facts = self.people[person]
        refusal = why_not(facts, TaskFacts("review", self.hand, lineage=(1,)), "video")
        if refusal is not None:
            assert facts.made
            return
        assert person != self.author
        assert 1 not in facts.wrote
        self.candidate = next_candidate_state(self.candidate, decision)
        self.involve(person, "reviewed")
        if self.candidate == C.ACCEPTED:
            self.item = first_item_state(RULE.wanted)

    @precondition(lambda self: self.item == I.IN_VALIDATION)
    @rule(person=PEOPLE, choice=CHOICES)
    def vote(self, person: int, choice: str) -> None:
        facts = self.people[person]
        if why_not(facts, TaskFacts("validation", self.hand, item=5), "video") is not None:
            assert facts.made or facts.reviewed or person in self.votes
            return
        assert person not in self.votes
        self.votes[person] = choice
        self.people[person] = replace(facts, judged_items=frozenset({5}))
        self.involve(person, "judged")
        self.verdict = pair_verdict(Counter(self.votes.values()), RULE)
        self.item = next_item_state(self.item, "vote", item_outcome([self.verdict], RULE))

    @precondition(lambda self: self.votes and self.item in {I.VALID, I.INVALID, I.DISPUTED, I.IN_VALIDATION})
    @rule(data=st.data())
    def undo_a_vote(self, data) -> None:
        person = data.draw(st.sampled_from(sorted(self.votes)))
        del self.votes[person]
        self.people[person] = replace(self.people[person], judged_items=frozenset())
        self.verdict = FoilVerdict.PENDING
        if self.item != I.IN_VALIDATION:
            self.item = next_item_state(self.item, "recount")

    @rule(state=st.sampled_from(list(I)), move=st.sampled_from(sorted(ITEM_MOVES)), outcome=st.sampled_from(list(I)))
    def nothing_moves_but_by_the_table(self, state: ItemState, move: str, outcome: ItemState) -> None:
        legal = state in ITEM_MOVES[move].origins and outcome in ITEM_MOVES[move].to
        try:
            next_item_state(state, move, outcome)
        except IllegalMove:
            assert not legal
        else:
            assert legal

    @invariant()
    def nobody_judged_their_own_video(self) -> None:
        for person in self.votes:
            assert not self.people[person].made
            assert not self.people[person].reviewed

    @invariant()
    def never_more_votes_than_wanted_and_the_state_is_what_they_say(self) -> None:
        assert len(self.votes) <= RULE.wanted
        if self.item is None:
            assert not self.votes
        elif len(self.votes) < RULE.wanted:
            assert self.item == I.IN_VALIDATION
        else:
            captions = list(self.votes.values()).count("caption")
            assert (self.item == I.VALID) == (captions >= 2)

    @invariant()
    def an_item_stands_on_an_accepted_candidate(self) -> None:
        assert (self.item is not None) == (self.candidate == C.ACCEPTED)


OneCandidate.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
OneItem.TestCase.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)
TestOneCandidate = OneCandidate.TestCase
TestOneItem = OneItem.TestCase
