"""Records that methods, filters and the pipeline exchange; no tables, no files."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foilworks.core.text.diff import Edit, apply_edits
from generation.errors import GenerationError

# A filter's measurements of a pair of texts, by the filter's own names; thresholds are compared with them.
Measure = Mapping[str, float | None]
# In a measure: how many tokens of a text exceed the model's max length; absent if none.
CUT = "cut"
# As published with its shortcuts removed (the default), and as published.
MODES = ("corrected", "paper")


@dataclass(frozen=True)
class ClipFile:
    """The clip of a caption: its file, the trim in seconds, and the SHA-256 of the file's bytes."""

    key: str
    path: os.PathLike[str]
    start: float | None = None
    end: float | None = None
    content: str = ""

    @property
    def source(self) -> list[Any]:
        """Return what the clip is, wherever its file is stored."""
        return [self.content or os.fspath(self.path), self.start, self.end]


@dataclass(frozen=True)
class JudgedPair:
    """What a judge sees: the clip, its caption and a foil."""

    clip: ClipFile
    caption: str
    foil: str


@dataclass(frozen=True)
class JudgedAnswer:
    """What a judge of open answers sees: a question ("" if unknown), its right answer, and the answer of a model."""

    question: str
    reference: str
    answer: str


@dataclass(frozen=True)
class CaptionInput:
    """A caption to foil. `facts`: {"count": 3, "entities": […]}; `siblings`: the video's other captions.

    `clip`: only if a filter watches clips, and the video has a usable file.
    """

    id: str
    text: str
    video: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    siblings: tuple[str, ...] = ()
    clip: ClipFile | None = None


@dataclass(frozen=True)
class FoilDraft:
    """One foil with its provenance.

    `caption[:start] + target + caption[end:] == foil` for `start, end = span`; `edits` are the single replacements
    inside the span, in order. Made by `draft_from_edits`, so that these always agree.
    """

    caption_id: str
    foil: str
    edits: tuple[Edit, ...]
    source: str
    target: str
    method: str
    mode: str
    model_id: str = ""
    model_revision: str = ""
    prompt_template: str = ""
    prompt_hash: str = ""
    rank: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def span(self) -> tuple[int, int]:
        """Return the character offsets into the caption that cover every edit."""
        return self.edits[0].start, self.edits[-1].end


@dataclass(frozen=True)
class Skip:
    """A caption that the method skipped, and why. `unanswered`: a model did not answer; a retry may help."""

    caption_id: str
    why: str
    unanswered: bool = False


@dataclass(frozen=True)
class Shortfall:
    """Missing foils of a caption that has others: one reason per missing foil."""

    caption_id: str
    why: tuple[str, ...]


@dataclass(frozen=True)
class Blank:
    """`count` foils that a person writes from scratch: the caption gets a group without candidates."""

    caption_id: str
    count: int


@dataclass(frozen=True)
class Verdict:
    """A filter's verdict on a foil; its threshold is compared with `score`.

    `sampled`: drawn at random to pass whatever its score, so that people judge some of the rejected foils.
    """

    passed: bool
    score: float | None = None
    detail: str = ""
    sampled: bool = False


@dataclass(frozen=True)
class Case:
    """One foil to judge; `other_foils`: foils that its caption already has."""

    caption: CaptionInput
    foil: str
    other_foils: tuple[str, ...] = ()


def draft_from_edits(
    caption: CaptionInput,
    edits: Sequence[Edit],
    *,
    method: str,
    mode: str,
    rank: int = 0,
    facts: Mapping[str, Any] | None = None,
) -> FoilDraft:
    """Create the draft of a caption from `edits` (any order, not overlapping, offsets into the caption).

    GenerationError: there are no edits, so there is no foil.
    """
    ordered = tuple(sorted(edits))
    if not ordered:
        raise GenerationError(f"{method}: caption {caption.id} got no edits; yield a Skip instead")
    foil = apply_edits(caption.text, ordered)
    start, end = ordered[0].start, ordered[-1].end
    return FoilDraft(
        caption_id=caption.id,
        foil=foil,
        edits=ordered,
        source=caption.text[start:end],
        target=foil[start : len(foil) - (len(caption.text) - end)],
        method=method,
        mode=mode,
        rank=rank,
        facts=facts or {},
    )


MAX_REASONS = 30
OTHERS = "other reasons"


def most_frequent(counts: Counter[str]) -> dict[str, int]:
    """Return the most frequent counts and the sum of the others; the total stays, also of counts cut before."""
    frequent = dict(Counter({why: n for why, n in counts.items() if why != OTHERS}).most_common(MAX_REASONS))
    n_others = counts.total() - sum(frequent.values())
    return {**frequent, OTHERS: n_others} if n_others else frequent


@dataclass(frozen=True)
class MadeCaption:
    """A caption made from a source (a caption, an annotation) of the same video.

    `facts` state its content: {"count": 3}, {"cos": {…}}, {"verb": …, "noun": …}; methods read them.
    """

    source_id: str
    text: str
    maker: str
    mode: str
    facts: Mapping[str, Any] = field(default_factory=dict)
