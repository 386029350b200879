"""Estimate the skill of validators by Dawid & Skene (1979). Pure.

The truth of each pair and the confusion matrix of each person are estimated together by EM. Skill is the probability
that the person's answer is the truth. It decides only who is asked first; verdicts count votes.
"""

from collections.abc import Sequence

import numpy as np

# Fewer votes say too little about a person.
MIN_VOTES = 20
STEPS, TOLERANCE = 50, 1e-4
# Votes that everybody is given in advance: two right ones per answer, and one of each wrong one.
RIGHT_BEFORE, WRONG_BEFORE = 2.0, 1.0


def skills(votes: Sequence[tuple[int, int, int]], labels: int) -> dict[int, float]:
    """Return the skill by person of (pair, person, label) votes, of people with MIN_VOTES or more."""
    if not votes:
        return {}
    table = np.array(votes, dtype=np.int64)
    _pairs, pair = np.unique(table[:, 0], return_inverse=True)
    people, person = np.unique(table[:, 1], return_inverse=True)
    label = table[:, 2]
    truth = np.zeros((pair.max() + 1, labels))
    np.add.at(truth, (pair, label), 1.0)
    truth /= truth.sum(axis=1, keepdims=True)
    before = np.full((labels, labels), WRONG_BEFORE) + np.eye(labels) * (RIGHT_BEFORE - WRONG_BEFORE)
    for _ in range(STEPS):
        share = (truth.sum(axis=0) + 1.0) / (len(truth) + labels)
        # (people, given answer, true answer) until it is turned.
        answer_counts = np.zeros((len(people), labels, labels))
        np.add.at(answer_counts, (person, label), truth[pair])
        confusion = before + answer_counts.transpose(0, 2, 1)
        confusion /= confusion.sum(axis=2, keepdims=True)
        logs = np.tile(np.log(share), (len(truth), 1))
        np.add.at(logs, pair, np.log(confusion[person, :, label]))
        new = np.exp(logs - logs.max(axis=1, keepdims=True))
        new /= new.sum(axis=1, keepdims=True)
        largest_change, truth = float(np.abs(new - truth).max()), new
        if largest_change < TOLERANCE:
            break
    skill = np.einsum("pcc,c->p", confusion, share)
    n = np.bincount(person)
    return {int(person_id): float(skill[k]) for k, person_id in enumerate(people.tolist()) if n[k] >= MIN_VOTES}


def better_half(estimates: Sequence[tuple[int, float]]) -> list[int]:
    """Return the people of the better half by skill, at least one; people by (person, skill)."""
    ranked = sorted(estimates, key=lambda estimate: (-estimate[1], estimate[0]))
    return [person for person, _skill in ranked[: (len(ranked) + 1) // 2]]
