"""Build a video's texts by concept (UTD, Sec. 3.3.1), and embed them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.utd.concepts import SEQUENCE
from evaluation.utd.frame_forms import frame_form, sequence_form
from evaluation.utd.instructions import FRAME, INSTRUCTIONS, TARGET, instructed
from evaluation.utd.measures import NO_TEXT, Averaged, Embedded, Gathered
from evaluation.utd.needs import said_of
from evaluation.utd.procedure import AS_PUBLISHED, Procedure
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
    said = said_of(concept, SEQUENCE)
    single: list[list[str]] = []
    sequences: list[str] = []
    try:
        if kind != SEQUENCE:
            single = [[frame_form(concept, raw[concept], procedure) for raw in frames] for frames in videos]
        if kind != FRAME:
            sequences = [sequence_form(said, [raw[said] for raw in frames], procedure) for frames in videos]
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
        places = self._places(texts, instruction)
        return Gathered(self.vectors.table(), places)

    def means(self, texts: Sequence[Sequence[str]], instruction: str) -> Gathered:
        """Return (m, d): of each list of texts the mean of their vectors."""
        if all(len(some) == 1 for some in texts):
            return self.rows([some[0] for some in texts], instruction)
        flat = self._places([text for some in texts for text in some], instruction)
        places = np.full((len(texts), max(map(len, texts))), NO_TEXT)
        places[np.arange(places.shape[1]) < np.array([[len(some)] for some in texts])] = flat
        return Averaged(self.vectors.table(), places)

    def videos(self, chunks: Iterable[Texts], task: str, concept: str) -> Embedded:
        """Return the vectors of frames and sequences, each under its instruction (UTD, Tables F.2 and F.3).

        The videos come in chunks, so that memory holds only the texts of one chunk.
        """
        told = INSTRUCTIONS[task][concept]
        frames, sequences = [], []
        for texts in chunks:
            flat = [text for said in texts.frames for text in said]
            if flat:
                frames.append(self._places(flat, told[FRAME]).reshape(len(texts.frames), -1))
            if texts.sequences:
                sequences.append(self._places(texts.sequences, told[SEQUENCE]))
        if not frames and not sequences:
            raise EvaluationError("there is no described video; describe some first")
        table = self.vectors.table()
        ordered = np.concatenate(sequences) if sequences else np.full(sum(map(len, frames)), NO_TEXT)
        single = np.concatenate(frames) if frames else ordered[:, None]
        return Embedded(Gathered(table, single), Gathered(table, ordered))

    def sequences(self, chunks: Iterable[Texts], instruction: str) -> Gathered:
        """Return only the sequences, (n, d), under an instruction of (UTD, Table F.4)."""
        found = [self._places(texts.sequences, instruction) for texts in chunks]
        return Gathered(self.vectors.table(), np.concatenate(found))

    def targets(self, texts: Sequence[Sequence[str]], task: str) -> dict[str, Gathered]:
        """Return the texts of classes, or captions: {"frame": (c, d), "sequence": (c, d)}."""
        return {form: self.means(texts, told) for form, told in INSTRUCTIONS[task][TARGET].items()}

    def _places(self, texts: Sequence[str], instruction: str) -> NDArray[np.int64]:
        """Return the row of each text, NO_TEXT for an empty one."""
        place = {text: at for at, text in enumerate(dict.fromkeys(text for text in texts if text))}
        told = [instructed(instruction, text) for text in place]
        self.seen(told)
        rows = np.append(self.vectors.places(told, self.heard), NO_TEXT)
        return rows[np.array([place.get(text, -1) for text in texts], dtype=np.int64)]
