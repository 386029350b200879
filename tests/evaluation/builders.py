"""Score arrays for tests, from plain lists."""

import numpy as np

from evaluation.files import padded
from evaluation.metrics._choices import ChoiceScores
from evaluation.metrics.pairwise import PairScores


def pair_scores(main, proficiency=None, subtests=None, tests=None, clusters=None) -> PairScores:
    names = [f"i{n}" for n in range(len(main))]
    subtests = subtests or ["only"] * len(main)
    return PairScores(
        ids=names,
        main=padded(main),
        proficiency=padded(proficiency or [[] for _ in main]),
        subtests=subtests,
        tests=tests or subtests,
        clusters=clusters or names,
    )


def choice_scores(scores, right=None, clusters=None) -> ChoiceScores:
    names = [f"r{n}" for n in range(len(scores))]
    columns = np.array(right or [0] * len(scores), dtype=np.int64)
    return ChoiceScores(names, padded(scores), columns, clusters or names)
