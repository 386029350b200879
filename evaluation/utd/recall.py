"""Recall of descriptions and captions in both directions, as the code of UTD prints it."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.utd.bias_measures import Embedded, ranks
from evaluation.utd.concepts import CONCEPTS, SEQUENCE
from evaluation.utd.sample_tasks import SampleTask

# Directions of a search, and the ranks from 0 below which it counts: two tied for the first are not first.
TO_VIDEO, TO_TEXT = "t2v", "v2t"
NAME = "ranks {} {}"
CUTS = {"R@1": 0.5, "R@5": 5, "R@10": 10}


def ranks_of(
    concept: str, task: SampleTask, target_vectors: Any, test: Embedded
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield by name the ranks of the true texts for each video, and in retrieval before them those of the videos."""
    videos, texts = test.vectors(SEQUENCE), target_vectors[:]
    if not task.classifies:
        yield NAME.format(concept, TO_VIDEO), ranks(texts, videos, task.labels)
    yield NAME.format(concept, TO_TEXT), ranks(videos, texts, task.labels)


def recalls(outcome: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the share of the first 1, 5 and 10 ranks by concept and direction, as the authors' code prints it."""
    rows = []
    for concept in CONCEPTS:
        for direction in (TO_VIDEO, TO_TEXT):
            if query_ranks := outcome.get(NAME.format(concept, direction)):
                shares = {name: float(np.mean(np.array(query_ranks) < cut)) for name, cut in CUTS.items()}
                rows.append({"concept": concept, "direction": direction, "n": len(query_ranks), **shares})
    return rows
