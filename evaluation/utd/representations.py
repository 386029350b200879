"""Build a video's texts by concept (UTD, Sec. 3.3.1), and embed them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.utd.concepts import DESCRIPTION, SEQUENCE, SUMMARY, frame_text, sequence_text
from evaluation.utd.instructions import FRAME, INSTRUCTIONS, TARGET, instructed
from evaluation.utd.measures import Embedded, Gathered
from evaluation.utd.vector_store import Heard, TextVectors, nobody

Raw = Mapping[str, str]


def nothing(texts: Sequence[str]) -> None:
    """Do nothing with the progress."""


@dataclass(frozen=True)
class Texts:
    """Texts of n videos and one concept: `frames` (n lists of k) and `sequences` (n)."""

    frames: Sequence[Sequence[str]]
    sequences: Sequence[str]


def texts_of(videos: Sequence[Sequence[Raw]], concept: str) -> Texts:
    """Build the texts of one concept. `videos`: the raw answers of each frame by concept, in order.

    A sequence of whole descriptions would be too long, so it consists of the 15-word summaries. EvaluationError: a
    frame that lacks one, or a different number of frames.
    """
    counts = {len(frames) for frames in videos}
    if len(counts) > 1:
        raise EvaluationError(f"videos have {min(counts)} to {max(counts)} frames; describe all with the same number")
    said = SUMMARY if concept == DESCRIPTION else concept
    try:
        single = [[frame_text(concept, raw[concept]) for raw in frames] for frames in videos]
        parts = [[frame_text(said, raw[said]) for raw in frames] for frames in videos]
    except KeyError as error:
        raise EvaluationError(f"a frame has no {error.args[0]}; describe the videos to the end first") from error
    return Texts(single, [sequence_text(frames) for frames in parts])


@dataclass(frozen=True)
class Embedding:
    """Embeds texts with one encoder; `heard(n)` receives the number of new texts, `seen` all texts."""

    vectors: TextVectors
    heard: Heard = nobody
    seen: Callable[[Sequence[str]], None] = nothing

    def rows(self, texts: Sequence[str], instruction: str) -> Gathered:
        """Return (m, d)."""
        places = self._places(texts, instruction)
        return Gathered(self.vectors.table(), places)

    def videos(self, chunks: Iterable[Texts], task: str, concept: str) -> Embedded:
        """Return the vectors of frames and sequences, each under its instruction (UTD, Tables F.2 and F.3).

        The videos come in chunks, so that memory holds only the texts of one chunk.
        """
        told = INSTRUCTIONS[task][concept]
        frames, sequences = [], []
        for texts in chunks:
            flat = [text for said in texts.frames for text in said]
            frames.append(self._places(flat, told[FRAME]).reshape(len(texts.frames), -1))
            sequences.append(self._places(texts.sequences, told[SEQUENCE]))
        if not frames:
            raise EvaluationError("there is no described video; describe some first")
        table = self.vectors.table()
        return Embedded(Gathered(table, np.concatenate(frames)), Gathered(table, np.concatenate(sequences)))

    def sequences(self, chunks: Iterable[Texts], instruction: str) -> Gathered:
        """Return only the sequences, (n, d), under an instruction of (UTD, Table F.4)."""
        found = [self._places(texts.sequences, instruction) for texts in chunks]
        return Gathered(self.vectors.table(), np.concatenate(found))

    def targets(self, names: Sequence[str], task: str) -> dict[str, Gathered]:
        """Return class names or captions: {"frame": (c, d), "sequence": (c, d)}."""
        return {form: self.rows(names, told) for form, told in INSTRUCTIONS[task][TARGET].items()}

    def _places(self, texts: Sequence[str], instruction: str) -> NDArray[np.int64]:
        place = {text: at for at, text in enumerate(dict.fromkeys(texts))}
        told = [instructed(instruction, text) for text in place]
        self.seen(told)
        rows = self.vectors.places(told, self.heard)
        return rows[np.array([place[text] for text in texts], dtype=np.int64)]
