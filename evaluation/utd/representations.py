"""Build a video's texts by concept (UTD, Sec. 3.3.1), and embed them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.utd.bias_measures import NO_TEXT, Averaged, Embedded, Gathered
from evaluation.utd.concepts import SEQUENCE
from evaluation.utd.frame_forms import frame_form, sequence_form
from evaluation.utd.instructions import FRAME, INSTRUCTIONS, TARGET, instructed
from evaluation.utd.procedure import AS_PUBLISHED, Procedure
from evaluation.utd.required_texts import said_of
from evaluation.utd.vector_store import Heard, TextVectors, nobody

Raw = Mapping[str, str]


def nothing(texts: Sequence[str]) -> None:
    """Do nothing with the progress."""


@dataclass(frozen=True)
class Texts:
    """Texts of n videos and one concept: `frames` (n lists of k), empty for a frame without one, and `sequences` (n).

    Either is empty if it was not asked for.
    """

    frames: Sequence[Sequence[str]]
    sequences: Sequence[str]


def texts_of(
    videos: Sequence[Sequence[Raw]], concept: str, procedure: Procedure = AS_PUBLISHED, kind: str = ""
) -> Texts:
    """Build the texts of one concept. `videos`: the raw answers of each frame by concept, in order. `kind`: only
    frames, or only sequences.

    A sequence of whole descriptions would be too long, so it consists of the 15-word summaries. EvaluationError: a
    frame that lacks one, or a different number of frames.
    """
    counts = {len(frames) for frames in videos}
    if len(counts) > 1:
        raise EvaluationError(f"videos have {min(counts)} to {max(counts)} frames; describe all with the same number")
    sequence_concept = said_of(concept, SEQUENCE)
    single: list[list[str]] = []
    sequences: list[str] = []
    try:
        if kind != SEQUENCE:
            single = [[frame_form(concept, raw[concept], procedure) for raw in frames] for frames in videos]
        if kind != FRAME:
            sequences = [
                sequence_form(sequence_concept, [raw[sequence_concept] for raw in frames], procedure)
                for frames in videos
            ]
    except KeyError as error:
        raise EvaluationError(f"a frame has no {error.args[0]}; describe the videos to the end first") from error
    return Texts(single, sequences)


@dataclass(frozen=True)
class Embedding:
    """Embeds texts with one encoder; `heard(n)` receives the number of new texts, `seen` all texts."""

    vectors: TextVectors
    heard: Heard = nobody
    seen: Callable[[Sequence[str]], None] = nothing

    def rows(self, texts: Sequence[str], instruction: str) -> Gathered:
        """Return (m, d)."""
        indices = self._row_indices(texts, instruction)
        return Gathered(self.vectors.table(), indices)

    def means(self, texts: Sequence[Sequence[str]], instruction: str) -> Gathered:
        """Return (m, d): of each list of texts the mean of their vectors."""
        if all(len(some) == 1 for some in texts):
            return self.rows([some[0] for some in texts], instruction)
        flat = self._row_indices([text for some in texts for text in some], instruction)
        indices = np.full((len(texts), max(map(len, texts))), NO_TEXT)
        indices[np.arange(indices.shape[1]) < np.array([[len(some)] for some in texts])] = flat
        return Averaged(self.vectors.table(), indices)

    def videos(self, chunks: Iterable[Texts], task: str, concept: str) -> Embedded:
        """Return the vectors of frames and sequences, each under its instruction (UTD, Tables F.2 and F.3).

        The videos come in chunks, so that memory holds only the texts of one chunk.
        """
        instructions = INSTRUCTIONS[task][concept]
        frames, sequences = [], []
        for texts in chunks:
            flat = [text for frame_texts in texts.frames for text in frame_texts]
            if flat:
                frames.append(self._row_indices(flat, instructions[FRAME]).reshape(len(texts.frames), -1))
            if texts.sequences:
                sequences.append(self._row_indices(texts.sequences, instructions[SEQUENCE]))
        if not frames and not sequences:
            raise EvaluationError("there is no described video; describe some first")
        table = self.vectors.table()
        ordered = np.concatenate(sequences) if sequences else np.full(sum(map(len, frames)), NO_TEXT)
        single = np.concatenate(frames) if frames else ordered[:, None]
        return Embedded(Gathered(table, single), Gathered(table, ordered))

    def sequences(self, chunks: Iterable[Texts], instruction: str) -> Gathered:
        """Return only the sequences, (n, d), under an instruction of (UTD, Table F.4)."""
        indices = [self._row_indices(texts.sequences, instruction) for texts in chunks]
        return Gathered(self.vectors.table(), np.concatenate(indices))

    def targets(self, texts: Sequence[Sequence[str]], task: str) -> dict[str, Gathered]:
        """Return the texts of classes, or captions: {"frame": (c, d), "sequence": (c, d)}."""
        return {form: self.means(texts, instruction) for form, instruction in INSTRUCTIONS[task][TARGET].items()}

    def _row_indices(self, texts: Sequence[str], instruction: str) -> NDArray[np.int64]:
        """Return the row of each text, NO_TEXT for an empty one."""
        row_by_text = {text: at for at, text in enumerate(dict.fromkeys(text for text in texts if text))}
        instructed_texts = [instructed(instruction, text) for text in row_by_text]
        self.seen(instructed_texts)
        rows = np.append(self.vectors.row_numbers(instructed_texts, self.heard), NO_TEXT)
        return rows[np.array([row_by_text.get(text, -1) for text in texts], dtype=np.int64)]
