"""Build the text of a frame and of a sequence by the rules of a procedure."""

from collections.abc import Sequence

from evaluation.utd.concepts import (
    ACTIVITIES,
    NO_ACTIVITY,
    VERBS,
    coded_sequence_text,
    frame_text,
    published_text,
    sequence_text,
)
from evaluation.utd.procedure import CODE, PUBLISHED, SENTENCE, Procedure


def frame_form(concept: str, answer: str, procedure: Procedure) -> str:
    """Return the text of one frame; empty if the frame is skipped."""
    text = _cleaned(concept, answer, procedure)
    if concept in {ACTIVITIES, VERBS} and not text and procedure.empty_frames == SENTENCE:
        return NO_ACTIVITY
    return text


def sequence_form(concept: str, answers: Sequence[str], procedure: Procedure) -> str:
    """Return the text of all frames of a video; a frame without a text keeps its number."""
    joined = coded_sequence_text if procedure.numbering == CODE else sequence_text
    return joined([_cleaned(concept, answer, procedure) for answer in answers])


def _cleaned(concept: str, answer: str, procedure: Procedure) -> str:
    text = published_text(concept, answer) if procedure.texts == PUBLISHED else frame_text(concept, answer)
    return "" if text == NO_ACTIVITY else text
