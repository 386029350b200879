"""Everything that a plug-in imports from Foilworks (docs/how-to/plugins.md). Light: numpy, no model library.

Modules elsewhere may move with any version; these names stay. ImportError: a file of yours hides a package of ours.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from foilworks.clashes import require_own_packages

require_own_packages("generation")

import numpy as np  # noqa: E402

from foilworks.core.corpus.errors import CorpusError  # noqa: E402
from foilworks.core.corpus.export_formats.parts.released_items import released_items  # noqa: E402
from foilworks.core.corpus.records import (  # noqa: E402
    MAX_TEXT,
    BadRecord,
    ItemRecord,
    PairRecord,
    ReadOutcome,
    RecordContent,
    Records,
    RecordWarning,
    ReleaseContent,
    ReleaseScore,
    ReleaseVote,
    VideoRecord,
    VoteCounts,
)
from foilworks.core.hub.batching.text_limits import ReadsWholeTexts  # noqa: E402
from foilworks.core.hub.errors import ClipError, HubError  # noqa: E402
from foilworks.core.hub.interfaces import Frames, ModelInfo, Score, ScoreKind, TextRead, VideoMeta  # noqa: E402
from foilworks.core.media.errors import MediaError  # noqa: E402
from foilworks.core.text.diff import Edit  # noqa: E402
from foilworks.core.text.errors import ActionableError  # noqa: E402
from foilworks.core.text.registry import Entry, Param, RegistryError  # noqa: E402
from foilworks.core.text.tokens import words  # noqa: E402
from generation.errors import GenerationError  # noqa: E402
from generation.grammar.surface import phrase_pattern, replace_phrase  # noqa: E402
from generation.records import (  # noqa: E402
    Blank,
    CaptionInput,
    Case,
    ClipFile,
    FoilDraft,
    JudgedAnswer,
    JudgedPair,
    MadeCaption,
    Shortfall,
    Skip,
    Verdict,
    draft_from_edits,
)

if TYPE_CHECKING:
    from foilworks.plugin_inputs import (
        ChoiceScores,
        EditFacts,
        EvaluationError,
        ItemFacts,
        PairScores,
        ScoredItems,
        Votes,
        mean_intervals,
    )


def __getattr__(name: str) -> object:
    """Import a name of metrics and reports when it is used. AttributeError: there is no such name."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from foilworks import plugin_inputs

    return getattr(plugin_inputs, name)


def read_frames(clip: ClipFile, n: int) -> Frames:
    """Return n frames of the clip at equal distances, uint8 (n, height, width, 3), RGB.

    MediaError: an unusable file, or the packages of the extra `web` are missing.
    """
    # Imported on request: it needs the extra `web`.
    from foilworks.core.media.frames import sample_frames

    return sample_frames(Path(clip.path), n, clip.start, clip.end).frames


def pair_scores(
    scores: Sequence[Sequence[float]], subtests: Sequence[str] = (), clusters: Sequence[str] = ()
) -> "PairScores":
    """Return what a metric gets, for tests: per item the score of the caption, then those of its foils.

    `clusters`: the source video of each item; each item is one by default.
    """
    from evaluation.metrics.pairwise import PairScores
    from evaluation.score_files.scores import padded

    names = [str(number) for number in range(len(scores))]
    main = padded([list(row) for row in scores])
    groups = list(subtests) or ["all"] * len(names)
    return PairScores(names, main, np.full((len(names), 2), np.nan), groups, groups, list(clusters) or names)


def release_of(items: Sequence[ItemRecord]) -> RecordContent:
    """Return what an exporter gets, for tests: a release with these items."""
    return RecordContent("project", "release", "", "", Records(lambda: iter(items), len(items)))


__all__ = [
    "MAX_TEXT",
    "ActionableError",
    "BadRecord",
    "Blank",
    "CaptionInput",
    "Case",
    "ChoiceScores",
    "ClipError",
    "ClipFile",
    "CorpusError",
    "Edit",
    "EditFacts",
    "Entry",
    "EvaluationError",
    "FoilDraft",
    "Frames",
    "GenerationError",
    "HubError",
    "ItemFacts",
    "ItemRecord",
    "JudgedAnswer",
    "JudgedPair",
    "MadeCaption",
    "MediaError",
    "ModelInfo",
    "PairRecord",
    "PairScores",
    "Param",
    "ReadOutcome",
    "ReadsWholeTexts",
    "RecordContent",
    "RecordWarning",
    "RegistryError",
    "ReleaseContent",
    "ReleaseScore",
    "ReleaseVote",
    "Score",
    "ScoreKind",
    "ScoredItems",
    "Shortfall",
    "Skip",
    "TextRead",
    "Verdict",
    "VideoMeta",
    "VideoRecord",
    "VoteCounts",
    "Votes",
    "draft_from_edits",
    "mean_intervals",
    "pair_scores",
    "phrase_pattern",
    "read_frames",
    "release_of",
    "released_items",
    "replace_phrase",
    "words",
]
