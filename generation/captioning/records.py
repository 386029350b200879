"""What a caption maker gives: a sentence that is true of the video, with the facts that foil methods read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class MadeCaption:
    """A caption made of a source (a caption, an annotation) of the same video.

    `facts` say what it is made of: {"count": 3}, {"cos": {…}}, {"verb": …, "noun": …}; methods read them.
    """

    source_id: str
    text: str
    maker: str
    mode: str
    facts: Mapping[str, Any] = field(default_factory=dict)
