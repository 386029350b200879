"""Say which texts each result needs, and what is lost without them.

A video counts for a cell if all its frames have that cell's texts. The splits need objects alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.utd.concepts import ACTIVITIES, CONCEPTS, DESCRIPTION, MIDDLE, OBJECTS, SEQUENCE, SUMMARY, VERBS

# Every text that a frame can have.
TEXTS = (DESCRIPTION, OBJECTS, ACTIVITIES, VERBS, SUMMARY)
COMMON, DATASET, SPLITS = "common", "dataset", "splits"
TRAIN, TEST = "train", "test"
# The published name of a text, for messages.
SHOWN = {SUMMARY: "15-word summaries"}
MISSING = "{n} of {of} {split} videos have no {text}; without them: {costs}"
CELLS = "{bias} of {concept}, {temporal}"
MODES = {SEQUENCE: "sequence", MIDDLE: "single frames"}
BIASES = {COMMON: "common sense bias", DATASET: "dataset bias"}


def said_of(concept: str, temporal: str) -> str:
    """Return the text that a cell needs: a sequence of whole descriptions consists of their summaries."""
    return SUMMARY if concept == DESCRIPTION and temporal == SEQUENCE else concept


def complete(described: Mapping[str, set[int]], concept: str, temporal: str) -> set[int]:
    """Return the videos that count for a cell. `described`: the videos with each text in all their frames."""
    return described[said_of(concept, temporal)]


def losses_of(text: str, train: bool, classifies: bool) -> list[tuple[str, str, str]]:
    """Return the results that videos of a split do not count for if they lack `text`: (bias, concept, temporal mode),
    or (SPLITS, "", "").

    Videos of the train split count for dataset bias and for the splits of a classification only. The middle frame
    represents all modes of single frames.
    """
    if train and not classifies:
        return []
    biases = (DATASET,) if train else (COMMON, DATASET) if classifies else (COMMON,)
    cells = [
        (bias, concept, temporal)
        for bias in biases
        for concept in CONCEPTS
        for temporal in (SEQUENCE, MIDDLE)
        if said_of(concept, temporal) == text
    ]
    return cells + ([(SPLITS, "", "")] if text == OBJECTS else [])


def costs_of(text: str, train: bool, classifies: bool) -> list[str]:
    """Return the losses in words."""
    return [
        "debiased splits" if bias == SPLITS else CELLS.format(bias=BIASES[bias], concept=concept, temporal=MODES[mode])
        for bias, concept, mode in losses_of(text, train, classifies)
    ]


def missing_texts(
    described: Mapping[str, set[int]], videos: Mapping[str, Iterable[int]], classifies: bool = True
) -> list[dict[str, Any]]:
    """Return one row per split and text that some of its videos lack: {"split", "text", "n", "of", "costs"}.

    `videos`: the ids of the train and of the other videos.
    """
    rows = []
    for split, ids in videos.items():
        every = set(ids)
        for text in TEXTS:
            n = len(every - described.get(text, set()))
            costs = costs_of(text, split == TRAIN, classifies)
            if n and costs:
                rows.append({"split": split, "text": text, "n": n, "of": len(every), "costs": costs})
    return rows


def told(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the rows of `missing_texts` as sentences."""
    return [
        MISSING.format(**{**row, "text": SHOWN.get(row["text"], row["text"]), "costs": "; ".join(row["costs"])})
        for row in rows
    ]
