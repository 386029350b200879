"""Decide which counted votes agreement and position bias are measured on, if votes stop when they have decided.

Pairs whose first votes agree get no further vote, and pairs that divide people get more. Over all votes, agreement
would be biased. It is measured on the pairs that are judged in full, with their usual number of votes
(docs/decisions/0105-stopping-votes.md).
"""

from collections import Counter
from collections.abc import Hashable

from foilworks.core.corpus.models import Subtest

# Columns of a vote for `ComparedVotes`.
COLUMNS = ("item__subtest", "foil", "slot", "slot__task__in_full")


def is_adaptive(subtest: Subtest) -> bool:
    """Return whether the number of votes of a pair depends on the votes."""
    return subtest.stop_early or subtest.votes_max > subtest.votes_wanted


class ComparedVotes:
    """Takes the counted votes in the order in which they were given."""

    def __init__(self, subtests: dict[int, Subtest]) -> None:
        self.subtests = subtests
        self.seen: Counter[Hashable] = Counter()

    def counts(self, subtest: int, foil: int | None, slot: int | None, in_full: bool | None) -> bool:
        """Return whether the vote is compared. Votes of files were never stopped, so they are."""
        rule = self.subtests[subtest]
        if slot is None or not is_adaptive(rule):
            return True
        if rule.stop_early and not in_full:
            return False
        self.seen[foil] += 1
        return self.seen[foil] <= rule.votes_wanted
