"""Everything that a plug-in imports from Foilworks (docs/how-to/plugins.md). Light: numpy, no model library.

Modules elsewhere may move with any version; these names stay. ImportError: a file of yours hides a package of ours.
"""

from foilworks.clashes import require_own_packages

require_own_packages("generation")

from foilworks.core.corpus.errors import CorpusError  # noqa: E402
from foilworks.core.corpus.export_formats.parts.released_items import released_items  # noqa: E402
from foilworks.core.corpus.records import (  # noqa: E402
    MAX_TEXT,
    BadRecord,
    ItemRecord,
    PairRecord,
    ReadOutcome,
    RecordContent,
    RecordWarning,
    ReleaseContent,
    ReleaseScore,
    ReleaseVote,
    VideoRecord,
)
from foilworks.core.hub.errors import HubError  # noqa: E402
from foilworks.core.hub.interfaces import Frames, ModelInfo, ScoreKind, TextRead, VideoMeta  # noqa: E402
from foilworks.core.text.diff import Edit  # noqa: E402
from foilworks.core.text.errors import ActionableError  # noqa: E402
from foilworks.core.text.registry import Entry, Param, RegistryError  # noqa: E402
from foilworks.core.text.tokens import words  # noqa: E402
from generation.grammar.surface import phrase_pattern, replace_phrase  # noqa: E402
from generation.records import (  # noqa: E402
    CaptionInput,
    Case,
    FoilDraft,
    MadeCaption,
    Shortfall,
    Skip,
    Verdict,
    draft_from_edits,
)

__all__ = [
    "MAX_TEXT",
    "ActionableError",
    "BadRecord",
    "CaptionInput",
    "Case",
    "CorpusError",
    "Edit",
    "Entry",
    "FoilDraft",
    "Frames",
    "HubError",
    "ItemRecord",
    "MadeCaption",
    "ModelInfo",
    "PairRecord",
    "Param",
    "ReadOutcome",
    "RecordContent",
    "RecordWarning",
    "RegistryError",
    "ReleaseContent",
    "ReleaseScore",
    "ReleaseVote",
    "ScoreKind",
    "Shortfall",
    "Skip",
    "TextRead",
    "Verdict",
    "VideoMeta",
    "VideoRecord",
    "draft_from_edits",
    "phrase_pattern",
    "released_items",
    "replace_phrase",
    "words",
]
