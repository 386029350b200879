"""Records of the proposal of pairs: captions with their clips in, proposals out. Pure."""

import hashlib
from dataclasses import dataclass, field

NATURAL, REVERSAL, ORDER = "natural", "reversal", "order"
SPEED, REPETITION = "speed", "repetition"
KINDS = (NATURAL, REVERSAL, ORDER, SPEED, REPETITION)
# What tells their clips apart is when frames are shown. A number: with so many frames, evenly spread, an event that is
# played two and three times can be counted (four of each play).
NEEDS_TIME: dict[str, bool | int] = {SPEED: True, REPETITION: 12}
# How a made clip is played.
FORWARDS, BACKWARDS = "forwards", "backwards"
IN_ORDER, EXCHANGED = "in order", "exchanged"
AS_RECORDED, FASTER, SLOWER = "as recorded", "faster", "slower"
TWICE, THREE_TIMES = "twice", "three times"
# Characters of the hash in the name of a pair.
HASHED = 16


@dataclass(frozen=True)
class PairCaption:
    """A true caption of a clip. `source` names the uncut video: two clips of one source are never a natural pair.

    `start` and `end`: the trim in seconds, None for the start or end of the file. `duration`: seconds of the clip.
    """

    id: int
    text: str
    clip: str
    source: str
    dataset: str = ""
    category: str = ""
    label: str = ""
    movie: str = ""
    start: float | None = None
    end: float | None = None
    duration: float | None = None


@dataclass(frozen=True)
class Proposal:
    """Two captions for two clips: `texts[0]` is meant for the first clip only, `texts[1]` for the second only.

    `captions`: what the proposal was made from. A natural pair has the captions of its two clips; a reversal has the
    caption of the clip that is reversed; an order has the captions of two trims of one video, earlier one first.
    `change`: the kind of the contrast; `words`: what the second text has in place of what the first one has. `near`:
    what the two clips share. `warning`: what a person should check first, or "". `played`: how each clip is made, () if
    both exist.
    """

    kind: str
    texts: tuple[str, str]
    captions: tuple[PairCaption, ...]
    change: str
    words: tuple[str, str]
    why: str
    near: tuple[str, ...] = field(default=())
    warning: str = ""
    played: tuple[str, ...] = ()

    @property
    def needs_time(self) -> bool | int:
        """Return whether a model must know when its frames are shown; a number: so many frames are enough."""
        return NEEDS_TIME.get(self.kind, False)

    @property
    def name(self) -> str:
        """Return the name of the pair, equal for equal texts and clips."""
        identity = "\0".join([self.kind, *self.texts, *(caption.clip for caption in self.captions)])
        return f"{self.kind}-{hashlib.sha256(identity.encode('utf-8')).hexdigest()[:HASHED]}"
